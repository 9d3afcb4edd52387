"""The processor's own graphics is used beside the card."""

from rigup.diagnosis.causes.card_names import PLAIN_NAMES
from rigup.diagnosis.causes.grounds import ids_in
from rigup.diagnosis.causes.masks import MASKS
from rigup.diagnosis.causes.memory_sizes import GIB, size
from rigup.diagnosis.causes.rocm.who_computes import boxed, who_computes_where
from rigup.diagnosis.causes.rocm_chips import inside_a_processor
from rigup.diagnosis.rule import Every, Params, Verdict, lacks, mends, one, rule, seen, text_rule
from rigup.knowledge.amd_ways import setting
from rigup.knowledge.gpu_words import is_of_laptops
from rigup.language import _
from rigup.machine.kinds import Gpu, Symptom, Toolkit, Torch, Variable

_MASKS = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")


@rule("igpu-visible-beside-dgpu")
def integrated_one_fails(
    error: Symptom = seen("ggml-device-failed"),
    igpu: Gpu = one(integrated=True, vendor="amd"),
    dgpu: Gpu = one(integrated=False, vendor="amd"),
) -> Verdict:
    """The device that failed is the processor's own."""
    return str(error.get("index")) == str(igpu.runtime_index) and {"device": dgpu.get("runtime_index", 0), "severity": "error"}


@rule("igpu-visible-beside-dgpu", strength="likely")
def integrated_one_is_looked_up(error: Symptom = seen("rocblas-without-arch"), dgpu: Gpu = one(integrated=False, vendor="amd")) -> Verdict:
    """The chip without kernels is one that only processors have, and a card is there that is another."""
    gfx = str(error.get("gfx"))
    return inside_a_processor(gfx) and dgpu.isa != gfx and {"device": dgpu.get("runtime_index", 0), "severity": "error"}


@rule("igpu-visible-beside-dgpu", strength="likely")
def integrated_one_is_used(
    buffer: Symptom = seen("ggml-buffer-on-device"),
    igpu: Gpu = one(integrated=True, vendor="amd"),
    dgpu: Gpu = one(integrated=False, vendor="amd"),
) -> Verdict:
    """A part of the work lies on the slow one."""
    return str(buffer.get("index")) == str(igpu.runtime_index) and {"device": dgpu.get("runtime_index", 0)}


@rule("igpu-visible-beside-dgpu", strength="likely")
def both_are_offered(
    _missing: Every[Variable] = lacks(Variable, at="shell", name=MASKS),
    igpu: Gpu = one(integrated=True, vendor="amd"),
    dgpu: Gpu = one(integrated=False, vendor="amd"),
    torch: Torch | None = None,
    rocm: Toolkit | None = one(name="rocm"),
) -> Verdict:
    """Both are nodes of the kernel's compute driver, and ROCm is in use."""
    used = rocm is not None or bool(torch and torch.get("hip"))
    return (
        used
        and igpu.kfd_node is not None
        and dgpu.kfd_node is not None
        and {"device": max(dgpu.kfd_node - 1, 0) if dgpu.kfd_node < igpu.kfd_node else 1}
    )


