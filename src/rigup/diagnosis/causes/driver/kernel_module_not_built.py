"""There is no GPU module for the running kernel."""

from rigup.diagnosis.causes.driver.modules import USER_SPACE
from rigup.diagnosis.causes.pci import AMD, NVIDIA
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen, text_rule, wordings
from rigup.knowledge.distributions import family_of_kernel
from rigup.machine.kinds import (
    Distribution,
    DkmsBuild,
    DkmsTree,
    DriverLibrary,
    Gpu,
    Kernel,
    KernelModule,
    KfdNode,
    PciDevice,
    Platform,
    Symptom,
    SystemPackage,
)

_AMD_SILENT = wordings(tag="amd-driver-silent")
_DKMS = "dkms autoinstall"
_AKMODS_OF_ALL = "akmods --force"
_BUILT_HERE = "akmods"
_REPLACE = ("arch", "endeavouros", "cachyos", "garuda", "manjaro")


@rule("kernel-module-not-built")
def built_for_other_kernels(
    platform: Platform,
    module: KernelModule = one(name="nvidia"),
    card: PciDevice | None = one(driver="nvidia"),
    answers: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:
    """There are module files, or packages of such, none of them for the kernel that runs."""
    gone = bool(module.built_for) and platform.release not in module.built_for
    works = module.get("loaded", card is not None or answers is not None) or platform.get("wsl")  # lsmod knows best
    return gone and not works and {"kernel": platform.release, "built": module.built_for[-1]}


def _unbuilt(tree: DkmsTree, builds: Every[DkmsBuild], platform: Platform) -> Verdict:
    mine = [build for build in builds if build.module == tree.module and build.kernel == platform.release]
    ready = any(build.get("status", "installed") in ("installed", "built") for build in mine)
    return not ready and {"kernel": platform.release}


@rule("kernel-module-not-built")
def dkms_has_nvidia_for_other_kernels(
    platform: Platform,
    tree: DkmsTree = one(registered=True),
    builds: Every[DkmsBuild] = every(DkmsBuild),
    loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:
    """DKMS is to build the module and has not done so for this kernel."""
    return tree.module.startswith("nvidia") and loaded is None and _unbuilt(tree, builds, platform)


@rule("kernel-module-not-built")
def dkms_has_amdgpu_for_other_kernels(
    platform: Platform,
    tree: DkmsTree = one(registered=True, module="amdgpu"),
    builds: Every[DkmsBuild] = every(DkmsBuild),
    loaded: KernelModule | None = one(name="amdgpu", loaded=True),
) -> Verdict:
    """As above; where the kernel's own amdgpu runs instead, nothing is missing."""
    return tree.module == "amdgpu" and loaded is None and _unbuilt(tree, builds, platform)


@rule("kernel-module-not-built", "likely")
def modprobe_finds_no_module(
    symptom: Symptom = seen("modprobe-module-not-found", "kmod-no-such-module"),
    _smi: Symptom = seen(
        "dkms-headers-missing",
        "nvidia-installer-load-failed",
        "nvidia-docker-no-uvm",
        "cuda-999",
        "fallback-service-speaks",
        "persistenced-finds-no-nodes",
        tag="nvidia-driver-silent",
    ),
    ready: KernelModule | None = one(name="nvidia", loaded=True),
    uvm: Symptom | None = seen("uvm-module-not-inserted"),
) -> Verdict:
    """The driver's programs are there, and its module is not; where CUDA's part has a number in its name, that is what was meant."""
    intended = uvm is not None and symptom.get("module") in ("nvidia-uvm", "nvidia_uvm")
    ours = symptom.get("module", "").startswith("nvidia") and not inside(symptom) and not intended
    return ours and ready is None and {"kernel": symptom.get("kernel")}


@rule("kernel-module-not-built", "likely")
def modprobe_finds_none_though_installed(
    symptom: Symptom = seen("modprobe-module-not-found"), package: SystemPackage = one(state="installed")
) -> Verdict:
    """As above, where a list of packages tells that the driver is installed."""
    return symptom.get("module", "").startswith("nvidia") and package.name.startswith(USER_SPACE) and {"kernel": symptom.get("kernel")}


@rule("kernel-module-not-built", "likely")
def some_build_failed_and_no_driver_answers(
    symptom: Symptom = seen("dkms-build-failed-unnamed", "dkms-headers-missing", "kernel-build-folder-missing"),
    _smi: Symptom = seen("dkms-package-failed", tag="nvidia-driver-silent"),
) -> Verdict:
    """DKMS does not say for which module it failed; that the driver is silent tells."""
    return {"kernel": symptom.get("kernel")}


@rule("kernel-module-not-built", "likely")
def amds_own_module_was_not_built_and_the_kernels_leaves_the_card(
    card: PciDevice = one(vendor_id=AMD, driver=None),
    _loaded: KernelModule = one(name="amdgpu", loaded=True),
    platform: Platform = one(wsl=None),
    tree: DkmsTree = one(module="amdgpu", registered=True),
    builds: Every[DkmsBuild] = every(DkmsBuild),
) -> Verdict:
    """DKMS has AMD's module and no build of it for the kernel that runs; amdgpu is that kernel's own, and takes no notice of the card."""
    draws = str(card.get("class_code", "03"))[:2] in ("03", "12")
    built = any(build.get("kernel") == platform.get("release") for build in builds)
    return draws and not built and bool(tree.get("version")) and {"kernel": platform.release}


@rule("kernel-module-not-built", "possible")
def modprobe_finds_none_and_nobody_says_why(
    symptom: Symptom = seen("modprobe-module-not-found", "kmod-no-such-module"),
    missing: Symptom | None = seen("nvidia-smi-not-installed"),
    card: PciDevice | None = one(vendor_id=NVIDIA),
    ready: KernelModule | None = one(name="nvidia", loaded=True),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
    uvm: Symptom | None = seen("uvm-module-not-inserted"),
) -> Verdict:
    """Who asks for the module takes the driver for installed; a card without any driver is another matter."""
    elsewhere = inside(symptom) or any(other is not None for other in (missing, card, ready, works, uvm))
    return symptom.get("module", "").startswith("nvidia") and not elsewhere and {"kernel": symptom.get("kernel")}


@rule("kernel-module-not-built", "likely")
def dkms_has_it_for_no_kernel(
    symptom: Symptom = seen("dkms-added-only"),
    wish: Symptom = seen(tag="nvidia-driver-silent amd-driver-silent"),
    built: DkmsBuild | None = None,
    loaded: KernelModule | None = one(name=("nvidia", "amdgpu"), loaded=True),
) -> Verdict:
    """DKMS knows the module and has built it for no kernel at all; the driver that needs it is silent."""
    mine = (symptom.module == "amdgpu") == (wish.id in _AMD_SILENT)
    return mine and built is None and loaded is None and not inside(wish) and {"kernel": None}


@rule("kernel-module-not-built")
def dkms_has_it_for_no_kernel_and_nobody_has_the_card(
    symptom: Symptom = seen("dkms-added-only"),
    card: PciDevice = one(vendor_id=(NVIDIA, AMD), driver=None),
    built: DkmsBuild | None = None,
    loaded: KernelModule | None = one(name=("nvidia", "amdgpu"), loaded=True),
) -> Verdict:
    """As above, where the bus shows a card without a driver."""
    mine = (symptom.module == "amdgpu") == (card.vendor_id == AMD)
    return mine and built is None and loaded is None and {"kernel": None}


@rule("kernel-module-not-built", "likely")
def failed_build_was_of_our_module(
    failed: Symptom = seen("dkms-build-failed-unnamed"),
    ours: Symptom = seen("dkms-builds-our-module"),
    loaded: KernelModule | None = one(name=("nvidia", "amdgpu"), loaded=True),
) -> Verdict:
    """The line that fails names no module; the command above it builds in our module's folder."""
    return loaded is None and {"kernel": failed.get("kernel"), "module": ours.module}


@rule("kernel-module-not-built", "likely")
def libraries_without_any_module(
    platform: Platform,
    _card: PciDevice = one(vendor_id=NVIDIA, driver=None),
    library: DriverLibrary = one(soname="libnvidia-ml.so.1"),
    kernels: Every[Kernel] = every(Kernel),
    modules: Every[KernelModule] = every(KernelModule, name="nvidia"),
) -> Verdict:
    """The driver's libraries are installed, the running kernel's folder was looked through, and no kernel has a module."""
    looked = any(kernel.release == platform.release for kernel in kernels)
    has_module = any(module.get("built_for") or module.get("loaded") for module in modules)
    ours = library.knows("version") and not inside(library) and not platform.get("wsl")
    return looked and not has_module and ours and {"kernel": platform.release}


@text_rule("kernel-module-not-built", "likely")
def amdgpu_is_built_for_other_kernels(
    module: KernelModule = one(name="amdgpu"),
    platform: Platform = one(wsl=None),
    symptom: Symptom = seen(tag="rocm-finds-none"),
    denied: Symptom | None = seen(tag="kfd-denied"),
    node: KfdNode | None = None,
) -> Verdict:
    """AMD's module was built for kernels of which none runs, and ROCm finds nothing with the kernel's own."""
    other = bool(module.built_for) and platform.release not in module.built_for
    return other and denied is None and node is None and not inside(symptom) and {"kernel": platform.release}


@text_rule("kernel-module-not-built", "possible")
def headers_are_missing_and_nobody_says_for_what(
    symptom: Symptom = seen("dkms-headers-missing"),
    loaded: KernelModule | None = one(name=("nvidia", "amdgpu"), loaded=True),
    tree: DkmsTree | None = None,
) -> Verdict:
    """DKMS misses the headers of a kernel; which module it is to build is not told, and no driver is seen at work."""
    return loaded is None and tree is None and {"kernel": symptom.kernel}


@mends("kernel-module-not-built")
def module_that_is_wanted(
    knew: Params,
    tree: DkmsTree | None = one(module="amdgpu"),
    symptom: Symptom | None = seen(tag="module-of-amd"),
    other: DkmsTree | None = one(module="nvidia"),
    card: Gpu | None = one(vendor="nvidia"),
    silent: Symptom | None = seen(tag="nvidia-driver-silent"),
    akmods: Symptom | None = seen(tag="akmods-failed"),
    package: SystemPackage | None = one(name="akmod-nvidia", state="installed"),
) -> Params:
    """AMD's module can be left out, for the kernel has one of its own; NVIDIA's cannot."""
    named = str(knew.get("module") or "")
    amds = tree is not None or symptom is not None or named.startswith("amdgpu")
    nvidias = any(part is not None for part in (other, card, silent)) or named.startswith("nvidia")
    if amds and not nvidias:
        return {"left_out": "amdgpu-dkms", "builder": _DKMS}
    return {"maker": "NVIDIA", "builder": _AKMODS_OF_ALL if akmods is not None or package is not None else _DKMS}


@mends("kernel-module-not-built")
def module_that_comes_in_packages(platform: Platform, module: KernelModule = one(name="nvidia")) -> Params:
    """Where the distribution builds it itself, the package for this kernel is what is missing, and nothing is compiled."""
    if module.packaged == _BUILT_HERE:
        return {"builder": _AKMODS_OF_ALL}
    return {"prebuilt": module.packaged + platform.release, "builder": None, "kernel": None}


@mends("kernel-module-not-built")
def whether_it_can_be_built(
    knew: Params,
    refused: Symptom | None = seen(tag="module-fits-not"),
    headers: Symptom | None = seen(tag="headers-missing"),
    failed: Symptom | None = seen(tag="module-build-failed amd-module-build-failed"),
    kept: Symptom | None = seen("dkms-keeps-the-kernels-amdgpu"),
) -> Params:
    """Where the sources do not fit the kernel another driver or another kernel helps; where it failed and nobody says why, perhaps."""
    broken = failed is not None and headers is None
    if kept is not None and headers is None and knew.get("left_out"):
        return {"kernel": None, "builder": None}  # the kernel has the same already, and dkms would refuse again
    if headers is None and (refused is not None or (broken and knew.get("left_out"))):
        older = None if knew.get("built") else "older"
        return {"kernel": None, "builder": None, "newer": knew.get("maker"), "older": older}
    plain = knew.get("builder") == _DKMS and knew.get("kernel")
    loads = "nvidia" if knew.get("maker") else None  # the kernel's own amdgpu may be at work, and gives way at a restart
    return {
        "loads": loads,
        "starts": None if loads else "restart",
        "lacks": "headers" if headers is not None else None,
        "kernel": knew.get("kernel") if plain else None,
        "builder": None if plain or knew.get("kernel") else knew.get("builder"),
        "of_builder": None if plain else knew.get("builder"),
        "of": None if plain else knew.get("kernel"),
        "newer": knew.get("maker") if broken else None,
    }


@mends("kernel-module-not-built")
def module_that_was_built_without_dkms(knew: Params, _absent: Symptom = seen("dkms-is-not-there")) -> Params:
    """Where there is no DKMS it has no sources to build from either: NVIDIA's installer made the module, and makes it again."""
    built_here = knew.get("builder") == _DKMS or knew.get("kernel") or knew.get("of_builder") == _DKMS
    return (
        {"kernel": None, "builder": None, "of_builder": None, "dkms": "dkms", "anew": "installer"}
        if built_here and not knew.get("left_out")
        else {}
    )


@mends("kernel-module-not-built")
def kernel_of_ones_own(knew: Params, refused: Symptom = seen("dkms-ran-the-build-in-vain")) -> Params:
    """A kernel that no distribution makes: its own runs beside it, and the driver's sources know that one."""
    ours = not knew.get("left_out") and not family_of_kernel(str(refused.kernel))
    return {"custom": refused.kernel, "older": None} if ours else {}


@mends("kernel-module-not-built")
def kernel_that_was_replaced(
    knew: Params,
    system: Distribution = one(id=_REPLACE),
    _gone: Symptom = seen("modprobe-module-not-found", "module-folder-not-there"),
    tree: DkmsTree | None = None,
    headers: Symptom | None = seen(tag="headers-missing"),
    failed: Symptom | None = seen(tag="module-build-failed"),
) -> Params:
    """These keep the modules of the newest kernel alone: until the next start the one that runs has none."""
    told = any(part is not None for part in (tree, headers, failed)) or not system.get("id")
    return {} if told or not knew.get("kernel") else {"replaced": str(knew["kernel"])}


@mends("kernel-module-not-built")
def installer_of_nvidias_own(
    _said: Symptom = seen("nvidia-installer-build-failed"),
    headers: Symptom | None = seen("installer-finds-no-source-tree"),
    named: Symptom | None = seen("installer-of-a-linux-driver-named"),
) -> Params:
    """It builds the module while it installs, and DKMS knows nothing of it yet: with the headers there it is run again."""
    if headers is None:
        return {}
    holes = {"kernel": None, "builder": None, "newer": None}
    return {**holes, "installer": named.installer} if named is not None else {**holes, "again": "installer"}


@mends("kernel-module-not-built")
def compiler_of_the_kernel(
    knew: Params,
    compilers: Symptom = seen("kernel-built-by-another-compiler"),
    failed: Symptom | None = seen("dkms-build-failed", "dkms-build-failed-unnamed", "dkms-autoinstall-failed"),
    platform: Platform | None = None,
) -> Params:
    """A module that an older compiler refuses to build is built with the one that built the kernel."""
    wanted, used = str(compilers.wanted), str(compilers.used)
    running = platform.get("release") if platform is not None else None
    kernel = knew.get("kernel") or (failed.kernel if failed is not None else running)
    if int(used) >= int(wanted) or not kernel:
        return {}
    return {"gcc": wanted, "compiler": f"gcc-{wanted}", "with_compiler": kernel, "kernel": None, "newer": None}
