"""AMD's chips, overrides and extensions by what threads about many programs show."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.amd_told import OURS
from rigup.diagnosis.rules.rocm import MASKS, OVERRIDE, helps, inside_a_processor, left
from rigup.knowledge.rocm import override_for
from rigup.machine.kinds import Gpu, Symptom, Variable

_AMD = (*OURS, "amd-radeon-named", "amd-rx-named", "form-says-amd")
_NVIDIA = ("nvidia-tx-named", "nvidia-geforce-named")
_BAD = (
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
_NONE = ("hip-no-device", "hip-log-no-device", "hip-init-failed", "torch-no-cuda-gpus", "hsa-out-of-resources")
_FOR_CUDA = ("bitsandbytes-for-cpu", "bitsandbytes-setup-failed", "bitsandbytes-finds-no-runtime", "bitsandbytes-looks-for-cuda", "xformers-built-without-cuda", "xformers-has-no-operator")  # fmt: skip


# -- results that are none
@rule("garbage-output-on-gfx", "possible")
def model_prints_tokens_that_no_model_prints(
    said: Symptom = seen(*_BAD), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*_AMD), other: Gpu | None = one(vendor="nvidia"),
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
    said: Symptom = seen("epochs-loss-is-no-number"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*_AMD), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """From the first epoch on; it may be the training's own fault, which the processor would show."""
    return other is None and (card is not None or named is not None) and {"said": said.id}


@rule("garbage-output-on-gfx", "likely")
def comparison_fails_by_much(
    said: Symptom = seen("comparison-with-processor-failed", "absolute-difference-failed"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*_AMD), other: Gpu | None = one(vendor="nvidia"),
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
    said: Symptom = seen("sums-of-school-mostly-wrong"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*_AMD, "instinct-named-by-number", "instinct-named-in-small-letters"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A served model fails at what such models do; a small one may do so by itself."""
    rate = float(said.get("value") or said.get("rate") or 1)
    return other is None and (card is not None or named is not None) and rate < _POOR and {"said": said.id}


# -- devices
@rule("double-visibility-mask", "likely")
def both_masks_are_printed(said: Symptom = seen("both-masks-printed")) -> Verdict:
    """The second counts what the first has left, from nought."""
    count = len(str(said.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(said.inner).split(",") if part)
    return beyond and {"name": str(said.name) + "_VISIBLE_DEVICES"}


# -- chips that are left out
@rule("gfx-not-in-rocblas", "likely")
def servers_trial_crashes_on_a_chip_that_needs_an_override(
    said: Symptom = seen("ollama-discovery-crashes"), card: Gpu = one(vendor="amd"), override: Variable | None = one(name=OVERRIDE)
) -> Verdict:  # fmt: skip
    """The server starts a trial on each device; its library ends the process on a chip that it does not have."""
    isa = card.get("isa") or ""
    needy = override_for(isa) is not None and not (override is not None and helps(isa, override.get("value")))
    return needy and {"gfx": isa, "said": said.id}


@rule("rocm-dropped-arch", "likely")
def opencl_lists_no_card_that_was_left(said: Symptom = seen("clinfo-of-amd-lists-nothing"), card: Gpu = one(vendor="amd")) -> Verdict:  # fmt: skip
    """AMD's OpenCL answers and has no device: the card is one that ROCm has left."""
    return left(card.get("isa") or "") and {"gfx": card.isa, "said": said.id}


@rule("igpu-visible-beside-dgpu", "likely")
def first_chip_of_the_sdk_is_the_processors(
    said: Symptom = seen("hip-sdk-names-the-first-chip"), card: Gpu = one(vendor="amd", integrated=False), mask: Variable | None = one(name=MASKS[:2])
) -> Verdict:  # fmt: skip
    """AMD's SDK names the processor's graphics alone, though a card is there."""
    gfx = str(said.get("gfx"))
    return mask is None and inside_a_processor(gfx) and {"device": 0, "said": said.id, "name": card.get("name")}


@rule("wrong-hsa-override", "likely")
def override_is_defined_and_empty(left_empty: Symptom = seen("override-left-empty"), said: Symptom = seen(*_NONE)) -> Verdict:  # fmt: skip
    """The runtime asks whether the variable is there, and reads nothing as a version."""
    return {"value": "", "name": OVERRIDE, "said": said.id, "where": left_empty.id}


# -- extensions
@rule("extension-without-platform-build", "likely")
def extension_is_for_cuda_alone(
    said: Symptom = seen(*_FOR_CUDA), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*_AMD),
    other: Gpu | None = one(vendor="nvidia"), nvidia: Symptom | None = seen(*_NVIDIA),
) -> Verdict:  # fmt: skip
    """The wheel has code for CUDA and for processors, and the GPU is AMD's."""
    ours = card is not None or named is not None
    name = "xformers" if said.id.startswith("xformers") else "bitsandbytes"
    return ours and other is None and nvidia is None and {"name": name, "said": said.id}


@rule("extension-without-platform-build", "likely")
def extension_wants_nvidias_compiler_beside_a_torch_for_rocm(
    said: Symptom = seen("flash-attention-looks-for-nvcc"), card: Gpu | None = one(vendor="amd"), built: Symptom | None = seen("torch-for-rocm-named-by-a-build", "rocm-torch-installed"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Its sources of that release are CUDA's; ROCm has no such compiler."""
    return other is None and (card is not None or built is not None) and {"name": said.get("name"), "said": said.id}


@rule("extension-without-platform-build", "likely")
def operator_is_not_in_the_build_for_rocm(
    said: Symptom = seen("extensions-operator-not-built"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*OURS),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The extension knows the operator, and has it for processors only."""
    return other is None and (card is not None or named is not None) and {"name": said.get("name"), "said": said.id}


@rule("extension-without-platform-build", "likely")
def engine_of_whisper_is_for_cuda_alone(
    said: Symptom = seen("cuda-driver-insufficient", "cuda-driver-insufficient-by-name", "cuda-no-device"), _engine: Symptom = seen("ctranslate2-named"),
    card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*_AMD), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """CTranslate2's wheels have code for CUDA and for processors; torch, built for ROCm, says that there is a GPU."""
    return other is None and (card is not None or named is not None) and {"name": "ctranslate2", "said": said.id}


@rule("extension-without-platform-build", "likely")
def compiled_part_is_missing_on_amds(
    said: Symptom = seen("compiled-part-not-there"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*_AMD),
    other: Gpu | None = one(vendor="nvidia"), nvidia: Symptom | None = seen(*_NVIDIA),
) -> Verdict:  # fmt: skip
    """The package is there without the part that is compiled for CUDA; for ROCm it is made in another way."""
    ours = card is not None or named is not None
    return ours and other is None and nvidia is None and {"name": said.get("name"), "said": said.id}
