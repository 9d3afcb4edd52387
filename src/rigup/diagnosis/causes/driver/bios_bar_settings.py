"""The firmware gives the GPU no window large enough into memory."""

from rigup.diagnosis.causes.places import is_virtual
from rigup.diagnosis.rule import Verdict, one, rule, seen, text_rule
from rigup.machine.kinds import Gpu, Platform, Symptom

_LARGE = 1 << 28


@rule("bios-bar-settings", "likely")
def window_of_no_size(symptom: Symptom = seen("nvrm-bar-invalid"), guest: Platform | None = None) -> Verdict:
    """The firmware gave the card no window; in a guest it is the hypervisor's doing."""
    return not is_virtual(guest) and symptom.get("size", "0") == "0"


@rule("bios-bar-settings", "likely")
def no_room_for_the_window(
    symptom: Symptom = seen("pci-bar-no-space"),
    _failed: Symptom = seen("nvrm-init-adapter-failed", "nvidia-smi-no-devices", "amdgpu-init-fatal", tag="nvidia-driver-silent"),
    guest: Platform | None = None,
) -> Verdict:
    """The kernel found no room for a large window, and the driver then failed."""
    size = symptom.get("size") or symptom.get("size2")
    return not is_virtual(guest) and size is not None and int(size, 16) >= _LARGE


@rule("bios-bar-settings", "possible")
def adapter_not_initialised(
    symptom: Symptom = seen("nvrm-init-adapter-failed"),
    guest: Platform | None = None,
    gone: Symptom | None = seen("xid-79", "gpu-fallen-off"),
) -> Verdict:
    """The same code has several reasons; this is one that the log would not show."""
    return symptom.get("code") == "0x22:0x56" and not is_virtual(guest) and gone is None


@rule("bios-bar-settings", "likely")
def board_does_not_start_and_has_no_such_option(
    symptom: Symptom = seen("above-4g-missing-told"),
    sign: Symptom = seen(
        "board-beeps-told",
        "board-does-not-start-with-the-card-told",
        "firmware-not-reached-with-the-card-told",
        "board-does-not-post-with-the-card-told",
        "nvidia-smi-no-devices",
        tag="nvidia-driver-silent",
    ),
) -> Verdict:
    """A card with a large window on a board whose firmware was not let map it."""
    return {"said": symptom.id, "sign": sign.id}


@text_rule("bios-bar-settings", "possible")
def no_room_and_nobody_says_more(
    symptom: Symptom = seen("pci-bar-no-space"),
    guest: Platform | None = None,
    inner: Symptom | None = seen("pci-slot-powered-on", tag="guest-shown"),
    works: Gpu | None = one(seen_by=("nvidia-smi", "torch", "rocminfo")),
) -> Verdict:
    """The kernel found no room for a large window; what came of it is not shown."""
    large = int(symptom.get("size") or symptom.get("size2") or "0", 16) >= 1 << 28
    return large and inner is None and works is None and not (guest and guest.get("hypervisor"))


@text_rule("bios-bar-settings", "possible")
def bridge_has_no_room_and_nobody_says_more(
    symptom: Symptom = seen("bridge-gets-no-large-window"),
    guest: Platform | None = None,
    inner: Symptom | None = seen("pci-slot-powered-on", tag="guest-shown"),
    works: Gpu | None = one(seen_by=("nvidia-smi", "torch", "rocminfo")),
    later: Symptom | None = seen("bridge-got-its-large-window"),
) -> Verdict:
    """The same of the port above the card, for which the kernel tries again; that it went well would stand in the log."""
    large = int(symptom.get("size") or "0", 16) >= 1 << 32  # ports without a card ask for less
    return all(other is None for other in (inner, works, later)) and large and not (guest and guest.get("hypervisor"))
