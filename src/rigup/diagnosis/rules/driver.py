"""NVIDIA's kernel side: whether a module is there, is let in, gets the card, and fits the card and its libraries."""

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen, wordings
from rigup.diagnosis.rules.access import inside
from rigup.knowledge.cuda import cuda_of_driver, version_key
from rigup.knowledge.gpus import driver_branch_for, open_module
from rigup.machine.kinds import (
    DkmsBuild,
    DkmsTree,
    Driver,
    DriverLibrary,
    Gpu,
    GraphicsSwitch,
    KernelModule,
    LoaderEntry,
    PathLibrary,
    PciDevice,
    Platform,
    SearchPath,
    Symptom,
    SystemPackage,
)

NVIDIA = "10de"
SILENT = wordings(tag="nvidia-driver-silent")
_NOVA = ("nova_core", "nova-core", "NovaCore")
_USER_SPACE = (
    "nvidia-utils",
    "libnvidia-compute",
    "nvidia-driver",
    "nvidia-compute-utils",
    "libnvidia-ml1",
    "nvidia-smi",
    "xorg-x11-drv-nvidia",
)


def same_version(one_version: str, other: str) -> bool:
    """Equal as far as both are known: 570.124 may be cut from 570.124.06."""
    return version_key(one_version)[: len(version_key(other))] == version_key(other)[: len(version_key(one_version))]


# -- kernel and user space of different versions
@rule("nvml-driver-library-mismatch")
def module_and_library_differ(
    module: KernelModule = one(name="nvidia"),
    libraries: Every[DriverLibrary] = every(DriverLibrary, soname="libnvidia-ml.so.1"),
) -> Verdict:
    """No library of the system is the loaded module's."""
    versions = [library.version for library in libraries if library.knows("version")]
    fits = any(same_version(module.version, version) for version in versions)
    return bool(versions) and not fits and not inside(libraries) and {"library_version": versions[0]}


