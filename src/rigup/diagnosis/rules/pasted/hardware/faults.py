"""Cards that fell off the bus, do not start or lose bits."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.device_manager import DEVICE, GUEST, LAPTOP, NVIDIA_NAMED, code_of
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.diagnosis.rules.driver_guest import on_first_bus
from rigup.diagnosis.rules.pasted.heard import (
    AMDGPU_LACKS_FIRMWARE,
    AMDGPU_NOT_BACK,
    AMDGPU_NOT_UP,
    AMDGPU_SCHEDULER_SILENT,
    CUDA_UNKNOWN,
    GUESTS_SPOKEN_OF,
    SWITCHED_OFF,
)
from rigup.diagnosis.rules.pasted.reckoned import same_address
from rigup.diagnosis.rules.told import LISTS_WITHOUT
from rigup.machine.kinds import Gpu, GraphicsSwitch, PciDevice, Platform, Symptom

_OTHER = ("envycontrol-switched", "switched-to-integrated", "prime-select-says-intel", "graphics-mode-is-integrated")
_GSP = ("xid-119", "gsp-rpc-timeout", "gsp-silent")
_SCREENS = ("0300", "0302", "0380")


# -- gpu-fell-off-bus
@rule("gpu-fell-off-bus", "likely")
def radeons_slot_loses_its_link(
    said: Symptom = seen("slot-lost-its-link"), _left: Symptom = seen("amdgpu-leaves-the-device", "amdgpu-ring-timeout", "amdgpu-lost-from-bus", *AMDGPU_NOT_BACK),
) -> Verdict:  # fmt: skip
    """The port tells that the card is gone, and amdgpu feels it."""
    return {"said": said.id}


@rule("gpu-fell-off-bus", "likely")
def radeons_other_function_is_not_reached(
    said: Symptom = seen("card-function-inaccessible"), _felt: Symptom = seen("amdgpu-leaves-the-device", "amdgpu-ring-timeout", "amdgpu-pictures-wait-in-vain", *AMDGPU_NOT_BACK),
) -> Verdict:  # fmt: skip
    """The bus reaches no register of the card's sound, and amdgpu none of its own."""
    return {"said": said.id}


@rule("gpu-fell-off-bus", "likely")
def radeon_reads_all_ones(
    said: Symptom = seen("lspci-card-silent"), _felt: Symptom = seen("amdgpu-leaves-the-device", "amdgpu-ring-timeout", "hsa-out-of-resources", "hip-no-device", *AMDGPU_NOT_BACK),
) -> Verdict:  # fmt: skip
    """lspci reads nothing but ones from the card."""
    return any(word in said.get("name", "") for word in ("Radeon", "AMD", "Instinct")) and {"said": said.id}


@rule("gpu-fell-off-bus", "possible")
def bus_error_and_a_crash_dump(
    _bus: Symptom = seen("pci-fatal-error"), _dump: Symptom = seen("nvrm-crash-dump")
) -> Verdict:
    """The bus reports a fatal error of the card, and the driver writes a dump of it."""
    return True


@rule("gpu-fell-off-bus", "possible")
def node_gives_fewer_than_it_has(said: Symptom = seen("node-hands-out-fewer-cards-than-it-has")) -> Verdict:
    """What the device plugin found ill it no longer hands out."""
    return 0 < int(said.gives) < int(said.has)


@rule("gpu-fell-off-bus", "possible")
def device_is_not_connected(
    said: Symptom = seen(*DEVICE), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*NVIDIA_NAMED), laptop: Symptom | None = seen(*LAPTOP)
) -> Verdict:  # fmt: skip
    """Windows knows it from before, and it does not answer."""
    return code_of(said) == "45" and laptop is None and bool(card or named) and {"said": said.id}


@rule("gpu-fell-off-bus", "likely")
def binding_calls_it_lost(
    said: Symptom = seen("nvml-gpu-lost-in-a-binding"), gsp: Symptom | None = seen(*_GSP), unmapped: Symptom | None = seen("pci-bar-no-space", "nvrm-bar-invalid"),
) -> Verdict:  # fmt: skip
    """The library's own answer, by the name that a binding gives it."""
    return gsp is None and unmapped is None and {"said": said.id}


@rule("gpu-fell-off-bus", "likely")
def counted_card_is_there_no_longer(
    counted: Symptom = seen("program-counted-cuda-devices"), gone: Symptom = seen("nvapi-finds-no-device"), said: Symptom = seen(*NO_CUDA),
) -> Verdict:  # fmt: skip
    """CUDA counted it at the start, and then neither CUDA nor the display's library knows of one."""
    return {"counted": counted.id, "gone": gone.id, "said": said.id}


@rule("gpu-fell-off-bus", "likely")
def card_stays_in_d3(
    said: Symptom = seen("device-stays-in-d3"), dark: Symptom | None = seen(*SWITCHED_OFF, *_OTHER), switch: GraphicsSwitch | None = None,
    card: PciDevice | None = one(vendor_id=("10de", "1002"), class_code=_SCREENS),
) -> Verdict:  # fmt: skip
    """It does not come back from its sleep, and nothing is there that would have sent it to sleep for good."""
    ours = said.driver != "pci" or (card is not None and same_address(str(said.address), str(card.address)))
    return dark is None and switch is None and ours and {"said": said.id}


