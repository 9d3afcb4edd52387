"""A Linux driver is installed inside WSL."""

from rigup.diagnosis.causes.places import WSL, inside
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen, text_rule
from rigup.knowledge import wsl
from rigup.knowledge.package_managers import package_manager
from rigup.machine.kinds import Distribution, DriverLibrary, Gpu, LoaderEntry, Platform, Symptom, SystemPackage, Variable

_NEAR = 10  # branches between the release for Linux and the one for Windows that come out together


@rule("wsl-linux-driver-inside")
def driver_package_inside(_platform: Platform = one(wsl=WSL), package: SystemPackage = one(state="installed")) -> Verdict:
    """A package of a Linux driver, in the distribution itself."""
    return wsl.shadows(package.name) and not inside(package) and {"packages": package.name}


@rule("wsl-linux-driver-inside")
def another_libcuda_first(_platform: Platform = one(wsl=WSL), entry: LoaderEntry = one(soname="libcuda.so.1")) -> Verdict:
    """The loader takes one that is not Windows's."""
    return not entry.path.startswith(wsl.library_folder()) and not inside(entry) and {"path": entry.path}


@rule("wsl-linux-driver-inside", strength="likely")
def another_libcuda_lies_there(
    _platform: Platform = one(wsl=WSL), library: DriverLibrary = one(soname=("libcuda.so.1", "libnvidia-ml.so.1"))
) -> Verdict:
    """A driver's library outside the folder that Windows shows."""
    foreign = not library.path.startswith(wsl.library_folder()) and not any(part in library.path for part in ("/compat", "/stubs", "/wsl/"))
    return foreign and not inside(library) and {"path": library.path}


@rule("wsl-linux-driver-inside", strength="likely")
def library_of_another_driver_than_windows_has(
    error: Symptom = seen("nvml-version-mismatch", "nvml-version-mismatch-constant", "ollama-nvml-versions"),
    platform: Platform | None = None,
    spoken: Symptom | None = seen(tag="wsl-spoken-of"),
    typed: Symptom | None = seen(tag="wsl-typed"),
) -> Verdict:
    """In WSL no module is loaded that could lag behind: a library that does not fit came with a Linux driver."""
    ours = platform.get("wsl") if platform else spoken and typed
    return bool(ours) and {"said": error.id}


@rule("wsl-linux-driver-inside", strength="likely")
def driver_installed_by_hand(
    _platform: Platform = one(wsl=WSL),
    typed: Symptom = seen("wsl-driver-utils-installed", "wsl-driver-package-installed"),
    error: Symptom = seen("wsl-access-blocked", "nvidia-smi-cannot-communicate"),
) -> Verdict:
    """Somebody installed a Linux driver, and what it brings cannot reach Windows's."""
    return {"typed": typed.id, "said": error.id}


@rule("wsl-linux-driver-inside", strength="likely")
def driver_installed_by_hand_as_people_say(
    _spoken: Symptom = seen(tag="wsl-spoken-of"),
    typed: Symptom = seen(tag="wsl-typed"),
    platform: Platform | None = one(wsl=WSL),
    error: Symptom = seen("wsl-access-blocked", "nvidia-smi-cannot-communicate", "gpu-missed-in-words", "gpu-missed-in-small-letters"),
) -> Verdict:
    """The same where only the person's words tell of WSL."""
    return platform is None and {"typed": typed.id, "said": error.id}


@rule("wsl-linux-driver-inside", strength="likely")
def linux_tool_answers_in_a_wsl_that_is_new(
    platform: Platform = one(wsl=2), error: Symptom = seen("nvidia-smi-cannot-communicate"), card: Gpu | None = one(driver_model="TCC")
) -> Verdict:
    """Windows and its kernel are new enough, and what answers looks for a Linux driver: so it came with one."""
    version, kernel = platform.version, platform.release
    is_new = version.startswith("10.") and wsl.too_old(version, kernel) is None
    return is_new and card is None and {"said": error.id}


@rule("wsl-linux-driver-inside", strength="likely")
def driver_installed_by_hand_where_windows_blocks(
    typed: Symptom = seen("wsl-driver-utils-installed", "wsl-driver-package-installed"),
    error: Symptom = seen("wsl-access-blocked"),
    platform: Platform | None = None,
) -> Verdict:
    """The words of the refusal are a guest's of Windows; that it is one, the text need not say."""
    guest = platform is not None and platform.get("wsl") is not None
    return not guest and {"typed": typed.id, "said": error.id}


@rule("wsl-linux-driver-inside")
def container_tool_takes_linux_libraries(
    _platform: Platform = one(wsl=WSL), taken: Symptom = seen("container-cli-takes-linux-library")
) -> Verdict:
    """NVIDIA's container tool found a Linux driver's libraries in the distribution."""
    return {"path": taken.get("path")}


