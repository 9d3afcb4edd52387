"""Python is built for Intel's processors and runs under Rosetta on Apple's chip."""

import re

from rigup.diagnosis.causes.apple.requirements import ARM
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.checks import code_that_asks
from rigup.knowledge.cuda import version_key
from rigup.knowledge.program_builds import is_package
from rigup.knowledge.pythons import pythons_of_all
from rigup.knowledge.torch_builds import builds
from rigup.machine.kinds import Cpu, Gpu, Platform, PythonEnv, Symptom, Torch

_INTEL = "x86_64"
OF_APPLE_ALONE = ("mlx", "mlx-metal", "tensorflow-macos", "tensorflow-metal", "jax-metal")
_MADE_LATER = ("torch", "torchvision", "torchaudio", *OF_APPLE_ALONE)  # what has ended for Intel's Macs, or never was


@rule("mps-x86-python-under-rosetta")
def torch_for_intel_on_an_apple_chip(torch: Torch = one(platform="macos-x86_64"), chip: Gpu = one(vendor="apple")) -> Verdict:
    """The report names both."""
    return {"chip": chip.get("name"), "seen": torch.platform}


def _beside_its_own(env: PythonEnv, used: PythonEnv | None) -> bool:
    """Whether it lies there unused, beside an environment for Apple's processors that is the one in use."""
    return used is not None and not env.get("active")


@rule("mps-x86-python-under-rosetta")
def python_for_intel_on_an_apple_chip(
    env: PythonEnv = one(machine=_INTEL), chip: Gpu = one(vendor="apple"), used: PythonEnv | None = one(active=True, machine=ARM)
) -> Verdict:
    """An interpreter for Intel's processors, and Apple's GPU."""
    return not _beside_its_own(env, used) and {"chip": chip.get("name"), "seen": env.machine}


@rule("mps-x86-python-under-rosetta")
def python_for_intel_on_an_arm_system(
    env: PythonEnv = one(machine=_INTEL),
    platform: Platform = one(system="macos", architecture=ARM),
    used: PythonEnv | None = one(active=True, machine=ARM),
) -> Verdict:
    """The kernel is Apple's own, the interpreter is not for it."""
    return not _beside_its_own(env, used) and {"chip": None, "seen": (env.machine, platform.architecture)}


@rule("mps-x86-python-under-rosetta")
def installed_torch_for_intel_on_an_arm_system(
    torch: Torch = one(platform="macos-x86_64"), platform: Platform = one(system="macos", architecture=ARM)
) -> Verdict:
    """Its wheel's tag tells."""
    return {"chip": None, "seen": (torch.platform, platform.architecture)}


@rule("mps-x86-python-under-rosetta", "likely")
def library_says_so(_said: Symptom = seen("avx-missing-under-rosetta"), cpu: Cpu | None = None) -> Verdict:
    """jaxlib's own words, where nothing speaks of an Intel processor."""
    return cpu is None or "Intel" not in cpu.get("model", "")


@rule("mps-x86-python-under-rosetta", "likely")
def x86_library_where_an_apple_chip_is_named(
    _said: Symptom = seen("jaxlib-wants-avx", "tf-instructions-missing"),
    chip: Gpu | None = one(vendor="apple"),
    named: Symptom | None = seen("apple-chip-named"),
) -> Verdict:
    """Apple's chips have no AVX, and a library for them does not ask for it: this one is for Intel's."""
    return (chip is not None or named is not None) and {"chip": chip and chip.get("name")}


@rule("mps-x86-python-under-rosetta", "likely")
def parts_for_two_processors(mixed: Symptom = seen("mixed-architecture", need=_INTEL)) -> Verdict:
    """A process for Intel's processors loads a library for Apple's: only a Mac with Rosetta can try."""
    return str(mixed.get("have")).startswith(ARM)


@text_rule("mps-x86-python-under-rosetta", "likely")
def package_for_apple_chips_has_no_wheel(
    symptom: Symptom = seen("pip-no-version", "pip-no-distribution"),
    intel: Symptom | None = seen("python-says-intel"),
    env: PythonEnv | None = one(machine="x86_64"),
) -> Verdict:
    """What is made for Apple's chips alone is asked for by a Python for Intel's."""
    name = str(symptom.get("name")).lower().replace("_", "-")
    return name in OF_APPLE_ALONE and bool(intel or env) and {"chip": None, "seen": "x86_64"}


@text_rule("mps-x86-python-under-rosetta", "likely")
def wheel_for_apple_chips_is_refused(
    symptom: Symptom = seen("wheel-tag-refused"),
    env: PythonEnv = one(machine="x86_64"),
    platform: Platform | None = one(system=("linux", "windows")),
) -> Verdict:
    """Somebody took the file for Apple's chips, and the Python is one for Intel's."""
    form = re.fullmatch(r"macosx_\d{2}_\d{1,2}_arm64", str(symptom.get("os")))
    return bool(form) and platform is None and {"chip": None, "seen": env.machine}


