"""Integrated graphics beside a card, and masks that hide one behind the other."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.memory import GIB, size
from rigup.diagnosis.rules.pasted.reckoned import PLAIN_NAMES
from rigup.diagnosis.rules.rocm import MASKS, inside_a_processor
from rigup.machine.kinds import Gpu, Symptom, Variable

_MASKS = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")


@rule("igpu-visible-beside-dgpu", "likely")
def server_computes_on_both(
    igpu: Gpu = one(vendor="amd", integrated=True), dgpu: Gpu = one(vendor="amd", integrated=False), listed: Symptom = seen("ollama-computes-on-rocm"),
    mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:  # fmt: skip
    """ollama's own list of what it computes on has the processor's graphics too."""
    both = igpu.knows("shown_isa") and dgpu.knows("shown_isa") and listed.get("gfx") == igpu.shown_isa
    return both and mask is None and {"device": 0 if dgpu.get("runtime_index") is None else dgpu.runtime_index}


@rule("igpu-visible-beside-dgpu", "likely")
def work_lies_on_graphics_behind_another_card(
    buffer: Symptom = seen("ggml-buffer-on-device"), igpu: Gpu = one(vendor="amd", integrated=True), mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:  # fmt: skip
    """The kernel counts the processor as its first node: graphics that come third have a card before them, and a model's part lies on them."""
    behind = igpu.get("kfd_node") is not None and str(igpu.kfd_node - 1) == str(buffer.get("index"))
    return behind and mask is None and {"device": 0, "said": buffer.id}


@rule("igpu-visible-beside-dgpu", "likely")
def chip_of_a_processor_is_looked_up_beside_another(error: Symptom = seen("rocblas-without-arch"), card: Gpu = one(vendor="amd")) -> Verdict:  # fmt: skip
    """Only a list of chips is shown: the one without kernels is one that processors have, and the other is a card's."""
    gfx, isa = str(error.get("gfx")), card.get("isa") or ""
    inner = inside_a_processor(gfx) and bool(isa) and isa != gfx and not inside_a_processor(isa)
    return inner and {"device": card.get("runtime_index", 0), "severity": "error"}


@rule("igpu-visible-beside-dgpu", "likely")
def the_one_without_a_model_fails(
    error: Symptom = seen("ggml-device-failed"), plain: Gpu = one(vendor="amd", name=PLAIN_NAMES), card: Gpu = one(vendor="amd", integrated=False),
) -> Verdict:  # fmt: skip
    """Beside a card that is listed by its model, graphics without one are the processor's."""
    index = plain.get("runtime_index")
    listed = index is not None and card.get("runtime_index") not in (None, index)
    return listed and str(error.get("index")) == str(index) and {"device": card.runtime_index, "severity": "error"}


@rule("igpu-visible-beside-dgpu", "likely")
def small_one_of_two_is_full(
    symptom: Symptom = seen("torch-out-of-memory-total"), card: Gpu = one(vendor="amd", integrated=False), mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:  # fmt: skip
    """What is full has the total of a processor's graphics, and a card is there that has much more."""
    total = size(symptom.get("total")) or 0.0
    return (
        mask is None
        and 0 < total <= 2 * GIB
        and {"device": card.get("runtime_index") or 0, "severity": "error", "said": symptom.id}
    )


@rule("igpu-visible-beside-dgpu", "likely")
def ends_until_one_of_two_is_shown(
    listed: Symptom = seen("chips-of-two-devices-listed"), died: Symptom = seen(tag="masked-device-dies"), mask: Variable = one(name=_MASKS, value=("0", "1")),
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


@rule("double-visibility-mask", "likely")
def both_masks_are_printed(symptom: Symptom = seen("both-masks-printed")) -> Verdict:
    """The second counts what the first has left, from nought."""
    count = len(str(symptom.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(symptom.inner).split(",") if part)
    return beyond and {"name": str(symptom.name) + "_VISIBLE_DEVICES"}


@rule("double-visibility-mask", "likely")
def second_mask_of_a_line_names_what_is_left_out(symptom: Symptom = seen("two-masks-in-a-line", "two-masks-in-other-order")) -> Verdict:  # fmt: skip
    """The second counts what the first has left, from nought."""
    count = len(str(symptom.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(symptom.inner).split(",") if part)
    return beyond and {"name": str(symptom.name) + "_VISIBLE_DEVICES"}


@rule("double-visibility-mask", "likely")
def process_was_given_both_masks(
    outer: Symptom = seen("masks-in-an-environment"), inner: Symptom = seen("inner-mask-in-an-environment"), symptom: Symptom = seen(tag="hip-finds-none"),
) -> Verdict:  # fmt: skip
    """The environment that a server hands on has both, and what it starts finds no device."""
    count = len(str(outer.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(inner.inner).split(",") if part)
    return beyond and {"name": str(inner.name) + "_VISIBLE_DEVICES", "said": symptom.id}


@rule("double-visibility-mask", "likely")
def worker_prints_two_masks(
    outer: Symptom = seen("masks-in-an-environment"), inner: Symptom = seen("inner-mask-in-an-environment"), symptom: Symptom = seen("cuda-invalid-ordinal"),
) -> Verdict:  # fmt: skip
    """What starts the workers set both: the second mask names devices that the first has left out."""
    count = len(str(outer.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(inner.inner).split(",") if part.isdigit())
    return beyond and {"name": f"{inner.name}_VISIBLE_DEVICES", "said": symptom.id}
