"""Apple's GPUs: a Python for another processor, a macOS too old, a sandbox, a Linux inside."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.heard import CONTAINERS_TOLD
from rigup.diagnosis.rules.told import MACS
from rigup.knowledge.apple import is_older, mps_minimum, next_mps_minimum
from rigup.knowledge.cuda import version_key
from rigup.knowledge.torch_builds import builds
from rigup.knowledge.wheels import wheels
from rigup.machine.kinds import Cpu, Gpu, Platform, PythonEnv, Symptom, Torch, World

_OF_MLX = ("mlx", "mlx-metal", "mlx-lm", "mlx-vlm", "mlx-whisper")
OF_APPLE_ALONE = ("mlx", "mlx-metal", "tensorflow-macos", "tensorflow-metal", "jax-metal")
_MPS_ANSWERS = (
    "mps-wants-newer-macos", "mps-version-or-device", "mps-operator-missing", "mps-operator-not-run", "mps-no-float64", "mps-no-double",
    "mps-out-of-memory", "mps-not-built", "mps-not-linked", "mps-operator-falls-back",
)  # fmt: skip
_NO_METAL = ("mps-wants-newer-macos", "mps-version-or-device", "metal-not-created", "metal-device-null")
NOT_THERE = ("mps-not-built", "mps-not-linked", "mps-backend-not-available")
_APPLE = ("apple-chip-named", "apple-gpu-cores-shown", "mac-named")


def _elsewhere(platform: Platform | None) -> bool:
    return platform is not None and platform.get("system") in ("linux", "windows")


def _takes(env: PythonEnv | None, tag: str) -> bool:
    """Whether a wheel's tag is for the Python that is told, or none is told."""
    version = str(env.get("version") or "") if env is not None else ""
    return not version or tag == "cp" + "".join(version.split(".")[:2])


# -- mps-x86-python-under-rosetta
@rule("mps-x86-python-under-rosetta", "likely")
def package_for_apple_chips_has_no_wheel(
    said: Symptom = seen("pip-no-version", "pip-no-distribution"), intel: Symptom | None = seen("python-says-intel"), env: PythonEnv | None = one(machine="x86_64")
) -> Verdict:  # fmt: skip
    """What is made for Apple's chips alone is asked for by a Python for Intel's."""
    name = str(said.get("name")).lower().replace("_", "-")
    return name in OF_APPLE_ALONE and bool(intel or env) and {"chip": None, "seen": "x86_64"}


@rule("mps-x86-python-under-rosetta", "likely")
def wheel_for_apple_chips_is_refused(
    said: Symptom = seen("wheel-tag-refused"), env: PythonEnv = one(machine="x86_64"), platform: Platform | None = one(system=("linux", "windows"))
) -> Verdict:  # fmt: skip
    """Somebody took the file for Apple's chips, and the Python is one for Intel's."""
    form = re.fullmatch(r"macosx_\d{2}_\d{1,2}_arm64", str(said.get("os")))
    return bool(form) and platform is None and {"chip": None, "seen": env.machine}


@rule("mps-x86-python-under-rosetta", "possible")
def python_sees_the_compatible_system(
    env: PythonEnv = one(machine="x86_64"), platform: Platform = one(system="macos", version="10.16"), torch: Torch = one(mps_available=False), other: Gpu | None = None,
) -> Verdict:  # fmt: skip
    """An older Python for Intel's processors sees 10.16 for every later macOS; whether the chip is Apple's nobody tells."""
    return other is None and torch.mps_available is False and {"chip": None, "seen": (env.machine, platform.version)}


@rule("mps-x86-python-under-rosetta", "likely")
def takes_an_apple_chip_for_intels(
    said: Symptom = seen("apple-chip-reports-intel"), engine: Symptom | None = seen(*CONTAINERS_TOLD)
) -> Verdict:
    """Only a program for Intel's processors is told so; in a container it may be the image."""
    return engine is None and {"chip": None, "said": said.id}


