"""Integrated graphics beside a card, and masks that hide one behind the other."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.memory import GIB, size
from rigup.diagnosis.rules.pasted.heard import (
    CRASHES,
    GGML_HAS_NO_CODE,
    HIP_FINDS_NONE,
    HIP_HAS_NO_CODE,
    INTEGRATED_NAMED,
    OURS,
    PLAIN_NAMES,
    SERVERS,
)
from rigup.diagnosis.rules.rocm import MASKS, inside_a_processor, left
from rigup.knowledge.rocm import override_for
from rigup.machine.kinds import Gpu, Symptom, Variable

_DIES = ("hsa-hang-exception", "gpu-memory-access-fault", "segmentation-fault", "segmentation-fault-signal")
_MASKS = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")


# -- igpu-visible-beside-dgpu
@rule("igpu-visible-beside-dgpu", "likely")
def first_chip_of_the_sdk_is_the_processors(
    said: Symptom = seen("hip-sdk-names-the-first-chip"), card: Gpu = one(vendor="amd", integrated=False), mask: Variable | None = one(name=MASKS[:2])
) -> Verdict:  # fmt: skip
    """AMD's SDK names the processor's graphics alone, though a card is there."""
    gfx = str(said.get("gfx"))
    return mask is None and inside_a_processor(gfx) and {"device": 0, "said": said.id, "name": card.get("name")}


@rule("igpu-visible-beside-dgpu", "likely")
def program_took_a_processors_chip(said: Symptom = seen("comfyui-names-its-chip"), card: Gpu = one(vendor="amd", integrated=False)) -> Verdict:  # fmt: skip
    """The program names the chip of the device that it took: one that only processors have, and a card is there."""
    gfx = str(said.get("gfx"))
    return inside_a_processor(gfx) and card.get("isa") != gfx and {"device": 0, "said": said.id, "name": card.get("name"), "severity": "error"}  # fmt: skip


@rule("igpu-visible-beside-dgpu", "likely")
def work_lies_on_graphics_behind_another_card(
    buffer: Symptom = seen("ggml-buffer-on-device"), igpu: Gpu = one(vendor="amd", integrated=True), mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:  # fmt: skip
    """The kernel counts the processor as its first node: graphics that come third have a card before them, and a model's part lies on them."""
    behind = igpu.get("kfd_node") is not None and str(igpu.kfd_node - 1) == str(buffer.get("index"))
    return behind and mask is None and {"device": 0, "said": buffer.id}


