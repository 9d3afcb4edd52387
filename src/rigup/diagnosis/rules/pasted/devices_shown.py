"""Two AMD devices, two masks, and results that are no results, as short pastes show them."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.memory import GIB, size
from rigup.diagnosis.rules.pasted.amd_told import OURS
from rigup.diagnosis.rules.rocm import MASKS, left
from rigup.machine.kinds import Gpu, Symptom, Variable

_NONE = ("hip-no-device", "hip-log-no-device", "hip-init-failed", "torch-no-cuda-gpus", "hsa-out-of-resources")


@rule("double-visibility-mask", "likely")
def second_mask_of_a_line_names_what_is_left_out(said: Symptom = seen("two-masks-in-a-line", "two-masks-in-other-order")) -> Verdict:  # fmt: skip
    """The second counts what the first has left, from nought."""
    count = len(str(said.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(said.inner).split(",") if part)
    return beyond and {"name": str(said.name) + "_VISIBLE_DEVICES"}


@rule("double-visibility-mask", "likely")
def process_was_given_both_masks(
    outer: Symptom = seen("masks-in-an-environment"), inner: Symptom = seen("inner-mask-in-an-environment"), said: Symptom = seen(*_NONE),
) -> Verdict:  # fmt: skip
    """The environment that a server hands on has both, and what it starts finds no device."""
    count = len(str(outer.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(inner.inner).split(",") if part)
    return beyond and {"name": str(inner.name) + "_VISIBLE_DEVICES", "said": said.id}


@rule("igpu-visible-beside-dgpu", "likely")
def small_one_of_two_is_full(
    said: Symptom = seen("torch-out-of-memory-total"), card: Gpu = one(vendor="amd", integrated=False), mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:  # fmt: skip
    """What is full has the total of a processor's graphics, and a card is there that has much more."""
    total = size(said.get("total")) or 0.0
    return (
        mask is None
        and 0 < total <= 2 * GIB
        and {"device": card.get("runtime_index") or 0, "severity": "error", "said": said.id}
    )


@rule("igpu-visible-beside-dgpu", "likely")
def model_lies_on_the_processors_graphics(
    said: Symptom = seen("ggml-model-on-second-device"), igpu: Gpu = one(vendor="amd", integrated=True), dgpu: Gpu = one(vendor="amd", integrated=False),
) -> Verdict:  # fmt: skip
    """A part of the model is put on the device that is the processor's own."""
    slow = str(said.get("index")) == str(igpu.get("runtime_index"))
    return slow and {"device": dgpu.get("runtime_index") or 0, "said": said.id}


@rule("gfx-not-in-rocblas", "likely")
def program_has_no_target_for_it(said: Symptom = seen("lm-studio-gpu-incompatible"), card: Gpu = one(vendor="amd")) -> Verdict:  # fmt: skip
    """The program lists the chips that its own libraries are for."""
    return not left(card.isa) and card.isa not in str(said.get("listed")) and {"gfx": card.isa}


@rule("garbage-output-on-gfx", "likely")
def operators_compute_something_else(
    said: Symptom = seen("backend-test-far-off", "perplexity-in-thousands"), card: Gpu | None = one(vendor="amd"), rocm: Symptom | None = seen(*OURS),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """llama.cpp's own test of its operators, or a perplexity that no model has."""
    return other is None and (card is not None or rocm is not None) and {"said": said.id}
