"""Guests to which no card was handed through."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.driver import NO_CUDA, NVIDIA, SILENT
from rigup.diagnosis.rules.pasted.heard import DRIVER_UNHEARD, MADE_UP_DISPLAYS, ROCM_HAS_NO_MODULE
from rigup.diagnosis.rules.told import Told
from rigup.machine.kinds import Driver, Gpu, PciDevice, Platform, Symptom, Torch

_AMD = "1002"
_GUESTS = ("desktop-hypervisor-lived-in", "virtualbox-lived-in", "guest-in-chinese")
_MADE_UP = (
    "made-up-display-qxl", "made-up-display-vmware", "made-up-display-cirrus", "made-up-display-hyper-v",
    "made-up-display-virtualbox", "made-up-display-of-qemu", "made-up-display-virtio",
)  # fmt: skip
_SCREENS = ("0300", "0302", "0380")
_NOT_LOADED = (
    "module-finds-no-device", "old-loader-finds-no-device", "modprobe-finds-no-device", "driver-could-not-load-its-module", "nvidia-installer-load-failed",
    "nvidia-installer-no-gpu", "nvidia-smi-none-in-words", "nvidia-smi-not-installed", *SILENT, *NO_CUDA,
)  # fmt: skip
_VIRTUALBOX = (
    "virtualbox-told-of-a-machine",
    "virtualbox-lived-in",
    "parallels-told-of-a-machine",
    "vmware-on-a-desk-told",
    "vmware-on-a-desk-spelt-so",
)
_METAL_FAILS = (
    "metal-not-created", "metal-device-null", "ggml-metal-failed", "ggml-metal-assertion", "metal-buffer-not-allocated", "metal-language-too-new",
    "mps-kernel-of-that-type-missing",
)  # fmt: skip
_MADE_UP_PLAIN = ("made-up-display-of-qemu", "made-up-display-virtio")


@rule("vm-without-gpu-passthrough", "likely")
def made_up_display_and_no_amdgpu(
    _shown: Symptom = seen("made-up-display-virtualbox", "made-up-display-vmware", "made-up-display-qxl", "virtual-display", "virtual-display-by-name"),
    said: Symptom = seen("rocm-smi-amdgpu-not-found", "amd-smi-no-driver", "hsa-out-of-resources", "hip-init-failed", "hip-no-device"),
    gpu: Gpu | None = None, card: PciDevice | None = one(vendor_id=(_AMD, "10de")),
) -> Verdict:  # fmt: skip
    """The only display is one that a hypervisor makes up, and AMD's tools find nothing."""
    return gpu is None and card is None and {"said": said.id}


