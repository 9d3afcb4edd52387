"""Wrong results, libraries of two ROCm releases, and wheels without theirs."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.rocm import OVERRIDE, left
from rigup.knowledge.chips import runs_on
from rigup.knowledge.torch_builds import build
from rigup.machine.kinds import Gpu, Symptom, Variable

_POOR = 0.35  # of its answers right; models that people serve have more than twice that
_BESIDE = ("numpy", "pillow", "typing-extensions", "requests", "filelock", "jinja2", "networkx", "sympy", "fsspec", "setuptools", "packaging")  # fmt: skip


def number_in(text: str | None) -> float:
    """A number as it is printed; 0 where it is none."""
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


def other_number(error: Symptom, package: Symptom) -> bool:
    """Whether the package is of that library, and of another major: these libraries bear their package's."""
    want = str(error.get("want") or "")
    return str(error.get("lib")) == f"lib{package.name}" and want.isdigit() and want != str(package.major)


@rule("garbage-output-on-gfx", "likely")
def comparison_fails_by_much(
    symptom: Symptom = seen("comparison-with-processor-failed", "absolute-difference-failed", "table-of-differences-from-the-processor", "difference-from-the-processor-in-a-line"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(tag="of-amds"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A program compared the card's result with another, and the difference is no rounding."""
    off = str(symptom.get("off"))
    wrong = off in ("nan", "inf") or float(off) > 0.5
    return other is None and (card is not None or named is not None) and wrong and {"said": symptom.id}


@rule("garbage-output-on-gfx", "likely")
def perplexity_of_one_backend_is_far_off(symptom: Symptom = seen("perplexity-of-backends-in-rows")) -> Verdict:
    """The same model and text, and ROCm's figure is no figure of that model."""
    gpu, cpu = str(symptom.get("gpu")).replace(",", ""), float(str(symptom.get("cpu")).replace(",", ""))
    return (gpu == "nan" or float(gpu) > 2 * cpu) and {"said": symptom.id}


@rule("garbage-output-on-gfx", "likely")
def third_backend_is_far_off(symptom: Symptom = seen("perplexity-of-backends-in-columns")) -> Verdict:
    """Two backends agree, as speeds would not, and ROCm's figure is of another size."""
    cpu, vulkan = (float(str(symptom.get(name)).replace(",", "")) for name in ("cpu", "vulkan"))
    gpu = str(symptom.get("gpu")).replace(",", "")
    agree = abs(cpu - vulkan) < 0.2 * max(cpu, vulkan)
    return agree and (gpu == "nan" or float(gpu) > 2 * cpu) and {"said": symptom.id}


@rule("garbage-output-on-gfx", "possible")
def schools_sums_come_out_wrong(
    symptom: Symptom = seen("sums-of-school-mostly-wrong"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen("instinct-named-by-number", "instinct-named-in-small-letters", tag="of-amds"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A served model fails at what such models do; a small one may do so by itself."""
    rate = float(symptom.get("value") or symptom.get("rate") or 1)
    return other is None and (card is not None or named is not None) and rate < _POOR and {"said": symptom.id}


@rule("garbage-output-on-gfx", "likely")
def results_differ_side_by_side(
    symptom: Symptom = seen("results-side-by-side"), card: Gpu | None = one(vendor="amd"), rocm: Symptom | None = seen(tag="ours"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The same expression on the card and on the processor, and their results are not near each other."""
    gpu, cpu = number_in(symptom.get("gpu")), number_in(symptom.get("cpu"))
    differs = gpu != gpu or abs(gpu - cpu) > 0.05 * max(abs(gpu), abs(cpu))
    return other is None and (card is not None or rocm is not None) and differs and {"said": symptom.id}


@rule("hipblaslt-no-arch-library", "likely")
def listed_kernels_are_of_other_chips(
    symptom: Symptom = seen("hipblaslt-not-for-chip"), listed: Symptom = seen("hipblaslts-chips-listed"), card: Gpu = one(vendor="amd")
) -> Verdict:  # fmt: skip
    """torch does without it, and the files of the installed library are of other chips."""
    isa = card.get("isa") or ""
    return bool(isa) and isa not in str(listed.get("listed")).split() and {"gfx": isa, "said": symptom.id}


@rule("gfx-not-in-torch-wheel", "likely")
def named_wheel_is_older_than_the_card(
    wheel: Symptom = seen("wheel-of-torch-for-rocm-named"), card: Gpu = one(vendor="amd"), error: Symptom = seen(tag="program-crashed no-code-for-amd-chip"), override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """Only the file's name tells which torch it is, and that one has no code for the card."""
    known = build(f"{wheel.torch}+{wheel.variant}")
    overridden = override is not None and bool(override.get("value"))
    lacks = known is not None and bool(known.code) and not runs_on(card.isa, known.code)
    return lacks and not overridden and not left(card.isa) and {"gfx": card.isa, "why": error.id}


@rule("pip-index-url-hides-pypi", "likely")
def index_of_builds_has_other_releases(
    symptom: Symptom = seen("pip-no-version"),
    index: Symptom = seen("pip-single-index"),
    builds: Symptom = seen("pip-looks-in"),
) -> Verdict:
    """torch's index keeps some releases of what torch stands on, and not the one that is wanted."""
    plain = str(symptom.get("name")).lower() in _BESIDE and symptom.get("offered", "none") != "none"
    return plain and {"index": index.get("index"), "package": symptom.name, "said": builds.id}