@rule("mps-x86-python-under-rosetta", "likely")
def built_for_intel_where_an_apple_chip_is_named(
    said: Symptom = seen("mac-build-for-intel", "illegal-hardware-instruction", "python-says-intel"), chip: Symptom = seen("apple-chip-named", "apple-silicon-in-words", "apple-chip-in-words")
) -> Verdict:  # fmt: skip
    """The interpreter builds for Intel's processors, or runs what was built for them."""
    return {"chip": None, "said": said.id, "where": chip.id}


@rule("mps-x86-python-under-rosetta", "likely")
def wheel_for_apples_chips_is_refused(
    said: Symptom = seen("wheel-tag-refused"), python: PythonEnv = one(), chip: Symptom = seen("apple-chip-named", "apple-silicon-in-words", "apple-chip-in-words")
) -> Verdict:  # fmt: skip
    """It is made for this very Python, and for Apple's chips: so the interpreter is not."""
    tag = str(said.get("tag")).split(".")[0]
    mine = "cp" + "".join(str(python.version).split(".")[:2])
    return (
        str(said.get("os")).startswith("macosx")
        and "arm64" in said.os
        and tag == mine
        and {"chip": None, "where": chip.id}
    )


@rule("mps-x86-python-under-rosetta", "likely")
def answers_of_another_processor(
    said: Symptom = seen("arch-answers-i386", "pip-tags-of-intel-macs", "conda-for-intel-macs", "lipo-answers-intel"),
    chip: Gpu | None = one(vendor="apple"), cpu: Cpu | None = None, named: Symptom | None = seen("apple-chip-named", "apple-gpu-cores-shown"),
) -> Verdict:  # fmt: skip
    """What runs is built for Intel's processors, and the chip is Apple's."""
    apple = chip is not None or named is not None or (cpu is not None and "Apple" in str(cpu.get("model")))
    return apple and {"chip": chip and chip.get("name"), "seen": said.id}


@rule("mps-x86-python-under-rosetta", "likely")
def wheel_that_the_system_takes_is_refused(
    said: Symptom = seen("wheel-tag-refused"), platform: Platform = one(system="macos"), named: Symptom | None = seen(*_APPLE),
    chip: Gpu | None = one(vendor="apple"), env: PythonEnv | None = None, cpu: Cpu | None = None,
) -> Verdict:  # fmt: skip
    """The file is for Apple's chips and for a system like this one, and for this Python: what asks is built for Intel's."""
    form = re.fullmatch(r"macosx_(\d{2})_(\d{1,2})_arm64", str(said.get("os")))
    new = form is not None and not is_older(platform.version, f"{form[1]}.{form[2]}")
    apple = named is not None or chip is not None or (cpu is not None and "Apple" in str(cpu.get("model")))
    return new and apple and _takes(env, str(said.get("tag"))) and {"chip": chip and chip.get("name"), "seen": said.get("os")}  # fmt: skip


@rule("mps-x86-python-under-rosetta", "likely")
def releases_end_where_those_for_intels_macs_do(
    said: Symptom = seen("pip-no-version", name=("torch", "Torch")), _chip: Symptom = seen("apple-chip-in-words", "apple-chip-in-brackets", "apple-silicon-in-words", *_APPLE)
) -> Verdict:  # fmt: skip
    """torch was made for Intel's Macs up to a release, and pip is offered none after it on a Mac with Apple's chip."""
    offered = re.findall(r"\d[\w.]{0,20}", str(said.get("offered") or ""))
    last = max((one_build.torch for one_build in builds("macos", "x86_64")), key=version_key, default="")
    return bool(offered) and offered[-1] == last and {"chip": None, "seen": last}


# -- mps-macos-too-old
@rule("mps-macos-too-old", "likely")
def mlx_has_no_wheel_for_this_system(
    said: Symptom = seen("pip-no-version", "pip-no-distribution"), platform: Platform = one(system="macos")
) -> Verdict:
    """MLX is made for newer systems: pip finds none."""
    name = str(said.get("name")).lower().replace("_", "-")
    wanted = sorted((row.macos for row in wheels("mlx") if row.macos), key=version_key)
    older = name in _OF_MLX and bool(wanted) and is_older(platform.version, wanted[0])
    return older and {"minimum": wanted[0], "have": platform.version}


