"""The results may be wrong on this chip with this release."""

from rigup.diagnosis.causes.rocm.torch_builds import newer, serves, torch_holes
from rigup.diagnosis.causes.rocm.who_computes import who_computes_where
from rigup.diagnosis.causes.rocm_chips import left
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.amd_ways import newest_rocm
from rigup.knowledge.cuda import version_key
from rigup.knowledge.torch_builds import TorchBuild, build, builds
from rigup.machine.kinds import Gpu, Symptom

_POOR = 0.35  # of its answers right; models that people serve have more than twice that


@rule("garbage-output-on-gfx", strength="possible")
def not_numbers_where_amd_is_named(
    error: Symptom = seen("image-of-nans", "image-cast-invalid"),
    _named: Symptom = seen(tag="rocm-stack-amd-named"),
    nvidia: Symptom | None = seen(tag="nvidia-card-spoken-of"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """The same where only words tell the card."""
    return nvidia is None and other is None and {"said": error.id}


@rule("garbage-output-on-gfx", strength="possible")
def not_numbers(
    error: Symptom = seen("image-of-nans", "image-cast-invalid"), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """The same words come of a model in too low a precision; a computation against the processor's settles it."""
    return other is None and bool(error.id) and card.get("vendor") == "amd"


@text_rule("garbage-output-on-gfx", "likely")
def comparison_fails_by_much(
    symptom: Symptom = seen(
        "comparison-with-processor-failed",
        "absolute-difference-failed",
        "table-of-differences-from-the-processor",
        "difference-from-the-processor-in-a-line",
    ),
    card: Gpu | None = one(vendor="amd"),
    named: Symptom | None = seen(tag="of-amds"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """A program compared the card's result with another, and the difference is no rounding."""
    off = str(symptom.get("off"))
    wrong = off in ("nan", "inf") or float(off) > 0.5
    return other is None and (card is not None or named is not None) and wrong and {"said": symptom.id}


@text_rule("garbage-output-on-gfx", "likely")
def perplexity_of_one_backend_is_far_off(symptom: Symptom = seen("perplexity-of-backends-in-rows")) -> Verdict:
    """The same model and text, and ROCm's figure is no figure of that model."""
    gpu, cpu = str(symptom.get("gpu")).replace(",", ""), float(str(symptom.get("cpu")).replace(",", ""))
    return (gpu == "nan" or float(gpu) > 2 * cpu) and {"said": symptom.id}


@text_rule("garbage-output-on-gfx", "likely")
def third_backend_is_far_off(symptom: Symptom = seen("perplexity-of-backends-in-columns")) -> Verdict:
    """Two backends agree, as speeds would not, and ROCm's figure is of another size."""
    cpu, vulkan = (float(str(symptom.get(name)).replace(",", "")) for name in ("cpu", "vulkan"))
    gpu = str(symptom.get("gpu")).replace(",", "")
    agree = abs(cpu - vulkan) < 0.2 * max(cpu, vulkan)
    return agree and (gpu == "nan" or float(gpu) > 2 * cpu) and {"said": symptom.id}


@text_rule("garbage-output-on-gfx", "possible")
def schools_sums_come_out_wrong(
    symptom: Symptom = seen("sums-of-school-mostly-wrong"),
    card: Gpu | None = one(vendor="amd"),
    named: Symptom | None = seen("instinct-named-by-number", "instinct-named-in-small-letters", tag="of-amds"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """A served model fails at what such models do; a small one may do so by itself."""
    rate = float(symptom.get("value") or symptom.get("rate") or 1)
    return other is None and (card is not None or named is not None) and rate < _POOR and {"said": symptom.id}


def number_in(text: str | None) -> float:
    """A number as it is printed; 0 where it is none."""
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


@text_rule("garbage-output-on-gfx", "likely")
def results_differ_side_by_side(
    symptom: Symptom = seen("results-side-by-side"),
    card: Gpu | None = one(vendor="amd"),
    rocm: Symptom | None = seen(tag="ours"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """The same expression on the card and on the processor, and their results are not near each other."""
    gpu, cpu = number_in(symptom.get("gpu")), number_in(symptom.get("cpu"))
    differs = gpu != gpu or abs(gpu - cpu) > 0.05 * max(abs(gpu), abs(cpu))
    return other is None and (card is not None or rocm is not None) and differs and {"said": symptom.id}


mends("garbage-output-on-gfx")(who_computes_where)


def _older(knew: Params) -> TorchBuild | None:
    """The last build of the ROCm before the one that is there."""
    have = build(str(knew.get("version_of_torch") or ""))
    rows = [row for row in builds() if have and row.rocm and version_key(row.rocm) < version_key(have.rocm)]
    fitting = [row for row in rows if serves(str(knew.get("isa") or ""), row.code)]
    return max(fitting, key=lambda row: (version_key(row.torch), version_key(row.rocm)), default=None)


@mends("garbage-output-on-gfx")
def release_that_computes_right(knew: Params) -> Params:
    """Another release than the one that is there, and another way to the card for programs that have one."""
    isa, program = str(knew.get("isa") or ""), knew.get("program")
    if isa and left(isa):
        return {"backend": knew.get("backend") or "Vulkan", "chip": isa}
    if knew.get("by_torch"):
        return torch_holes(newer(knew) or _older(knew)) | {"backend": None}
    package = knew.get("package_of")
    release = newest_rocm() if knew.get("system") == "linux" else None
    if program and "," not in program:
        return {"renew": None if package else program, "update": package}
    return {"release": release, "backend": knew.get("backend") or (None if release else "Vulkan")}
