"""Parts of a driver that are of two versions, or of a branch that does not know the card."""

import re

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.driver import NO_CUDA, NVIDIA, SILENT, same_version
from rigup.diagnosis.rules.pasted.heard import CUDA_STARTS_NOT, UNSEEN
from rigup.diagnosis.rules.told import Told
from rigup.knowledge.cuda import version_key
from rigup.knowledge.gpus import driver_branch_for, open_module
from rigup.knowledge.patterns import late
from rigup.machine.kinds import (
    Driver,
    DriverLibrary,
    Gpu,
    KernelModule,
    PciDevice,
    Platform,
    SearchPath,
    Symptom,
    SystemPackage,
    Torch,
)

_LEFT_OUT = "nvidia-smi-no-devices"
_SYSTEM = ("/usr/lib", "/lib/", "/usr/lib64", "/lib64/")
_CPU = "ollama-computes-on-cpu"
_IDLE = ("nvidia-smi-no-devices", "nvidia-smi-none-in-words", "nvrm-none-initialised", "nvrm-init-adapter-failed", "xorg-gpu-init-failed", _CPU, *SILENT, *NO_CUDA)  # fmt: skip
_999 = ("cuda-999", "cuda-999-constant", "cuda-999-runtime", "cuinit-returns-999", "cuda-999-number")
_803 = ("cuda-803", "cuda-803-constant", "cuda-803-driver-api", "cuda-803-by-number")
_APART = 10  # branches: in a WSL nvidia-smi is of a neighbouring one, and no fault
_WSL = ("wsl-lived-in", "wsl-in-small-letters", "wsl-kernel-named", "wsl-folder-named")
_BRANCH = late(r"nvidia-(?:driver|dkms|utils|kernel-source)-(\d{3})(?:-(?:server|open|server-open))?\Z")
_LIBRARIES = ("libnvidia-compute-", "libnvidia-ml1", "libcuda1", "nvidia-utils", "nvidia-driver-cuda-libs", "xorg-x11-drv-nvidia-cuda-libs", "nvidia-compute-utils", "nvidia-compute-G0")  # fmt: skip
_REPLACED = ("pacman-replaced-the-driver", "apt-replaced-the-driver")


def _of_linux(version: str) -> bool:
    """Windows's releases have two numbers, the second of two digits: `560.94`."""
    parts = version.split(".")
    return len(parts) > 2 or len(parts[-1]) > 2


def _plain(version: str) -> str:
    """TensorFlow writes 470.57.02 as 470.57.2, and 384.130 as 384.130.0."""
    parts = version.rstrip(".").split(".")
    return ".".join(parts[:-1] if parts[-1] == "0" and len(parts) > 2 else parts)


def _of_the_module(name: str) -> bool:
    return re.fullmatch(r"nvidia-(?:dkms|open-dkms|kernel-dkms|open-kernel-dkms)(?:-\d{3}(?:-server)?(?:-open)?)?|nvidia(?:-open|-lts)?", name) is not None  # fmt: skip


def _of_the_library(name: str) -> bool:
    return re.fullmatch(r"libnvidia-compute-\d{3}(?:-server)?|libcuda1|nvidia-utils", name) is not None


def _release(package: SystemPackage) -> str:
    version = str(package.get("version", "")).rpartition(":")[2].partition("-")[0]
    return version if re.fullmatch(r"\d{3}\.\d{2,3}(?:\.\d{1,2})?", version) else ""


# -- nvml-driver-library-mismatch
@rule("nvml-driver-library-mismatch", "likely")
def loaded_module_and_installed_library_differ(
    module: KernelModule = one(name="nvidia", loaded=True), library: DriverLibrary = one(soname="libcuda.so.1"), other: DriverLibrary | None = one(soname="libnvidia-ml.so.1"),
    told: Symptom | None = seen("cuda-803", "cuda-803-constant", "cuda-803-driver-api", "cuda-803-by-number"),
) -> Verdict:  # fmt: skip
    """A link in the system's own folder leads to another version than the loaded module's: an upgrade without a restart."""
    ours = library.path.startswith(_SYSTEM) and not inside(library) and other is None
    return (
        ours
        and told is None
        and not same_version(module.version, library.version)
        and {"library_version": library.version}
    )


