"""A card that is handed through to a guest, and what keeps it from working there."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.device_manager import DEVICE, GUEST, code_of
from rigup.diagnosis.rules.driver import NO_CUDA, NVIDIA, SILENT
from rigup.diagnosis.rules.driver_guest import on_first_bus
from rigup.diagnosis.rules.pasted.heard import (
    AMDGPU_NOT_UP,
    CONTAINERS_TOLD,
    GUESTS_SHOWN,
    GUESTS_SPOKEN_OF,
    NVRM_SAYS_WHY,
    ROCM_FINDS_NONE,
)
from rigup.knowledge.patterns import late
from rigup.machine.kinds import Gpu, PciDevice, Platform, Symptom

_AMD = "1002"
_FELL_OFF = ("xid-79", "gpu-fallen-off")
_WINDOW = 1 << 28  # bytes of a card's window from which on its place is hard to find
_WANTED_BY_PROGRAMS = tuple(one for one in SILENT if not one.startswith("nvidia-smi"))
_LEFT_OUT = ("nvidia-smi-none-in-words", "nvidia-smi-no-devices", "nvidia-smi-no-handle")
_NOT_STARTED_IN_WORDS = ("nvrm-init-adapter-failed", "amdgpu-init-fatal", "nvrm-bar-invalid")
_GUESTS = (
    "passthrough-in-words", "passed-through-in-words", "guest-in-words", "virtual-machine-in-words", "hypervisor-in-words",
    "virsh-in-words", "guest-named-in-words",
)  # fmt: skip
_LOST_IN_WORDS = ("xid-79", "gpu-fallen-off", "nvidia-smi-gpu-lost", "nova-core-in-use", "nvrm-bound-to-nova")
_GIVEN = ("guest-started-with-a-passed-card", "guest-of-proxmox-with-a-card", "guest-of-libvirt-with-a-card")
_NOT_STARTED = (
    "nvrm-init-adapter-failed",
    "nvidia-smi-no-handle",
    "nvidia-smi-no-devices",
    "nvrm-bar-invalid",
    "windows-code-43",
)
_LOST = ("xid-79", "gpu-fallen-off", "nvidia-smi-gpu-lost")
_GUESTS_FILE = late(r"(?:^|[/_.-])(?:vm|guest|domu)(?:[0-9_.-]|$)", re.IGNORECASE)


def _named_after_a_guest(said: Symptom) -> bool:
    """Who keeps two machines' outputs apart names the file after the one: `guest-dmesg.txt`."""
    return bool(_GUESTS_FILE.search(said.fields["id"].where.source.rpartition("/")[2]))