@rule("igpu-visible-beside-dgpu", "likely")
def listed_graphics_have_no_code(
    error: Symptom = seen(*HIP_HAS_NO_CODE), igpu: Gpu = one(vendor="amd", integrated=True), dgpu: Gpu = one(vendor="amd", integrated=False),
    mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:  # fmt: skip
    """torch lists both as its devices; the card needs no override."""
    listed = igpu.knows("runtime_index") and dgpu.knows("runtime_index") and override_for(dgpu.isa) is None
    return (
        listed
        and mask is None
        and not left(dgpu.isa)
        and {"device": dgpu.runtime_index, "severity": "error", "said": error.id}
    )


@rule("igpu-visible-beside-dgpu", "likely")
def server_computes_on_both(
    igpu: Gpu = one(vendor="amd", integrated=True), dgpu: Gpu = one(vendor="amd", integrated=False), listed: Symptom = seen("ollama-computes-on-rocm"),
    mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:  # fmt: skip
    """ollama's own list of what it computes on has the processor's graphics too."""
    both = igpu.knows("shown_isa") and dgpu.knows("shown_isa") and listed.get("gfx") == igpu.shown_isa
    return both and mask is None and {"device": 0 if dgpu.get("runtime_index") is None else dgpu.runtime_index}


@rule("igpu-visible-beside-dgpu", "likely")
def graphics_of_the_processor_are_spoken_of(
    error: Symptom = seen(*HIP_HAS_NO_CODE, *GGML_HAS_NO_CODE), graphics: Symptom = seen(*INTEGRATED_NAMED), card: Gpu | None = one(vendor="amd", integrated=False),
    mask: Variable | None = one(name=("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"), at="shell"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """HIP sets code up for every device that it sees, and for the processor's graphics there is none."""
    said = graphics.id.startswith("igpu-named")  # else it is a processor's name that tells of them
    needy = card is not None and error.id in HIP_HAS_NO_CODE and override_for(card.get("isa") or "") is not None
    beside = other is None and (said or (card is not None and not needy))
    return beside and mask is None and {"device": 0, "said": error.id, "severity": "error"}


@rule("igpu-visible-beside-dgpu", "likely")
def the_wrong_one_is_chosen(
    said: Symptom = seen("igpu-chosen-told", "igpu-chosen-told-in-other-order", "igpu-chip-instead-told", "igpu-to-be-hidden-told"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*OURS),
) -> Verdict:  # fmt: skip
    """A person says that the processor's graphics are used in place of the card."""
    return (card is not None or named is not None) and {"device": 0, "said": said.id, "severity": "error"}


@rule("igpu-visible-beside-dgpu", "likely")
def fault_beside_a_processors_chip(
    error: Symptom = seen("gpu-memory-access-fault", *HIP_HAS_NO_CODE, *GGML_HAS_NO_CODE), chip: Symptom = seen("small-chip-named"), card: Gpu = one(vendor="amd", integrated=False),
) -> Verdict:  # fmt: skip
    """A chip that only processors have is named beside a card, and kernels fault."""
    return card.get("vendor") == "amd" and {"device": 0, "said": error.id, "chip": chip.id, "severity": "error"}


@rule("igpu-visible-beside-dgpu", "likely")
def crash_with_both_in_use(
    igpu: Gpu = one(vendor="amd", integrated=True), dgpu: Gpu = one(vendor="amd", integrated=False), _error: Symptom = seen(*CRASHES),
    mask: Variable | None = one(name=("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"), at="shell"),
) -> Verdict:  # fmt: skip
    """The program lists both as its devices, and ends."""
    listed = igpu.knows("runtime_index") and dgpu.knows("runtime_index")
    return listed and mask is None and {"device": dgpu.runtime_index, "severity": "error"}


@rule("igpu-visible-beside-dgpu", "likely")
def chip_of_a_processor_is_looked_up_beside_another(error: Symptom = seen("rocblas-without-arch"), card: Gpu = one(vendor="amd")) -> Verdict:  # fmt: skip
    """Only a list of chips is shown: the one without kernels is one that processors have, and the other is a card's."""
    gfx, isa = str(error.get("gfx")), card.get("isa") or ""
    inner = inside_a_processor(gfx) and bool(isa) and isa != gfx and not inside_a_processor(isa)
    return inner and {"device": card.get("runtime_index", 0), "severity": "error"}


@rule("igpu-visible-beside-dgpu", "likely")
def torch_computes_on_the_processors_graphics(
    said: Symptom = seen("torch-names-integrated-graphics"), card: Gpu = one(vendor="amd", integrated=False), mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:  # fmt: skip
    """Its first device are the processor's graphics, and a card is there."""
    return mask is None and card.get("vendor") == "amd" and {"device": 0, "said": said.id, "severity": "error"}


@rule("igpu-visible-beside-dgpu", "likely")
def the_one_without_a_model_fails(
    error: Symptom = seen("ggml-device-failed"), plain: Gpu = one(vendor="amd", name=PLAIN_NAMES), card: Gpu = one(vendor="amd", integrated=False),
) -> Verdict:  # fmt: skip
    """Beside a card that is listed by its model, graphics without one are the processor's."""
    index = plain.get("runtime_index")
    listed = index is not None and card.get("runtime_index") not in (None, index)
    return listed and str(error.get("index")) == str(index) and {"device": card.runtime_index, "severity": "error"}


@rule("igpu-visible-beside-dgpu", "possible")
def program_crashes_beside_a_processors_graphics(
    error: Symptom = seen("crash-told", "crashes-told", "segmentation-fault"), graphics: Symptom = seen("igpu-named", "small-chip-named"),
    _program: Symptom = seen(*SERVERS), card: Gpu = one(vendor="amd", integrated=False), other: Gpu | None = one(vendor="nvidia"),
    works: Symptom | None = seen("works-told", "ggml-vulkan-named"), mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:  # fmt: skip
    """A server takes every device that HIP lists; a person names both, and it ends."""
    ours = other is None and card.get("vendor") == "amd"
    return ours and works is None and mask is None and {"device": 0, "said": error.id, "named": graphics.id}


@rule("igpu-visible-beside-dgpu", "likely")
def engine_uses_the_processors_graphics_by_sycl(
    weights: Symptom = seen("weights-on-a-sycl-device", "sycl-devices-of-two-platforms"), small: Symptom = seen("sycl-device-inside-a-processor"), _card: Symptom = seen("sycl-device-on-a-card"),
    failed: Symptom = seen("sycl-memory-refused", "sycl-devices-of-two-platforms"),
) -> Verdict:  # fmt: skip
    """Of a card and the graphics beside it the engine took both, and it ends."""
    same = weights.id == "sycl-devices-of-two-platforms" or weights.index == small.index
    return same and {"igpu": small.name, "said": failed.id, "severity": "error"}


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


@rule("igpu-visible-beside-dgpu", "likely")
def interface_computes_on_the_processors_graphics(
    said: Symptom = seen("comfyui-computes-on-graphics"), card: Gpu = one(vendor="amd", integrated=False), mask: Variable | None = one(name=MASKS[:2])
) -> Verdict:  # fmt: skip
    """The first device is the processor's graphics, and a card is there."""
    return mask is None and {"device": 1, "said": said.id, "name": card.get("name")}


@rule("igpu-visible-beside-dgpu", "likely")
def weights_lie_in_the_processors_graphics(
    weights: Symptom = seen("weights-on-a-vulkan-device"), small: Symptom = seen("vulkan-device-of-shared-memory"), _large: Symptom = seen("vulkan-device-of-its-own-memory")
) -> Verdict:  # fmt: skip
    """Of two devices the engine took the one that shares the system's memory."""
    return weights.index == small.index and {"igpu": small.name}


@rule("igpu-visible-beside-dgpu", "likely")
def hangs_until_the_card_alone_is_shown(
    listed: Symptom = seen("graphics-of-a-processor-listed-second"), died: Symptom = seen(*_DIES), mask: Variable = one(name=_MASKS, value="0"),
) -> Verdict:  # fmt: skip
    """torch lists a card and the graphics of a processor, its program ends, and is started anew with the card alone."""
    return inside_a_processor(listed.gfx) and {"device": 0, "severity": "error", "said": died.id, "name": mask.name}


@rule("igpu-visible-beside-dgpu", "likely")
def ends_until_one_of_two_is_shown(
    listed: Symptom = seen("chips-of-two-devices-listed"), died: Symptom = seen(*_DIES), mask: Variable = one(name=_MASKS, value=("0", "1")),
) -> Verdict:  # fmt: skip
    """torch lists a card and the graphics of a processor, in whichever order; its program ends, and is started anew with the card alone."""
    chips = (str(listed.first), str(listed.second))
    number = int(mask.value or 0)
    chosen, other = chips[number], chips[1 - number]
    return (
        inside_a_processor(other)
        and not inside_a_processor(chosen)
        and {"device": number, "severity": "error", "said": died.id, "name": mask.name}
    )


# -- double-visibility-mask
@rule("double-visibility-mask", "likely")
def both_masks_are_printed(said: Symptom = seen("both-masks-printed")) -> Verdict:
    """The second counts what the first has left, from nought."""
    count = len(str(said.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(said.inner).split(",") if part)
    return beyond and {"name": str(said.name) + "_VISIBLE_DEVICES"}


@rule("double-visibility-mask", "likely")
def both_masks_name_the_same_variable(
    outer: Variable = one(name="ROCR_VISIBLE_DEVICES"), inner: Variable = one(name=MASKS[1:]), said: Symptom = seen("torch-no-cuda-gpus", "hip-no-device"),
) -> Verdict:  # fmt: skip
    """`$SLURM_LOCALID` in both: all but the first process see nothing."""
    same = str(outer.value).startswith("$") and outer.value == inner.value
    return same and {"name": inner.name, "said": said.id}


@rule("double-visibility-mask", "likely")
def second_mask_of_a_line_names_what_is_left_out(said: Symptom = seen("two-masks-in-a-line", "two-masks-in-other-order")) -> Verdict:  # fmt: skip
    """The second counts what the first has left, from nought."""
    count = len(str(said.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(said.inner).split(",") if part)
    return beyond and {"name": str(said.name) + "_VISIBLE_DEVICES"}


@rule("double-visibility-mask", "likely")
def process_was_given_both_masks(
    outer: Symptom = seen("masks-in-an-environment"), inner: Symptom = seen("inner-mask-in-an-environment"), said: Symptom = seen(*HIP_FINDS_NONE),
) -> Verdict:  # fmt: skip
    """The environment that a server hands on has both, and what it starts finds no device."""
    count = len(str(outer.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(inner.inner).split(",") if part)
    return beyond and {"name": str(inner.name) + "_VISIBLE_DEVICES", "said": said.id}


@rule("double-visibility-mask", "likely")
def worker_prints_two_masks(
    outer: Symptom = seen("masks-in-an-environment"), inner: Symptom = seen("inner-mask-in-an-environment"), said: Symptom = seen("cuda-invalid-ordinal"),
) -> Verdict:  # fmt: skip
    """What starts the workers set both: the second mask names devices that the first has left out."""
    count = len(str(outer.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(inner.inner).split(",") if part.isdigit())
    return beyond and {"name": f"{inner.name}_VISIBLE_DEVICES", "said": said.id}
