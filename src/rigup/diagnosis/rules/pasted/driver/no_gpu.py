"""No card in the machine, one that is switched off, or one that the firmware gave no room."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.reckoned import same_address
from rigup.machine.kinds import Gpu, PciDevice, Platform, Symptom, Torch

_SCREENS = ("0300", "0302", "0380")


def is_more_known(torch: Torch | None) -> bool:
    """Whether more is known of torch than that it finds nothing."""
    return bool(torch and (torch.get("available") or torch.get("cuda") or torch.get("hip") or torch.knows("version")))


@rule("no-gpu-present", "likely")
def cuda_is_wanted_of_a_mac(
    symptom: Symptom = seen("torch-not-compiled-with-cuda", "torch-not-linked-with-cuda"), mac: Symptom | None = seen(tag="macs"), platform: Platform | None = None,
    card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """No build for Macs has CUDA: the program asks for the wrong device, which is no fault of the machine."""
    system = platform.get("system") if platform else "macos" if mac else None
    return system == "macos" and card is None and {"said": symptom.id}


@rule("hybrid-laptop-gpu-powered-off", "likely")
def card_stays_dark_where_a_tool_switches_it(
    symptom: Symptom = seen("device-stays-in-d3"), tool: Symptom = seen(tag="switched-off"), card: PciDevice | None = one(vendor_id="10de", class_code=_SCREENS),
) -> Verdict:  # fmt: skip
    """The kernel cannot wake the card whose power bbswitch takes and gives back."""
    ours = same_address(str(symptom.address), str(card.address)) if card is not None else symptom.driver != "amdgpu"
    return ours and {"tool": "bbswitch", "said": symptom.id, "asked": tool.id}


@rule("bios-bar-settings", "possible")
def no_room_and_nobody_says_more(
    symptom: Symptom = seen("pci-bar-no-space"), guest: Platform | None = None, inner: Symptom | None = seen("pci-slot-powered-on", tag="guest-shown"),
    works: Gpu | None = one(seen_by=("nvidia-smi", "torch", "rocminfo")),
) -> Verdict:  # fmt: skip
    """The kernel found no room for a large window; what came of it is not shown."""
    large = int(symptom.get("size") or symptom.get("size2") or "0", 16) >= 1 << 28
    return large and inner is None and works is None and not (guest and guest.get("hypervisor"))


@rule("bios-bar-settings", "possible")
def bridge_has_no_room_and_nobody_says_more(
    symptom: Symptom = seen("bridge-gets-no-large-window"), guest: Platform | None = None, inner: Symptom | None = seen("pci-slot-powered-on", tag="guest-shown"),
    works: Gpu | None = one(seen_by=("nvidia-smi", "torch", "rocminfo")), later: Symptom | None = seen("bridge-got-its-large-window"),
) -> Verdict:  # fmt: skip
    """The same of the port above the card, for which the kernel tries again; that it went well would stand in the log."""
    large = int(symptom.get("size") or "0", 16) >= 1 << 32  # ports without a card ask for less
    return all(other is None for other in (inner, works, later)) and large and not (guest and guest.get("hypervisor"))