@rule("vm-passthrough-misconfigured", "possible")
def block_of_a_guests_card_does_not_start(
    said: Symptom = seen(*AMDGPU_NOT_UP, "amdgpu-mailbox-unanswered"), told: Symptom = seen(*GUESTS_SPOKEN_OF), wsl: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """The same in a guest."""
    return wsl is None and {"said": said.id, "guest": told.id}


@rule("vm-passthrough-misconfigured", "likely")
def guest_was_given_no_start_code(
    said: Symptom = seen("amdgpu-has-no-start-code", "guest-interrupt-not-derived"), form: Symptom | None = seen("start-code-of-another-form"), told: Symptom | None = seen(*GUESTS_SPOKEN_OF),
    guest: Platform | None = None,
) -> Verdict:  # fmt: skip
    """The card in a guest has no start-up code that the driver can read: mostly a file of it must be handed on."""
    virtual = told is not None or bool(guest and guest.get("hypervisor")) or on_first_bus(said)
    return (virtual or form is not None) and {"said": said.id}


@rule("vm-passthrough-misconfigured", "likely")
def processors_graphics_have_no_start_code(
    said: Symptom = seen("amdgpu-has-no-start-code"), inner: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """A machine's own firmware holds it for them: only a guest is without."""
    return card is None and bool(inner.integrated) and {"said": said.id}


@rule("vm-passthrough-misconfigured", "likely")
def card_is_kept_for_guests(
    card: PciDevice = one(vendor_id=_AMD, driver="vfio-pci"), error: Symptom = seen(*ROCM_FINDS_NONE), other: PciDevice | None = one(vendor_id=_AMD, driver="amdgpu"),
) -> Verdict:  # fmt: skip
    """The host holds it ready for a guest, and a program on the host is to compute on it."""
    return other is None and not inside(error) and {"said": error.id, "address": card.get("address")}


@rule("vm-passthrough-misconfigured", "likely")
def device_stopped_in_a_guest(
    said: Symptom = seen(*DEVICE), guest: Platform | None = None, told: Symptom | None = seen(*GUEST)
) -> Verdict:
    """The card stops itself in a guest."""
    virtual = bool(guest and guest.get("hypervisor") and not guest.get("wsl")) or told is not None
    return code_of(said) == "43" and virtual and {"said": said.id}


@rule("vm-passthrough-misconfigured", "possible")
def device_is_in_error_in_a_guest(
    said: Symptom = seen("card-in-error-in-a-list-of-windows"), guest: Platform | None = None, told: Symptom | None = seen(*GUEST), number: Symptom | None = seen(*DEVICE),
) -> Verdict:  # fmt: skip
    """The same in a list that leaves its number out."""
    virtual = bool(guest and guest.get("hypervisor") and not guest.get("wsl")) or told is not None
    return number is None and virtual and {"said": said.id}


@rule("vm-passthrough-misconfigured", "likely")
def module_finds_the_card_given_to_a_guest(
    _said: Symptom = seen("nvrm-bound-to-vfio"), wanted: Symptom = seen(*NO_CUDA),
    other: PciDevice | None = one(vendor_id=NVIDIA, driver=("nvidia", "nouveau")),
) -> Verdict:  # fmt: skip
    """vfio-pci has the card for a guest, and here a program wants it."""
    return other is None and {"said": wanted.id}


@rule("vm-passthrough-misconfigured", "likely")
def guest_shows_a_card_that_does_not_start(
    _guest: Symptom = seen(*GUESTS_SHOWN), said: Symptom = seen("nvidia-smi-no-handle", "bar-is-unassigned", "windows-code-43", "code-43-of-wmi", "windows-code-12", "pci-bar-no-space", "nvrm-bar-invalid"),
    lost: Symptom | None = seen(*_FELL_OFF),
) -> Verdict:  # fmt: skip
    """A guest's own prompt or description, and in it a card that is found and cannot be used."""
    return lost is None and {"said": said.id}


@rule("vm-passthrough-misconfigured", "likely")
def host_keeps_the_card_and_windows_stops_it(
    card: PciDevice = one(vendor_id="10de", driver="vfio-pci"),
    said: Symptom = seen("windows-code-43", "code-43-of-wmi"),
) -> Verdict:
    """The host gave the card away, and the guest's Windows stopped it."""
    return bool(card.driver) and {"said": said.id}


@rule("vm-passthrough-misconfigured", "likely")
def large_window_is_not_mapped_in_a_guest(
    said: Symptom = seen("bar-is-unassigned"), card: PciDevice = one(vendor_id="10de"), guest: Platform | None = None
) -> Verdict:
    """The card sits where only a hypervisor puts one, or in a guest, and its large window has no address."""
    virtual = bool(guest and guest.get("hypervisor") and not guest.get("wsl"))
    first = str(card.get("address", "")).startswith("0000:00:") or on_first_bus(said)
    return (virtual or first) and {"said": said.id}


@rule("vm-passthrough-misconfigured", "likely")
def host_that_gave_the_card_away_asks_for_its_driver(
    card: PciDevice = one(vendor_id=NVIDIA, driver="vfio-pci"), said: Symptom = seen(*_WANTED_BY_PROGRAMS), other: PciDevice | None = one(vendor_id=NVIDIA, driver=("nvidia", "nouveau")),
) -> Verdict:  # fmt: skip
    """vfio-pci has the card for a guest; on the host a program or a container hook wants NVIDIA's driver. Who only lists cards does not."""
    return bool(card.driver) and other is None and {"said": said.id}


@rule("vm-passthrough-misconfigured", "likely")
def card_on_the_first_bus_gets_no_room(said: Symptom = seen("pci-bar-no-space")) -> Verdict:
    """No slot's card sits on the first bus of all: a hypervisor put it there, and left no room for its window."""
    large = int(said.get("size") or said.get("size2") or "0", 16) >= _WINDOW
    return large and str(said.get("address", "")).startswith("0000:00:")


@rule("vm-passthrough-misconfigured", "possible")
def guest_does_not_start_with_a_device_that_is_not_reset(
    said: Symptom = seen("proxmox-resets-no-device"), _end: Symptom = seen("proxmox-starts-no-guest")
) -> Verdict:
    """The message alone is harmless; here the guest did not start."""
    return {"said": said.id}


@rule("vm-passthrough-misconfigured", "likely")
def guest_gets_no_rom(
    said: Symptom = seen("amdgpu-has-no-bios-rom"), guest: Symptom | None = seen("guest-told-with-its-system", "guest-in-words", "guest-of-proxmox-with-a-card", "guest-of-libvirt-with-a-card", "guest-speaks"),
    platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """A graphics unit of a processor's has no ROM of its own: a guest must be handed one."""
    virtual = bool(platform and platform.get("hypervisor") and not platform.get("wsl"))
    return (virtual or guest is not None) and {"said": said.id}


@rule("vm-passthrough-misconfigured", "likely")
def guest_cannot_use_its_card_as_people_say(
    said: Symptom = seen(*_LEFT_OUT, *_NOT_STARTED_IN_WORDS), guest: Symptom = seen(*_GUESTS),
    lost: Symptom | None = seen(*_LOST_IN_WORDS), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """The driver is loaded and finds no card, or the kernel cannot start it, in a guest that was given one."""
    wsl = platform is not None and platform.get("wsl")
    return lost is None and not wsl and {"said": said.id, "guest": guest.id}


@rule("vm-passthrough-misconfigured", "likely")
def card_does_not_start_in_a_guest_as_people_say(
    said: Symptom = seen("fails-in-a-guest-in-words"), guest: Symptom = seen("passthrough-in-words", "passed-through-in-words", "guest-in-words"),
    lost: Symptom | None = seen(*_LOST_IN_WORDS),
) -> Verdict:  # fmt: skip
    """Nothing but the person's words: the card was passed on and does not work there."""
    return lost is None and {"said": said.id, "guest": guest.id}


@rule("vm-passthrough-misconfigured", "likely")
def windows_refuses_the_card_of_a_guest(
    said: Symptom = seen("code-43-in-words"), guest: Symptom = seen(*_GUESTS), wsl: Platform | None = one(wsl=(1, 2))
) -> Verdict:
    """Device manager's number for a driver that stopped the card: in a guest, mostly one that notices the hypervisor."""
    return wsl is None and {"said": said.id, "guest": guest.id}


@rule("vm-passthrough-misconfigured", "possible")
def passing_on_fails_as_people_say(
    said: Symptom = seen("passthrough-fails-in-words"), guest: Symptom = seen("guest-named-in-words", "guest-in-words", "virtual-machine-in-words", "virsh-in-words"),
    lost: Symptom | None = seen(*_LOST_IN_WORDS), wsl: Platform | None = one(wsl=(1, 2)), engine: Symptom | None = seen(*CONTAINERS_TOLD),
) -> Verdict:  # fmt: skip
    """Only the person's word that the card was to be passed on, and does not work."""
    return lost is None and wsl is None and engine is None and {"said": said.id, "guest": guest.id}


@rule("vm-passthrough-misconfigured", "likely")
def guests_own_output_shows_a_card_that_does_not_start(
    said: Symptom = seen("nvidia-smi-no-handle", "nvrm-init-adapter-failed", "pci-bar-no-space", "nvrm-bar-invalid", "nvidia-smi-no-devices", "nvrm-finds-no-interrupt"), lost: Symptom | None = seen(*_LOST),
) -> Verdict:  # fmt: skip
    """The file is the guest's, and in it the card is found and cannot be used."""
    return lost is None and _named_after_a_guest(said)


@rule("vm-passthrough-misconfigured", "likely")
def guest_was_given_the_card_and_it_does_not_start(
    given: Symptom = seen(*_GIVEN), said: Symptom = seen(*_NOT_STARTED), lost: Symptom | None = seen(*_LOST)
) -> Verdict:
    """The command or file that defines the guest hands the card on; inside, the driver cannot start it."""
    return lost is None and {"said": said.id, "guest": given.id}


@rule("vm-passthrough-misconfigured", "possible")
def card_on_the_first_bus_is_left_out(
    card: PciDevice = one(vendor_id=NVIDIA), _said: Symptom = seen("nvidia-smi-no-devices"), lost: Symptom | None = seen(*_LOST),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """A card in a slot is never on the first bus of all: a hypervisor put it there, and the driver leaves it out."""
    return lost is None and works is None and str(card.get("address", "")).startswith("0000:00:")


@rule("vm-passthrough-misconfigured", "likely")
def guest_has_no_room_for_the_window(
    said: Symptom = seen("pci-bar-no-space"), guest: Platform | None = None, plugged: Symptom | None = seen("pci-slot-powered-on"),
) -> Verdict:  # fmt: skip
    """The kernel of a guest found no room for a large window: its hypervisor gave it too small a range."""
    large = int(said.get("size") or said.get("size2") or "0", 16) >= 1 << 28
    virtual = bool(guest and guest.get("hypervisor") and not guest.get("wsl")) or plugged is not None
    return large and virtual


@rule("vm-passthrough-misconfigured", "likely")
def guest_has_no_interrupt_for_it(
    said: Symptom = seen("nvrm-finds-no-interrupt"), guest: Platform | None = None, told: Symptom | None = seen("hypervisor-detected", "virtualisation-detected"),
) -> Verdict:  # fmt: skip
    """A hypervisor hands interrupts on; this card has none."""
    return (told is not None or bool(guest and guest.get("hypervisor"))) and {"said": said.id}


@rule("vm-passthrough-misconfigured", "likely")
def card_on_the_first_bus_has_no_interrupt(
    said: Symptom = seen("nvrm-finds-no-interrupt"), failed: Symptom = seen("nvidia-probe-failed-at")
) -> Verdict:
    """As above, where the address tells that it is a guest."""
    return on_first_bus(failed) and {"said": said.id}


@rule("vm-passthrough-misconfigured", "possible")
def guest_lists_a_card_and_nvidia_smi_none(
    _none: Symptom = seen("nvidia-smi-no-devices"), card: PciDevice = one(vendor_id=NVIDIA), guest: Platform | None = None, told: Symptom | None = seen("virtualisation-detected", "hypervisor-detected"),
    why: Symptom | None = seen(*NVRM_SAYS_WHY),
) -> Verdict:  # fmt: skip
    """The bus of a guest shows the card, and the driver could not start it."""
    virtual = told is not None or bool(guest and guest.get("hypervisor") and not guest.get("wsl"))
    return virtual and why is None and card.get("driver") in (None, "nvidia") and {"said": "nvidia-smi-no-devices"}
