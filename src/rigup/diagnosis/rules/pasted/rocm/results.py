"""Wrong results, libraries of two ROCm releases, and wheels without theirs."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.library import missed_and_there
from rigup.diagnosis.rules.pasted.heard import CRASHES, HIP_HAS_NO_CODE, OF_AMDS, OURS
from rigup.diagnosis.rules.rocm import OVERRIDE, foreign, left
from rigup.diagnosis.rules.rocm_stack import numbered, of_its_own_release
from rigup.diagnosis.rules.told import BUILDS_OF_A_NIGHT, RIGHT, Told
from rigup.knowledge.chips import runs_on
from rigup.knowledge.torch_builds import build
from rigup.machine.kinds import Gpu, Symptom, Toolkit, Torch, Variable

_BAD_SIGNS = (
    "reserved-tokens-over-and-over",
    "special-tokens-over-and-over",
    "signs-below-a-prompt",
    "exclamation-marks-below-a-prompt",
    "transcript-of-one-sign",
    "one-sign-was-generated",
    "corrupted-output-told",
    "tensor-of-no-numbers",
    "probabilities-are-no-numbers",
    "dollar-signs-over-and-over",
    "tokens-of-single-bytes-one-after-another",
)
_FORMED = (
    "one-sign-over-and-over",
    "one-letter-over-and-over",
    "number-signs-after-words",
    "exclamation-marks-over-and-over",
    "question-marks-over-and-over",
    "unknown-tokens-over-and-over",
)
_POOR = 0.35  # of its answers right; models that people serve have more than twice that
_BAD = (
    "one-sign-over-and-over",
    "one-letter-over-and-over",
    "number-signs-after-words",
    "double-stars-over-and-over",
    "exclamation-marks-over-and-over",
    "question-marks-over-and-over",
    "unknown-tokens-over-and-over",
    "loss-not-a-number-again",
    "product-of-ones-is-nought",
)
_WRONG = (
    "differs-from-processor-told",
    "matmul-wrong-told",
    "silently-wrong-told",
    "differing-results-told",
    "loss-explodes-in-validation",
    "black-render-told",
    "garbage-told",
    "gibberish-told",
    "black-images-told",
    "wrong-results-told",
    "inaccurate-results-told",
    "nan-told",
    "nan-told-in-capitals",
    "card-and-processor-are-not-close",
)
_BESIDE = ("numpy", "pillow", "typing-extensions", "requests", "filelock", "jinja2", "networkx", "sympy", "fsspec", "setuptools", "packaging")  # fmt: skip


def _number(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


def other_number(error: Symptom, package: Symptom) -> bool:
    """Whether the package is of that library, and of another major: these libraries bear their package's."""
    want = str(error.get("want") or "")
    return str(error.get("lib")) == f"lib{package.name}" and want.isdigit() and want != str(package.major)


# -- garbage-output-on-gfx
@rule("garbage-output-on-gfx", "possible")
def model_prints_tokens_that_no_model_prints(
    said: Symptom = seen(*_BAD_SIGNS), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*OF_AMDS), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Reserved tokens, or one sign over and over, on AMD's; on another maker's it may be the model."""
    return other is None and (card is not None or named is not None) and {"said": said.id}


@rule("garbage-output-on-gfx", "possible")
def model_prints_one_sign_and_a_form_names_the_maker(said: Symptom = seen(*_FORMED), _form: Symptom = seen("form-says-amd")) -> Verdict:  # fmt: skip
    """The same where only the form of an issue tells the maker."""
    return {"said": said.id}


@rule("garbage-output-on-gfx", "likely")
def loss_is_no_number_on_a_chip_that_was_left(
    said: Symptom = seen("epochs-loss-is-no-number"), card: Gpu = one(vendor="amd")
) -> Verdict:
    """rocBLAS computes wrong numbers on chips that nobody tests any more."""
    return left(card.get("isa") or "") and {"said": said.id}


@rule("garbage-output-on-gfx", "possible")
def loss_is_no_number(
    said: Symptom = seen("epochs-loss-is-no-number"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*OF_AMDS), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """From the first epoch on; it may be the training's own fault, which the processor would show."""
    return other is None and (card is not None or named is not None) and {"said": said.id}