@rule("mps-macos-too-old", "likely")
def message_asks_for_a_newer_system(
    said: Symptom = seen("mac-program-wants-newer-system", "mps-wants-a-newer-system-for-it", "mlx-wants-macos"), platform: Platform | None = one(system="macos")
) -> Verdict:  # fmt: skip
    """A program names the system that it wants; one that is told must be older."""
    want = str(said.get("want"))
    told = platform is not None and platform.knows("version")
    return not (told and platform and not is_older(platform.version, want)) and {"minimum": want}


@rule("mps-macos-too-old", "likely")
def refused_wheel_is_for_a_newer_macos(
    said: Symptom = seen("wheel-tag-refused"), platform: Platform = one(system="macos")
) -> Verdict:
    """`macosx_13_0_arm64` in a wheel's name, and an older system."""
    found = re.match(r"macosx_(\d{2})_(\d{1,2})_", str(said.get("os")))
    want = f"{found[1]}.{found[2]}" if found and int(found[1]) > 11 else ""
    return bool(want) and is_older(platform.version, want) and {"minimum": want}


@rule("mps-macos-too-old", "possible")
def mps_is_missed_on_an_older_system(
    said: Symptom = seen("mps-missed-in-words"), platform: Platform = one(system="macos"), torch: Torch | None = None,
    other: Symptom | None = seen(*_MPS_ANSWERS),
) -> Verdict:  # fmt: skip
    """Which torch it is nobody tells; a newer one asks for a newer system."""
    minimum = next_mps_minimum(platform.version)
    told = torch is not None and (torch.knows("version") or torch.get("mps_available"))
    return other is None and not told and minimum is not None and {"minimum": minimum, "said": said.id}


@rule("mps-macos-too-old", "likely")
def built_in_and_not_offered_on_an_old_system(
    torch: Torch = one(mps_built=True, mps_available=False), platform: Platform = one(system="macos")
) -> Verdict:
    """Which torch it is nobody tells; the system is older than what any release asks for."""
    least = next_mps_minimum("10.0")
    old = least is not None and is_older(platform.version, least) and not platform.version.startswith("10.")
    return not torch.knows("version") and old and {"minimum": least}


@rule("mps-macos-too-old", "likely")
def not_offered_below_what_the_release_asks(torch: Torch = one(mps_available=False), platform: Platform = one(system="macos")) -> Verdict:  # fmt: skip
    """Nobody asked whether it is built in, which it is in all releases that the table knows."""
    minimum = mps_minimum(torch.version)
    old = minimum is not None and is_older(platform.version, minimum)
    intel = str(torch.get("platform") or "").endswith("x86_64") or platform.version.startswith("10.16")
    return old and not intel and {"minimum": minimum}


# -- mps-blocked-by-sandbox
@rule("mps-blocked-by-sandbox", "possible")
def engine_of_apples_finds_no_metal(
    said: Symptom = seen("metal-not-created", "metal-device-null", "mlx-takes-from-an-empty-list-of-devices"), elsewhere: Platform | None = one(system=("linux", "windows")), guest: Platform | None = None,
) -> Verdict:  # fmt: skip
    """A Mac has a GPU: who finds none is kept from it."""
    virtual = guest is not None and bool(guest.get("hypervisor"))
    return elsewhere is None and not virtual and {"said": said.id}


@rule("mps-blocked-by-sandbox", "likely")
def sandbox_is_named_and_the_device_is_not_offered(
    _box: Symptom = seen("sandbox-variable-named", "sandbox-option-named"), torch: Torch = one(mps_built=True, mps_available=False), platform: Platform | None = one(system="macos"),
) -> Verdict:  # fmt: skip
    """The build has it, and a tool that shuts programs in is at work."""
    minimum = mps_minimum(torch.version) if torch.knows("version") and torch.version else None
    old = minimum and platform is not None and platform.knows("version") and is_older(platform.version, minimum)
    return not old


@rule("mps-blocked-by-sandbox", "likely")
def sandbox_and_no_metal_device(
    said: Symptom = seen("metal-not-created"), box: Symptom = seen("sandbox-named", "sandbox-variable-named")
) -> Verdict:
    """The text speaks of a sandbox, and Metal gives a program nothing in it."""
    return {"said": said.id, "box": box.id}


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


