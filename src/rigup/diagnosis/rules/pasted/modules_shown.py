"""What builders and loaders of modules, kernels and boot tools say in a few lines, where the report around them was cut away."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA, NVIDIA, SILENT, inside
from rigup.diagnosis.rules.told import LISTS_WITHOUT
from rigup.knowledge.gpus import driver_branch_for
from rigup.knowledge.patterns import late
from rigup.machine.kinds import Driver, Gpu, KernelModule, PciDevice, Platform, Symptom, SystemPackage, Torch

_OURS = (
    "dkms-builds-our-module",
    "dkms-files-of-our-driver",
    "apport-names-our-driver",
    "dkms-folder-of-our-module",
    "crash-report-of-our-package",
)  # a builder names what it builds
_NO_HEADERS = (
    "dkms-headers-missing", "headers-package-not-there", "kernel-devel-not-there", "akmods-without-kernel-files", "kernel-build-folder-missing",
)  # fmt: skip
_WANTED = ("driver-container-builds", "driver-container-stops-old-modules", "fallback-service-speaks", "nvidia-installer-build-failed", "nvidia-installer-load-failed", *SILENT, *_OURS)  # fmt: skip
_REFUSED = ("module-key-unavailable", "lockdown-unsigned-module", "module-signature-untrusted")
_NOT_LOADED = (
    "nvidia-installer-load-failed", "installer-load-error-of-no-device", "systemd-finds-no-such-module", "fallback-service-speaks", "module-not-permitted",
    "persistenced-finds-no-nodes", "udev-could-not-make-the-nodes",
)  # fmt: skip
_NO_SUCH = ("systemd-finds-no-such-module", "old-modprobe-finds-no-such-module")
_CLOUD = ("cloud-machine-without-gpu", "cloud-machine-without-gpu-small", "cloud-machine-without-gpu-by-dashes", "cloud-machine-without-gpu-of-azure")  # fmt: skip
_ROCM = ("rock-module-not-loaded", "hip-no-device", "hip-init-failed", "hsa-out-of-resources", "rocm-smi-amdgpu-not-found", "amd-smi-no-driver", "kfd-not-there")  # fmt: skip
_SAID_WHY = (
    "nvrm-legacy-gpu", "nvrm-will-ignore", "nvrm-open-module-without-gsp", "nvrm-open-refused-cut", "nvrm-closed-refused-cut", "nvrm-open-module-required",
    "nvrm-unsupported-by-release", "nvrm-bar-invalid", "nvrm-probe-not-called", "nvrm-says-who-may-own-the-card", "nvrm-init-adapter-failed", "xid-79", "gpu-fallen-off", "gpu-d3cold-inaccessible",
    "bbswitch-off", "bbswitch-card-off", "asus-card-switched-off", "envycontrol-switched", "graphics-mode-is-integrated", "slot-lost-its-link", *_REFUSED,
)  # fmt: skip

_BRANCH = late(r"nvidia-(?:driver|dkms|utils|kernel-source)-(\d{3})(?:-(?:server|open|server-open))?\Z")


# -- not built
@rule("kernel-module-not-built", "likely")
def build_failed_of_what_was_named(
    said: Symptom = seen("dkms-build-failed-unnamed", "dkms-excludes-some-module", "dkms-command-failed"), ours: Symptom = seen(*_OURS), loaded: KernelModule | None = one(name=("nvidia", "amdgpu"), loaded=True),
) -> Verdict:  # fmt: skip
    """The line that fails names no module; a line near it names what is built."""
    return loaded is None and {"kernel": said.get("kernel"), "module": ours.get("module")}


@rule("kernel-module-not-built", "likely")
def no_module_is_meant_for_this_kernel(
    _said: Symptom = seen("dkms-excludes-some-module"), silent: Symptom = seen(*SILENT)
) -> Verdict:
    """DKMS leaves a module out for this kernel, and NVIDIA's does not answer."""
    return not inside(silent) and {"kernel": None}


@rule("kernel-module-not-built", "likely")
def nothing_to_build_against(
    said: Symptom = seen(*_NO_HEADERS), _wish: Symptom = seen(*_WANTED), loaded: KernelModule | None = one(name=("nvidia", "amdgpu"), loaded=True),
    works: Gpu | None = one(seen_by=("nvidia-smi", "torch", "rocminfo")),
) -> Verdict:  # fmt: skip
    """The kernel's headers are nowhere to be had, and a GPU's driver is what is built."""
    return loaded is None and works is None and {"kernel": said.get("kernel")}


@rule("kernel-module-not-built", "possible")
def akmods_has_nothing_to_build_against(
    _said: Symptom = seen("akmods-without-kernel-files"), wish: Symptom | None = seen(*_WANTED)
) -> Verdict:
    """akmods names no module; mostly it is there for NVIDIA's."""
    return wish is None and {"kernel": None}