@text_rule("mps-x86-python-under-rosetta", "possible")
def python_sees_the_compatible_system(
    env: PythonEnv = one(machine="x86_64"),
    platform: Platform = one(system="macos", version="10.16"),
    torch: Torch = one(mps_available=False),
    other: Gpu | None = None,
) -> Verdict:
    """An older Python for Intel's processors sees 10.16 for every later macOS; whether the chip is Apple's nobody tells."""
    return other is None and torch.mps_available is False and {"chip": None, "seen": (env.machine, platform.version)}


@text_rule("mps-x86-python-under-rosetta", "likely")
def wheel_for_apples_chips_is_refused(
    symptom: Symptom = seen("wheel-tag-refused"),
    python: PythonEnv = one(),
    chip: Symptom = seen("apple-chip-named", "apple-silicon-in-words", "apple-chip-in-words"),
) -> Verdict:
    """It is made for this very Python, and for Apple's chips: so the interpreter is not."""
    tag = str(symptom.get("tag")).split(".")[0]
    mine = "cp" + "".join(str(python.version).split(".")[:2])
    return str(symptom.get("os")).startswith("macosx") and "arm64" in symptom.os and tag == mine and {"chip": None, "where": chip.id}


@text_rule("mps-x86-python-under-rosetta", "likely")
def releases_end_where_those_for_intels_macs_do(
    symptom: Symptom = seen("pip-no-version", name=("torch", "Torch")),
    _chip: Symptom = seen("apple-chip-in-words", "apple-chip-in-brackets", "apple-silicon-in-words", tag="apple-chip-named"),
) -> Verdict:
    """torch was made for Intel's Macs up to a release, and pip is offered none after it on a Mac with Apple's chip."""
    offered = re.findall(r"\d[\w.]{0,20}", str(symptom.get("offered") or ""))
    last = max((one_build.torch for one_build in builds("macos", "x86_64")), key=version_key, default="")
    return bool(offered) and offered[-1] == last and {"chip": None, "seen": last}


def of_intels_mac(symptom: Symptom) -> bool:
    """Whether a wheel's tag is of Macs with Intel's processors."""
    return re.fullmatch(r"macosx_\d{2}_\d{1,2}_x86_64", str(symptom.get("have"))) is not None


@text_rule("mps-x86-python-under-rosetta", "possible")
def resolver_asks_for_intels_macs(
    symptom: Symptom = seen("uv-no-platform-tag", "uv-other-platform-only"), cpu: Cpu | None = None
) -> Verdict:
    """Which chip it is nobody tells; Intel's Macs are older than most that ask for these."""
    intel = cpu is not None and "Intel" in str(cpu.get("model"))
    name = str(symptom.get("name")).lower().replace("_", "-")
    return not intel and name in _MADE_LATER and of_intels_mac(symptom) and {"chip": None, "seen": symptom.have}


def _fitting(wish: tuple[str, str, str], have: str) -> str | None:
    """The Python that is there, else the newest with wheels of the pinned release; of any release one of the middle, for other packages have not the newest yet."""
    newest = next((row.torch for row in builds("macos", ARM)), "")
    pinned = pythons_of_all({wish[0]: wish[2]}, "macos", ARM) if wish[2] else []
    releases = pinned or pythons_of_all({"torch": newest}, "macos", ARM)
    return have if have in releases else releases[0 if pinned else len(releases) // 2] if releases else None


@mends("mps-x86-python-under-rosetta")
def python_of_its_own_kind(
    python: PythonEnv | None = None,
    refused: Symptom | None = seen("pip-no-version"),
    beside: Symptom | None = seen("package-is-asked-for"),
    conda: Symptom | None = seen("conda-folder-shown", "conda-environments-folder-shown", "conda-base-prompt", "conda-in-words"),
    torch: Symptom | None = seen("framework-is-imported", framework="torch"),
    imported: Symptom | None = seen("framework-is-imported", framework=("tensorflow", "jax", "mlx", "onnxruntime", "llama_cpp")),
    jax: Symptom | None = seen("jaxlib-wants-avx", "avx-missing-under-rosetta"),
) -> Params:
    """conda makes one where it is told the kind, and is the first way of who has it; the Python stays where torch has wheels for it.

    What is installed is what pip refused, else the framework that is imported; where nobody tells one, torch, which most have.
    """
    shown = conda is not None or (python is not None and python.get("kind") == "conda")
    other = (imported.framework if imported is not None else "jax" if jax is not None else "") if torch is None else ""
    used = "torch" if not other else "mlx" if other == "mlx" else ""  # of others the package alone reaches no GPU there
    asked = str(refused.get("name") or "").lower() if refused is not None else used
    release_asked = str(refused.get("asked") or "") if refused is not None else ""
    wish = asked + (release_asked if release_asked.startswith("==") and "," not in release_asked else "")
    named = bool(asked) and is_package(asked)
    have = ".".join(str(python.get("version") or "").split(".")[:2]) if python is not None else ""
    release = _fitting(wish.partition("==") if named else ("torch", "", ""), have)
    other = str(beside.get("package") or "") if beside is not None else ""
    other = "" if other.lower() == asked else other
    again = {
        "asked": ",".join(dict.fromkeys(filter(None, (wish, other)))) if named else None,
        "bare": None if named else "bare",
        "asked_code": code_that_asks(asked) or None,
    }
    return {"of_conda": release if shown else None, "python": None if shown else release, "native": release, "machine": "arm64", **again}
