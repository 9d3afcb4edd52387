"""The kernel module amdgpu is not loaded."""

from rigup.diagnosis.causes.pci import AMD
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen
from rigup.knowledge.package_managers import extra_modules_package
from rigup.machine.kinds import (
    DeviceNode,
    DkmsTree,
    Gpu,
    KernelModule,
    KernelParameter,
    KfdNode,
    PciDevice,
    Platform,
    Symptom,
    SystemPackage,
    Torch,
    UnloadedModule,
)

_KEPT_BY = ("nomodeset", "amdgpu.modeset", "module_blacklist", "modprobe.blacklist")


@rule("amdgpu-not-loaded")
def nobody_has_the_card(
    card: PciDevice = one(vendor_id=AMD, driver=None),
    loaded: KernelModule | None = one(name="amdgpu", loaded=True),
    platform: Platform | None = None,
) -> Verdict:
    """A card on the bus without a driver, and amdgpu is not loaded."""
    draws = str(card.get("class_code", "03"))[:2] in ("03", "12")
    return draws and loaded is None and not (platform and platform.get("wsl"))


@rule("amdgpu-not-loaded", "likely")
def report_shows_no_driver(
    card: Gpu = one(vendor="amd", driver=None),
    loaded: KernelModule | None = one(name="amdgpu", loaded=True),
    platform: Platform | None = None,
) -> Verdict:
    """lshw calls it unclaimed, inxi knows no driver."""
    guest = platform is not None and bool(platform.get("wsl") or platform.get("system") == "windows")
    return loaded is None and not guest and not inside(card)


@rule("amdgpu-not-loaded", "likely")
def rocm_finds_no_module(
    symptom: Symptom = seen(tag="module-builds-missed"),
    loaded: KernelModule | None = one(name="amdgpu", loaded=True),
    kfd: KfdNode | None = None,
    node: DeviceNode | None = one(path="/dev/kfd"),
    platform: Platform | None = None,
    listed: Gpu | None = one(seen_by=("rocminfo", "rocm-smi", "amd-smi")),
    spoken: Symptom | None = seen("wsl-lived-in", "wsl-in-small-letters", "wsl-device-named"),
    built: KernelModule | None = one(name="amdgpu", built_in=True),
    works: Torch | None = one(available=True),
) -> Verdict:
    """ROCm's tools look for the module and do not find it, and nothing else shows that it is there."""
    has_module = any(part is not None for part in (loaded, kfd, node, listed, works))
    windows = platform is not None and bool(platform.get("wsl") or platform.get("system") == "windows")
    return spoken is None and built is None and not has_module and not inside(symptom) and not windows


@rule("amdgpu-not-loaded", "likely")
def looked_for_in_vain(
    _module: UnloadedModule = one(name="amdgpu"),
    nvidia: Gpu | None = one(vendor="nvidia"),
    built: Symptom | None = seen(tag="amdgpu-built-in"),
    guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:
    """Somebody looked for amdgpu among the loaded modules and shows that it is not there. A guest of Windows never has it."""
    return nvidia is None and built is None and guest is None


@rule("amdgpu-not-loaded", "likely")
def older_driver_has_the_card(
    card: PciDevice = one(vendor_id=AMD, driver="radeon"),
    symptom: Symptom = seen(tag="driver-amd-no-device"),
    other: PciDevice | None = one(vendor_id=AMD, driver="amdgpu"),
) -> Verdict:
    """radeon only draws; what computes needs amdgpu to drive the card."""
    return other is None and {"address": card.address, "said": symptom.id}


@rule("amdgpu-not-loaded", "likely")
def modprobe_finds_none(symptom: Symptom = seen("modprobe-module-not-found")) -> Verdict:
    """The module does not exist for this kernel."""
    return bool(symptom.get("module") == "amdgpu")


@rule("amdgpu-not-loaded", "likely")
def module_is_not_live(
    symptom: Symptom = seen("rock-module-not-live"), card: Gpu | None = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """rocminfo says itself that there may be no such card: beside another maker's there is none."""
    return (card is not None or other is None) and symptom.values()


def _as_written(word: KernelParameter) -> str | None:
    """The word with its value, where it is about this module."""
    value = str(word.get("running") or word.get("configured") or "")
    if word.name == "nomodeset":
        return word.name
    ours = value == "0" if word.name.startswith("amdgpu") else "amdgpu" in value
    return f"{word.name}={value}" if ours else None


@mends("amdgpu-not-loaded")
def what_keeps_it_from_the_card(
    firmware: Symptom | None = seen("amdgpu-firmware-file-missing"),
    word: KernelParameter | None = one(name=_KEPT_BY),
    tree: DkmsTree | None = one(module="amdgpu"),
    package: SystemPackage | None = one(name="amdgpu-dkms", state="installed"),
) -> Params:
    """Firmware that is missing, a word to the kernel, or AMD's own module that took the place of the kernel's."""
    return {
        "firmware": "linux-firmware" if firmware is not None else None,
        "kept_by": _as_written(word) if word is not None else None,
        "left_out": "amdgpu-dkms" if tree is not None or package is not None else None,
    }


@mends("amdgpu-not-loaded")
def package_that_a_lean_image_leaves_out(missing: Symptom = seen("modprobe-module-not-found")) -> Params:
    """Images for virtual machines come without the drivers of cards, which have a package of their own."""
    extra = extra_modules_package(str(missing.get("kernel") or "")) if missing.get("module") == "amdgpu" else ""
    return {"extra": extra} if extra else {}
