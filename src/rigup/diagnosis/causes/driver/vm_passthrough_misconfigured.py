"""The GPU that was passed to this virtual machine cannot be used there."""

import re

from rigup.diagnosis.causes.device_manager import code_of
from rigup.diagnosis.causes.pci import NVIDIA, on_first_bus
from rigup.diagnosis.causes.places import is_virtual
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Gpu, PciDevice, Platform, Symptom

_GUESTS_FILE = lazy_regex(r"(?:^|[/_.-])(?:vm|guest|domu)(?:[0-9_.-]|$)", re.IGNORECASE)


@rule("vm-passthrough-misconfigured", "likely")
def guest_cannot_take_the_card(
    symptom: Symptom = seen("nvidia-smi-no-handle", "nvrm-bar-invalid"),
    _room: Symptom | None = seen("pci-bar-no-space"),
    guest: Platform | None = None,
    lost: Symptom | None = seen("xid-79", "gpu-fallen-off", "nvidia-smi-gpu-lost"),
) -> Verdict:
    """In a guest the driver finds the card and cannot use it."""
    return (is_virtual(guest) or on_first_bus(symptom)) and lost is None


@rule("vm-passthrough-misconfigured", "possible")
def guest_cannot_start_the_card(
    symptom: Symptom = seen("nvrm-init-adapter-failed", "amdgpu-init-fatal"),
    guest: Platform | None = None,
    lost: Symptom | None = seen("xid-79", "gpu-fallen-off", "nvidia-smi-gpu-lost"),
) -> Verdict:
    """As above; a fault of the card itself would look the same."""
    return (is_virtual(guest) or on_first_bus(symptom)) and lost is None


@rule("vm-passthrough-misconfigured", "possible")
def card_was_given_away_and_is_not_found(
    card: PciDevice = one(vendor_id=NVIDIA, driver=("vfio-pci", "pciback", "xen-pciback")),
    _said: Symptom = seen("nvidia-smi-no-devices", "nvidia-smi-no-handle"),
) -> Verdict:
    """The host keeps the card for a guest, and nvidia-smi, which must be the guest's, finds none."""
    return bool(card.driver)


@mends("vm-passthrough-misconfigured")
def whose_card_is_passed(
    knew: Params,
    platform: Platform | None = None,
    stopped: Symptom | None = seen(tag="device-manager-code"),
    amd: Gpu | None = one(vendor="amd"),
) -> Params:
    """Only under Windows did NVIDIA's older drivers refuse cards in a guest."""
    windows = platform is not None and platform.get("system") == "windows"
    refused = windows or (stopped is not None and code_of(stopped) == "43")
    elsewhere = knew.get("isolated") or knew.get("unreset")  # what is to be mended is the host's own, and no guest's
    return {"part": None if elsewhere else "functions", **({"maker": "NVIDIA"} if refused and amd is None else {})}


@mends("vm-passthrough-misconfigured")
def window_of_the_guest(
    short: Symptom | None = seen("pci-bar-no-space", "nvrm-bar-invalid"),
    numbered: Symptom | None = seen("proxmox-guest-numbered"),
    board: Symptom | None = seen("guest-board-shown"),
    libvirt: Symptom | None = seen("guest-of-libvirt-with-a-card"),
    esxi: Symptom | None = seen("guest-of-esxi-with-a-window", "guest-of-esxi-named"),
) -> Params:
    """Room for the card's memory is given at the host, in its own way; another firmware keeps a guest that is there from starting."""
    if short is None:
        return {}
    bar = {"bar": f"BAR {short.bar}"} if short.get("bar") else {}
    if numbered is not None and board is not None:
        vm = numbered.guest
        host = "q35" if "q35" in str(board.get("board")).lower() else "i440FX"  # which QEMU takes where nobody names one
        return {**bar, **({"vm": vm, "legacy": vm, "board": host} if board.get("seabios") else {"uefi": vm})}
    return {**bar, "libvirt": "controller" if libvirt is not None else None, "esxi": "parameters" if esxi is not None else None}


def named_after_a_guest(symptom: Symptom) -> bool:
    """Who keeps two machines' outputs apart names the file after the one: `guest-dmesg.txt`."""
    return bool(_GUESTS_FILE.search(symptom.fields["id"].where.source.rpartition("/")[2]))
