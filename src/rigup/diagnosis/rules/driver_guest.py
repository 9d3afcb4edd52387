"""Cards that are not there, not mapped, or given to a guest by halves; and the memory manager beside the driver."""

import re

from rigup.diagnosis.rule import Every, Verdict, every, lacks, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.driver import NVIDIA, same_version
from rigup.knowledge.driver_faults import branch_has, virtual_display
from rigup.knowledge.gpus import is_display_only
from rigup.machine.kinds import (
    DeviceNode,
    Driver,
    DriverLibrary,
    Gpu,
    KernelModule,
    LoaderEntry,
    ModuleParameter,
    PciDevice,
    Platform,
    Symptom,
    SystemPackage,
    Torch,
    UnlistedVendor,
    World,
)

_UVM = "/dev/nvidia-uvm"


# -- no card
@rule("no-gpu-present")
def expected_and_not_on_the_bus(
    wish: Symptom = seen(tag="driver-expected"),
    devices: Every[PciDevice] = every(PciDevice),
    gpu: Gpu | None = None,
    platform: Platform | None = None,
) -> Verdict:
    """A program wanted a GPU, and the whole bus was looked at."""
    none = gpu is None and not any(_may_compute(device) for device in devices)
    return none and not inside(wish) and not (platform and platform.get("wsl")) and {"severity": "error"}