@rule("kernel-module-not-built", "possible")
def loader_finds_no_such_module(
    said: Symptom = seen(*_NO_SUCH), missing: Symptom | None = seen("nvidia-smi-not-installed"), card: PciDevice | None = one(vendor_id=NVIDIA),
    ready: KernelModule | None = one(name="nvidia", loaded=True), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """The list of modules for the boot has it, so the driver was installed; no kernel module of that name is there."""
    ours = str(said.get("module")).startswith("nvidia")
    return ours and all(other is None for other in (missing, card, ready, works)) and {"kernel": None}


@rule("kernel-module-not-built", "likely")
def folder_of_the_module_is_not_there(
    said: Symptom = seen("module-folder-not-there"), silent: Symptom = seen(*SILENT)
) -> Verdict:
    """Somebody looks where the module of this kernel would lie, and NVIDIA's does not answer."""
    return not inside(silent) and {"kernel": said.get("kernel")}


@rule("kernel-module-not-built", "likely")
def loader_finds_none_and_no_driver_answers(
    _said: Symptom = seen(*_NO_SUCH),
    silent: Symptom = seen(*SILENT, "persistenced-finds-no-nodes"),
) -> Verdict:
    """The same where nvidia-smi finds no driver in the kernel."""
    return not inside(silent) and {"kernel": None}


@rule("kernel-module-not-built", "likely")
def module_was_made_for_another_kernel(
    made: Symptom = seen("module-made-for-the-kernel"), _asked: Symptom = seen("modinfo-asked-of-nvidias"), platform: Platform | None = None,
    silent: Symptom = seen(*SILENT), loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """modinfo tells for which kernel the module is; another one runs."""
    runs = platform.get("release") if platform is not None else None
    return (
        bool(runs)
        and runs != made.kernel
        and loaded is None
        and not inside(silent)
        and {"kernel": runs, "built": made.kernel}
    )


# -- refused
@rule("secure-boot-module-unsigned", "likely")
def some_module_is_refused_and_ours_is_not_there(
    _refused: Symptom = seen(*_REFUSED), _gone: Symptom = seen(*_NOT_LOADED), loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """The kernel refuses a module for its key without its name; an installer, or a loader, says that NVIDIA's did not load."""
    return loaded is None and {"module": "nvidia"}


@rule("secure-boot-module-unsigned", "likely")
def dialog_for_the_key_was_shown(
    _dialog: Symptom = seen("secure-boot-dialog"), silent: Symptom = seen(*SILENT), loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """The package asked for a password for its key, which is to be typed again at the next start, and NVIDIA's module does not answer."""
    return loaded is None and not inside(silent) and {"module": "nvidia"}


@rule("secure-boot-module-unsigned", "likely")
def loading_is_not_permitted_to_root(
    said: Symptom = seen("module-not-permitted"), root: Symptom | None = seen("loaded-by-root"), platform: Platform | None = one(secure_boot=True),
) -> Verdict:  # fmt: skip
    """Root may load modules, and a kernel that is locked down says this of unsigned ones; without root it says it of all."""
    return (root is not None or platform is not None) and not inside(said) and {"module": said.get("module")}


@rule("secure-boot-module-unsigned", "possible")
def loading_is_not_permitted(
    said: Symptom = seen("module-not-permitted"), root: Symptom | None = seen("loaded-by-root")
) -> Verdict:
    """Nobody tells who asked."""
    return root is None and not inside(said) and {"module": said.get("module")}


# -- who has the card
@rule("nouveau-bound", "likely")
def nvidia_was_not_asked_and_the_head_is_cut(
    _said: Symptom = seen("nvrm-says-who-may-own-the-card"), head: Symptom | None = seen("nvrm-probe-not-called", "nvrm-bound-to-vfio", "nvrm-bound-to-nova"),
    given: PciDevice | None = one(driver="vfio-pci"),
) -> Verdict:  # fmt: skip
    """The rest of NVIDIA's message that another driver was first, which is mostly nouveau."""
    return head is None and given is None


@rule("nouveau-bound", "likely")
def module_did_not_load_beside_nouveau(
    _nouveau: KernelModule = one(name="nouveau", loaded=True), _failed: Symptom = seen("nvidia-installer-load-failed", "installer-load-error-of-no-device", "module-finds-no-device", "nvidia-smi-no-devices"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True), refused: Symptom | None = seen(*_REFUSED, "module-key-rejected", "installer-load-error-of-the-key"),
) -> Verdict:  # fmt: skip
    """nouveau is among the loaded modules, and NVIDIA's did not come up."""
    return loaded is None and refused is None


@rule("nouveau-bound", "likely")
def report_names_nouveau(
    card: Gpu = one(vendor="nvidia", driver="nouveau"), compute: Gpu | None = one(vendor=("amd", "intel"), integrated=False), driver: Driver | None = one(vendor="nvidia"),
    module: KernelModule | None = one(name="nvidia", loaded=True), row: PciDevice | None = one(vendor_id=NVIDIA),
) -> Verdict:  # fmt: skip
    """inxi or lshw tells the driver of the only card that could compute; where lspci tells it too, that is read."""
    return all(other is None for other in (compute, driver, module, row)) and bool(card.driver)


@rule("nvidia-driver-missing", "possible")
def report_names_no_driver(
    card: Gpu = one(vendor="nvidia", driver=None), driver: Driver | None = one(vendor="nvidia"), module: KernelModule | None = one(name=("nvidia", "nouveau")),
    row: PciDevice | None = one(vendor_id=NVIDIA), said: Symptom | None = seen(*SILENT, *_REFUSED, "nvidia-smi-not-installed", "inxi-offers-nvidias"),
    package: SystemPackage | None = one(state="installed"), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """inxi or lshw finds a card that no driver has claimed, and nothing of NVIDIA's is shown."""
    elsewhere = bool(platform and platform.get("wsl"))
    return all(other is None for other in (driver, module, row, said, package)) and not elsewhere and card.driver is None  # fmt: skip


@rule("nvidia-module-not-loaded", "likely")
def report_names_modules_that_are_not_in_use(
    card: Gpu = one(vendor="nvidia", driver=None), _offered: Symptom = seen("inxi-offers-nvidias"), row: PciDevice | None = one(vendor_id=NVIDIA),
) -> Verdict:  # fmt: skip
    """inxi lists NVIDIA's module among those that could drive the card, and none does."""
    return row is None and card.driver is None


@rule("nvidia-driver-missing", "likely")
def listed_card_and_no_program_of_the_driver(
    card: PciDevice = one(vendor_id=NVIDIA), _gone: Symptom = seen("which-finds-no-nvidia-smi"), module: KernelModule | None = one(name=("nvidia", "nouveau")),
    package: SystemPackage | None = one(state="installed"), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """The bus shows a card, and nvidia-smi is not on the path."""
    elsewhere = bool(platform and platform.get("wsl")) or inside(card)
    return module is None and package is None and not elsewhere and not card.get("driver")


@rule("amdgpu-not-loaded", "likely")
def kernels_log_has_no_word_of_it(
    _log: Symptom = seen("kernels-log-without-amdgpu"), said: Symptom = seen(*_ROCM), card: PciDevice = one(vendor_id="1002"), loaded: KernelModule | None = one(name="amdgpu", loaded=True),
) -> Verdict:  # fmt: skip
    """The bus shows a card of AMD's, and amdgpu said nothing since the start."""
    return loaded is None and not card.get("driver") and not inside(said) and {"said": said.id}


@rule("amdgpu-not-loaded", "likely")
def booted_without_graphics_drivers(
    said: Symptom = seen("kernel-booted-with-nomodeset"), wish: Symptom | None = seen(*_ROCM), card: Gpu | None = one(vendor="amd"), row: PciDevice | None = one(vendor_id="1002"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The kernel was told not to start any graphics driver, and AMD's is wanted."""
    return any(part is not None for part in (wish, card, row)) and other is None and {"said": said.id}


@rule("amdgpu-not-loaded", "possible")
def booted_without_graphics_drivers_alone(
    said: Symptom = seen("kernel-booted-with-nomodeset"), other: Gpu | None = None, row: PciDevice | None = None, silent: Symptom | None = seen(*SILENT, *NO_CUDA),
) -> Verdict:  # fmt: skip
    """The line alone: NVIDIA's own driver does not heed it, amdgpu and the kernel's others do."""
    return other is None and row is None and silent is None and {"said": said.id}


# -- firmware and guests
@rule("vm-passthrough-misconfigured", "likely")
def guest_has_no_interrupt_for_it(
    said: Symptom = seen("nvrm-finds-no-interrupt"), guest: Platform | None = None, told: Symptom | None = seen("hypervisor-detected", "virtualisation-detected"),
) -> Verdict:  # fmt: skip
    """A hypervisor hands interrupts on; this card has none."""
    return (told is not None or bool(guest and guest.get("hypervisor"))) and {"said": said.id}


@rule("bios-bar-settings", "possible")
def board_has_no_interrupt_for_it(
    said: Symptom = seen("nvrm-finds-no-interrupt"), guest: Platform | None = None, told: Symptom | None = seen("hypervisor-detected", "virtualisation-detected"),
) -> Verdict:  # fmt: skip
    """NVIDIA's module itself points at the firmware's settings."""
    return told is None and not (guest and guest.get("hypervisor")) and {"said": said.id}


@rule("vm-passthrough-misconfigured", "possible")
def guest_lists_a_card_and_nvidia_smi_none(
    _none: Symptom = seen("nvidia-smi-no-devices"), card: PciDevice = one(vendor_id=NVIDIA), guest: Platform | None = None, told: Symptom | None = seen("virtualisation-detected", "hypervisor-detected"),
    why: Symptom | None = seen(*_SAID_WHY),
) -> Verdict:  # fmt: skip
    """The bus of a guest shows the card, and the driver could not start it."""
    virtual = told is not None or bool(guest and guest.get("hypervisor") and not guest.get("wsl"))
    return virtual and why is None and card.get("driver") in (None, "nvidia") and {"said": "nvidia-smi-no-devices"}


# -- no card
@rule("no-gpu-present", "possible")
def driver_found_no_card(
    said: Symptom = seen("nvrm-finds-no-card"), why: Symptom | None = seen(*_SAID_WHY), card: PciDevice | None = one(vendor_id=NVIDIA), gpu: Gpu | None = one(vendor="nvidia"),
    platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """NVIDIA's module was loaded and found none of its cards; the log does not show that it left one out."""
    guest = platform is not None and bool(platform.get("hypervisor"))
    return all(other is None for other in (why, card, gpu)) and not guest and {"severity": "error", "said": said.id}


@rule("no-gpu-present", "likely")
def rented_machine_has_none(
    kind: Symptom = seen(*_CLOUD), silent: Symptom = seen(*SILENT), card: PciDevice | None = one(vendor_id=(NVIDIA, "1002")), gpu: Gpu | None = None,
) -> Verdict:  # fmt: skip
    """The kind of machine that was rented has no GPU, and the driver of a prepared image finds none."""
    return card is None and gpu is None and not inside(silent) and {"severity": "error", "said": kind.id}


@rule("vm-without-gpu-passthrough", "likely")
def guest_draws_by_a_made_up_display(
    _shown: Symptom = seen("made-up-display-of-qemu", "made-up-display-virtio"), guest: Platform | None = None, torch: Torch | None = one(available=False), wish: Symptom | None = seen(*SILENT, *NO_CUDA, *_ROCM),
    gpu: Gpu | None = one(vendor=("nvidia", "amd")), card: PciDevice | None = one(vendor_id=(NVIDIA, "1002")),
) -> Verdict:  # fmt: skip
    """A display that QEMU makes up is the only one, and CUDA or ROCm was wanted."""
    meant = wish is not None or (
        torch is not None and "+cpu" not in str(torch.get("version")) and torch.get("cuda", "?") is not None
    )
    return gpu is None and card is None and meant and not (guest and guest.get("wsl"))


# -- a driver of another branch
@rule("gpu-needs-legacy-driver", "likely")
def package_is_of_a_later_branch(
    gpu: Gpu = one(vendor="nvidia"), package: SystemPackage = one(state="installed"), _silent: Symptom = seen(*SILENT, "nvidia-smi-no-devices", "module-finds-no-device"),
) -> Verdict:  # fmt: skip
    """The package's name tells the branch: later than the last one that drives the card."""
    last, named = driver_branch_for(gpu.get("isa") or ""), _BRANCH.match(package.name)
    later = last is not None and named is not None and int(named[1]) > int(last[:3])
    return later and not gpu.get("seen_by") and {"branch": last}


@rule("gpu-needs-legacy-driver", "likely")
def modinfo_tells_a_later_branch(
    gpu: Gpu = one(vendor="nvidia"), told: Symptom = seen("modules-version-by-modinfo"), _asked: Symptom = seen("modinfo-asked-of-nvidias"),
    _silent: Symptom = seen(*SILENT, "nvidia-smi-no-devices", "module-finds-no-device", "nvrm-finds-no-card"),
) -> Verdict:  # fmt: skip
    """The module's own version is later than the last branch that drives the card."""
    last = driver_branch_for(gpu.get("isa") or "")
    return last is not None and int(told.version[:3]) > int(last[:3]) and not gpu.get("seen_by") and {"branch": last}


# -- lost
@rule("gpu-fell-off-bus", "likely")
def slot_lost_the_card_in_use(
    _gone: Symptom = seen("slot-lost-its-link"), said: Symptom = seen("nvrm-card-removed-in-use"), off: Symptom | None = seen("bbswitch-off", "bbswitch-card-off", "envycontrol-switched", *LISTS_WITHOUT),
) -> Verdict:  # fmt: skip
    """The port tells that its link went down, and the driver was using the card."""
    return off is None and {"said": said.id}
