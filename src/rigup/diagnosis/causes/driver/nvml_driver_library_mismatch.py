"""The loaded NVIDIA module and the driver's libraries are of different versions."""

import re

from rigup.diagnosis.causes.driver.modules import USER_SPACE, same_version
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen, text_rule
from rigup.knowledge.cuda import version_key
from rigup.machine.kinds import Driver, DriverLibrary, Gpu, KernelModule, Platform, Symptom, SystemPackage

_APART = 10  # branches: in a WSL nvidia-smi is of a neighbouring one, and no fault
_LIBRARIES = (
    "libnvidia-compute-",
    "libnvidia-ml1",
    "libcuda1",
    "nvidia-utils",
    "nvidia-driver-cuda-libs",
    "xorg-x11-drv-nvidia-cuda-libs",
    "nvidia-compute-utils",
    "nvidia-compute-G0",
)
_USER_SPACE = re.compile(r"(?:libnvidia-|nvidia-(?:utils|compute-utils|driver-libs|smi))")


@rule("nvml-driver-library-mismatch")
def module_and_library_differ(
    module: KernelModule = one(name="nvidia"), libraries: Every[DriverLibrary] = every(DriverLibrary, soname="libnvidia-ml.so.1")
) -> Verdict:
    """No library of the system is the loaded module's."""
    versions = [library.version for library in libraries if library.knows("version")]
    fits = any(same_version(module.version, version) for version in versions)
    return bool(versions) and not fits and not inside(libraries) and {"library_version": versions[0]}


