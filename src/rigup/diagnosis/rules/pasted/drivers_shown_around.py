"""Drivers, cards and guests by what threads about them show: a line beside another that decides between two causes."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA, NVIDIA, SILENT, inside
from rigup.machine.kinds import Driver, Gpu, KernelModule, PciDevice, Platform, Symptom, Variable

_UNKNOWN = ("cuda-999", "cuda-999-constant", "cuda-999-runtime", "cuinit-returns-999", "cuda-999-number")
_WINDOW = 1 << 28  # bytes of a card's window from which on its place is hard to find
_WANTED_BY_PROGRAMS = tuple(one for one in SILENT if not one.startswith("nvidia-smi"))
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


# -- guests
@rule("vm-without-gpu-passthrough", "likely")
def virtualbox_hands_no_card_on(
    told: Symptom = seen(*_VIRTUALBOX), said: Symptom = seen(*_NOT_LOADED), gpu: Gpu | None = one(vendor=("nvidia", "amd")),
    card: PciDevice | None = one(vendor_id=(NVIDIA, "1002")), passed: Symptom | None = seen("passthrough-in-words", "passed-through-in-words"),
) -> Verdict:  # fmt: skip
    """A list of facts has VirtualBox or its like, which draw by themselves, and a program or a driver finds no card."""
    return gpu is None and card is None and passed is None and not inside(said) and {"said": said.id, "where": told.id}


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


# -- no card
@rule("no-gpu-present", "likely")
def mac_is_asked_for_nvidia(
    said: Symptom = seen("torch-found-no-driver"), platform: Platform = one(system="macos"), card: PciDevice | None = one(vendor_id=NVIDIA),
    gpu: Gpu | None = one(vendor=("nvidia", "apple")),
) -> Verdict:  # fmt: skip
    """A torch for CUDA on a Mac: no driver of NVIDIA's is there, and for years no card has been."""
    return (
        card is None
        and gpu is None
        and platform.get("architecture") != "arm64"
        and {"said": said.id, "severity": "error"}
    )


# -- lost
@rule("gpu-fell-off-bus", "likely")
def link_went_down_under_the_driver(
    _down: Symptom = seen("link-went-down-by-surprise"),
    said: Symptom = seen("port-finds-no-recovery-in-nvidia", "nvrm-card-removed-in-use", *_UNKNOWN, *SILENT),
) -> Verdict:
    """The port lost its link, and what lay behind it was NVIDIA's, or CUDA failed with it."""
    return {"said": said.id}


@rule("gpu-fell-off-bus", "likely")
def card_wants_a_reset(
    said: Symptom = seen("card-wants-a-reset"), firmware: Symptom | None = seen("xid-119", "xid-119-cut", "gsp-silent")
) -> Verdict:
    """Every call to the card is turned down until it is reset; where its firmware's silence came before, that is the cause."""
    return firmware is None and {"said": said.id}