@rule("gpu-fell-off-bus", "likely")
def link_went_down_under_the_driver(
    _down: Symptom = seen("link-went-down-by-surprise"),
    said: Symptom = seen("port-finds-no-recovery-in-nvidia", "nvrm-card-removed-in-use", *CUDA_UNKNOWN, *SILENT),
) -> Verdict:
    """The port lost its link, and what lay behind it was NVIDIA's, or CUDA failed with it."""
    return {"said": said.id}


@rule("gpu-fell-off-bus", "likely")
def card_wants_a_reset(
    said: Symptom = seen("card-wants-a-reset"), firmware: Symptom | None = seen("xid-119", "xid-119-cut", "gsp-silent")
) -> Verdict:
    """Every call to the card is turned down until it is reset; where its firmware's silence came before, that is the cause."""
    return firmware is None and {"said": said.id}


@rule("gpu-fell-off-bus", "likely")
def slot_lost_the_card_in_use(
    _gone: Symptom = seen("slot-lost-its-link"), said: Symptom = seen("nvrm-card-removed-in-use"), off: Symptom | None = seen("bbswitch-off", "bbswitch-card-off", "envycontrol-switched", *LISTS_WITHOUT),
) -> Verdict:  # fmt: skip
    """The port tells that its link went down, and the driver was using the card."""
    return off is None and {"said": said.id}


# -- gpu-hardware-init-failure
@rule("gpu-hardware-init-failure", "possible")
def block_of_the_card_does_not_start(
    said: Symptom = seen(*AMDGPU_NOT_UP), file: Symptom | None = seen("amdgpu-firmware-file-missing", *AMDGPU_LACKS_FIRMWARE), guest: Platform | None = None, told: Symptom | None = seen(*GUESTS_SPOKEN_OF),
    served: Symptom | None = seen("kfd-added-device"),
) -> Verdict:  # fmt: skip
    """One of the card's own processors does not come up, and its files are there."""
    virtual = told is not None or bool(guest and guest.get("hypervisor"))
    return file is None and served is None and not virtual and {"said": said.id}


@rule("gpu-hardware-init-failure", "possible")
def block_of_the_card_does_not_come_back(
    said: Symptom = seen(*AMDGPU_NOT_BACK), scheduler: Symptom | None = seen(*AMDGPU_SCHEDULER_SILENT), guest: Platform | None = None, told: Symptom | None = seen(*GUESTS_SPOKEN_OF),
    new: Symptom | None = seen("firmware-upgrade-logged"),
) -> Verdict:  # fmt: skip
    """After a reset or a sleep; the log does not show that its scheduler's firmware is why."""
    virtual = told is not None or bool(guest and guest.get("hypervisor"))
    return scheduler is None and new is None and not virtual and {"said": said.id}


@rule("gpu-hardware-init-failure", "possible")
def card_hangs_and_loses_its_memory(
    said: Symptom = seen("amdgpu-ring-timeout"), lost: Symptom = seen("amdgpu-memory-lost-by-reset"), scheduler: Symptom | None = seen(*AMDGPU_SCHEDULER_SILENT),
    other: Symptom | None = seen(*AMDGPU_NOT_BACK, "firmware-upgrade-logged", "firmware-package-shown", "mes-version-told", "amd-firmware-version"),
    told: Symptom | None = seen(*GUESTS_SPOKEN_OF), back: Symptom | None = seen("amdgpu-came-back"),
) -> Verdict:  # fmt: skip
    """It must be reset as a whole; a program alone seldom brings that about."""
    return scheduler is None and other is None and told is None and back is None and {"said": said.id, "lost": lost.id}


@rule("gpu-hardware-init-failure", "possible")
def card_takes_itself_for_a_guests_part(
    said: Symptom = seen("amdgpu-mailbox-unanswered"), guest: Platform | None = None, told: Symptom | None = seen(*GUESTS_SPOKEN_OF)
) -> Verdict:  # fmt: skip
    """The driver waits for a hypervisor's word that no machine of its own has."""
    return told is None and not (guest and guest.get("hypervisor")) and {"said": said.id}


@rule("gpu-hardware-init-failure", "possible")
def card_has_no_start_code(
    said: Symptom = seen("amdgpu-has-no-start-code"), form: Symptom | None = seen("start-code-of-another-form"), told: Symptom | None = seen(*GUESTS_SPOKEN_OF),
    guest: Platform | None = None, inner: Gpu | None = one(vendor="amd", integrated=True),
) -> Verdict:  # fmt: skip
    """On a machine of its own the card's own memory does not hold it, or cannot be read."""
    virtual = told is not None or form is not None or bool(guest and guest.get("hypervisor")) or on_first_bus(said)
    return inner is None and not virtual and {"said": said.id}


@rule("gpu-hardware-init-failure", "possible")
def device_stopped_itself(
    said: Symptom = seen(*DEVICE), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*NVIDIA_NAMED), guest: Platform | None = None,
    told: Symptom | None = seen(*GUEST),
) -> Verdict:  # fmt: skip
    """The driver says that the card does not work; a fault of the card, or of the driver."""
    virtual = bool(guest and guest.get("hypervisor")) or told is not None
    return code_of(said) == "43" and not virtual and bool(card or named) and {"said": said.id}


# -- gpu-memory-ecc-error
@rule("gpu-memory-ecc-error", "likely")
def block_of_errors_without_its_card(
    _said: Symptom = seen("nvidia-smi-volatile-uncorrected", "nvidia-smi-rows-pending"), told: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi")
) -> Verdict:  # fmt: skip
    """A block of nvidia-smi's long report counts what could not be corrected; the card above it was cut off."""
    return told is None
