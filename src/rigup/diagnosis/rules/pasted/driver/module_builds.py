"""Kernel modules that were not built for this kernel, or not loaded."""

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.device_manager import DEVICE, NVIDIA_NAMED, code_of
from rigup.diagnosis.rules.driver import NVIDIA, SILENT
from rigup.diagnosis.rules.pasted.heard import (
    AMD_PROGRAMS_FIND_NONE,
    AMDGPU_LACKS_FIRMWARE,
    KFD_DENIED,
    MODULE_REFUSED,
    OURS,
    SWITCHED_OFF,
    WSL_SEEN,
)
from rigup.machine.kinds import (
    DkmsBuild,
    Gpu,
    GraphicsSwitch,
    Jetson,
    KernelModule,
    KfdNode,
    PciDevice,
    Platform,
    Symptom,
    SystemPackage,
    Torch,
    UnloadedModule,
    Variable,
)

_MISSED = ("rock-module-not-loaded", "rocm-smi-amdgpu-not-found", "amd-smi-no-driver", "amdsmi-driver-not-loaded", "amd-smi-drivers-not-loaded")  # fmt: skip
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
_DRIVERS = ("nvidia-driver", "nvidia-dkms", "nvidia-open", "nvidia-kernel", "akmod-nvidia", "kmod-nvidia", "xorg-x11-drv-nvidia", "nvidia-utils")  # fmt: skip
_NO_SUCH = ("systemd-finds-no-such-module", "old-modprobe-finds-no-such-module")


