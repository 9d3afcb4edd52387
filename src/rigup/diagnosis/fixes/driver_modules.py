"""What mends a kernel module that is not built: whose it is, and whether it can be built for the kernel at all."""

from rigup.diagnosis.rule import Params, mends, one, seen, wordings
from rigup.machine.kinds import DkmsTree, Gpu, KernelModule, Platform, Symptom

_AMDS_FAILED = wordings(tag="amd-module-build-failed")
_OF_AMD = wordings(tag="module-of-amd")
# The sources do not compile for this kernel, or its maker leaves the kernel out: headers, and another try, change nothing.
_FITS_NOT = wordings(tag="module-fits-not")
_NO_HEADERS = wordings(tag="headers-missing")
_FAILED = wordings(tag="module-build-failed")
_AKMODS = wordings(tag="akmods-failed")
_DKMS, _AKMODS_OF_ALL = "dkms autoinstall", "akmods --force"
_BUILT_HERE = "akmods"


@mends("kernel-module-not-built")
def module_that_is_wanted(
    knew: Params, tree: DkmsTree | None = one(module="amdgpu"), said: Symptom | None = seen(tag="module-of-amd"), other: DkmsTree | None = one(module="nvidia"),
    card: Gpu | None = one(vendor="nvidia"), silent: Symptom | None = seen(tag="nvidia-driver-silent"), akmods: Symptom | None = seen(tag="akmods-failed"),
) -> Params:  # fmt: skip
    """AMD's module can be left out, for the kernel has one of its own; NVIDIA's cannot."""
    named = str(knew.get("module") or "")
    amds = tree is not None or said is not None or named.startswith("amdgpu")
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