@rule("garbage-output-on-gfx", "likely")
def comparison_fails_by_much(
    said: Symptom = seen("comparison-with-processor-failed", "absolute-difference-failed", "table-of-differences-from-the-processor", "difference-from-the-processor-in-a-line"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*OF_AMDS), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A program compared the card's result with another, and the difference is no rounding."""
    off = str(said.get("off"))
    wrong = off in ("nan", "inf") or float(off) > 0.5
    return other is None and (card is not None or named is not None) and wrong and {"said": said.id}


@rule("garbage-output-on-gfx", "likely")
def perplexity_of_one_backend_is_far_off(said: Symptom = seen("perplexity-of-backends-in-rows")) -> Verdict:
    """The same model and text, and ROCm's figure is no figure of that model."""
    gpu, cpu = str(said.get("gpu")).replace(",", ""), float(str(said.get("cpu")).replace(",", ""))
    return (gpu == "nan" or float(gpu) > 2 * cpu) and {"said": said.id}


@rule("garbage-output-on-gfx", "likely")
def third_backend_is_far_off(said: Symptom = seen("perplexity-of-backends-in-columns")) -> Verdict:
    """Two backends agree, as speeds would not, and ROCm's figure is of another size."""
    cpu, vulkan = (float(str(said.get(name)).replace(",", "")) for name in ("cpu", "vulkan"))
    gpu = str(said.get("gpu")).replace(",", "")
    agree = abs(cpu - vulkan) < 0.2 * max(cpu, vulkan)
    return agree and (gpu == "nan" or float(gpu) > 2 * cpu) and {"said": said.id}


@rule("garbage-output-on-gfx", "possible")
def schools_sums_come_out_wrong(
    said: Symptom = seen("sums-of-school-mostly-wrong"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*OF_AMDS, "instinct-named-by-number", "instinct-named-in-small-letters"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A served model fails at what such models do; a small one may do so by itself."""
    rate = float(said.get("value") or said.get("rate") or 1)
    return other is None and (card is not None or named is not None) and rate < _POOR and {"said": said.id}


@rule("garbage-output-on-gfx", "possible")
def output_is_no_output(
    said: Symptom = seen(*_BAD), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*OURS, "amd-radeon-named"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A model prints one sign over and over, or what is computed is no number; on another maker's it may be the model."""
    return other is None and (card is not None or named is not None) and {"said": said.id}


@rule("garbage-output-on-gfx", "likely")
def results_differ_side_by_side(
    said: Symptom = seen("results-side-by-side"), card: Gpu | None = one(vendor="amd"), rocm: Symptom | None = seen(*OURS), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The same expression on the card and on the processor, and their results are not near each other."""
    gpu, cpu = _number(said.get("gpu")), _number(said.get("cpu"))
    apart = gpu != gpu or abs(gpu - cpu) > 0.05 * max(abs(gpu), abs(cpu))
    return other is None and (card is not None or rocm is not None) and apart and {"said": said.id}


@rule("garbage-output-on-gfx", "likely")
def difference_is_not_small(
    said: Symptom = seen("difference-from-processor", "comparison-failed-not-a-number"), card: Gpu | None = one(vendor="amd"), rocm: Symptom | None = seen(*OURS),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Somebody took the difference, and it is no rounding."""
    off = said.get("off")
    wrong = off in ("nan", "inf") or _number(off) > 1
    return other is None and (card is not None or rocm is not None) and wrong and {"said": said.id}


@rule("garbage-output-on-gfx", "possible")
def results_are_wrong(
    said: Symptom = seen(*_WRONG), card: Gpu | None = one(vendor="amd"), rocm: Symptom | None = seen(*OURS), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Told in a sentence, of AMD's: a computation against the processor's settles it."""
    return other is None and (card is not None or rocm is not None) and {"said": said.id}


@rule("garbage-output-on-gfx", "likely")
def operators_compute_something_else(
    said: Symptom = seen("backend-test-far-off", "perplexity-in-thousands"), card: Gpu | None = one(vendor="amd"), rocm: Symptom | None = seen(*OURS),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """llama.cpp's own test of its operators, or a perplexity that no model has."""
    return other is None and (card is not None or rocm is not None) and {"said": said.id}


@rule("garbage-output-on-gfx", "likely")
def what_was_copied_is_not_what_comes_back(
    said: Symptom = seen("numbers-copied-come-back-nought"), card: Gpu | None = one(vendor="amd"), rocm: Symptom | None = seen(*OURS), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Numbers are copied to the card and come back as nought."""
    return other is None and (card is not None or rocm is not None) and {"said": said.id}


@rule("garbage-output-on-gfx", "likely")
def long_range_is_lost_and_short_range_is_not(
    said: Symptom = seen("one-short-format-alone-gives-no-numbers"), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """bfloat16 has the range of float32: what float16 can hold it does not lose, unless a kernel of the card computes wrongly."""
    return other is None and {"said": said.id, "gfx": card.get("isa")}


# -- hipblaslt-no-arch-library
@rule("hipblaslt-no-arch-library", "likely")
def listed_kernels_are_of_other_chips(
    said: Symptom = seen("hipblaslt-not-for-chip"), listed: Symptom = seen("hipblaslts-chips-listed"), card: Gpu = one(vendor="amd")
) -> Verdict:  # fmt: skip
    """torch does without it, and the files of the installed library are of other chips."""
    isa = card.get("isa") or ""
    return bool(isa) and isa not in str(listed.get("listed")).split() and {"gfx": isa, "said": said.id}


# -- gfx-not-in-torch-wheel
@rule("gfx-not-in-torch-wheel", "likely")
def named_wheel_is_older_than_the_card(
    wheel: Symptom = seen("wheel-of-torch-for-rocm-named"), card: Gpu = one(vendor="amd"), error: Symptom = seen(*CRASHES, *HIP_HAS_NO_CODE), override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """Only the file's name tells which torch it is, and that one has no code for the card."""
    known = build(f"{wheel.torch}+{wheel.variant}")
    overridden = override is not None and bool(override.get("value"))
    lacks = known is not None and bool(known.code) and not runs_on(card.isa, known.code)
    return lacks and not overridden and not left(card.isa) and {"gfx": card.isa, "why": error.id}


# -- rocm-abi-mismatch
@rule("rocm-abi-mismatch", "likely")
def collectives_miss_a_symbol(
    said: Symptom = seen("rocr-misses-a-symbol"), right: Symptom | None = seen(RIGHT)
) -> Verdict:
    """RCCL does without what an older runtime lacks, where its test ends well."""
    return right is None and said.values()


@rule("rocm-abi-mismatch", "likely")
def program_misses_a_call_of_hips(
    said: Symptom = seen("hashcat-misses-a-call-of-hip"),
    named: Symptom | None = seen("nvidia-geforce-named"),
    own: Gpu | None = one(vendor="amd"),
) -> Verdict:
    """The library is of another release than the program wants; beside another maker's card alone it is not used."""
    return (named is None or own is not None) and said.values()


@rule("rocm-abi-mismatch", "possible")
def two_compilers_in_one_process(
    said: Symptom = seen("llvm-registered-twice"), card: Gpu | None = one(vendor="amd"), hip: Torch | None = None,
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """LLVM came in twice: ROCm's comgr, and that of another release or program."""
    ours = card is not None or bool(hip and hip.get("hip"))
    return ours and other is None and {"said": said.id}


@rule("rocm-abi-mismatch", "likely")
def files_of_another_release_are_read(
    error: Symptom = seen("rocblas-without-arch", "rocblas-without-library"), torch: Torch | None = None
) -> Verdict:
    """rocBLAS reads an installed ROCm of another major release than the one that torch brings."""
    return foreign(error, torch) and {"said": error.id}


@rule("rocm-abi-mismatch", "likely")
def installed_package_is_of_another_number(
    error: Symptom = seen("rocm-library-not-loaded"), package: Symptom = seen("rocm-package-of-a-library")
) -> Verdict:
    """The system has that library, by a number which is not the one that is asked for."""
    return other_number(error, package) and {"have": package.major}


# -- broken-wheel-missing-library
@rule("broken-wheel-missing-library", "likely")
def library_lies_beside_what_misses_it(
    error: Symptom = seen("rocm-library-not-loaded"), there: Symptom = seen("rocm-library-lies-in-the-environment")
) -> Verdict:
    """The environment has that library by that number, and the program does not look there."""
    return missed_and_there(error, there) and {"lib": error.get("lib")}


@rule("broken-wheel-missing-library", "likely")
def build_of_a_night_lacks_a_library(
    error: Symptom = seen("rocm-library-not-loaded"), _night: Symptom = seen(*BUILDS_OF_A_NIGHT), rocm: Toolkit | None = one(name="rocm")
) -> Verdict:  # fmt: skip
    """A wheel for ROCm brings its libraries, and a night's is where one is forgotten; by HIP's own number another release would be told."""
    return rocm is None and not numbered(error) and {"lib": error.get("lib")}


@rule("broken-wheel-missing-library", "likely")
def torch_lacks_the_runtime_of_its_own_release(
    error: Symptom = seen("rocm-library-not-loaded"), _own: Symptom = seen("torch-c-part-imported"), torch: Torch = one(), rocm: Toolkit | None = one(name="rocm"),
) -> Verdict:  # fmt: skip
    """The number that is asked for is the wheel's own, so nothing is of another release: it was left out."""
    return rocm is None and of_its_own_release(error, torch) and {"lib": error.get("lib")}


@rule("broken-wheel-missing-library", "likely")
def torchs_wheel_has_no_compiler_to_open(
    error: Symptom = seen("torchs-compiler-at-run-time-is-not-found"), torch: Torch | None = one(hip=Told(bool)), named: Symptom | None = seen("rocm-wheel-named"),
) -> Verdict:  # fmt: skip
    """torch for ROCm opens the compiler by a plain name, which its wheel has not got."""
    return (torch is not None or named is not None) and {"lib": error.get("lib")}


# -- pip-index-url-hides-pypi
@rule("pip-index-url-hides-pypi", "likely")
def index_of_builds_has_other_releases(
    said: Symptom = seen("pip-no-version"),
    index: Symptom = seen("pip-single-index"),
    builds: Symptom = seen("pip-looks-in"),
) -> Verdict:
    """torch's index keeps some releases of what torch stands on, and not the one that is wanted."""
    plain = str(said.get("name")).lower() in _BESIDE and said.get("offered", "none") != "none"
    return plain and {"index": index.get("index"), "package": said.name, "said": builds.id}


@rule("pip-index-url-hides-pypi", "likely")
def torch_stands_on_what_its_index_has_not(
    said: Symptom = seen("pip-finds-not-what-torch-stands-on", "uv-finds-not-what-torch-stands-on"),
    index: Symptom = seen("index-url-of-torch", "index-variable-of-torch", "index-setting-of-torch", "pip-single-index"),
) -> Verdict:  # fmt: skip
    """torch came from its index, and what it asks for stands there in other releases only; the whole list is PyPI's."""
    return {"index": index.get("index"), "package": said.package}


@rule("pip-index-url-hides-pypi")
def one_index_for_what_it_does_not_have(
    index: Symptom = seen("index-variable-of-torch", "index-setting-of-torch", "index-looked-in-inside", "index-url-of-torch", "pip-single-index"),
    missing: Symptom = seen("pip-no-version-of-plain-package", "pip-no-match-for-plain-package"),
) -> Verdict:  # fmt: skip
    """An index of builds is the only one, and an ordinary package is looked for there."""
    return {"index": index.get("index"), "package": missing.get("package")}