@text_rule("igpu-visible-beside-dgpu", "likely")
def server_computes_on_both(
    igpu: Gpu = one(vendor="amd", integrated=True),
    dgpu: Gpu = one(vendor="amd", integrated=False),
    listed: Symptom = seen("ollama-computes-on-rocm"),
    mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:
    """ollama's own list of what it computes on has the processor's graphics too."""
    both = igpu.knows("shown_isa") and dgpu.knows("shown_isa") and listed.get("gfx") == igpu.shown_isa
    return both and mask is None and {"device": 0 if dgpu.get("runtime_index") is None else dgpu.runtime_index}


@text_rule("igpu-visible-beside-dgpu", "likely")
def work_lies_on_graphics_behind_another_card(
    buffer: Symptom = seen("ggml-buffer-on-device"),
    igpu: Gpu = one(vendor="amd", integrated=True),
    mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:
    """The kernel counts the processor as its first node: graphics that come third have a card before them, and a model's part lies on them."""
    behind = igpu.get("kfd_node") is not None and str(igpu.kfd_node - 1) == str(buffer.get("index"))
    return behind and mask is None and {"device": 0, "said": buffer.id}


@text_rule("igpu-visible-beside-dgpu", "likely")
def chip_of_a_processor_is_looked_up_beside_another(
    error: Symptom = seen("rocblas-without-arch"), card: Gpu = one(vendor="amd")
) -> Verdict:
    """Only a list of chips is shown: the one without kernels is one that processors have, and the other is a card's."""
    gfx, isa = str(error.get("gfx")), card.get("isa") or ""
    inner = inside_a_processor(gfx) and bool(isa) and isa != gfx and not inside_a_processor(isa)
    return inner and {"device": card.get("runtime_index", 0), "severity": "error"}


@text_rule("igpu-visible-beside-dgpu", "likely")
def the_one_without_a_model_fails(
    error: Symptom = seen("ggml-device-failed"),
    plain: Gpu = one(vendor="amd", name=PLAIN_NAMES),
    card: Gpu = one(vendor="amd", integrated=False),
) -> Verdict:
    """Beside a card that is listed by its model, graphics without one are the processor's."""
    index = plain.get("runtime_index")
    listed = index is not None and card.get("runtime_index") not in (None, index)
    return listed and str(error.get("index")) == str(index) and {"device": card.runtime_index, "severity": "error"}


@text_rule("igpu-visible-beside-dgpu", "likely")
def small_one_of_two_is_full(
    symptom: Symptom = seen("torch-out-of-memory-total"),
    card: Gpu = one(vendor="amd", integrated=False),
    mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:
    """What is full has the total of a processor's graphics, and a card is there that has much more."""
    total = size(symptom.get("total")) or 0.0
    return mask is None and 0 < total <= 2 * GIB and {"device": card.get("runtime_index") or 0, "severity": "error", "said": symptom.id}


@text_rule("igpu-visible-beside-dgpu", "likely")
def ends_until_one_of_two_is_shown(
    listed: Symptom = seen("chips-of-two-devices-listed"),
    died: Symptom = seen(tag="masked-device-dies"),
    mask: Variable = one(name=_MASKS, value=("0", "1")),
) -> Verdict:
    """torch lists a card and the graphics of a processor, in whichever order; its program ends, and is started anew with the card alone."""
    chips = (str(listed.first), str(listed.second))
    number = int(mask.value or 0)
    chosen, other = chips[number], chips[1 - number]
    return (
        inside_a_processor(other)
        and not inside_a_processor(chosen)
        and {"device": number, "severity": "error", "said": died.id, "name": mask.name}
    )


mends("igpu-visible-beside-dgpu")(who_computes_where)


def _first_is_the_processors(knew: Params, took: Symptom | None) -> bool:
    """Whether a message names the processor's graphics as the first device: the card comes after them."""
    listed = knew.get("listed")
    if took is not None and took.id in ids_in(knew):
        return str(took.get("index") or "0") == "0"
    return isinstance(listed, Symptom) and listed.get("index") == "0"


@mends("igpu-visible-beside-dgpu")
def mask_of_that_runtime(
    knew: Params,
    sycl: Symptom | None = seen("sycl-device-on-a-card"),
    vulkan: Symptom | None = seen("vulkan-device-of-its-own-memory"),
    way: Symptom | None = seen("weights-on-a-vulkan-device"),
    took: Symptom | None = seen(tag="takes-integrated-graphics"),
    card: Gpu | None = one(integrated=False),
) -> Params:
    """Each runtime counts for itself, and reads a variable of its own."""
    laptop = card is not None and is_of_laptops(str(card.get("name") or ""))  # its screen hangs on them
    off = {} if laptop else {"off": _("switch off the processor's graphics")}
    if sycl is not None:
        mask = setting("mask-of-sycl")
        return {"alone": mask.name, "device": f"{mask.value}{sycl.get('index')}", **off}
    if way is not None and vulkan is not None:
        return {"alone": setting("mask-of-vulkan").name, "device": vulkan.get("index"), **off}
    mask = setting("mask-on-windows" if knew.get("system") == "windows" else "mask-on-linux")
    device = knew.get("device") or (1 if _first_is_the_processors(knew, took) else 0)
    served = knew.get("program") == "ollama" and knew.get("system") == "linux" and not boxed(knew)
    unit = {"service": "ollama", "name": mask.name} if served else {"alone": mask.name}
    return {**unit, "device": device, **off}
