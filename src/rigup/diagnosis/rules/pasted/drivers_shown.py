"""What two outputs show together of a card, its driver and its guest: each alone would leave it open."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT, inside, same_version
from rigup.diagnosis.rules.driver_guest import on_first_bus
from rigup.diagnosis.rules.told import LISTS_WITHOUT
from rigup.knowledge.cuda import version_key
from rigup.knowledge.driver_faults import branch_has
from rigup.knowledge.gpus import driver_branch_for, open_module
from rigup.machine.kinds import (  # fmt: skip
    Driver,
    DriverLibrary,
    Gpu,
    KernelModule,
    PciDevice,
    Platform,
    Symptom,
    SystemPackage,
    Torch,
    UnloadedModule,
)

_CPU = "ollama-computes-on-cpu"
_IDLE = ("nvidia-smi-no-devices", "nvidia-smi-none-in-words", "nvrm-none-initialised", "nvrm-init-adapter-failed", "xorg-gpu-init-failed", _CPU, *SILENT, *NO_CUDA)  # fmt: skip
_999 = ("cuda-999", "cuda-999-constant", "cuda-999-runtime", "cuinit-returns-999", "cuda-999-number")
_803 = ("cuda-803", "cuda-803-constant", "cuda-803-driver-api", "cuda-803-by-number")
_STARTS_NOT = ("cuda-init-failed-no-gpu", "cuda-initialization-error", "cuda-not-initialized", "cuinit-returns-3", "cuinit-not-initialised", "ollama-driver-init-failed", "cuda-start-fails-with-3")  # fmt: skip
_MADE_UP = (
    "made-up-display-qxl", "made-up-display-vmware", "made-up-display-cirrus", "made-up-display-hyper-v", "made-up-display-virtualbox",
    "made-up-display-of-qemu", "made-up-display-virtio", "hyper-v-virtual-vga", "virtual-display", "virtual-display-by-name", "virtual-display-draws", "virtual-display-in-inxi", "virtual-display-in-windows",
)  # fmt: skip
_GUEST = ("guest-speaks", "guest-defined-by-libvirt", "guest-of-kubevirt", "hypervisor-window-set", "guest-of-esxi-with-a-window", "hyper-v-window-shown", "guest-started-with-a-passed-card", "guest-of-proxmox-with-a-card", "guest-of-libvirt-with-a-card")  # fmt: skip
_LOST = ("xid-79", "gpu-fallen-off")


# -- who has the card
@rule("nouveau-bound", "likely")
def nouveau_has_the_card_beside_nvidias_package(
    card: Gpu = one(vendor="nvidia", driver="nouveau"), _wish: Symptom = seen("nvidia-package-newest", _CPU)
) -> Verdict:
    """NVIDIA's package is installed, or a program computes on the processor, and nouveau has the card."""
    return bool(card.driver)


@rule("nouveau-bound", "likely")
def nouveau_is_named_where_nvidia_fails(
    _nouveau: Symptom = seen("nouveau-row-alone", "nouveau-in-the-log"), _wish: Symptom = seen("nvidia-installer-load-failed", "nvidia-smi-none-in-words", "nvidia-smi-no-devices", *SILENT),
    loaded: KernelModule | None = one(name="nvidia", loaded=True), gone: UnloadedModule | None = one(name="nouveau"),
) -> Verdict:  # fmt: skip
    """The list of modules, or the log, has nouveau, and NVIDIA's own programs fail."""
    return loaded is None and gone is None


@rule("nova-core-bound", "likely")
def nova_is_loaded_and_nvidia_is_not(
    _nova: KernelModule = one(name="nova_core", loaded=True), loaded: KernelModule | None = one(name="nvidia", loaded=True),
    _wish: Symptom = seen("module-finds-no-device", "nvidia-installer-load-failed", "nvidia-node-0-missing", _CPU, *NO_CUDA),
) -> Verdict:  # fmt: skip
    """The kernel's new driver is there, and the one that computes is not."""
    return loaded is None


# -- which flavour the card wants
@rule("proprietary-module-on-open-only-gpu", "likely")
def closed_module_is_shown_beside_a_new_card(
    gpu: Gpu = one(vendor="nvidia"), _closed: Symptom = seen("module-licence-closed", "nixos-closed-module", "driver-closed-told"), _idle: Symptom = seen(*_IDLE)
) -> Verdict:  # fmt: skip
    """modinfo, or a setting, tells the closed module; the card is younger than it, and nobody finds the card."""
    return open_module(gpu.isa) == "only" and not gpu.get("seen_by")


