"""A GPU no longer answers on the bus."""

from rigup.diagnosis.causes.hardware.board_modules import who_exchanges_a_module
from rigup.diagnosis.causes.pci import on_first_bus
from rigup.diagnosis.rule import Params, Verdict, mends, rule, seen
from rigup.knowledge.pcie import generation_of
from rigup.language import _
from rigup.machine.kinds import GraphicsSwitch, Platform, Symptom

_LEAST = 3  # the generation that slots, risers and cables of all makers carry


@rule("gpu-fell-off-bus")
def driver_calls_it_lost(
    symptom: Symptom = seen("nvidia-smi-gpu-lost", "nvml-gpu-lost-constant"),
    gsp: Symptom | None = seen("xid-119", "gsp-rpc-timeout", "gsp-silent"),
    unmapped: Symptom | None = seen("pci-bar-no-space", "nvrm-bar-invalid"),
) -> Verdict:
    """Off the bus or out of reach in another way: a log of the card's own processor, or of its windows, tells which."""
    return gsp is None and unmapped is None and symptom.knows("id")


@rule("gpu-fell-off-bus", "possible")
def tool_gets_no_handle(
    symptom: Symptom = seen("nvidia-smi-no-handle"),
    platform: Platform | None = None,
    known: Symptom | None = seen("xid-119", "gsp-rpc-timeout", "gsp-silent", tag="gpu-lost"),
) -> Verdict:
    """On a machine of its own, a card without a handle has mostly left the bus."""
    elsewhere = (platform and (platform.get("hypervisor") or platform.get("wsl"))) or on_first_bus(symptom)
    return "Unknown Error" in symptom.get("why", "") and not elsewhere and known is None


@rule("gpu-fell-off-bus", "likely")
def card_has_no_handle_after_work_on_it_died(
    symptom: Symptom = seen("nvidia-smi-no-handle"),
    _died: Symptom = seen("kernel-launch-failed"),
    known: Symptom | None = seen("xid-119", "gsp-rpc-timeout", "gsp-silent", tag="gpu-lost"),
) -> Verdict:
    """It computed before, in whatever machine: what hands a card to a guest is not at fault."""
    return "Unknown Error" in symptom.get("why", "") and known is None


@rule("gpu-fell-off-bus", "likely")
def card_reads_all_ones(
    _said: Symptom = seen("lspci-card-silent"),
    _wish: Symptom = seen("nvidia-smi-no-devices", "nvidia-smi-no-handle", tag="nvidia-driver-silent mig-finds-none"),
) -> Verdict:
    """lspci reads 0xff from the card's registers, and the driver does not find it."""
    return True


@rule("gpu-fell-off-bus", "possible")
def card_reads_all_ones_and_nobody_says_more(
    symptom: Symptom = seen("lspci-card-silent"),
    off: Symptom | None = seen("bbswitch-off", "bbswitch-card-off", tag="gpu-lost"),
    switch: GraphicsSwitch | None = None,
) -> Verdict:
    """As above, and that is all; a laptop's card reads so whenever it is switched off."""
    mobile = any(word in symptom.get("name", "") for word in ("Mobile", "M]", "Laptop", "MX", "Max-Q"))
    return off is None and switch is None and not mobile and "NVIDIA" in symptom.get("name", "")


@mends("gpu-fell-off-bus")
def what_carries_the_link(
    dropped: Symptom | None = seen("link-drops-packets"),
    riser: Symptom | None = seen("riser-in-words"),
    stays: Symptom | None = seen("fault-stays-with-the-slot-told"),
    link: Symptom | None = seen("link-speed-shown"),
) -> Params:
    """Packets that are lost on the way, or a fault that stays where the card was, speak of slot and riser; a lower speed forgives both."""
    if dropped is None and stays is None:
        return {}
    made_for = riser.get("generation") if riser is not None else None
    now = generation_of(float(link.speed)) if link is not None else None
    lower = str(max(now - 1, _LEAST)) if now else str(_LEAST)
    return {
        "generation": made_for or lower,
        "riser": "riser" if riser is not None else None,
        "slot": "slot" if riser is None and stays is not None else None,
        "link": _("slot") if riser is None else _("riser"),
    }


@mends("gpu-fell-off-bus")
def what_carries_the_power(
    shared: Symptom | None = seen("plugs-share-one-cable-told"), drawn: Symptom | None = seen("draw-by-dmon")
) -> Params:
    """Two plugs on one cable give way at the peaks of a card that draws much; seven tenths of what it drew is a trial."""
    watts = int(drawn.watts) * 7 // 100 * 10 if drawn is not None else None
    return {"cables": "separate" if shared is not None else None, "watts": str(watts) if watts else None}


mends("gpu-fell-off-bus")(who_exchanges_a_module)
