"""Macs by what short pastes show: a sandbox's refusals, a container's kernel, a Python for another processor, an old system."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge.apple import is_older, next_mps_minimum
from rigup.machine.kinds import Cpu, Gpu, Platform, Symptom, Torch

_NO_METAL = ("mps-wants-newer-macos", "mps-version-or-device", "metal-not-created", "metal-device-null")
_NOT_THERE = ("mps-not-built", "mps-not-linked", "mps-backend-not-available")


def _elsewhere(platform: Platform | None) -> bool:
    return platform is not None and platform.get("system") in ("linux", "windows")


# -- sandboxes
@rule("mps-blocked-by-sandbox", "likely")
def sandbox_is_named_and_no_metal(
    box: Symptom = seen("sandbox-option-named", "sandbox-named", "sandbox-variable-named"), said: Symptom = seen(*_NO_METAL), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """What runs in it finds no device; the message about the system's version is the same for any reason."""
    return box.id == "sandbox-option-named" and not _elsewhere(platform) and {"said": said.id}


@rule("mps-blocked-by-sandbox", "likely")
def sandbox_is_named_and_torch_says_no(
    box: Symptom = seen("sandbox-option-named", "sandbox-named"), torch: Torch = one(mps_available=False), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """Which system it is nobody tells; on a Mac without a sandbox torch says yes, and elsewhere nobody asks."""
    told = platform is not None and platform.knows("version")
    return not told and not _elsewhere(platform) and torch.get("mps_built") is not False and {"said": box.id}


# -- containers and virtual machines
@rule("mps-inside-linux-container", "likely")
def container_of_its_own_wants_it(said: Symptom = seen(*_NOT_THERE), nvidia: Gpu | None = one(vendor="nvidia")) -> Verdict:  # fmt: skip
    """Its log is a container's: MPS is a part of macOS, and containers are Linux."""
    return nvidia is None and said.place.world.startswith("container") and {"said": said.id}


@rule("mps-inside-linux-container", "likely")
def guest_on_an_apple_chip(
    chip: Symptom = seen("apple-vendor-shown", "container-machine-of-a-mac", "container-machine-of-a-mac-podman"), said: Symptom | None = seen(*_NOT_THERE, "ollama-computes-on-cpu"),
    torch: Torch | None = one(mps_available=False),
) -> Verdict:  # fmt: skip
    """Linux shows an Apple processor, or an engine for Macs runs it, and the program finds no GPU."""
    return (said is not None or torch is not None) and {"said": chip.id}


@rule("mps-inside-linux-container", "likely")
def linux_beside_an_apple_gpu(
    platform: Platform = one(system="linux", architecture="aarch64"),
    torch: Torch = one(mps_available=False),
    chip: Gpu = one(vendor="apple"),
) -> Verdict:
    """The Mac's own report names the chip, and torch was asked in a Linux."""
    return not torch.get("available") and platform.get("wsl") is None and {"chip": chip.get("name")}


# -- the Python
@rule("mps-x86-python-under-rosetta", "likely")
def answers_of_another_processor(
    said: Symptom = seen("arch-answers-i386", "pip-tags-of-intel-macs", "conda-for-intel-macs", "lipo-answers-intel"),
    chip: Gpu | None = one(vendor="apple"), cpu: Cpu | None = None, named: Symptom | None = seen("apple-chip-named", "apple-gpu-cores-shown"),
) -> Verdict:  # fmt: skip
    """What runs is built for Intel's processors, and the chip is Apple's."""
    apple = chip is not None or named is not None or (cpu is not None and "Apple" in str(cpu.get("model")))
    return apple and {"chip": chip and chip.get("name"), "seen": said.id}


# -- the system
@rule("mps-macos-too-old", "likely")
def built_in_and_not_offered_on_an_old_system(
    torch: Torch = one(mps_built=True, mps_available=False), platform: Platform = one(system="macos")
) -> Verdict:
    """Which torch it is nobody tells; the system is older than what any release asks for."""
    least = next_mps_minimum("10.0")
    old = least is not None and is_older(platform.version, least) and not platform.version.startswith("10.")
    return not torch.knows("version") and old and {"minimum": least}
