"""What the ways to mend a driver's causes need: keys, switches, what keeps a module from its card."""

from rigup.diagnosis.rule import Params, mends, one, seen
from rigup.diagnosis.rules.device_manager import code_of
from rigup.knowledge.driver_faults import production_branch
from rigup.knowledge.driver_recipes import module_key
from rigup.knowledge.gpus import driver_branch_for
from rigup.knowledge.graphics_switches import graphics_tool
from rigup.knowledge.package_managers import extra_modules_package
from rigup.knowledge.torch_builds import index_url
from rigup.machine.kinds import (
    Distribution,
    DkmsTree,
    Gpu,
    KernelParameter,
    Platform,
    Symptom,
    SystemPackage,
    Torch,
    World,
)

_KEPT_BY = ("nomodeset", "amdgpu.modeset", "module_blacklist", "modprobe.blacklist")


@mends("amd-firmware-regression")
def firmware_in_force(
    package: SystemPackage = one(name=("linux-firmware", "amd-gpu-firmware", "linux-firmware-amdgpu")),
) -> Params:
    """Which package to change."""
    return {"firmware": package.version}


@mends("no-gpu-present", "vm-without-gpu-passthrough")
def build_for_the_processor(_torch: Torch | None = None) -> Params:
    """Where to get a build that needs no GPU."""
    return {"cpu": "pip install torch --index-url " + index_url("cpu")}


@mends("nvidia-driver-missing")
def branch_to_install(gpu: Gpu | None = one(vendor="nvidia")) -> Params:
    """The last branch that drives the chip, or the long-lived one of today, which drives most."""
    isa = gpu.get("isa") if gpu is not None else None
    return {"branch": (isa and driver_branch_for(isa)) or production_branch()}


@mends("open-module-on-pre-turing-gpu", "gpu-needs-legacy-driver")
def last_branch_for_it(gpu: Gpu) -> Params:
    """The last branch that drives the chip, if there is one."""
    last = driver_branch_for(gpu.isa)
    return {"branch": last} if last else {}


@mends("secure-boot-module-unsigned")
def key_of_the_distribution(system: Distribution) -> Params:
    """Where its tools keep the key that signs what is built on the machine."""
    return {"key": module_key(str(system.id)) or None}


@mends("hybrid-laptop-gpu-powered-off")
def how_the_tool_gives_it_back(knew: Params, _said: Symptom | None = None) -> Params:
    """The tool as its makers write it, and its command where it has one."""
    tool = graphics_tool(str(knew.get("tool") or ""))
    return {"tool": tool.name, "switch": " ".join(tool.command) or None} if tool else {}


@mends("amdgpu-not-loaded")
def what_keeps_it_from_the_card(
    firmware: Symptom | None = seen("amdgpu-firmware-file-missing"), word: KernelParameter | None = one(name=_KEPT_BY),
    tree: DkmsTree | None = one(module="amdgpu"), package: SystemPackage | None = one(name="amdgpu-dkms", state="installed"),
) -> Params:  # fmt: skip
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


def _as_written(word: KernelParameter) -> str | None:
    """The word with its value, where it is about this module."""
    value = str(word.get("running") or word.get("configured") or "")
    if word.name == "nomodeset":
        return word.name
    ours = value == "0" if word.name.startswith("amdgpu") else "amdgpu" in value
    return f"{word.name}={value}" if ours else None


@mends("uvm-device-missing")
def node_for_a_container(
    spoken: Symptom | None = seen(tag="container-spoken-of"), world: World | None = None
) -> Params:
    """A container is given the node; elsewhere there is none to give it to."""
    inside = spoken is not None or (world is not None and bool(world.get("container")))
    return {"device": "--device=/dev/nvidia-uvm"} if inside else {}


@mends("vm-passthrough-misconfigured")
def whose_card_is_passed(
    platform: Platform | None = None,
    stopped: Symptom | None = seen(tag="device-manager-code"),
    amd: Gpu | None = one(vendor="amd"),
) -> Params:
    """Only under Windows did NVIDIA's older drivers refuse cards in a guest."""
    windows = platform is not None and platform.get("system") == "windows"
    refused = windows or (stopped is not None and code_of(stopped) == "43")
    return {"maker": "NVIDIA"} if refused and amd is None else {}