@rule("vm-without-gpu-passthrough", "likely")
def no_driver_in_a_guest_of_a_desktop(
    said: Symptom = seen(*DRIVER_UNHEARD), guest: Symptom = seen(*_GUESTS), passed: Symptom | None = seen("passthrough-in-words", "passed-through-in-words"),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """What runs guests on a desktop hands them a card that only draws."""
    return passed is None and works is None and {"said": said.id, "guest": guest.id}


@rule("vm-without-gpu-passthrough", "possible")
def cuda_is_wished_for_in_a_guest(
    asked: Symptom = seen("cuda-in-a-guest-asked-for", "host-card-wished-in-a-guest"), guest: Symptom = seen(*_GUESTS), passed: Symptom | None = seen("passthrough-in-words", "passed-through-in-words"),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """Somebody asks whether it could be had: it cannot, without a card of the guest's own."""
    return passed is None and works is None and {"said": asked.id, "guest": guest.id}


@rule("vm-without-gpu-passthrough", "likely")
def guests_container_gets_nothing_of_a_driver(
    said: Symptom = seen("apptainer-no-nv-files"), guest: Platform = one(hypervisor=Told(bool)), gpu: Gpu | None = None,
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The engine looks for the driver's files where it runs, finds none, and that is a guest."""
    return gpu is None and driver is None and not guest.get("wsl") and {"said": said.id}


@rule("vm-without-gpu-passthrough", "likely")
def windows_lists_a_guests_adapter(
    _shown: Symptom = seen("adapter-of-vmware-in-windows", "adapter-of-virtualbox-in-windows", "adapter-of-parallels-in-windows"), wish: Symptom = seen(*NO_CUDA, *SILENT, "nvidia-smi-not-installed", "webui-torch-no-gpu", "llama-told-of-layers-and-no-gpu"),
    gpu: Gpu | None = None,
) -> Verdict:  # fmt: skip
    """A program wants CUDA, and the only adapter is one that a hypervisor makes up."""
    return gpu is None and {"said": wish.id}


@rule("vm-without-gpu-passthrough", "likely")
def guest_was_promised_a_card_and_shows_none(
    promised: Symptom = seen("guest-is-promised-graphics"), shown: Symptom = seen(*_MADE_UP),
    card: PciDevice | None = one(vendor_id=("10de", "1002", "8086"), class_code=_SCREENS), gpu: Gpu | None = one(vendor=("nvidia", "amd")),
) -> Verdict:  # fmt: skip
    """Its settings pass it a real display, and its bus has the made-up one alone."""
    return card is None and gpu is None and {"promised": promised.id, "shown": shown.id}


@rule("vm-without-gpu-passthrough", "likely")
def made_up_display_and_a_driver_that_finds_nothing(
    _shown: Symptom = seen(*MADE_UP_DISPLAYS), _wish: Symptom = seen("module-finds-no-device", "container-cli-cuda-error", "device-plugin-no-nvml", "nvidia-installer-load-failed", "hashcat-finds-no-platform", "torch-found-no-driver", "rock-module-not-loaded", "rocm-smi-amdgpu-not-found", "amd-smi-drivers-not-loaded", *SILENT),
    gpu: Gpu | None = one(vendor=("nvidia", "amd")), card: PciDevice | None = one(vendor_id=("10de", "1002")),
) -> Verdict:  # fmt: skip
    """The display is one that a hypervisor makes up, and a GPU's driver finds nothing."""
    return gpu is None and card is None


@rule("vm-without-gpu-passthrough", "likely")
def made_up_display_and_torch_sees_none(
    _shown: Symptom = seen(*MADE_UP_DISPLAYS), torch: Torch = one(available=False), gpu: Gpu | None = one(vendor=("nvidia", "amd")), card: PciDevice | None = one(vendor_id=("10de", "1002")),
) -> Verdict:  # fmt: skip
    """As above, where torch for GPUs reports that it sees none."""
    return gpu is None and card is None and bool(torch.get("cuda") or torch.get("hip"))


@rule("vm-without-gpu-passthrough", "likely")
def devices_of_a_hypervisor_alone(
    _bus: Symptom = seen("virtio-on-the-bus"), silent: Symptom = seen(*SILENT, "torch-found-no-driver"), gpu: Gpu | None = None, card: PciDevice | None = one(vendor_id=("10de", "1002")),
) -> Verdict:  # fmt: skip
    """What the bus shows are a hypervisor's own devices, and CUDA was wanted."""
    return gpu is None and card is None and not inside(silent)


@rule("vm-without-gpu-passthrough", "likely")
def virtualbox_hands_no_card_on(
    told: Symptom = seen(*_VIRTUALBOX), said: Symptom = seen(*_NOT_LOADED), gpu: Gpu | None = one(vendor=("nvidia", "amd")),
    card: PciDevice | None = one(vendor_id=(NVIDIA, "1002")), passed: Symptom | None = seen("passthrough-in-words", "passed-through-in-words"),
) -> Verdict:  # fmt: skip
    """A list of facts has VirtualBox or its like, which draw by themselves, and a program or a driver finds no card."""
    return gpu is None and card is None and passed is None and not inside(said) and {"said": said.id, "where": told.id}


@rule("vm-without-gpu-passthrough", "possible")
def guest_has_nothing_to_compute_on(
    platform: Platform, said: Symptom = seen("hashcat-finds-no-platform"), gpu: Gpu | None = None, card: PciDevice | None = one(vendor_id=(NVIDIA, "1002"))
) -> Verdict:  # fmt: skip
    """The processor says that it is a guest's, and hashcat finds neither CUDA nor OpenCL."""
    virtual = bool(platform.get("hypervisor")) and not platform.get("wsl")
    return virtual and gpu is None and card is None and not inside(said) and {"said": said.id}


@rule("vm-without-gpu-passthrough", "likely")
def guest_draws_by_a_made_up_display(
    _shown: Symptom = seen("made-up-display-of-qemu", "made-up-display-virtio"), guest: Platform | None = None, torch: Torch | None = one(available=False), wish: Symptom | None = seen(*SILENT, *NO_CUDA, *ROCM_HAS_NO_MODULE),
    gpu: Gpu | None = one(vendor=("nvidia", "amd")), card: PciDevice | None = one(vendor_id=(NVIDIA, "1002")),
) -> Verdict:  # fmt: skip
    """A display that QEMU makes up is the only one, and CUDA or ROCm was wanted."""
    meant = wish is not None or (
        torch is not None and "+cpu" not in str(torch.get("version")) and torch.get("cuda", "?") is not None
    )
    return gpu is None and card is None and meant and not (guest and guest.get("wsl"))


@rule("vm-without-gpu-passthrough", "likely")
def display_of_a_mac_in_a_guest_does_not_compute(
    said: Symptom = seen(*_METAL_FAILS), shown: Symptom = seen("apple-paravirtual-named"),
) -> Verdict:  # fmt: skip
    """Apple's own name for the device that a guest is given, and a program of Metal that fails on it."""
    return {"said": said.id, "guest": shown.id}


@rule("vm-without-gpu-passthrough", "likely")
def disk_is_a_hypervisors(
    _disk: Symptom = seen("disk-of-a-hypervisor"), said: Symptom = seen("rock-module-not-loaded", "rocm-smi-amdgpu-not-found", "amd-smi-no-driver"), gpu: Gpu | None = None,
) -> Verdict:  # fmt: skip
    """The kernel's log shows a disk that a hypervisor makes up, and AMD's tools find nothing."""
    return gpu is None and {"said": said.id}


@rule("vm-without-gpu-passthrough", "likely")
def guests_own_description_lends_none(
    none: Symptom = seen("guest-is-lent-no-card"), _shown: Symptom = seen(*_MADE_UP_PLAIN)
) -> Verdict:
    """The host's description of the guest names no card, and the guest draws by a display that is made up."""
    return {"severity": "error", "said": none.id}
