"""What mends a kernel module that is not built: whose it is, and whether it can be built for the kernel at all."""

import re

from rigup.diagnosis.rule import Every, Params, every, mends, one, seen, wordings
from rigup.machine.kinds import DkmsTree, Driver, Gpu, KernelModule, Platform, Symptom, SystemPackage

_AMDS_FAILED = wordings(tag="amd-module-build-failed")
_OF_AMD = wordings(tag="module-of-amd")
# The sources do not compile for this kernel, or its maker leaves the kernel out: headers, and another try, change nothing.
_FITS_NOT = wordings(tag="module-fits-not")
_NO_HEADERS = wordings(tag="headers-missing")
_FAILED = wordings(tag="module-build-failed")
_AKMODS = wordings(tag="akmods-failed")
_DKMS, _AKMODS_OF_ALL = "dkms autoinstall", "akmods --force"
_BUILT_HERE = "akmods"
_USER_SPACE = re.compile(r"(?:libnvidia-|nvidia-(?:utils|compute-utils|driver-libs|smi))")


@mends("kernel-module-not-built")
def module_that_is_wanted(
    knew: Params, tree: DkmsTree | None = one(module="amdgpu"), symptom: Symptom | None = seen(tag="module-of-amd"), other: DkmsTree | None = one(module="nvidia"),
    card: Gpu | None = one(vendor="nvidia"), silent: Symptom | None = seen(tag="nvidia-driver-silent"), akmods: Symptom | None = seen(tag="akmods-failed"),
) -> Params:  # fmt: skip
    """AMD's module can be left out, for the kernel has one of its own; NVIDIA's cannot."""
    named = str(knew.get("module") or "")
    amds = tree is not None or symptom is not None or named.startswith("amdgpu")
    nvidias = any(part is not None for part in (other, card, silent)) or named.startswith("nvidia")
    if amds and not nvidias:
        return {"left_out": "amdgpu-dkms", "builder": _DKMS}
    return {"maker": "NVIDIA", "builder": _AKMODS_OF_ALL if akmods is not None else _DKMS}


@mends("kernel-module-not-built")
def module_that_comes_in_packages(platform: Platform, module: KernelModule = one(name="nvidia")) -> Params:
    """Where the distribution builds it itself, the package for this kernel is what is missing, and nothing is compiled."""
    if module.packaged == _BUILT_HERE:
        return {"builder": _AKMODS_OF_ALL}
    return {"prebuilt": module.packaged + platform.release, "builder": None, "kernel": None}


@mends("kernel-module-not-built")
def whether_it_can_be_built(
    knew: Params, refused: Symptom | None = seen(tag="module-fits-not"), headers: Symptom | None = seen(tag="headers-missing"), failed: Symptom | None = seen(tag="module-build-failed amd-module-build-failed"),
    kept: Symptom | None = seen("dkms-keeps-the-kernels-amdgpu"),
) -> Params:  # fmt: skip
    """Where the sources do not fit the kernel another driver or another kernel helps; where it failed and nobody says why, perhaps."""
    broken = failed is not None and headers is None
    if kept is not None and headers is None and knew.get("left_out"):
        return {"kernel": None, "builder": None}  # the kernel has the same already, and dkms would refuse again
    if headers is None and (refused is not None or (broken and knew.get("left_out"))):
        older = None if knew.get("built") else "older"
        return {"kernel": None, "builder": None, "newer": knew.get("maker"), "older": older}
    plain = knew.get("builder") == _DKMS and knew.get("kernel")
    return {
        "kernel": knew.get("kernel") if plain else None, "builder": None if plain else knew.get("builder"),
        "newer": knew.get("maker") if broken else None,
    }  # fmt: skip


@mends("kernel-module-not-built")
def compiler_of_the_kernel(knew: Params, compilers: Symptom = seen("kernel-built-by-another-compiler")) -> Params:
    """A module that an older compiler refuses to build is built with the one that built the kernel."""
    wanted, used = str(compilers.wanted), str(compilers.used)
    kernel = knew.get("kernel")
    if int(used) >= int(wanted) or not kernel:
        return {}
    return {"gcc": wanted, "compiler": f"gcc-{wanted}", "with_compiler": kernel, "kernel": None, "newer": None}


# -- libraries of another release than the module
@mends("nvml-driver-library-mismatch")
def whether_one_driver_is_there() -> Params:
    """Mostly the module is of before an update, and is loaded anew."""
    return {"same": "driver"}


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
        if _USER_SPACE.match(str(package.name))
        and upstream(str(package.get("version") or "")) not in ("", driver.version)
    ]
    if own_module or not others:
        return {}
    return {"same": None, "foreign": ",".join(sorted(others)), "installed": driver.version}


def upstream(version: str) -> str:
    """The release of the driver in a package's version: "535.183.01" of "535.183.01-0ubuntu0.22.04.1"."""
    return version.partition(":")[2 if ":" in version else 0].partition("-")[0]
