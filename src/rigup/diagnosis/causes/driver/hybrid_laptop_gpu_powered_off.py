"""A tool has switched the discrete GPU off."""

from rigup.diagnosis.causes.pci import NVIDIA, same_address
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.graphics_switches import graphics_tool
from rigup.machine.kinds import Driver, GraphicsSwitch, KernelModule, PciDevice, Symptom

_SCREENS = ("0300", "0302", "0380")


@rule("hybrid-laptop-gpu-powered-off")
def tool_took_the_card_away(
    switch: GraphicsSwitch = one(mode="integrated"), loaded: KernelModule | None = one(name="nvidia", loaded=True)
) -> Verdict:
    """What switches the graphics is set to the integrated one."""
    return loaded is None and {"tool": switch.tool}


@rule("hybrid-laptop-gpu-powered-off")
def bbswitch_turned_it_off(
    _said: Symptom = seen("bbswitch-off", "bbswitch-card-off"),
    _lost: Symptom = seen("gpu-fallen-off", "xid-79", "gpu-d3cold-inaccessible", tag="nvidia-driver-silent nvidia-finds-none"),
) -> Verdict:
    """The card is gone because bbswitch cut its power."""
    return {"tool": "bbswitch"}


@rule("hybrid-laptop-gpu-powered-off", "likely")
def lost_where_a_tool_switches_it(
    _tool: Symptom = seen("bbswitch-configured", "bumblebee-cannot-access"),
    _lost: Symptom = seen("gpu-fallen-off", "xid-79", "gpu-d3cold-inaccessible"),
) -> Verdict:
    """The card does not answer on a machine where bbswitch takes its power and gives it back."""
    return {"tool": "bbswitch"}


@rule("hybrid-laptop-gpu-powered-off", "possible")
def integrated_as_people_say(
    symptom: Symptom = seen("integrated-mode-in-words"),
    gone: Symptom = seen(tag="driver-told-gone"),
    switch: GraphicsSwitch | None = None,
    card: PciDevice | None = one(vendor_id=NVIDIA),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:
    """A tool was told to use the processor's graphics alone, and the card is not found."""
    return switch is None and card is None and driver is None and {"tool": symptom.get("tool", "").lower(), "gone": gone.id}


@text_rule("hybrid-laptop-gpu-powered-off", "likely")
def card_stays_dark_where_a_tool_switches_it(
    symptom: Symptom = seen("device-stays-in-d3"),
    tool: Symptom = seen(tag="switched-off"),
    card: PciDevice | None = one(vendor_id="10de", class_code=_SCREENS),
) -> Verdict:
    """The kernel cannot wake the card whose power bbswitch takes and gives back."""
    ours = same_address(str(symptom.address), str(card.address)) if card is not None else symptom.driver != "amdgpu"
    return ours and {"tool": "bbswitch", "said": symptom.id, "asked": tool.id}


@mends("hybrid-laptop-gpu-powered-off")
def how_the_tool_gives_it_back(knew: Params, _said: Symptom | None = None) -> Params:
    """The tool as its makers write it, and its command where it has one."""
    tool = graphics_tool(str(knew.get("tool") or ""))
    if tool is None:
        return {}
    power = {tool.by: tool.name} if tool.by else {}
    return {"tool": tool.name, "mode": tool.mode or None, "switch": " ".join(tool.command) or None, **power}