@rule("nvml-driver-library-mismatch")
def kernel_refused_the_libraries(
    symptom: Symptom = seen("nvrm-api-mismatch"), driver: Driver | None = one(vendor="nvidia"), card: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """The kernel's log keeps it: where nvidia-smi answers with the libraries' version by now, the module was loaded anew."""
    now = driver.get("version") if driver is not None and card is not None else None
    past = bool(now) and same_version(str(now), str(symptom.get("library")))
    return not past and symptom.values()


@rule("nvml-driver-library-mismatch", "likely")
def module_and_package_differ(
    package: SystemPackage = one(state="installed"), module: KernelModule = one(name="nvidia")
) -> Verdict:
    """The package manager has another driver than the one that is loaded."""
    mine = package.name.startswith(_USER_SPACE) and not inside(package)
    version = package.get("version", "").rpartition(":")[2].partition("-")[0]
    return (
        mine and version.count(".") > 0 and not same_version(module.version, version) and {"library_version": version}
    )


@rule("libcuda-differs-from-kernel-driver")
def container_brings_its_own_libcuda(
    module: KernelModule = one(name="nvidia"),
    libraries: Every[DriverLibrary] = every(DriverLibrary, at="container", soname="libcuda.so.1"),
) -> Verdict:
    """Inside, no libcuda is the one of the module that all containers share."""
    foreign = [
        library
        for library in libraries
        if library.knows("version") and not same_version(module.version, library.version)
    ]
    return len(foreign) == len(libraries) > 0 and {"path": foreign[0].path}


@rule("libcuda-differs-from-kernel-driver", "likely")
def another_libcuda_stands_first(
    entry: LoaderEntry = one(soname="libcuda.so.1"), library: DriverLibrary = one(soname="libcuda.so.1"),
    module: KernelModule = one(name="nvidia"), fitting: Every[DriverLibrary] = every(DriverLibrary, soname="libcuda.so.1"),
) -> Verdict:  # fmt: skip
    """Two drivers lie side by side, and the loader takes the one that does not belong to the module."""
    own = any(same_version(module.version, other.version) for other in fitting if other.knows("version"))
    return (
        own
        and entry.path == library.path
        and not same_version(module.version, library.version)
        and {"path": library.path}
    )


@rule("libcuda-differs-from-kernel-driver", "likely")
def table_shows_the_cuda_of_an_older_library(
    driver: Driver = one(vendor="nvidia"),
    _error: Symptom = seen("cuda-not-initialized", "cuda-init-failed-no-gpu", tag="nvidia-finds-none"),
) -> Verdict:
    """nvidia-smi prints what libcuda carries: less than the driver's branch does means that an older one was found."""
    carried = cuda_of_driver(driver.version)
    return bool(carried) and version_key(driver.cuda) < version_key(carried)[:1]


# -- the toolkit's stub
@rule("libcuda-stub-loaded")
def loader_gives_the_stub(entry: LoaderEntry = one(soname=("libcuda.so.1", "libcuda.so"))) -> Verdict:
    """The loader's cache leads into a toolkit."""
    return "/stubs/" in entry.path and {"path": entry.path, "folder": entry.path.rpartition("/")[0]}


@rule("libcuda-stub-loaded", "likely")
def stub_on_the_search_path(folder: SearchPath, stub: PathLibrary = one(stub=True)) -> Verdict:
    """A folder of stubs is searched before the driver's own."""
    return stub.folder == folder.path and stub.soname.startswith("libcuda.so") and {"folder": folder.path}


@rule("libcuda-stub-loaded", "likely")
def stubs_searched_and_no_gpu(
    folder: SearchPath,
    _error: Symptom = seen("cuda-999", "cuda-999-constant", "cuda-999-runtime", tag="nvidia-finds-none"),
) -> Verdict:
    """Nobody listed the folder, but its name tells, and CUDA fails."""
    return folder.path.endswith("/stubs") and {"folder": folder.path}


# -- no module for this kernel
@rule("kernel-module-not-built")
def built_for_other_kernels(
    platform: Platform, module: KernelModule = one(name="nvidia"), card: PciDevice | None = one(driver="nvidia"),
    answers: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """There are module files, or packages of such, none of them for the kernel that runs."""
    gone = bool(module.built_for) and platform.release not in module.built_for
    works = module.get("loaded", card is not None or answers is not None) or platform.get("wsl")  # lsmod knows best
    return gone and not works and {"kernel": platform.release, "built": module.built_for[-1]}


@rule("kernel-module-not-built")
def dkms_has_nvidia_for_other_kernels(
    platform: Platform, tree: DkmsTree = one(registered=True), builds: Every[DkmsBuild] = every(DkmsBuild),
    loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """DKMS is to build the module and has not done so for this kernel."""
    return tree.module.startswith("nvidia") and loaded is None and _unbuilt(tree, builds, platform)


@rule("kernel-module-not-built")
def dkms_has_amdgpu_for_other_kernels(
    platform: Platform, tree: DkmsTree = one(registered=True, module="amdgpu"), builds: Every[DkmsBuild] = every(DkmsBuild),
    loaded: KernelModule | None = one(name="amdgpu", loaded=True),
) -> Verdict:  # fmt: skip
    """As above; where the kernel's own amdgpu runs instead, nothing is missing."""
    return tree.module == "amdgpu" and loaded is None and _unbuilt(tree, builds, platform)


def _unbuilt(tree: DkmsTree, builds: Every[DkmsBuild], platform: Platform) -> Verdict:
    mine = [build for build in builds if build.module == tree.module and build.kernel == platform.release]
    ready = any(build.get("status", "installed") in ("installed", "built") for build in mine)
    return not ready and {"kernel": platform.release}


@rule("kernel-module-not-built", "likely")
def modprobe_finds_no_module(
    symptom: Symptom = seen("modprobe-module-not-found", "kmod-no-such-module"),
    _smi: Symptom = seen("dkms-headers-missing", "nvidia-installer-load-failed", "nvidia-docker-no-uvm", "cuda-999", "fallback-service-speaks", "persistenced-finds-no-nodes", tag="nvidia-driver-silent"),
    ready: KernelModule | None = one(name="nvidia", loaded=True), uvm: Symptom | None = seen("uvm-module-not-inserted"),
) -> Verdict:  # fmt: skip
    """The driver's programs are there, and its module is not; where CUDA's part has a number in its name, that is what was meant."""
    intended = uvm is not None and symptom.get("module") in ("nvidia-uvm", "nvidia_uvm")
    ours = symptom.get("module", "").startswith("nvidia") and not inside(symptom) and not intended
    return ours and ready is None and {"kernel": symptom.get("kernel")}


@rule("kernel-module-not-built", "likely")
def modprobe_finds_none_though_installed(
    symptom: Symptom = seen("modprobe-module-not-found"), package: SystemPackage = one(state="installed")
) -> Verdict:
    """As above, where a list of packages tells that the driver is installed."""
    return (
        symptom.get("module", "").startswith("nvidia")
        and package.name.startswith(_USER_SPACE)
        and {"kernel": symptom.get("kernel")}
    )


@rule("kernel-module-not-built", "likely")
def some_build_failed_and_no_driver_answers(
    symptom: Symptom = seen("dkms-build-failed-unnamed", "dkms-headers-missing", "kernel-build-folder-missing"),
    _smi: Symptom = seen("dkms-package-failed", tag="nvidia-driver-silent"),
) -> Verdict:
    """DKMS does not say for which module it failed; that the driver is silent tells."""
    return {"kernel": symptom.get("kernel")}


# -- a module that is not let in
@rule("secure-boot-module-unsigned", "likely")
def kernel_refuses_some_module(
    _refused: Symptom = seen("module-key-unavailable", "lockdown-unsigned-module"),
    _smi: Symptom = seen("rock-module-not-loaded", tag="nvidia-driver-silent nvidia-finds-none"),
) -> Verdict:
    """The kernel's log names no module; that the driver is silent tells."""
    return True


@rule("secure-boot-module-unsigned", "likely")
def module_is_there_and_secure_boot_is_on(
    platform: Platform = one(secure_boot=True), _card: PciDevice = one(vendor_id=NVIDIA, driver=None),
    module: KernelModule = one(name="nvidia"), tree: DkmsTree = one(registered=True), loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """Built here for this kernel, kept out by nobody else, and not loaded. A distribution signs what it builds itself."""
    built = platform.release in module.built_for and tree.module.startswith("nvidia")
    return built and loaded is None and not module.get("blacklisted")


@rule("secure-boot-module-unsigned", "likely")
def driver_silent_under_secure_boot(
    platform: Platform = one(secure_boot=True), smi: Symptom = seen(tag="nvidia-driver-silent"), module: KernelModule | None = one(name="nvidia"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True), other: PciDevice | None = one(vendor_id=NVIDIA, driver=("nouveau", "vfio-pci", *_NOVA)),
    switch: GraphicsSwitch | None = one(mode="integrated"),
) -> Verdict:  # fmt: skip
    """Secure Boot is on and the driver's module does not answer; a module that was not built is another matter."""
    release = platform.get("release")
    missing = module and release and module.get("built_for") and release not in module.get("built_for")
    hidden = missing or other is not None or switch is not None or (module and module.get("blacklisted"))
    return loaded is None and not hidden and not inside(smi) and not platform.get("wsl")


# -- another driver holds the card
@rule("nouveau-bound")
def nouveau_holds_the_card(
    card: PciDevice = one(vendor_id=NVIDIA, driver="nouveau"), compute: Gpu | None = one(vendor="amd", integrated=False),
    wish: Symptom | None = seen(tag="nvidia-driver-silent nvidia-finds-none"), module: KernelModule | None = one(name="nvidia"),
) -> Verdict:  # fmt: skip
    """Beside another card that computes, one that only draws the desktop may keep nouveau."""
    wanted = wish is not None or (module and module.get("built_for")) or "nvidia" in card.get("modules", ())
    return bool(wanted) or compute is None


@rule("nouveau-bound", "likely")
def nvidia_was_not_asked(
    _said: Symptom = seen("nvrm-probe-not-called"), other: Symptom | None = seen("nvrm-bound-to-vfio", "nvrm-bound-to-nova"),
    given_away: PciDevice | None = one(driver="vfio-pci"),
) -> Verdict:  # fmt: skip
    """NVIDIA's module was not asked: another driver was first, mostly nouveau."""
    return other is None and given_away is None


@rule("nouveau-bound", "likely")
def nouveau_is_loaded_and_nvidia_is_not(
    _smi: Symptom = seen(tag="nvidia-driver-silent"), nouveau: KernelModule | None = one(name="nouveau"), logged: Symptom | None = seen("nouveau-in-the-log"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """Of the two modules the wrong one is in the kernel, or came up at boot and was not taken out."""
    is_loaded = nouveau.get("loaded", logged is not None) if nouveau else logged is not None
    return loaded is None and bool(is_loaded)


@rule("nouveau-bound", "possible")
def nouveau_came_up(
    _logged: Symptom = seen("nouveau-in-the-log"), compute: Gpu | None = one(vendor=("amd", "intel"), integrated=False), driver: Driver | None = one(vendor="nvidia"),
    module: KernelModule | None = one(name=("nouveau", "nvidia")), silent: Symptom | None = seen(tag="nvidia-driver-silent"), card: PciDevice | None = one(vendor_id=NVIDIA),
    listed: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The kernel's log shows nouveau start the card, and that is all; where cards, modules or drivers are listed, they tell."""
    return all(other is None for other in (compute, driver, module, silent, card, listed))


@rule("nova-core-bound")
def nova_holds_the_card(_card: PciDevice = one(vendor_id=NVIDIA, driver=_NOVA)) -> Verdict:
    """The kernel's new driver, which does not compute."""
    return True


# -- the module does not fit the card
@rule("open-module-on-pre-turing-gpu")
def open_module_cannot_drive_it(
    gpu: Gpu = one(vendor="nvidia"), _driver: Driver = one(vendor="nvidia", flavour="open")
) -> Verdict:
    """The chip has no GSP, without which the open module does nothing."""
    return open_module(gpu.isa) == "impossible" and not gpu.get("seen_by")


@rule("proprietary-module-on-open-only-gpu")
def only_the_open_module_drives_it(
    gpu: Gpu = one(vendor="nvidia"), _driver: Driver = one(vendor="nvidia", flavour="proprietary")
) -> Verdict:
    """The chip is younger than the closed module."""
    return open_module(gpu.isa) == "only" and not gpu.get("seen_by")


@rule("gpu-needs-legacy-driver")
def driver_has_dropped_it(
    gpu: Gpu = one(vendor="nvidia"), driver: Driver = one(vendor="nvidia"), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi")
) -> Verdict:  # fmt: skip
    """The driver is of a later branch than the last one for this chip; where it drives another card, that may be meant."""
    last = driver_branch_for(gpu.isa)
    return (
        bool(last)
        and version_key(driver.version)[:1] > version_key(last or "")
        and not gpu.get("seen_by")
        and {"branch": last, **({"severity": "note"} if works else {})}
    )


@rule("nvml-driver-library-mismatch", "likely")
def modules_firmware_is_not_there(
    symptom: Symptom = seen("gsp-firmware-file-missing"), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi")
) -> Verdict:
    """The module asks for the firmware of its own release in vain; an early start without the file is made good later."""
    return works is None and symptom.values()


@rule("gpu-needs-legacy-driver")
def module_leaves_a_card_to_an_older_branch(
    symptom: Symptom = seen("nvrm-legacy-gpu", "nvrm-ignores-a-legacy-card"), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi")
) -> Verdict:  # fmt: skip
    """The module's own word; an old card beside one that it drives may well be left."""
    return {**symptom.values(), **({"severity": "note"} if works else {})}