@rule("nvml-driver-library-mismatch", "likely")
def tool_of_another_driver_and_cuda_fails(
    head: Symptom = seen("nvidia-smi-of-another-driver"), said: Symptom = seen(*_999, *CUDA_STARTS_NOT, *NO_CUDA),
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


@rule("nvml-driver-library-mismatch", "likely")
def loaded_is_what_was_replaced(
    module: KernelModule = one(name="nvidia", loaded=True), log: Symptom = seen("driver-package-upgraded")
) -> Verdict:
    """The package manager's log replaced the version that still runs."""
    new = log.get("new") or log.get("new2")
    return same_version(module.version, str(log.get("old") or log.get("old2"))) and {"library_version": new}


@rule("nvml-driver-library-mismatch", "likely")
def tool_is_of_a_far_release(
    head: Symptom = seen("nvidia-smi-of-another-driver"), platform: Platform | None = None, spoken: Symptom | None = seen(*_WSL),
) -> Verdict:  # fmt: skip
    """nvidia-smi is of a release many branches away from the one that answers it: two drivers' files are mixed."""
    guest = spoken is not None or (
        platform is not None and (platform.get("wsl") or platform.get("system") == "windows")
    )
    tool, driver = version_key(head.tool)[:1], version_key(head.driver)[:1]
    return not guest and bool(tool and driver) and abs(tool[0] - driver[0]) > _APART


@rule("nvml-driver-library-mismatch", "likely")
def file_of_the_module_was_replaced(
    shown: Symptom = seen("module-on-the-disk-and-in-the-kernel"), said: Symptom = seen(*SILENT, *NO_CUDA, "nvtop-has-nothing-to-watch"),
) -> Verdict:  # fmt: skip
    """The module that lies there is of another release than the one that runs, and a program finds no GPU: not restarted since."""
    return not same_version(shown.file, shown.loaded) and {"library_version": shown.file, "said": said.id}


@rule("nvml-driver-library-mismatch", "likely")
def package_was_replaced_and_the_module_runs_on(
    log: Symptom = seen(*_REPLACED), module: KernelModule = one(name="nvidia", loaded=True), said: Symptom = seen(*UNSEEN)
) -> Verdict:  # fmt: skip
    """The package manager's log has the release that runs as the one before: not restarted since."""
    stale = same_version(str(log.before), module.version) and not same_version(str(log.after), module.version)
    return stale and {"library_version": log.after, "said": said.id}


@rule("nvml-driver-library-mismatch", "likely")
def module_file_is_of_another_release_than_libcuda(
    shown: Symptom = seen("module-file-and-libcuda-asked-together"),
) -> Verdict:
    """The module that lies there for the running kernel, and the library beside it, are of two releases."""
    return not same_version(shown.module, shown.library) and {"library_version": shown.library}


@rule("nvml-driver-library-mismatch", "likely")
def module_on_the_disk_is_not_the_one_that_runs(
    module: KernelModule = one(name="nvidia", loaded=True), told: Symptom = seen("modules-version-by-modinfo"), _asked: Symptom = seen("modinfo-asked-of-nvidias"),
    works: Gpu | None = one(vendor="nvidia", seen_by=("nvidia-smi", "torch", "cuda")),
) -> Verdict:  # fmt: skip
    """modinfo reads the file that the package brought, the kernel tells what it loaded: not restarted since."""
    known = module.knows("version")
    return known and works is None and not same_version(module.version, told.version) and {"library_version": told.version}  # fmt: skip


@rule("nvml-driver-library-mismatch", "likely")
def module_of_the_log_is_not_the_packages(
    log: Symptom = seen("module-tells-its-release-as-it-loads"), package: SystemPackage = one(state="installed"), module: KernelModule | None = one(name="nvidia"),
    works: Gpu | None = one(vendor="nvidia", seen_by=("nvidia-smi", "torch", "cuda")), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """The kernel's log has one release start, and the libraries' package is of another."""
    version = package.get("version", "").rpartition(":")[2].partition("-")[0]
    ours = package.name.startswith(_LIBRARIES) and version.count(".") > 0 and not inside(package)
    known = works is not None or (module is not None and module.knows("version"))
    guest = platform is not None and platform.get("wsl")
    return ours and not known and not guest and not same_version(log.version, version) and {"library_version": version}


@rule("nvml-driver-library-mismatch", "likely")
def packages_of_module_and_library_differ(
    module: SystemPackage = one(name=Told(_of_the_module), state="installed"), library: SystemPackage = one(name=Told(_of_the_library), state="installed"),
    works: Gpu | None = one(vendor="nvidia", seen_by=("nvidia-smi", "torch", "cuda")), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """The package that brings the module and the one that brings the libraries are of two releases: an upgrade stopped half way."""
    ours, theirs = _release(module), _release(library)
    elsewhere = inside(module) or inside(library) or bool(platform and platform.get("wsl")) or works is not None
    return bool(ours and theirs) and not elsewhere and not same_version(ours, theirs) and {"library_version": theirs}


@rule("nvml-driver-library-mismatch", "likely")
def package_was_replaced_and_torch_sees_none(
    log: Symptom = seen(*_REPLACED), started: Symptom = seen("module-tells-its-release-as-it-loads"), _torch: Torch = one(available=False)
) -> Verdict:  # fmt: skip
    """The kernel's log has the release start that the package manager's has as the one before."""
    stale = same_version(str(log.before), started.version) and not same_version(str(log.after), started.version)
    return stale and {"library_version": log.after}


# -- libcuda-differs-from-kernel-driver
@rule("libcuda-differs-from-kernel-driver", "possible")
def container_holds_two_releases(
    link: Symptom = seen("wsl-libcuda-of-a-linux-driver"), file: Symptom = seen("libcuda-file-of-a-release"),
    module: KernelModule | None = one(name="nvidia"), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """One release was mounted from the host, the other came with the image: the loader takes the newer, whose ever it is."""
    known = (module is not None and module.knows("version")) or driver is not None
    return inside(link) and not known and file.version != link.version and {"path": f"libcuda.so.{link.version}"}


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


@rule("libcuda-differs-from-kernel-driver", "likely")
def inside_lies_a_libcuda_of_another_driver(
    driver: Driver = one(vendor="nvidia"), libraries: Every[DriverLibrary] = every(DriverLibrary, soname="libcuda.so.1"),
    said: Symptom = seen(*NO_CUDA, "cuda-init-failed-no-gpu", "cuda-999", "cuda-not-initialized"),
    guest: Symptom | None = seen(*_WSL),
) -> Verdict:  # fmt: skip
    """nvidia-smi tells the driver, a listing the libraries: none is of that release, and CUDA does not start."""
    foreign = [one for one in libraries if one.knows("version") and not same_version(driver.version, one.version)]
    return guest is None and 0 < len(foreign) == len(libraries) and {"path": foreign[0].path, "said": said.id}


@rule("libcuda-differs-from-kernel-driver", "likely")
def tensorflow_tells_two_versions(
    library: Symptom = seen("tf-tells-libcuda"), kernel: Symptom = seen("tf-tells-the-kernel")
) -> Verdict:
    """TensorFlow asks libcuda and the kernel: they answer with different releases."""
    return not same_version(_plain(library.version), _plain(kernel.version)) and {"library": library.version}


@rule("libcuda-differs-from-kernel-driver", "likely")
def tensorflows_library_is_not_the_modules(
    library: Symptom = seen("tf-tells-libcuda"), module: KernelModule = one(name="nvidia"), kernel: Symptom | None = seen("tf-tells-the-kernel"),
) -> Verdict:  # fmt: skip
    """The same, where the log is cut after the kernel's own file."""
    return kernel is None and not same_version(_plain(library.version), _plain(module.version))


# -- libcuda-stub-loaded
@rule("libcuda-stub-loaded", "likely")
def stubs_are_searched_and_torch_sees_none(folder: SearchPath, _torch: Torch = one(available=False)) -> Verdict:
    """A folder of stubs stands in the search path, and torch finds no card."""
    return folder.path.endswith("/stubs") and {"folder": folder.path}


@rule("libcuda-stub-loaded", "possible")
def stubs_are_searched_before_the_system(
    folder: SearchPath, works: Torch | None = one(available=True), loaded: Gpu | None = one(seen_by="torch")
) -> Verdict:
    """A folder that only a linker wants is searched when programs start, and before the system's own; nobody says what came of it."""
    return folder.path.endswith("/stubs") and works is None and loaded is None and {"folder": folder.path}


@rule("libcuda-stub-loaded", "possible")
def stubs_are_put_first(
    said: Symptom = seen("stubs-stand-first-in-the-path"), works: Torch | None = one(available=True), loaded: Gpu | None = one(seen_by="torch"),
) -> Verdict:  # fmt: skip
    """The same, of a line that sets no variable of this machine: an image's description."""
    return works is None and loaded is None and {"folder": said.folder}


# -- gpu-needs-legacy-driver
@rule("gpu-needs-legacy-driver", "likely")
def package_has_dropped_the_card(
    package: SystemPackage = one(state="installed"), gpu: Gpu = one(vendor="nvidia"), _said: Symptom = seen(_LEFT_OUT, *SILENT, "module-finds-no-device"), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A list of packages has a later branch than the last one that drives the card; the driver finds nothing."""
    last = driver_branch_for(gpu.isa)
    version = package.get("version", "").rpartition(":")[2]
    ours = package.name.startswith(("nvidia-driver", "nvidia-utils", "nvidia-dkms", "nvidia-open", "nvidia-kernel", "akmod-nvidia", "linux-nvidia")) or package.name in ("nvidia", "nvidia-lts")  # fmt: skip
    later = bool(last) and version[:1].isdigit() and version_key(version)[:1] > version_key(last or "")
    return ours and later and driver is None and not gpu.get("seen_by") and {"branch": last}


@rule("gpu-needs-legacy-driver", "likely")
def installer_leaves_cards_to_an_older_branch(
    said: Symptom = seen("installer-names-legacy-cards"), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi")
) -> Verdict:
    """The installer's own word; an old card beside one that the driver lists may well be left."""
    return {**said.values(), **({"severity": "note"} if works else {})}


@rule("gpu-needs-legacy-driver", "likely")
def version_of_a_log_has_dropped_the_card(
    gpu: Gpu = one(vendor="nvidia"), told: Symptom = seen("driver-version-in-a-log", "nvidia-installer-no-gpu"),
    _idle: Symptom = seen("xorg-no-devices", "nvidia-installer-no-gpu", "nvidia-smi-no-devices", "module-finds-no-device", *SILENT),
) -> Verdict:  # fmt: skip
    """An installer, or X, names its version: later than the last one that drives the card."""
    last = driver_branch_for(gpu.isa)
    return bool(last) and version_key(told.version)[:1] > version_key(last or "") and not gpu.get("seen_by") and {"branch": last}  # fmt: skip


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


@rule("gpu-needs-legacy-driver", "likely")
def module_of_a_later_branch_leaves_the_card(
    card: PciDevice = one(vendor_id=NVIDIA, driver=None), gpu: Gpu = one(vendor="nvidia", driver=None), told: Symptom = seen("modules-version-by-modinfo"),
    _asked: Symptom = seen("modinfo-asked-of-nvidias"),
) -> Verdict:  # fmt: skip
    """The bus offers NVIDIA's module for the card, no driver has it, and the module is later than the last branch for it."""
    last = driver_branch_for(gpu.get("isa") or "")
    return last is not None and "nvidia" in card.get("modules", ()) and int(told.version[:3]) > int(last[:3]) and {"branch": last}  # fmt: skip


# -- proprietary-module-on-open-only-gpu
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


# -- open-module-on-pre-turing-gpu
@rule("open-module-on-pre-turing-gpu", "likely")
def open_module_of_a_report_finds_nothing(
    gpu: Gpu = one(vendor="nvidia"), package: SystemPackage = one(state="installed"), _said: Symptom = seen(_LEFT_OUT)
) -> Verdict:
    """The open module is installed, the driver answers, and leaves out a card from before GSP."""
    ours = "nvidia" in package.name and "open" in package.name.split("-")
    return ours and open_module(gpu.isa) == "impossible" and not gpu.get("seen_by") and {"branch": driver_branch_for(gpu.isa)}  # fmt: skip


@rule("open-module-on-pre-turing-gpu", "likely")
def open_module_is_shown_beside_an_old_card(
    gpu: Gpu = one(vendor="nvidia"), _open: Symptom = seen("module-licence-open", "nixos-open-module"), _idle: Symptom = seen(*_IDLE)
) -> Verdict:  # fmt: skip
    """modinfo, or a setting, tells the open module; the card is older than its GSP, and nobody finds the card."""
    return open_module(gpu.isa) == "impossible" and not gpu.get("seen_by") and {"branch": driver_branch_for(gpu.isa)}