# -- kernel-module-not-built
@rule("kernel-module-not-built", "likely")
def dkms_has_amdgpu_for_no_kernel(
    _added: Symptom = seen("dkms-added-only", module="amdgpu"), said: Symptom = seen("hsa-kernel-too-old", *AMD_PROGRAMS_FIND_NONE), built: DkmsBuild | None = one(module="amdgpu"),
    loaded: KernelModule | None = one(name="amdgpu", loaded=True), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """DKMS knows the module and has built it for no kernel; the kernel's own, if any, is too old for what wants to compute."""
    silent = loaded is None or said.id == "hsa-kernel-too-old"
    return built is None and nvidia is None and silent and not inside(said) and {"kernel": None, "said": said.id}


@rule("kernel-module-not-built", "likely")
def dkms_has_it_for_no_kernel_and_says_why(
    added: Symptom = seen("dkms-added-only"), said: Symptom = seen("dkms-headers-missing", "dkms-build-failed-unnamed", "kernel-build-folder-missing"),
    built: DkmsBuild | None = None, loaded: KernelModule | None = one(name=("amdgpu", "nvidia"), loaded=True),
) -> Verdict:  # fmt: skip
    """The list has the module for no kernel, and what failed stands beside it."""
    return built is None and loaded is None and {"kernel": said.get("kernel"), "module": added.get("module")}


@rule("kernel-module-not-built", "possible")
def kernels_own_amdgpu_may_not_do(
    _added: Symptom = seen("dkms-added-only", module="amdgpu"), said: Symptom = seen(*AMD_PROGRAMS_FIND_NONE), _loaded: KernelModule = one(name="amdgpu", loaded=True),
    built: DkmsBuild | None = one(module="amdgpu"), nvidia: Gpu | None = one(vendor="nvidia"), denied: Symptom | None = seen(*KFD_DENIED),
) -> Verdict:  # fmt: skip
    """The same where the kernel's own module runs: it may do, and then something else is wrong."""
    return built is None and nvidia is None and denied is None and not inside(said) and {"kernel": None}


@rule("kernel-module-not-built", "likely")
def dkms_has_amdgpu_for_other_kernels(
    module: KernelModule = one(name="amdgpu"), platform: Platform = one(wsl=None), said: Symptom = seen(*AMD_PROGRAMS_FIND_NONE),
    denied: Symptom | None = seen(*KFD_DENIED), node: KfdNode | None = None,
) -> Verdict:  # fmt: skip
    """AMD's module was built for kernels of which none runs, and ROCm finds nothing with the kernel's own."""
    other = bool(module.built_for) and platform.release not in module.built_for
    return other and denied is None and node is None and not inside(said) and {"kernel": platform.release}


@rule("kernel-module-not-built", "possible")
def kernels_own_amdgpu_is_too_old(
    said: Symptom = seen("hsa-kernel-too-old"), built: DkmsBuild | None = one(module="amdgpu")
) -> Verdict:
    """The runtime asks for a newer module than the one that runs, and no other was built."""
    return built is None and {"kernel": None, "said": said.id}


@rule("kernel-module-not-built", "likely")
def dkms_did_not_compile(
    said: Symptom = seen("dkms-did-not-compile-told"), _rocm: Symptom = seen(*OURS), loaded: KernelModule | None = one(name="amdgpu", loaded=True),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A person says so of ROCm's driver."""
    return loaded is None and other is None and {"said": said.id}


@rule("kernel-module-not-built", "likely")
def switcher_found_no_module(
    said: Symptom = seen("gpu-manager-finds-no-module"), loaded: KernelModule | None = one(name="nvidia", loaded=True), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """As above, where no module was there for that kernel."""
    return loaded is None and works is None and said.values()


@rule("kernel-module-not-built", "likely")
def desktop_has_no_module_to_load(
    said: Symptom = seen("modprobe-module-not-found", "kmod-no-such-module", "old-modprobe-finds-no-such-module"), _x: Symptom = seen("driver-could-not-load-its-module"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """NVIDIA's part of X is installed, and the kernel has no module of that name."""
    return loaded is None and {"kernel": said.get("kernel")}


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
def akmods_hints_that_one_failed(
    _said: Symptom = seen("akmods-hints-at-a-failure"), named: Symptom | None = seen("akmods-build-failed", "akmods-log-of-failure", "akmods-package-error"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """The same, where it tells no more than that something was not built."""
    return all(other is None for other in (named, loaded, works)) and {"kernel": None}


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


@rule("kernel-module-not-built", "likely")
def headers_were_missing_for_amds_files(
    _files: Symptom = seen("dkms-loads-amds-files", "package-of-amds-module-set-up", "crash-report-of-amds-module"),
    said: Symptom = seen("dkms-headers-missing", "kernel-build-folder-missing", "dkms-build-failed-unnamed"), guest: Symptom | None = seen(*WSL_SEEN),
) -> Verdict:  # fmt: skip
    """dkms names the module in one line and what it misses in another."""
    return guest is None and {"kernel": said.get("kernel"), "module": "amdgpu"}


@rule("kernel-module-not-built", "likely")
def module_is_there_for_another_kernel(
    said: Symptom = seen("rock-module-not-loaded", "rocm-smi-amdgpu-not-found", "amd-smi-no-driver", "amd-smi-drivers-not-loaded", "amdsmi-driver-not-loaded", "kfd-not-there"),
    module: KernelModule = one(name="amdgpu"), platform: Platform = one(), loaded: KernelModule | None = one(name="amdgpu", loaded=True),
) -> Verdict:  # fmt: skip
    """ROCm's tools miss the module, and what was built is for other kernels than the one that runs."""
    others = bool(module.built_for) and platform.release not in module.built_for
    return others and loaded is None and not platform.get("wsl") and {"kernel": platform.release, "said": said.id}


@rule("kernel-module-not-built", "possible")
def dkms_leaves_the_kernels_own_in_place(
    said: Symptom = seen("dkms-keeps-the-kernels-amdgpu"), listed: Gpu | None = one(seen_by=("rocminfo", "rocm-smi", "amd-smi")), works: Torch | None = one(available=True),
    served: Symptom | None = seen("kfd-added-device"), built: DkmsBuild | None = one(module="amdgpu"),
) -> Verdict:  # fmt: skip
    """The module was built and not installed, for the kernel's own bears the same version."""
    return all(part is None for part in (listed, works, served, built)) and {
        "kernel": said.get("kernel"),
        "said": said.id,
    }


# -- dkms-stale-tree
@rule("dkms-stale-tree", "likely")
def sources_are_missed_where_amdgpu_is_built(
    _said: Symptom = seen("dkms-conf-of-nobody"), _tree: Symptom = seen("dkms-tree-of-amdgpu"),
    known: Symptom | None = seen("dkms-conf-missing", "dkms-source-is-gone"),
) -> Verdict:  # fmt: skip
    """DKMS misses a source that it has registered; amdgpu's tree is what is shown."""
    return known is None and {"module": "amdgpu"}


@rule("dkms-stale-tree", "possible")
def dkms_misses_a_source_that_it_does_not_name(
    _said: Symptom = seen("dkms-conf-of-nobody"), named: Symptom | None = seen("dkms-conf-missing", "dkms-source-is-gone", "dkms-of-another-module-lost", "dkms-tree-of-amdgpu"),
    works: Gpu | None = one(seen_by=("nvidia-smi", "rocminfo", "torch")),
) -> Verdict:  # fmt: skip
    """A registered tree has no source; of which module, the message leaves out."""
    return named is None and works is None and {"module": None}


# -- rocminfo-builtin-module
@rule("rocminfo-builtin-module", "likely")
def amdgpu_has_the_card_all_the_same(
    said: Symptom = seen(*_MISSED), card: PciDevice = one(vendor_id="1002", driver="amdgpu"), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """lspci shows the driver bound to the card that ROCm's tool misses."""
    return guest is None and not inside(said) and {"said": said.id, "address": card.get("address")}


@rule("rocminfo-builtin-module", "likely")
def amdgpu_works_all_the_same(
    said: Symptom = seen(*_MISSED), shown: Symptom = seen("amdgpu-is-initialised", "radeon-draws-by-amdgpu", "clinfo-lists-an-amd-chip"), guest: Platform | None = one(wsl=(1, 2)),
    fatal: Symptom | None = seen("amdgpu-init-fatal", *AMDGPU_LACKS_FIRMWARE),
) -> Verdict:  # fmt: skip
    """The kernel has started it, or something draws or computes by it."""
    return guest is None and fatal is None and not inside(said) and {"said": said.id, "shown": shown.id}


@rule("rocminfo-builtin-module", "likely")
def opencl_lists_the_card_all_the_same(
    said: Symptom = seen("rock-module-not-loaded", "rocm-smi-amdgpu-not-found", "amd-smi-no-driver"), shown: Symptom = seen("clinfo-lists-a-radeon"),
) -> Verdict:  # fmt: skip
    """ROCm's OpenCL reaches a card by the very module that its other tools do not find."""
    return not inside(said) and {"said": said.id, "shown": shown.id}


# -- nvidia-module-not-loaded
@rule("nvidia-module-not-loaded", "possible")
def engine_asks_a_driver_that_does_not_answer(
    _said: Symptom = seen("container-cli-driver-error"), card: Gpu | None = one(vendor="nvidia"), jetson: Jetson | None = None, platform: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """NVIDIA's container tool reaches nothing of the host's driver, and nobody shows that it works there."""
    return card is None and jetson is None and platform is None


@rule("nvidia-module-not-loaded", "possible")
def device_has_a_driver_that_does_not_load(
    said: Symptom = seen(*DEVICE), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*NVIDIA_NAMED)
) -> Verdict:
    """A driver is installed and does not start; why, Windows does not tell."""
    return code_of(said) in ("10", "31", "37", "39") and bool(card or named) and {"said": said.id}


@rule("nvidia-module-not-loaded", "likely")
def card_is_on_the_bus_and_cuda_finds_none(
    card: PciDevice = one(vendor_id=NVIDIA), said: Symptom = seen("cuda-no-device", "cuda-no-device-constant", "container-cli-cuda-error"), gpu: Gpu | None = one(driver="nvidia"),
    loaded: KernelModule | None = one(name=("nvidia", "nouveau", "vfio_pci"), loaded=True), mask: Variable | None = one(name=("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")),
) -> Verdict:  # fmt: skip
    """The library answered, so a driver is installed; the card is there, and nothing shows that the module is."""
    shown = gpu is not None or loaded is not None or mask is not None
    host = said.id == "container-cli-cuda-error" or not inside(said)  # the tool runs before there is a container
    return host and not shown and not card.get("driver") and {"said": said.id}


@rule("nvidia-module-not-loaded", "likely")
def tool_is_there_and_the_module_is_not(
    said: Symptom = seen("proc-driver-nvidia-missing"), _tool: Symptom = seen("nvidia-smi-is-installed", *SILENT), loaded: KernelModule | None = one(name="nvidia", loaded=True),
    platform: Platform | None = one(wsl=2),
) -> Verdict:  # fmt: skip
    """The kernel has no folder of the driver's, and the driver's programs are installed."""
    return loaded is None and platform is None and not inside(said)


@rule("nvidia-module-not-loaded", "possible")
def service_of_the_driver_finds_no_nodes(
    said: Symptom = seen("persistenced-finds-no-nodes"), loaded: KernelModule | None = one(name="nvidia", loaded=True), card: PciDevice | None = one(vendor_id=NVIDIA),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """The driver's own service asks for the nodes, which come with the module."""
    return loaded is None and card is None and works is None and not inside(said)


@rule("nvidia-module-not-loaded", "possible")
def hooks_module_is_not_loaded(
    said: Symptom = seen("enroot-module-not-loaded"), loaded: KernelModule | None = one(name="nvidia", loaded=True)
) -> Verdict:
    """A container tool's hook looks for the driver's modules, and finds none."""
    return loaded is None and {"said": said.id}


@rule("nvidia-module-not-loaded", "likely")
def report_names_modules_that_are_not_in_use(
    card: Gpu = one(vendor="nvidia", driver=None), _offered: Symptom = seen("inxi-offers-nvidias"), row: PciDevice | None = one(vendor_id=NVIDIA),
) -> Verdict:  # fmt: skip
    """inxi lists NVIDIA's module among those that could drive the card, and none does."""
    return row is None and card.driver is None


@rule("nvidia-module-not-loaded", "likely")
def module_was_built_and_nobody_loaded_it(
    _card: PciDevice = one(vendor_id=NVIDIA, driver=None), module: KernelModule = one(name="nvidia", loaded=False), _gone: UnloadedModule = one(name="nvidia"),
    platform: Platform | None = None, others: Every[KernelModule] = every(KernelModule, loaded=True),
) -> Verdict:  # fmt: skip
    """No driver has the card, the list of modules has no nvidia, and modinfo finds its file; of which kernel, nobody says."""
    known = platform is not None and platform.knows("release")
    foreign = any(other.name in ("nouveau", "vfio_pci") for other in others)
    return not known and not foreign and bool(module.built_for)


@rule("nvidia-module-not-loaded", "possible")
def package_is_installed_and_the_list_has_no_module(
    _gone: UnloadedModule = one(name="nvidia"), package: SystemPackage = one(state="installed"), loaded: KernelModule | None = one(name=("nvidia", "nouveau", "nova_core"), loaded=True),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"), off: GraphicsSwitch | None = one(mode="integrated"), platform: Platform | None = None,
    why: Symptom | None = seen(*_NO_HEADERS, "modprobe-module-not-found", "module-finds-no-device", "module-key-rejected", *MODULE_REFUSED, *SWITCHED_OFF),
) -> Verdict:  # fmt: skip
    """NVIDIA's driver is installed as a package, and nothing of it is among the loaded modules."""
    ours = package.name.startswith(_DRIVERS) and not inside(package)
    elsewhere = bool(platform and (platform.get("wsl") or platform.get("secure_boot")))
    return ours and not elsewhere and all(other is None for other in (loaded, works, off, why))


@rule("nvidia-module-not-loaded", "likely")
def a_setting_keeps_the_module_out(
    module: KernelModule = one(name="nvidia", blacklisted=True), _missed: UnloadedModule = one(name="nvidia"), loaded: KernelModule | None = one(name="nvidia", loaded=True),
    given: PciDevice | None = one(driver="vfio-pci"), off: GraphicsSwitch | None = one(mode="integrated"), switched: Symptom | None = seen(*SWITCHED_OFF, "envycontrol-switched", "prime-select-says-intel"),
) -> Verdict:  # fmt: skip
    """modprobe is told to leave NVIDIA's module alone, and somebody looks for it among the loaded ones in vain."""
    return bool(module.blacklisted) and all(other is None for other in (loaded, given, off, switched))
