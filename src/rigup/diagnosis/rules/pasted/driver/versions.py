"""Parts of a driver that are of two versions, or of a branch that does not know the card."""

import re

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.driver import NVIDIA, same_version
from rigup.knowledge.cuda import version_key
from rigup.knowledge.gpus import driver_branch_for
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import (
    Driver,
    DriverLibrary,
    Gpu,
    KernelModule,
    PciDevice,
    Platform,
    Symptom,
    SystemPackage,
)

_LEFT_OUT = "nvidia-smi-no-devices"
_APART = 10  # branches: in a WSL nvidia-smi is of a neighbouring one, and no fault
_BRANCH = lazy_regex(r"nvidia-(?:driver|dkms|utils|kernel-source)-(\d{3})(?:-(?:server|open|server-open))?\Z")
_LIBRARIES = ("libnvidia-compute-", "libnvidia-ml1", "libcuda1", "nvidia-utils", "nvidia-driver-cuda-libs", "xorg-x11-drv-nvidia-cuda-libs", "nvidia-compute-utils", "nvidia-compute-G0")  # fmt: skip


def _plain(version: str) -> str:
    """TensorFlow writes 470.57.02 as 470.57.2, and 384.130 as 384.130.0."""
    parts = version.rstrip(".").split(".")
    return ".".join(parts[:-1] if parts[-1] == "0" and len(parts) > 2 else parts)


def of_the_module(name: str) -> bool:
    """Whether a package brings NVIDIA's kernel module."""
    return re.fullmatch(r"nvidia-(?:dkms|open-dkms|kernel-dkms|open-kernel-dkms)(?:-\d{3}(?:-server)?(?:-open)?)?|nvidia(?:-open|-lts)?", name) is not None  # fmt: skip


def of_the_library(name: str) -> bool:
    """Whether a package brings libcuda."""
    return re.fullmatch(r"libnvidia-compute-\d{3}(?:-server)?|libcuda1|nvidia-utils", name) is not None


def release_of_package(package: SystemPackage) -> str:
    """The release of the driver in a package's version, "" where it has none."""
    version = str(package.get("version", "")).rpartition(":")[2].partition("-")[0]
    return version if re.fullmatch(r"\d{3}\.\d{2,3}(?:\.\d{1,2})?", version) else ""


@rule("nvml-driver-library-mismatch", "likely")
def loaded_is_what_was_replaced(
    module: KernelModule = one(name="nvidia", loaded=True), log: Symptom = seen("driver-package-upgraded")
) -> Verdict:
    """The package manager's log replaced the version that still runs."""
    new = log.get("new") or log.get("new2")
    return same_version(module.version, str(log.get("old") or log.get("old2"))) and {"library_version": new}


@rule("nvml-driver-library-mismatch", "likely")
def tool_is_of_a_far_release(
    head: Symptom = seen("nvidia-smi-of-another-driver"), platform: Platform | None = None, spoken: Symptom | None = seen(tag="wsl-spoken-of"),
) -> Verdict:  # fmt: skip
    """nvidia-smi is of a release many branches away from the one that answers it: two drivers' files are mixed."""
    guest = spoken is not None or (
        platform is not None and (platform.get("wsl") or platform.get("system") == "windows")
    )
    tool, driver = version_key(head.tool)[:1], version_key(head.driver)[:1]
    return not guest and bool(tool and driver) and abs(tool[0] - driver[0]) > _APART


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


@rule("libcuda-differs-from-kernel-driver", "likely")
def inside_lies_a_libcuda_of_another_driver(
    driver: Driver = one(vendor="nvidia"), libraries: Every[DriverLibrary] = every(DriverLibrary, soname="libcuda.so.1"),
    symptom: Symptom = seen("cuda-init-failed-no-gpu", "cuda-999", "cuda-not-initialized", tag="nvidia-finds-none"),
    guest: Symptom | None = seen(tag="wsl-spoken-of"),
) -> Verdict:  # fmt: skip
    """nvidia-smi tells the driver, a listing the libraries: none is of that release, and CUDA does not start."""
    foreign = [lib for lib in libraries if lib.knows("version") and not same_version(driver.version, lib.version)]
    return guest is None and 0 < len(foreign) == len(libraries) and {"path": foreign[0].path, "said": symptom.id}


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


@rule("gpu-needs-legacy-driver", "likely")
def package_has_dropped_the_card(
    package: SystemPackage = one(state="installed"), gpu: Gpu = one(vendor="nvidia"), _said: Symptom = seen(_LEFT_OUT, "module-finds-no-device", tag="nvidia-driver-silent"), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A list of packages has a later branch than the last one that drives the card; the driver finds nothing."""
    last = driver_branch_for(gpu.isa)
    version = package.get("version", "").rpartition(":")[2]
    ours = package.name.startswith(("nvidia-driver", "nvidia-utils", "nvidia-dkms", "nvidia-open", "nvidia-kernel", "akmod-nvidia", "linux-nvidia")) or package.name in ("nvidia", "nvidia-lts")  # fmt: skip
    later = bool(last) and version[:1].isdigit() and version_key(version)[:1] > version_key(last or "")
    return ours and later and driver is None and not gpu.get("seen_by") and {"branch": last}


@rule("gpu-needs-legacy-driver", "likely")
def package_is_of_a_later_branch(
    gpu: Gpu = one(vendor="nvidia"), package: SystemPackage = one(state="installed"), _silent: Symptom = seen("nvidia-smi-no-devices", "module-finds-no-device", tag="nvidia-driver-silent"),
) -> Verdict:  # fmt: skip
    """The package's name tells the branch: later than the last one that drives the card."""
    last, named = driver_branch_for(gpu.get("isa") or ""), _BRANCH.match(package.name)
    later = last is not None and named is not None and int(named[1]) > int(last[:3])
    return later and not gpu.get("seen_by") and {"branch": last}


@rule("gpu-needs-legacy-driver", "likely")
def module_of_a_later_branch_leaves_the_card(
    card: PciDevice = one(vendor_id=NVIDIA, driver=None), gpu: Gpu = one(vendor="nvidia", driver=None), statement: Symptom = seen("modules-version-by-modinfo"),
    _asked: Symptom = seen("modinfo-asked-of-nvidias"),
) -> Verdict:  # fmt: skip
    """The bus offers NVIDIA's module for the card, no driver has it, and the module is later than the last branch for it."""
    last = driver_branch_for(gpu.get("isa") or "")
    return last is not None and "nvidia" in card.get("modules", ()) and int(statement.version[:3]) > int(last[:3]) and {"branch": last}  # fmt: skip