@rule("no-gpu-present", "likely")
def only_the_processors_own_picture(
    wish: Symptom = seen("torch-found-no-driver", "cuda-no-device", "torch-no-cuda-gpus", "torch-not-compiled-with-cuda", "ollama-no-nvidia-devices", tag="nvidia-driver-silent"), devices: Every[PciDevice] = every(PciDevice),
    other: Gpu | None = one(vendor=("nvidia", "amd")), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """CUDA was wanted, and the bus holds only what draws the desktop."""
    drawn = bool(devices) and all(device.get("vendor_id") not in (NVIDIA, "1002", None) for device in devices)
    return (
        drawn
        and other is None
        and not inside(wish)
        and not (platform and platform.get("wsl"))
        and {"severity": "error"}
    )


@rule("no-gpu-present", "likely")
def report_lists_another_picture(
    _wish: Symptom = seen("torch-found-no-driver", "torch-no-cuda-gpus", "cuda-no-device", "torch-loads-for-cuda", "traceback-ends-in-cuda-start", "traceback-ends-in-cuda-call"), screen: Gpu = one(vendor="intel"), other: Gpu | None = one(vendor=("nvidia", "amd")),
    card: PciDevice | None = None, platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """A report of the system's graphics has only the processor's own; where lspci is shown, that tells."""
    ours = screen.get("integrated", True) and other is None and card is None
    return ours and not (platform and platform.get("wsl")) and {"severity": "error"}


@rule("no-gpu-present", "likely")
def looked_for_on_the_bus(
    _maker: UnlistedVendor = one(vendor="nvidia"), wish: Symptom = seen(tag="nvidia-driver-silent nvidia-finds-none"), card: PciDevice | None = one(vendor_id=NVIDIA),
    platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """CUDA was wanted, and lspci was asked for NVIDIA by name."""
    return card is None and not inside(wish) and not (platform and platform.get("wsl")) and {"severity": "error"}


@rule("no-gpu-present", "likely")
def installer_found_no_card(
    symptom: Symptom = seen("nvidia-installer-no-gpu"),
    gpu: Gpu | None = one(vendor="nvidia"),
    card: PciDevice | None = one(vendor_id=NVIDIA),
) -> Verdict:
    """The driver's installer looked on the bus for a card that it knows."""
    return gpu is None and card is None and not inside(symptom) and {"severity": "error"}


@rule("no-gpu-present", "possible")
def nothing_of_nvidia_was_found(
    _report: Symptom = seen("collect-env-no-cuda"),
    _wish: Symptom = seen(
        "lightning-no-gpu-backend",
        "lightning-accelerator-unavailable",
        "traceback-ends-in-cuda-start",
        "torch-loads-for-cuda",
        tag="nvidia-driver-silent nvidia-finds-none",
    ),
    gpu: Gpu | None = None,
    card: PciDevice | None = None,
) -> Verdict:
    """A report that looked for driver, cards and toolkit found none of them, and a program wanted one."""
    return gpu is None and card is None and {"severity": "error"}


@rule("no-gpu-present", "likely")
def told_to_have_no_card(
    symptom: Symptom = seen("torch-found-no-driver", tag="nvidia-finds-none"), statement: Symptom = seen(tag="no-gpu-told"),
    gpu: Gpu | None = None, card: PciDevice | None = None, platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """A program wanted CUDA, and the person says that there is nothing to have it on."""
    elsewhere = inside(symptom) or (platform and (platform.get("wsl") or platform.get("system") == "macos"))
    return gpu is None and card is None and not elsewhere and {"said": statement.id, "severity": "error"}


@rule("no-gpu-present", "likely")
def container_was_asked_for_one(
    world: World = one(gpu_requested=True), devices: Every[PciDevice] = lacks(PciDevice), gpu: Gpu | None = None
) -> Verdict:
    """The engine was asked for GPUs on a machine whose bus has none."""
    return gpu is None and world.gpu_requested and not inside(devices) and {"severity": "error"}


def _may_compute(device: PciDevice) -> bool:
    """What is not known to be a display alone may be a GPU."""
    vendor = device.get("vendor_id")
    return not (
        virtual_display(vendor, device.get("driver"))
        or (vendor and is_display_only(vendor, device.get("device_id", "")))
    )


@rule("vm-without-gpu-passthrough")
def guest_has_a_picture_only(
    screen: PciDevice, _wish: Symptom = seen(tag="driver-expected"), gpu: Gpu | None = None,
) -> Verdict:  # fmt: skip
    """The only display is one that a hypervisor makes up."""
    return gpu is None and virtual_display(screen.get("vendor_id"), screen.get("driver"))


@rule("vm-without-gpu-passthrough")
def guest_shows_its_display(
    _shown: Symptom = seen(
        "virtual-display",
        "virtual-display-by-name",
        "virtual-display-draws",
        "virtual-display-in-inxi",
        "virtual-display-in-windows",
    ),
    _wish: Symptom = seen(tag="driver-expected"),
    gpu: Gpu | None = None,
) -> Verdict:
    """As above, told by another tool than lspci."""
    return gpu is None


# -- windows into the card's memory
@rule("bios-bar-settings", "likely")
def window_of_no_size(symptom: Symptom = seen("nvrm-bar-invalid"), guest: Platform | None = None) -> Verdict:
    """The firmware gave the card no window; in a guest it is the hypervisor's doing."""
    return not _virtual(guest) and symptom.get("size", "0") == "0"


@rule("bios-bar-settings", "likely")
def no_room_for_the_window(
    symptom: Symptom = seen("pci-bar-no-space"), _failed: Symptom = seen("nvrm-init-adapter-failed", "nvidia-smi-no-devices", "amdgpu-init-fatal", tag="nvidia-driver-silent"),
    guest: Platform | None = None,
) -> Verdict:  # fmt: skip
    """The kernel found no room for a large window, and the driver then failed."""
    size = symptom.get("size") or symptom.get("size2")
    return not _virtual(guest) and size is not None and int(size, 16) >= _LARGE


_LARGE = 1 << 28


@rule("bios-bar-settings", "possible")
def adapter_not_initialised(
    symptom: Symptom = seen("nvrm-init-adapter-failed"),
    guest: Platform | None = None,
    gone: Symptom | None = seen("xid-79", "gpu-fallen-off"),
) -> Verdict:
    """The same code has several reasons; this is one that the log would not show."""
    return symptom.get("code") == "0x22:0x56" and not _virtual(guest) and gone is None


def _virtual(platform: Platform | None) -> bool:
    return bool(platform and platform.get("hypervisor") and not platform.get("wsl"))


@rule("vm-passthrough-misconfigured", "likely")
def guest_cannot_take_the_card(
    symptom: Symptom = seen("nvidia-smi-no-handle", "nvrm-bar-invalid"), guest: Platform | None = None,
    lost: Symptom | None = seen("xid-79", "gpu-fallen-off", "nvidia-smi-gpu-lost"),
) -> Verdict:  # fmt: skip
    """In a guest the driver finds the card and cannot use it."""
    return (_virtual(guest) or on_first_bus(symptom)) and lost is None


@rule("vm-passthrough-misconfigured", "possible")
def guest_cannot_start_the_card(
    symptom: Symptom = seen("nvrm-init-adapter-failed", "amdgpu-init-fatal"), guest: Platform | None = None,
    lost: Symptom | None = seen("xid-79", "gpu-fallen-off", "nvidia-smi-gpu-lost"),
) -> Verdict:  # fmt: skip
    """As above; a fault of the card itself would look the same."""
    return (_virtual(guest) or on_first_bus(symptom)) and lost is None


def on_first_bus(symptom: Symptom) -> bool:
    """A card in a slot is device 0 of a bus of its own behind a port; on the first bus of all, or under another number, a hypervisor put it."""
    match = re.match(
        r"(?:[0-9a-f]{4,8}:)?:?(?P<bus>[0-9a-f]{2}):(?P<device>[0-9a-f]{2})(?![0-9a-f:])",
        str(symptom.get("address") or ""),
    )
    return match is not None and (match["bus"] == "00" or match["device"] != "00")


@rule("vm-passthrough-misconfigured", "possible")
def card_was_given_away_and_is_not_found(
    card: PciDevice = one(vendor_id=NVIDIA, driver=("vfio-pci", "pciback", "xen-pciback")), _said: Symptom = seen("nvidia-smi-no-devices", "nvidia-smi-no-handle"),
) -> Verdict:  # fmt: skip
    """The host keeps the card for a guest, and nvidia-smi, which must be the guest's, finds none."""
    return bool(card.driver)


# -- a module that modprobe does not find
@rule("kernel-module-not-built", "possible")
def modprobe_finds_none_and_nobody_says_why(
    symptom: Symptom = seen("modprobe-module-not-found", "kmod-no-such-module"), missing: Symptom | None = seen("nvidia-smi-not-installed"),
    card: PciDevice | None = one(vendor_id=NVIDIA), ready: KernelModule | None = one(name="nvidia", loaded=True),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"), uvm: Symptom | None = seen("uvm-module-not-inserted"),
) -> Verdict:  # fmt: skip
    """Who asks for the module takes the driver for installed; a card without any driver is another matter."""
    elsewhere = inside(symptom) or any(other is not None for other in (missing, card, ready, works, uvm))
    return symptom.get("module", "").startswith("nvidia") and not elsewhere and {"kernel": symptom.get("kernel")}


# -- numbers of CUDA's in a program's log
@rule("libcuda-differs-from-kernel-driver", "likely")
def ollama_meets_another_libcuda(_error: Symptom = seen("ollama-driver-init-failed", code="803")) -> Verdict:
    """ollama prints the driver's number alone: 803 is "unsupported display driver / cuda driver combination"."""
    return True


# -- a libcuda that nobody's package brought
@rule("libcuda-differs-from-kernel-driver", "likely")
def loader_gives_another_libcuda(
    entry: LoaderEntry = one(soname="libcuda.so.1"), module: KernelModule = one(name="nvidia"),
    libraries: Every[DriverLibrary] = every(DriverLibrary, soname="libnvidia-ml.so.1"),
) -> Verdict:  # fmt: skip
    """The module's own driver is installed, and the loader's cache leads to a libcuda of another one elsewhere."""
    own = any(same_version(module.version, other.version) for other in libraries if other.knows("version"))
    elsewhere = not any(part in entry.path for part in ("/stubs/", "/compat/"))
    return own and elsewhere and not same_version(module.version, entry.version) and {"path": entry.path}


# -- unified memory
@rule("uvm-broken-after-suspend", "likely")
def unknown_error_after_sleep(
    _error: Symptom = seen(tag="cuda-unknown-error"),
    _slept: Symptom = seen("suspend-happened", "suspend-finished-systemd"),
    silent: Symptom | None = seen(tag="nvidia-driver-silent"),
) -> Verdict:
    """The machine slept, the driver answers, and CUDA does not start."""
    return silent is None


@rule("uvm-broken-after-suspend", "possible")
def unknown_error_and_no_word_of_why(
    error: Symptom = seen(tag="cuda-unknown-error"), silent: Symptom | None = seen("nvidia-smi-of-another-driver", tag="nvidia-driver-silent"), platform: Platform | None = None
) -> Verdict:  # fmt: skip
    """CUDA does not start, and nobody says that the driver is away, or of two releases: mostly after a suspend."""
    elsewhere = platform and (platform.get("wsl") or platform.get("system") in ("windows", "macos"))
    return silent is None and not inside(error) and not elsewhere


@rule("uvm-device-missing", "possible")
def unknown_error_inside(
    error: Symptom = seen(tag="cuda-unknown-error"), silent: Symptom | None = seen(tag="nvidia-driver-silent")
) -> Verdict:
    """In a container CUDA does not start: mostly that node was not passed in, or is not there on the host either."""
    return silent is None and inside(error)


@rule("uvm-broken-after-suspend", "possible")
def ollama_cannot_start_cuda(
    failed: Symptom = seen("ollama-driver-init-failed"), driver: Driver | None = one(vendor="nvidia")
) -> Verdict:
    """ollama prints the driver's own number: 3 and 999 are what a broken memory manager gives."""
    broken = failed.get("code") in ("3", "999")
    return broken and not (driver and driver.knows("version") and branch_has("uvm-hmm", driver.version))


@rule("uvm-hmm-init-failure", "likely")
def driver_of_a_faulty_branch(
    error: Symptom = seen("ollama-driver-init-failed", tag="cuda-not-initialised"), driver: Driver = one(vendor="nvidia"),
    off: ModuleParameter | None = one(module="nvidia_uvm", name="uvm_disable_hmm", running=("Y", "1")),
) -> Verdict:  # fmt: skip
    """CUDA is "not initialised", and the driver is of a branch that is known for it."""
    return off is None and error.get("code", "3") == "3" and branch_has("uvm-hmm", driver.version)


@rule("uvm-hmm-init-failure", "possible")
def initialisation_fails_on_a_faulty_branch(
    _error: Symptom = seen("cuda-initialization-error"), driver: Driver = one(vendor="nvidia"),
    off: ModuleParameter | None = one(module="nvidia_uvm", name="uvm_disable_hmm", running=("Y", "1")),
    forked: Symptom | None = seen(tag="forked-after-cuda"),
) -> Verdict:  # fmt: skip
    """The same number in words; a forked process says so too."""
    return off is None and forked is None and branch_has("uvm-hmm", driver.version)


@rule("uvm-hmm-init-failure", "possible")
def start_itself_is_refused(
    _error: Symptom = seen("cuinit-returns-3", "cuinit-not-initialised"), driver: Driver | None = one(vendor="nvidia"), parts: Gpu | None = one(mig=True),
    forked: Symptom | None = seen(tag="forked-after-cuda"),
) -> Verdict:  # fmt: skip
    """What starts CUDA says that CUDA was not started; nobody has shown the driver's version."""
    return not (driver and driver.knows("version")) and parts is None and forked is None


@rule("uvm-device-missing", "possible")
def plugin_cannot_make_the_node(
    _said: Symptom = seen("nvidia-docker-no-uvm"), silent: Symptom | None = seen("modprobe-module-not-found", tag="nvidia-driver-silent"),
) -> Verdict:  # fmt: skip
    """The first nvidia-docker asked nvidia-modprobe for the node, in vain, while the driver answers."""
    return silent is None


@rule("uvm-device-missing", "likely")
def somebody_finds_no_node(
    _said: Symptom = seen("uvm-node-missing"),
    silent: Symptom | None = seen("modprobe-module-not-found", tag="nvidia-driver-silent"),
) -> Verdict:
    """The node was asked for by name; where no driver is loaded that is another matter."""
    return silent is None


@rule("uvm-device-missing")
def container_got_the_others(
    _card: DeviceNode = one(path="/dev/nvidiactl", at="container"),
    nodes: Every[DeviceNode] = lacks(DeviceNode, at="container", path=_UVM),
) -> Verdict:
    """The card's nodes were passed in, and this one was not; a container cannot make it."""
    return not nodes


@rule("uvm-device-missing", "likely")
def cuda_fails_without_the_node(
    _card: DeviceNode = one(path="/dev/nvidiactl"), nodes: Every[DeviceNode] = lacks(DeviceNode, path=_UVM),
    _error: Symptom = seen("cuda-initialization-error", "ollama-driver-init-failed", "cuda-init-failed-no-gpu", tag="cuda-unknown-error nvidia-finds-none cuda-not-initialised"),
) -> Verdict:  # fmt: skip
    """The driver's nodes are there but this one, and CUDA does not start."""
    return not nodes


@rule("uvm-device-missing", "likely")
def torch_sees_nothing_without_the_node(
    _card: DeviceNode = one(path="/dev/nvidiactl"),
    nodes: Every[DeviceNode] = lacks(DeviceNode, path=_UVM),
    torch: Torch = one(available=False),
) -> Verdict:
    """As above, where torch reports that it sees no GPU."""
    return not nodes and bool(torch.get("cuda"))


@rule("uvm-device-missing", "likely")
def module_is_loaded_without_its_node(
    _card: DeviceNode = one(path="/dev/nvidiactl"), nodes: Every[DeviceNode] = lacks(DeviceNode, path=_UVM),
    _uvm: KernelModule = one(name="nvidia_uvm", loaded=True),
) -> Verdict:  # fmt: skip
    """A machine makes the node when it is first needed; with the module loaded it should be there."""
    return not nodes and not inside(nodes)


@rule("uvm-device-missing", "possible")
def neither_its_module_nor_its_node(
    _card: DeviceNode = one(path="/dev/nvidia0"), nodes: Every[DeviceNode] = lacks(DeviceNode, path=_UVM),
    modules: Every[KernelModule] = lacks(KernelModule, name="nvidia_uvm"), _driver: KernelModule = one(name="nvidia", loaded=True),
    torch: Torch = one(), silent: Symptom | None = seen(tag="nvidia-driver-silent"), tool: SystemPackage | None = one(name="nvidia-modprobe", state="installed"),
) -> Verdict:  # fmt: skip
    """The rest of the driver is up, and a torch would need it; where NVIDIA's own tool makes both at the first use it is no fault."""
    wanted = bool(torch.get("cuda")) and torch.get("available") is not True
    ready = any(module.get("loaded") for module in modules) or tool is not None
    return wanted and not ready and silent is None and not nodes and not inside(nodes)