@rule("no-gpu-present", "likely")
def hosted_runner_has_no_card(
    said: Symptom = seen("cuda-driver-insufficient", "cuda-driver-insufficient-by-name", *NO_CUDA, *SILENT), runner: Symptom = seen("hosted-runner-folder", "hosted-runner-container-folder", "travis-job-named"),
    gpu: Gpu | None = one(vendor=("nvidia", "amd")), card: PciDevice | None = one(vendor_id=NVIDIA), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Machines that a service lends for tests have no GPU, and the toolkit's image brings CUDA's libraries all the same."""
    return gpu is None and card is None and driver is None and {"said": said.id, "kind": runner.id, "severity": "error"}


@rule("no-gpu-present", "possible")
def report_in_json_lists_none(
    _report: Symptom = seen("report-in-json-has-no-nvidia"), said: Symptom = seen("torch-found-no-driver", "torch-no-cuda-gpus", "webui-torch-no-gpu"), gpu: Gpu | None = None,
    card: PciDevice | None = None,
) -> Verdict:  # fmt: skip
    """The web ui's own report looked for a driver and for cards of NVIDIA's, and has neither."""
    return gpu is None and card is None and {"said": said.id, "severity": "error"}


# -- sandboxes
@rule("uvm-device-missing", "likely")
def sandbox_was_started_before_the_node_was_made(
    said: Symptom = seen(*_UNKNOWN), box: Symptom = seen("firejail-named", "flatpak-named"), slept: Symptom | None = seen("suspend-happened", "suspend-finished-systemd"),
) -> Verdict:  # fmt: skip
    """In a sandbox nothing can make the node of unified memory: it must be there before."""
    return slept is None and {"said": said.id, "where": box.id}


@rule("device-node-permissions", "likely")
def sandbox_closes_the_nodes(
    said: Symptom = seen("wsl-access-blocked", "nvml-insufficient-permissions"), box: Symptom = seen("firejail-named", "flatpak-named"),
    platform: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """NVIDIA's library says that the system keeps it from the card, and a sandbox is what runs it."""
    return platform is None and {"said": said.id, "where": box.id}


@rule("container-without-gpu", "possible")
def module_is_loaded_and_no_node_is_there(
    _module: KernelModule = one(name="nvidia", loaded=True), nodes: Symptom = seen("nvidia-nodes-not-there"), said: Symptom = seen(*NO_CUDA),
    platform: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """lsmod shows the host's modules from within a container too; the nodes were not handed in."""
    return platform is None and {"vendor": "nvidia", "said": said.id, "nodes": nodes.id}


@rule("kernel-module-not-built", "likely")
def desktop_has_no_module_to_load(
    said: Symptom = seen("modprobe-module-not-found", "kmod-no-such-module", "old-modprobe-finds-no-such-module"), _x: Symptom = seen("driver-could-not-load-its-module"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """NVIDIA's part of X is installed, and the kernel has no module of that name."""
    return loaded is None and {"kernel": said.get("kernel")}


# -- the driver and its module
@rule("nvidia-module-not-loaded", "likely")
def card_is_on_the_bus_and_cuda_finds_none(
    card: PciDevice = one(vendor_id=NVIDIA), said: Symptom = seen("cuda-no-device", "cuda-no-device-constant", "container-cli-cuda-error"), gpu: Gpu | None = one(driver="nvidia"),
    loaded: KernelModule | None = one(name=("nvidia", "nouveau", "vfio_pci"), loaded=True), mask: Variable | None = one(name=("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")),
) -> Verdict:  # fmt: skip
    """The library answered, so a driver is installed; the card is there, and nothing shows that the module is."""
    shown = gpu is not None or loaded is not None or mask is not None
    host = said.id == "container-cli-cuda-error" or not inside(said)  # the tool runs before there is a container
    return host and not shown and not card.get("driver") and {"said": said.id}


@rule("nvidia-driver-missing", "likely")
def mac_with_a_card_of_nvidia_lacks_its_driver(
    said: Symptom = seen("torch-found-no-driver"), platform: Platform = one(system="macos"), named: Gpu = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """macOS draws by itself; CUDA on such a Mac needs NVIDIA's own driver beside it."""
    return {"said": said.id, "card": named.get("name"), "system": platform.get("release")}


@rule("vm-without-gpu-passthrough", "possible")
def guest_has_nothing_to_compute_on(
    platform: Platform, said: Symptom = seen("hashcat-finds-no-platform"), gpu: Gpu | None = None, card: PciDevice | None = one(vendor_id=(NVIDIA, "1002"))
) -> Verdict:  # fmt: skip
    """The processor says that it is a guest's, and hashcat finds neither CUDA nor OpenCL."""
    virtual = bool(platform.get("hypervisor")) and not platform.get("wsl")
    return virtual and gpu is None and card is None and not inside(said) and {"said": said.id}


@rule("hybrid-laptop-gpu-powered-off", "likely")
def wrapper_for_pictures_does_not_wake_the_card(
    wrapper: Symptom = seen("primus-runs-it"), said: Symptom = seen(*NO_CUDA, *_UNKNOWN), card: Gpu | None = one(vendor="nvidia", driver="nvidia")
) -> Verdict:  # fmt: skip
    """primus turns the second card on when a program draws; one that only computes finds it off."""
    return card is None and not inside(said) and {"said": said.id, "tool": wrapper.id}