@rule("nvml-driver-library-mismatch")
def kernel_refused_the_libraries(
    symptom: Symptom = seen("nvrm-api-mismatch"),
    driver: Driver | None = one(vendor="nvidia"),
    card: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:
    """The kernel's log keeps it: where nvidia-smi answers with the libraries' version by now, the module was loaded anew."""
    now = driver.get("version") if driver is not None and card is not None else None
    past = bool(now) and same_version(str(now), str(symptom.get("library")))
    return not past and symptom.values()


@rule("nvml-driver-library-mismatch", "likely")
def module_and_package_differ(package: SystemPackage = one(state="installed"), module: KernelModule = one(name="nvidia")) -> Verdict:
    """The package manager has another driver than the one that is loaded."""
    mine = package.name.startswith(USER_SPACE) and not inside(package)
    version = package.get("version", "").rpartition(":")[2].partition("-")[0]
    return mine and version.count(".") > 0 and not same_version(module.version, version) and {"library_version": version}


@rule("nvml-driver-library-mismatch", "likely")
def modules_firmware_is_not_there(
    symptom: Symptom = seen("gsp-firmware-file-missing"), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi")
) -> Verdict:
    """The module asks for the firmware of its own release in vain; an early start without the file is made good later."""
    return works is None and symptom.values()


@text_rule("nvml-driver-library-mismatch", "likely")
def loaded_is_what_was_replaced(
    module: KernelModule = one(name="nvidia", loaded=True), log: Symptom = seen("driver-package-upgraded")
) -> Verdict:
    """The package manager's log replaced the version that still runs."""
    new = log.get("new") or log.get("new2")
    return same_version(module.version, str(log.get("old") or log.get("old2"))) and {"library_version": new}


@text_rule("nvml-driver-library-mismatch", "likely")
def tool_is_of_a_far_release(
    head: Symptom = seen("nvidia-smi-of-another-driver"),
    platform: Platform | None = None,
    spoken: Symptom | None = seen(tag="wsl-spoken-of"),
) -> Verdict:
    """nvidia-smi is of a release many branches away from the one that answers it: two drivers' files are mixed."""
    guest = spoken is not None or (platform is not None and (platform.get("wsl") or platform.get("system") == "windows"))
    tool, driver = version_key(head.tool)[:1], version_key(head.driver)[:1]
    return not guest and bool(tool and driver) and abs(tool[0] - driver[0]) > _APART


@text_rule("nvml-driver-library-mismatch", "likely")
def module_of_the_log_is_not_the_packages(
    log: Symptom = seen("module-tells-its-release-as-it-loads"),
    package: SystemPackage = one(state="installed"),
    module: KernelModule | None = one(name="nvidia"),
    works: Gpu | None = one(vendor="nvidia", seen_by=("nvidia-smi", "torch", "cuda")),
    platform: Platform | None = None,
) -> Verdict:
    """The kernel's log has one release start, and the libraries' package is of another."""
    version = package.get("version", "").rpartition(":")[2].partition("-")[0]
    ours = package.name.startswith(_LIBRARIES) and version.count(".") > 0 and not inside(package)
    known = works is not None or (module is not None and module.knows("version"))
    guest = platform is not None and platform.get("wsl")
    return ours and not known and not guest and not same_version(log.version, version) and {"library_version": version}


@mends("nvml-driver-library-mismatch")
def whether_one_driver_is_there(
    updated: Symptom | None = seen(tag="driver-packages-updated"), built: Symptom | None = seen("driver-is-built-by-dkms")
) -> Params:
    """Mostly the module is of before an update, and is loaded anew; an update that came unasked comes again, unless the packages are held.

    Where DKMS builds the module, it builds one for the next kernel, too.
    """
    if updated is None:
        return {"free": "driver"}
    return {"same": "driver", "held": "nvidia"} if built is not None else {"same": "driver", "prebuilt": "driver"}


@mends("nvml-driver-library-mismatch")
def libraries_of_a_container(
    _inside: Symptom = seen("nvml-version-mismatch", "nvml-version-mismatch-constant", at="container"),
    lxc: Symptom | None = seen(tag="lxc-spoken-of lxd-spoken-of"),
    driver: Driver | None = one(vendor="nvidia"),
) -> Params:
    """Inside, no module is loaded: an engine brings the host's libraries in when it starts the container, LXC does not."""
    works = driver is not None and not inside(driver)
    hosts = driver.get("version") if driver is not None and works else None
    if lxc is None:
        return {"engine": "yes", **({"same": None, "free": None} if works else {})}
    return {"same": None, "free": None, "hosts": hosts, "guest": None if hosts else "yes"}


@mends("nvml-driver-library-mismatch")
def libraries_of_an_installer_beside_another_module(
    run: Symptom = seen("installer-run-without-its-modules"),
    sources: Symptom | None = seen("module-sources-of-a-release"),
    module: KernelModule | None = one(name="nvidia"),
) -> Params:
    """Who installs the libraries alone has a module from elsewhere: of another release it comes back at each start."""
    other = sources.get("version") if sources is not None else module.get("version") if module is not None else None
    told = other if other and not same_version(str(other), str(run.version)) else None
    return {"same": None, "free": None, "mixed": None, "of_module": told, "of_libraries": run.version}


@mends("nvml-driver-library-mismatch")
def packages_that_an_update_left_behind(packages: Every[SystemPackage] = every(SystemPackage, state="installed")) -> Params:
    """A module that is packaged at another release than the libraries is loaded again at each start."""
    ours = {str(one_of.name).partition(":")[0]: release_of_package(one_of) for one_of in packages if not inside(one_of)}
    modules = {ours[name]: name for name in ours if of_the_module(name) and ours[name]}
    libraries = {ours[name]: name for name in ours if of_the_library(name) and ours[name]}
    parted = len(modules) == len(libraries) == 1 and {*modules} != {*libraries}
    return {"same": None, "free": None, "parted": ",".join((*modules.values(), *libraries.values()))} if parted else {}


@mends("nvml-driver-library-mismatch")
def what_a_restart_left(knew: Params, _done: Symptom = seen(tag="tried:restart-machine")) -> Params:
    """A restart loads the module that lies there: what differs after it was installed so."""
    return {"mixed": "drivers"} if knew.get("free") else {}


def upstream(version: str) -> str:
    """The release of the driver in a package's version: "535.183.01" of "535.183.01-0ubuntu0.22.04.1"."""
    return version.partition(":")[2 if ":" in version else 0].partition("-")[0]


@mends("nvml-driver-library-mismatch")
def libraries_of_packages_over_an_installers(
    driver: Driver = one(vendor="nvidia"), packages: Every[SystemPackage] = every(SystemPackage, state="installed")
) -> Params:
    """Packages that bring libraries of another release and no module: the module came by NVIDIA's own installer, and is loaded at each start."""
    names = [str(package.name) for package in packages if "nvidia" in str(package.name)]
    own_module = any(re.search(r"dkms|kernel|modules|kmod", name) for name in names)
    others = [
        str(package.name)
        for package in packages
        if _USER_SPACE.match(str(package.name)) and upstream(str(package.get("version") or "")) not in ("", driver.version)
    ]
    if own_module or not others:
        return {}
    return {"same": None, "free": None, "foreign": ",".join(sorted(others)), "installed": driver.version}


def of_the_module(name: str) -> bool:
    """Whether a package brings NVIDIA's kernel module."""
    return (
        re.fullmatch(r"nvidia-(?:dkms|open-dkms|kernel-dkms|open-kernel-dkms)(?:-\d{3}(?:-server)?(?:-open)?)?|nvidia(?:-open|-lts)?", name)
        is not None
    )


def of_the_library(name: str) -> bool:
    """Whether a package brings libcuda."""
    return re.fullmatch(r"libnvidia-compute-\d{3}(?:-server)?|libcuda1|nvidia-utils", name) is not None


def release_of_package(package: SystemPackage) -> str:
    """The release of the driver in a package's version, "" where it has none."""
    version = str(package.get("version", "")).rpartition(":")[2].partition("-")[0]
    return version if re.fullmatch(r"\d{3}\.\d{2,3}(?:\.\d{1,2})?", version) else ""
