"""A Linux container on a Mac has no access to Apple's GPU."""

from rigup.diagnosis.causes.apple.requirements import ARM
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.machine.kinds import Gpu, Launch, Platform, Symptom, Torch

_MAC_CONTAINERS = ("linuxkit", "orbstack")  # kernels of the virtual machines in which a Mac's containers run


def _in_mac_container(platform: Platform) -> bool:
    release = platform.get("release") or ""
    return any(word in release for word in _MAC_CONTAINERS) and platform.get("architecture", "aarch64") in ("aarch64", ARM)


@rule("mps-inside-linux-container")
def container_and_a_program_that_wants_it(
    platform: Platform = one(system="linux"),
    symptom: Symptom = seen("mps-not-built", "mps-not-linked", "mps-version-or-device", "lightning-mps-unavailable"),
) -> Verdict:
    """A Mac's container, and a message about MPS."""
    return _in_mac_container(platform) and {"said": symptom.id}


@rule("mps-inside-linux-container")
def container_and_torch_without_it(platform: Platform = one(system="linux"), torch: Torch = one(mps_available=False)) -> Verdict:
    """Somebody asked torch whether it has MPS there."""
    return _in_mac_container(platform) and not torch.get("available")


@rule("mps-inside-linux-container")
def container_and_a_wish(platform: Platform = one(system="linux"), want: Launch = one(accelerator="mps")) -> Verdict:
    """The program names the device."""
    return _in_mac_container(platform) and {"wish": want.accelerator}


@rule("mps-inside-linux-container", "likely")
def container_and_a_question(
    platform: Platform = one(system="linux"), asked: Symptom = seen("mps-asked"), torch: Torch | None = None
) -> Verdict:
    """The text asks for MPS, and what it shows is a Mac's container."""
    return _in_mac_container(platform) and not (torch and torch.get("available")) and {"asked": asked.id}


@rule("mps-inside-linux-container", "likely")
def container_started_on_a_mac(
    symptom: Symptom = seen("mps-not-built", "mps-not-linked"),
    _box: Symptom = seen("compose-log", "docker-build-log"),
    _mac: Symptom = seen("mac-named", "macos-named"),
    nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """A container's log with a message about MPS, and a text that speaks of a Mac."""
    return nvidia is None and {"said": symptom.id}


@rule("mps-inside-linux-container", "likely")
def container_without_any_gpu(platform: Platform = one(system="linux"), torch: Torch = one(available=False)) -> Verdict:
    """No more than worth knowing, where nobody asked for a GPU."""
    return _in_mac_container(platform) and torch.get("cuda") is None and {"severity": "note"}


@text_rule("mps-inside-linux-container", "likely")
def no_gpu_in_a_container_of_a_mac(
    engine: Symptom = seen(tag="container-spoken-of"),
    _mac: Symptom = seen(tag="macs"),
    nvidia: Gpu | None = one(vendor="nvidia"),
    missed: Symptom = seen("gpu-missed-in-words", "gpu-missed-in-small-letters", "slow-in-words"),
    native: Torch | None = one(mps_available=True),
    platform: Platform | None = one(system=("windows", "linux")),
) -> Verdict:
    """Somebody on a Mac misses the GPU in a container."""
    elsewhere = platform is not None and not str(platform.get("release", "linuxkit")).endswith("linuxkit")
    return nvidia is None and native is None and not elsewhere and {"said": missed.id, "engine": engine.id}


@text_rule("mps-inside-linux-container", "likely")
def container_of_its_own_wants_it(symptom: Symptom = seen(tag="mps-not-there"), nvidia: Gpu | None = one(vendor="nvidia")) -> Verdict:
    """Its log is a container's: MPS is a part of macOS, and containers are Linux."""
    return nvidia is None and symptom.place.world.startswith("container") and {"said": symptom.id}


@text_rule("mps-inside-linux-container", "likely")
def torch_was_asked_in_a_container_beside_its_mac(
    _mac: Platform = one(system="macos"),
    _asked: Symptom = seen("mps-asked"),
    torch: Torch = one(mps_available=False),
    box: Symptom = seen(tag="container-spoken-of"),
) -> Verdict:
    """The Mac's own version stands beside a container that was started on it, and torch answers from within."""
    return torch.place.world.startswith("container") and not torch.get("available") and {"said": box.id}


@text_rule("mps-inside-linux-container", "likely")
def torch_was_asked_in_a_container_of_a_mac(
    torch: Torch = one(mps_available=False),
    _asked: Symptom = seen("mps-asked"),
    mac: Symptom = seen("mac-named", tag="apple-chip-named"),
    nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """The question was put inside a container, and the machine is a Mac."""
    inner = torch.place.world.startswith("container")
    return nvidia is None and inner and not torch.get("available") and {"said": mac.id}


@mends("mps-inside-linux-container")
def server_that_runs_on_macos(_said: Symptom = seen("ollama-named"), torch: Torch | None = None) -> Params:
    """ollama is an app of macOS as well, and what talks to it may stay where it is."""
    return {"ollama": "11434"} if torch is None else {}