@text_rule("wsl-linux-driver-inside", "likely")
def headers_of_windows_kernel_are_asked_for(
    symptom: Symptom = seen("dkms-headers-missing"), amd: Symptom | None = seen(tag="sides-amds-module")
) -> Verdict:
    """A Linux driver is to be built for Windows's kernel, which has a driver of its own."""
    return amd is None and "microsoft" in str(symptom.get("kernel")).lower() and {"said": symptom.id}


@text_rule("wsl-linux-driver-inside", "likely")
def linux_tool_beside_windows_own(
    symptom: Symptom = seen("nvml-driver-not-loaded", "nvidia-smi-cannot-communicate", tag="sides-not-loaded"),
    card: Gpu = one(driver_model="WDDM"),
    platform: Platform | None = None,
    computing: Gpu | None = one(driver_model="TCC"),
) -> Verdict:
    """Windows's own table lists the card, and what answers beside it looks for a module of Linux's."""
    old = platform is not None and wsl.too_old(platform.get("version"), platform.get("release")) is not None
    return computing is None and not old and card.get("vendor", "nvidia") == "nvidia" and {"said": symptom.id}


@text_rule("wsl-linux-driver-inside", "likely")
def module_is_built_in_a_wsl(
    symptom: Symptom = seen("dkms-package-failed", "dkms-added-only", "dkms-build-failed", "dkms-files-of-our-driver"),
    platform: Platform = one(wsl=2),
) -> Verdict:
    """A package of a Linux driver tries to build its module for Windows's kernel."""
    named = str(symptom.get("package") or symptom.get("module") or "")
    return named.startswith("nvidia") and platform.wsl == 2 and {"packages": named, "said": symptom.id}


@text_rule("wsl-linux-driver-inside", "possible")
def no_device_in_a_wsl(
    platform: Platform = one(wsl=2),
    symptom: Symptom = seen("cuda-no-device-constant", "cuda-no-device"),
    mask: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
    amd: Gpu | None = one(vendor="amd"),
) -> Verdict:
    """CUDA is there and finds no device: in WSL mostly another libcuda than the one of Windows was loaded."""
    old = wsl.too_old(None, platform.get("release")) is not None
    return not old and mask is None and amd is None and {"said": symptom.id}


@text_rule("wsl-linux-driver-inside", "likely")
def tool_is_of_another_time_than_the_driver(
    statement: Symptom = seen("tool-and-driver-of-nvidia-told"),
    guest: Platform | None = one(wsl=2),
    spoken: Symptom | None = seen(tag="wsl-spoken-of"),
) -> Verdict:
    """Windows brings its own nvidia-smi into a WSL, of the driver's time; one of another time came with a Linux package."""
    tool, driver = (int(statement.get(name) or statement.get(name + "2") or 0) for name in ("tool", "driver"))
    return bool(guest or spoken) and not inside(statement) and abs(tool - driver) > _NEAR and {"said": statement.id}


def _debian(distribution: str) -> bool:
    manager = package_manager(distribution)
    return manager is None or manager.family == "debian"


@mends("wsl-linux-driver-inside")
def packages_by_their_names(
    knew: Params,
    system: Distribution | None = None,
    typed: Symptom | None = seen("wsl-driver-utils-installed", "wsl-driver-package-installed"),
) -> Params:
    """Where no package is listed, whatever the package manager has by such names; a library without a package is set aside.

    Of a package that somebody installed no single library is: its tools and the others of its libraries would stay.
    """
    path = str(knew.get("path") or "")
    foreign = path.startswith("/") and not path.startswith(wsl.library_folder())
    debian = system is None or _debian(str(system.get("id") or ""))
    return {
        "packages": None,
        "pattern": wsl.shadow_pattern() if debian else None,
        "path": path if foreign else None,
        "aside": path if foreign and typed is None else None,
        "searched": None if debian else "nvidia",
    }


@mends("wsl-linux-driver-inside")
def packages_to_remove(
    packages: Every[SystemPackage] = every(SystemPackage, state="installed"),
    toolkit: Symptom | None = seen("toolkit-of-the-distribution-named"),
) -> Params:
    """All packages of a Linux driver that are listed; the distribution's toolkit goes with them, and would bring them back."""
    names = sorted(package.name for package in packages if wsl.shadows(package.name) and not inside(package))
    if all(wsl.brings_only_others(name) for name in names):
        return {"aside": None} if names else {}  # what it brought is not listed, and stays where it alone goes
    with_toolkit = toolkit is not None or any(package.name == "nvidia-cuda-toolkit" for package in packages)
    found = {"packages" if with_toolkit else "bare": ",".join(names), "toolkit": "toolkit" if with_toolkit else None}
    return {"pattern": None, "path": None, "aside": None, **found}