@rule("proprietary-module-on-open-only-gpu", "likely")
def closed_module_is_shown_and_torch_sees_none(
    gpu: Gpu = one(vendor="nvidia"),
    _closed: Symptom = seen("module-licence-closed"),
    torch: Torch = one(available=False),
) -> Verdict:
    """As above, where torch reports that it sees none."""
    return open_module(gpu.isa) == "only" and not gpu.get("seen_by") and torch.available is False


@rule("proprietary-module-on-open-only-gpu", "likely")
def package_is_of_the_closed_module(
    gpu: Gpu = one(vendor="nvidia"), package: SystemPackage = one(state="installed"), _idle: Symptom = seen("nvidia-smi-no-devices", "nvrm-init-adapter-failed")
) -> Verdict:  # fmt: skip
    """The distribution's package without `open` in its name brings the closed module."""
    closed = package.name.startswith(("nvidia-driver-", "nvidia-dkms")) and "open" not in package.name
    return closed and open_module(gpu.isa) == "only" and not gpu.get("seen_by")


@rule("open-module-on-pre-turing-gpu", "likely")
def open_module_is_shown_beside_an_old_card(
    gpu: Gpu = one(vendor="nvidia"), _open: Symptom = seen("module-licence-open", "nixos-open-module"), _idle: Symptom = seen(*_IDLE)
) -> Verdict:  # fmt: skip
    """modinfo, or a setting, tells the open module; the card is older than its GSP, and nobody finds the card."""
    return open_module(gpu.isa) == "impossible" and not gpu.get("seen_by") and {"branch": driver_branch_for(gpu.isa)}


@rule("gpu-needs-legacy-driver", "likely")
def version_of_a_log_has_dropped_the_card(
    gpu: Gpu = one(vendor="nvidia"), told: Symptom = seen("driver-version-in-a-log", "nvidia-installer-no-gpu"),
    _idle: Symptom = seen("xorg-no-devices", "nvidia-installer-no-gpu", "nvidia-smi-no-devices", "module-finds-no-device", *SILENT),
) -> Verdict:  # fmt: skip
    """An installer, or X, names its version: later than the last one that drives the card."""
    last = driver_branch_for(gpu.isa)
    return bool(last) and version_key(told.version)[:1] > version_key(last or "") and not gpu.get("seen_by") and {"branch": last}  # fmt: skip


