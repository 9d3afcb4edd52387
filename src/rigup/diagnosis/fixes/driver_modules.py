"""What mends a kernel module that is not built: whose it is, and whether it can be built for the kernel at all."""

from rigup.diagnosis.rule import Params, mends, one, seen
from rigup.diagnosis.rules.driver import SILENT
from rigup.machine.kinds import DkmsTree, Gpu, KernelModule, Platform, Symptom

_AMDS_FAILED = (
    "amdgpu-compile-error", "dkms-log-of-amdgpu-ends-in-error", "dkms-failure-told", "dkms-failure-told-lower", "dkms-did-not-compile-told",
    "amdgpu-dkms-fails-told", "rock-dkms-failed", "package-report-of-a-failed-module", "dkms-asked-for-amds-module-fails",
    "dpkg-leaves-amds-module",
)  # fmt: skip
_OF_AMD = (
    *_AMDS_FAILED, "dkms-loads-amds-files", "package-of-amds-module-set-up", "crash-report-of-amds-module", "hsa-kernel-too-old",
    "dkms-keeps-the-kernels-amdgpu", "rock-module-not-loaded", "rocm-smi-amdgpu-not-found", "amd-smi-no-driver",
)  # fmt: skip
# The sources do not compile for this kernel, or its maker leaves the kernel out: headers, and another try, change nothing.
_FITS_NOT = (
    "gpu-module-compile-error", "gpu-module-source-error", "gpu-module-uvm-source-error", "gpu-module-core-source-error",
    "gpu-module-drm-source-error", "gpu-module-symbol-refused", "open-module-source-error", "gpu-module-source-error-of-installer",
    "driver-source-error-below-usr-src", "dkms-excludes-this-kernel", "dkms-excludes-it-by-name", "dkms-excludes-some-module",
    "nix-holds-the-driver-for-broken", "amdgpu-compile-error", "kernel-wanted-is-of-another-kind",
)  # fmt: skip
_NO_HEADERS = (
    "dkms-headers-missing", "dkms-headers-missing-for-module", "kernel-build-folder-missing", "headers-package-not-there",
    "kernel-devel-not-there", "installer-finds-no-kernel-sources", "dkms-hook-without-headers", "void-skips-a-kernel-without-headers",
    "gpu-module-sanity-check", "akmods-without-kernel-files",
)  # fmt: skip
_FAILED = (
    "dkms-build-failed", "dkms-build-failed-unnamed", "dkms-autoinstall-failed", "dkms-bad-exit", "dkms-package-failed", "dkms-module-not-made",
    "dkms-module-failed-in-package", "dkms-hook-failed", "dkms-fails-in-words", "dkms-command-failed", "nvidias-make-failed",
    "dkms-build-of-a-gpu-module-ended-badly", "nvidia-installer-build-failed", "make-failed-in-the-drivers-folder",
    "package-of-our-module-not-configured", "akmods-build-failed", "akmods-failed", "akmods-of-a-branch-failed", "akmods-log-of-failure",
    "emerge-could-not-compile", "suse-module-package-failed",
)  # fmt: skip
_AKMODS = ("akmods-build-failed", "akmods-log-of-failure", "akmods-package-error", "akmods-failed", "akmods-of-a-branch-failed",
           "akmods-without-kernel-files", "akmods-hints-at-a-failure")  # fmt: skip
_DKMS, _AKMODS_OF_ALL = "dkms autoinstall", "akmods --force"
_BUILT_HERE = "akmods"


@mends("kernel-module-not-built")
def module_that_is_wanted(
    knew: Params, tree: DkmsTree | None = one(module="amdgpu"), said: Symptom | None = seen(*_OF_AMD), other: DkmsTree | None = one(module="nvidia"),
    card: Gpu | None = one(vendor="nvidia"), silent: Symptom | None = seen(*SILENT), akmods: Symptom | None = seen(*_AKMODS),
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
    knew: Params, refused: Symptom | None = seen(*_FITS_NOT), headers: Symptom | None = seen(*_NO_HEADERS), failed: Symptom | None = seen(*_FAILED, *_AMDS_FAILED),
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