# -- mps-inside-linux-container
@rule("mps-inside-linux-container", "likely")
def engine_of_a_mac_was_asked_for_gpus(
    said: Symptom = seen("docker-no-device-driver"), _mac: Symptom = seen(*MACS), nvidia: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """No engine on a Mac can give what was asked for."""
    return nvidia is None and {"said": said.id}


@rule("mps-inside-linux-container", "likely")
def no_gpu_in_a_container_of_a_mac(
    engine: Symptom = seen(*CONTAINERS_TOLD), _mac: Symptom = seen(*MACS), nvidia: Gpu | None = one(vendor="nvidia"),
    missed: Symptom = seen("gpu-missed-in-words", "gpu-missed-in-small-letters", "slow-in-words"),
    native: Torch | None = one(mps_available=True), platform: Platform | None = one(system=("windows", "linux")),
) -> Verdict:  # fmt: skip
    """Somebody on a Mac misses the GPU in a container."""
    elsewhere = platform is not None and not str(platform.get("release", "linuxkit")).endswith("linuxkit")
    return nvidia is None and native is None and not elsewhere and {"said": missed.id, "engine": engine.id}


@rule("mps-inside-linux-container", "likely")
def container_of_its_own_wants_it(said: Symptom = seen(*NOT_THERE), nvidia: Gpu | None = one(vendor="nvidia")) -> Verdict:  # fmt: skip
    """Its log is a container's: MPS is a part of macOS, and containers are Linux."""
    return nvidia is None and said.place.world.startswith("container") and {"said": said.id}


@rule("mps-inside-linux-container", "likely")
def guest_on_an_apple_chip(
    chip: Symptom = seen("apple-vendor-shown", "container-machine-of-a-mac", "container-machine-of-a-mac-podman"), said: Symptom | None = seen(*NOT_THERE, "ollama-computes-on-cpu"),
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


@rule("mps-inside-linux-container", "likely")
def torch_was_asked_in_a_container_beside_its_mac(
    _mac: Platform = one(system="macos"), _asked: Symptom = seen("mps-asked"), torch: Torch = one(mps_available=False), box: Symptom = seen(*CONTAINERS_TOLD),
) -> Verdict:  # fmt: skip
    """The Mac's own version stands beside a container that was started on it, and torch answers from within."""
    return torch.place.world.startswith("container") and not torch.get("available") and {"said": box.id}


@rule("mps-inside-linux-container", "likely")
def container_of_a_mac_looks_for_another_card(
    said: Symptom = seen("torch-found-no-driver", "torch-not-compiled-with-cuda", "torch-no-cuda-gpus"), box: Symptom | None = seen("compose-line-of-a-service", "compose-log", "container-entered"),
    mac: Symptom | None = seen("apple-chip-named", "mac-named", "macos-named"), cpu: Cpu | None = None, nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The log is a container's, and the machine a Mac: nothing of its GPU is in there."""
    apple = mac is not None or (cpu is not None and "Apple" in str(cpu.get("model")))
    inner = box is not None or said.place.world.startswith("container")
    return nvidia is None and apple and inner and {"said": said.id}


@rule("mps-inside-linux-container", "likely")
def server_in_a_container_of_a_mac(
    said: Symptom = seen("ollama-finds-no-gpu", "ollama-computes-on-cpu", "llama-told-of-layers-and-no-gpu"), _world: World = one(gpu_requested=False), mac: Symptom = seen(*MACS),
) -> Verdict:  # fmt: skip
    """Containers on a Mac run in a Linux guest, which has no Metal."""
    return {"said": said.id, "mac": mac.id}


# -- mps-op-not-implemented
@rule("mps-op-not-implemented", "possible")
def operator_has_no_form_for_this_device(
    said: Symptom = seen("mps-plain-operator-missing"), _asked: Symptom = seen("mps-asked")
) -> Verdict:
    """The message names no device; the program asked for Apple's."""
    return {"operator": "convolution", "said": said.id}