# -- refused, or of another version
@rule("secure-boot-module-unsigned", "likely")
def signature_is_not_trusted_and_nvidia_is_not_there(
    _refused: Symptom = seen("module-signature-untrusted", "module-key-unavailable"), gone: UnloadedModule | None = one(name="nvidia"),
    silent: Symptom | None = seen("persistenced-finds-no-nodes", *SILENT), loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """The kernel refuses a module for its key, and NVIDIA's is not there."""
    return loaded is None and (gone is not None or silent is not None) and {"module": "nvidia"}


@rule("libcuda-differs-from-kernel-driver")
def error_803_and_another_library(
    module: KernelModule = one(name="nvidia", loaded=True), library: DriverLibrary = one(soname="libcuda.so.1"), _error: Symptom = seen(*_803)
) -> Verdict:  # fmt: skip
    """CUDA itself says that its library is not the driver's, and a link leads to another version."""
    return not same_version(module.version, library.version) and {"path": library.path}


@rule("libcuda-differs-from-kernel-driver", "possible")
def error_803_alone(_error: Symptom = seen("cuda-803-by-number")) -> Verdict:
    """The number alone says that CUDA's library and the driver do not belong together."""
    return True


@rule("nvml-driver-library-mismatch", "likely")
def tool_of_another_driver_and_cuda_fails(
    head: Symptom = seen("nvidia-smi-of-another-driver"), said: Symptom = seen(*_999, *_STARTS_NOT, *NO_CUDA),
    platform: Platform | None = None, spoken: Symptom | None = seen("wsl-lived-in", "wsl-in-small-letters", "wsl-kernel-named", "wsl-folder-named"),
) -> Verdict:  # fmt: skip
    """Two drivers' files are mixed: nvidia-smi is of one release, what answers it of another. In a WSL it is always so."""
    windows = spoken is not None or (
        platform is not None and (platform.get("wsl") or platform.get("system") == "windows")
    )
    return (
        not windows
        and _of_linux(head.driver)
        and not same_version(head.tool, head.driver)
        and {"said": said.id, "library_version": head.tool}
    )


def _of_linux(version: str) -> bool:
    """Windows's releases have two numbers, the second of two digits: `560.94`."""
    parts = version.split(".")
    return len(parts) > 2 or len(parts[-1]) > 2


@rule("nvml-driver-library-mismatch", "likely")
def loaded_is_what_was_replaced(
    module: KernelModule = one(name="nvidia", loaded=True), log: Symptom = seen("driver-package-upgraded")
) -> Verdict:
    """The package manager's log replaced the version that still runs."""
    new = log.get("new") or log.get("new2")
    return same_version(module.version, str(log.get("old") or log.get("old2"))) and {"library_version": new}


# -- unified memory
@rule("uvm-broken-after-suspend", "likely")
def cards_are_listed_after_sleep_and_torch_sees_none(
    torch: Torch = one(available=False), _slept: Symptom = seen("suspend-happened", "suspend-finished-systemd"), card: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """The machine slept; nvidia-smi lists the card, and torch sees none."""
    return torch.available is False and bool(card.seen_by) and torch.get("cuda", "?") is not None


@rule("uvm-hmm-init-failure", "likely")
def start_fails_on_a_branch_known_for_it(
    _error: Symptom = seen("cuda-init-failed-no-gpu"), driver: Driver = one(vendor="nvidia"), split: Gpu | None = one(mig=True),
    silent: Symptom | None = seen(*SILENT),
) -> Verdict:  # fmt: skip
    """torch words the same number so."""
    return split is None and silent is None and branch_has("uvm-hmm", driver.version)


@rule("uvm-hmm-init-failure", "likely")
def start_fails_and_the_setting_is_named(
    _error: Symptom = seen(*_STARTS_NOT),
    _named: Symptom = seen("hmm-setting-named"),
    silent: Symptom | None = seen(*SILENT),
) -> Verdict:
    """CUDA is not initialised, and somebody looks at, or sets, the switch for it."""
    return silent is None


# -- guests
@rule("no-gpu-present", "likely")
def displays_are_listed_and_none_is_nvidias(
    _looked: Symptom = seen(*LISTS_WITHOUT), wish: Symptom = seen("module-finds-no-device", "torch-not-compiled-with-cuda", "torch-loads-for-cuda", *NO_CUDA, *SILENT),
    gpu: Gpu | None = one(vendor=("nvidia", "amd")), card: PciDevice | None = one(vendor_id=("10de", "1002")), made: Symptom | None = seen(*_MADE_UP, "virtio-on-the-bus"),
    platform: Platform | None = None, off: Symptom | None = seen("optimus-manager-set-to-integrated", "prime-select-says-intel", "switched-to-integrated", "bbswitch-off", "envycontrol-switched"),
) -> Verdict:  # fmt: skip
    """The bus was asked for every display, and NVIDIA's is not among them; CUDA was wanted."""
    elsewhere = inside(wish) or (platform and (platform.get("wsl") or platform.get("hypervisor")))
    return all(other is None for other in (gpu, card, made, off)) and not elsewhere and {"severity": "error"}


@rule("no-gpu-present", "likely")
def board_takes_no_card(_board: Symptom = seen("raspberry-board-named"), _wish: Symptom = seen("torch-found-no-driver"), card: PciDevice | None = one(vendor_id="10de")) -> Verdict:  # fmt: skip
    """A single-board computer, and torch for CUDA."""
    return card is None and {"severity": "error"}


@rule("vm-without-gpu-passthrough", "likely")
def made_up_display_and_a_driver_that_finds_nothing(
    _shown: Symptom = seen(*_MADE_UP), _wish: Symptom = seen("module-finds-no-device", "container-cli-cuda-error", "device-plugin-no-nvml", "nvidia-installer-load-failed", "hashcat-finds-no-platform", "torch-found-no-driver", "rock-module-not-loaded", "rocm-smi-not-loaded", *SILENT),
    gpu: Gpu | None = one(vendor=("nvidia", "amd")), card: PciDevice | None = one(vendor_id=("10de", "1002")),
) -> Verdict:  # fmt: skip
    """The display is one that a hypervisor makes up, and a GPU's driver finds nothing."""
    return gpu is None and card is None


@rule("vm-without-gpu-passthrough", "likely")
def made_up_display_and_torch_sees_none(
    _shown: Symptom = seen(*_MADE_UP), torch: Torch = one(available=False), gpu: Gpu | None = one(vendor=("nvidia", "amd")), card: PciDevice | None = one(vendor_id=("10de", "1002")),
) -> Verdict:  # fmt: skip
    """As above, where torch for GPUs reports that it sees none."""
    return gpu is None and card is None and bool(torch.get("cuda") or torch.get("hip"))


@rule("vm-without-gpu-passthrough", "likely")
def devices_of_a_hypervisor_alone(
    _bus: Symptom = seen("virtio-on-the-bus"), silent: Symptom = seen(*SILENT, "torch-found-no-driver"), gpu: Gpu | None = None, card: PciDevice | None = one(vendor_id=("10de", "1002")),
) -> Verdict:  # fmt: skip
    """What the bus shows are a hypervisor's own devices, and CUDA was wanted."""
    return gpu is None and card is None and not inside(silent)


@rule("vm-passthrough-misconfigured", "likely")
def guest_shows_a_card_that_does_not_start(
    _guest: Symptom = seen(*_GUEST), said: Symptom = seen("nvidia-smi-no-handle", "bar-is-unassigned", "windows-code-43", "code-43-of-wmi", "windows-code-12", "pci-bar-no-space", "nvrm-bar-invalid"),
    lost: Symptom | None = seen(*_LOST),
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


@rule("bios-bar-settings", "likely")
def large_window_has_no_address(
    said: Symptom = seen("bar-is-unassigned"), card: PciDevice = one(vendor_id="10de"), guest: Platform | None = None, inner: Symptom | None = seen(*_GUEST)
) -> Verdict:  # fmt: skip
    """lspci shows no address for the large window of a card in a slot."""
    virtual = inner is not None or bool(guest and guest.get("hypervisor"))
    return not virtual and not str(card.get("address", "")).startswith("0000:00:") and {"said": said.id}


@rule("bios-bar-settings", "possible")
def no_room_and_nobody_says_more(
    said: Symptom = seen("pci-bar-no-space"), guest: Platform | None = None, inner: Symptom | None = seen(*_GUEST, "pci-slot-powered-on"),
    works: Gpu | None = one(seen_by=("nvidia-smi", "torch", "rocminfo")),
) -> Verdict:  # fmt: skip
    """The kernel found no room for a large window; what came of it is not shown."""
    large = int(said.get("size") or said.get("size2") or "0", 16) >= 1 << 28
    return large and inner is None and works is None and not (guest and guest.get("hypervisor"))


# -- cards and their memory
@rule("compute-mode-exclusive", "likely")
def mode_lets_one_in_and_a_program_finds_none(
    gpu: Gpu = one(vendor="nvidia", compute_mode=("Exclusive_Process", "Exclusive_Thread")), _said: Symptom = seen("kaldi-no-unused-gpus", "context-of-an-invalid-device", "runtime-returns-46")
) -> Verdict:  # fmt: skip
    """The card's mode lets one process in, and another gets no context."""
    return bool(gpu.compute_mode)


@rule("mig-enabled-without-instance", "likely")
def gpu_instance_without_a_compute_instance(
    _made: Symptom = seen("mig-gpu-instance-made"), whole: Symptom | None = seen("mig-compute-instance-made"), torch: Torch | None = one(available=True)
) -> Verdict:  # fmt: skip
    """Instances of the first kind were made, and none of the second in them."""
    return whole is None and torch is None


@rule("mig-device-misaddressed", "likely")
def one_process_is_to_see_several(
    _named: Symptom = seen("several-mig-names"),
    _said: Symptom = seen("counts-one-device", "cuda-invalid-ordinal", "torch-device-beyond-count"),
) -> Verdict:
    """Several parts are named for one process, which sees the first one only."""
    return True


@rule("oom-fragmentation", "likely")
def free_memory_lies_in_pieces(said: Symptom = seen("tf-allocator-figures")) -> Verdict:
    """TensorFlow's allocator has more unused than was asked for, and no piece of that size."""
    unused = int(said.limit) - int(said.used)
    return unused > int(said.wanted) > int(said.largest)


@rule("oom-fragmentation", "likely")
def much_is_reserved_and_not_in_use(
    said: Symptom = seen("torch-allocator-figures"),
    _out: Symptom = seen("cuda-out-of-memory-plain", "torch-allocation-on-device"),
) -> Verdict:
    """torch's own counters show twice as much reserved as allocated, and it ran out."""
    allocated, reserved = (int(said.get(name).replace(",", "")) for name in ("allocated", "reserved"))
    return reserved > 2 * allocated


@rule("dkms-stale-tree", "likely")
def sources_are_missed_where_amdgpu_is_built(
    _said: Symptom = seen("dkms-conf-of-nobody"), _tree: Symptom = seen("dkms-tree-of-amdgpu"),
    known: Symptom | None = seen("dkms-conf-missing", "dkms-source-is-gone"),
) -> Verdict:  # fmt: skip
    """DKMS misses a source that it has registered; amdgpu's tree is what is shown."""
    return known is None and {"module": "amdgpu"}
