"""What mends devices that a program should not see, and overrides that are meant for one card of several."""

from rigup.diagnosis.fixes.amd_told import boxed, ids_in
from rigup.diagnosis.rule import Every, Params, every, mends, one, seen, wordings
from rigup.diagnosis.rules.rocm import OVERRIDE, helps
from rigup.knowledge.amd_ways import setting
from rigup.knowledge.chips import gfx_base, gfx_of_decimal
from rigup.knowledge.rocm import override_for
from rigup.language import _
from rigup.machine.kinds import Gpu, Symptom, Variable

_TOOK = wordings(tag="takes-integrated-graphics")


@mends("igpu-visible-beside-dgpu")
def mask_of_that_runtime(
    knew: Params, sycl: Symptom | None = seen("sycl-device-on-a-card"), vulkan: Symptom | None = seen("vulkan-device-of-its-own-memory"),
    way: Symptom | None = seen("weights-on-a-vulkan-device"), took: Symptom | None = seen(tag="takes-integrated-graphics"),
) -> Params:  # fmt: skip
    """Each runtime counts for itself, and reads a variable of its own."""
    off = {"off": _("switch off the processor's graphics")}
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


def _first_is_the_processors(knew: Params, took: Symptom | None) -> bool:
    """Whether a message names the processor's graphics as the first device: the card comes after them."""
    listed = knew.get("listed")
    if took is not None and took.id in ids_in(knew):
        return str(took.get("index") or "0") == "0"
    return isinstance(listed, Symptom) and listed.get("index") == "0"


@mends("mixed-gfx-single-override")
def override_by_node(
    override: Variable | None = one(name=OVERRIDE), statement: Symptom | None = seen("override-value-told"), cards: Every[Gpu] = every(Gpu, vendor="amd")
) -> Params:  # fmt: skip
    """For the card that needs one, by its node; where none does, without. The runtime counts the processor's nodes first."""
    value = str((override.get("value") if override else None) or (statement.get("value") if statement else None) or "")
    needy = [card for card in cards if _needs(str(card.get("isa") or ""), value)]
    known = bool(cards) and all(card.get("isa") for card in cards)
    if known and not needy:
        return {"plain": OVERRIDE, "none": OVERRIDE}
    if not needy:
        return {"plain": OVERRIDE, "value": value or None, "unnumbered": OVERRIDE}
    row = override_for(str(needy[0].get("isa")))
    right = value if helps(str(needy[0].get("isa")), value) else row and row.value
    node = needy[0].get("kfd_node")
    return {"plain": OVERRIDE, "value": right, "name": f"{OVERRIDE}_{node}" if node is not None else None, "unnumbered": None if node is not None else OVERRIDE}  # fmt: skip


def _needs(isa: str, value: str) -> bool:
    return bool(isa) and override_for(isa) is not None and gfx_of_decimal(value) != gfx_base(isa)
