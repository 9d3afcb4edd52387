"""Apple's GPUs: a Python for another processor, a macOS too old, a sandbox, a Linux inside."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge.apple import is_older, mps_minimum
from rigup.knowledge.cuda import version_key
from rigup.knowledge.torch_builds import builds
from rigup.knowledge.wheels import wheels
from rigup.machine.kinds import Gpu, Platform, PythonEnv, Symptom, Torch

_OF_MLX = ("mlx", "mlx-metal", "mlx-lm", "mlx-vlm", "mlx-whisper")
OF_APPLE_ALONE = ("mlx", "mlx-metal", "tensorflow-macos", "tensorflow-metal", "jax-metal")


def is_elsewhere(platform: Platform | None) -> bool:
    """Whether the platform is known and no Mac."""
    return platform is not None and platform.get("system") in ("linux", "windows")


@rule("mps-x86-python-under-rosetta", "likely")
def package_for_apple_chips_has_no_wheel(
    symptom: Symptom = seen("pip-no-version", "pip-no-distribution"), intel: Symptom | None = seen("python-says-intel"), env: PythonEnv | None = one(machine="x86_64")
) -> Verdict:  # fmt: skip
    """What is made for Apple's chips alone is asked for by a Python for Intel's."""
    name = str(symptom.get("name")).lower().replace("_", "-")
    return name in OF_APPLE_ALONE and bool(intel or env) and {"chip": None, "seen": "x86_64"}


@rule("mps-x86-python-under-rosetta", "likely")
def wheel_for_apple_chips_is_refused(
    symptom: Symptom = seen("wheel-tag-refused"), env: PythonEnv = one(machine="x86_64"), platform: Platform | None = one(system=("linux", "windows"))
) -> Verdict:  # fmt: skip
    """Somebody took the file for Apple's chips, and the Python is one for Intel's."""
    form = re.fullmatch(r"macosx_\d{2}_\d{1,2}_arm64", str(symptom.get("os")))
    return bool(form) and platform is None and {"chip": None, "seen": env.machine}


@rule("mps-x86-python-under-rosetta", "possible")
def python_sees_the_compatible_system(
    env: PythonEnv = one(machine="x86_64"), platform: Platform = one(system="macos", version="10.16"), torch: Torch = one(mps_available=False), other: Gpu | None = None,
) -> Verdict:  # fmt: skip
    """An older Python for Intel's processors sees 10.16 for every later macOS; whether the chip is Apple's nobody tells."""
    return other is None and torch.mps_available is False and {"chip": None, "seen": (env.machine, platform.version)}


@rule("mps-x86-python-under-rosetta", "likely")
def wheel_for_apples_chips_is_refused(
    symptom: Symptom = seen("wheel-tag-refused"), python: PythonEnv = one(), chip: Symptom = seen("apple-chip-named", "apple-silicon-in-words", "apple-chip-in-words")
) -> Verdict:  # fmt: skip
    """It is made for this very Python, and for Apple's chips: so the interpreter is not."""
    tag = str(symptom.get("tag")).split(".")[0]
    mine = "cp" + "".join(str(python.version).split(".")[:2])
    return (
        str(symptom.get("os")).startswith("macosx")
        and "arm64" in symptom.os
        and tag == mine
        and {"chip": None, "where": chip.id}
    )


@rule("mps-x86-python-under-rosetta", "likely")
def releases_end_where_those_for_intels_macs_do(
    symptom: Symptom = seen("pip-no-version", name=("torch", "Torch")), _chip: Symptom = seen("apple-chip-in-words", "apple-chip-in-brackets", "apple-silicon-in-words", tag="apple-chip-named")
) -> Verdict:  # fmt: skip
    """torch was made for Intel's Macs up to a release, and pip is offered none after it on a Mac with Apple's chip."""
    offered = re.findall(r"\d[\w.]{0,20}", str(symptom.get("offered") or ""))
    last = max((one_build.torch for one_build in builds("macos", "x86_64")), key=version_key, default="")
    return bool(offered) and offered[-1] == last and {"chip": None, "seen": last}


@rule("mps-macos-too-old", "likely")
def mlx_has_no_wheel_for_this_system(
    symptom: Symptom = seen("pip-no-version", "pip-no-distribution"), platform: Platform = one(system="macos")
) -> Verdict:
    """MLX is made for newer systems: pip finds none."""
    name = str(symptom.get("name")).lower().replace("_", "-")
    wanted = sorted((row.macos for row in wheels("mlx") if row.macos), key=version_key)
    older = name in _OF_MLX and bool(wanted) and is_older(platform.version, wanted[0])
    return older and {"minimum": wanted[0], "have": platform.version}


@rule("mps-macos-too-old", "likely")
def refused_wheel_is_for_a_newer_macos(
    symptom: Symptom = seen("wheel-tag-refused"), platform: Platform = one(system="macos")
) -> Verdict:
    """`macosx_13_0_arm64` in a wheel's name, and an older system."""
    match = re.match(r"macosx_(\d{2})_(\d{1,2})_", str(symptom.get("os")))
    want = f"{match[1]}.{match[2]}" if match and int(match[1]) > 11 else ""
    return bool(want) and is_older(platform.version, want) and {"minimum": want}


@rule("mps-blocked-by-sandbox", "likely")
def sandbox_is_named_and_the_device_is_not_offered(
    _box: Symptom = seen("sandbox-variable-named", "sandbox-option-named"), torch: Torch = one(mps_built=True, mps_available=False), platform: Platform | None = one(system="macos"),
) -> Verdict:  # fmt: skip
    """The build has it, and a tool that shuts programs in is at work."""
    minimum = mps_minimum(torch.version) if torch.knows("version") and torch.version else None
    old = minimum and platform is not None and platform.knows("version") and is_older(platform.version, minimum)
    return not old


@rule("mps-inside-linux-container", "likely")
def no_gpu_in_a_container_of_a_mac(
    engine: Symptom = seen(tag="container-spoken-of"), _mac: Symptom = seen(tag="macs"), nvidia: Gpu | None = one(vendor="nvidia"),
    missed: Symptom = seen("gpu-missed-in-words", "gpu-missed-in-small-letters", "slow-in-words"),
    native: Torch | None = one(mps_available=True), platform: Platform | None = one(system=("windows", "linux")),
) -> Verdict:  # fmt: skip
    """Somebody on a Mac misses the GPU in a container."""
    elsewhere = platform is not None and not str(platform.get("release", "linuxkit")).endswith("linuxkit")
    return nvidia is None and native is None and not elsewhere and {"said": missed.id, "engine": engine.id}


@rule("mps-inside-linux-container", "likely")
def container_of_its_own_wants_it(symptom: Symptom = seen(tag="mps-not-there"), nvidia: Gpu | None = one(vendor="nvidia")) -> Verdict:  # fmt: skip
    """Its log is a container's: MPS is a part of macOS, and containers are Linux."""
    return nvidia is None and symptom.place.world.startswith("container") and {"said": symptom.id}


@rule("mps-inside-linux-container", "likely")
def torch_was_asked_in_a_container_beside_its_mac(
    _mac: Platform = one(system="macos"), _asked: Symptom = seen("mps-asked"), torch: Torch = one(mps_available=False), box: Symptom = seen(tag="container-spoken-of"),
) -> Verdict:  # fmt: skip
    """The Mac's own version stands beside a container that was started on it, and torch answers from within."""
    return torch.place.world.startswith("container") and not torch.get("available") and {"said": box.id}
