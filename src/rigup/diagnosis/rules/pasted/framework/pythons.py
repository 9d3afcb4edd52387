"""Wheels that are not there for this Python."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.reckoned import known_libc
from rigup.diagnosis.rules.pasted.unserved import (
    COMPILED,
    is_of_another_system,
    nothing_offered,
    offered_nothing,
)
from rigup.knowledge.cuda import version_key
from rigup.knowledge.pythons import pythons, supported
from rigup.machine.kinds import Distribution, Platform, PythonEnv, Symptom

_COMPILED = (
    "jaxlib", "triton", "numba", "llvmlite", "onnxruntime", "onnxruntime-gpu", "xformers", "spacy", "open3d", "tensorflow-gpu",
    "tensorflow-cpu", "paddlepaddle", "paddlepaddle-gpu", "mxnet", "dgl", "faiss-gpu", "ctranslate2", "tensorrt", "cntk",
    "cntk-gpu", "mindspore-gpu", "mindspore", "numpy", "scipy", "h5py", "mediapipe", "tflite-runtime",
)  # fmt: skip
_LATE = 5  # quarters of a year: so long after a Python's release its wheels may not be there yet
_FRESH = 1  # and of its own patches these come in the first months


def is_gpu_package(name: str) -> bool:
    """Compiled for one CUDA or for GPUs: such packages have wheels for certain Pythons alone."""
    return re.search(r"-gpu$|-cu(?:da)?\d{2,3}x?$", name) is not None and not name.startswith("nvidia-")


def _pinned_release(symptom: Symptom) -> str:
    asked = str(symptom.get("asked") or "")
    return asked.lstrip("= ") if asked.startswith("==") and "," not in asked else ""


def _of_its_first_patches(version: str) -> bool:
    parts = version_key(version)
    return len(parts) > 2 and parts[:1] == (3,) and int(parts[2]) <= _FRESH


def _of_its_first_months(pip: Symptom) -> bool:
    """pip counts its releases by year and quarter, and a Python comes each October: 3.8 that of 2019."""
    age = (int(str(pip.get("year"))) - int(str(pip.get("minor"))) - 11) * 4 + int(str(pip.get("quarter")))
    return 3 <= age <= _LATE


@rule("python-version-without-wheels", "possible")
def index_had_nothing_for_a_recent_python(
    symptom: Symptom = seen("pip-no-version"), python: PythonEnv = one(), index: Symptom = seen("pip-looks-in"), offline: Symptom | None = seen(tag="pip-index-not-reached"),
    mac: Platform | None = one(system="macos"),
) -> Verdict:  # fmt: skip
    """torch's own index had nothing; wheels for the newest Pythons came there months after them."""
    nothing = symptom.name == "torch" and symptom.get("offered") == "none" and not symptom.get("asked")
    recent = version_key(python.version)[:2] in [version_key(row)[:2] for row in pythons("torch")[:3]]
    return nothing and recent and offline is None and mac is None and bool(index) and {"have": python.version}


@rule("python-version-without-wheels", "possible")
def newer_than_all_that_is_offered(
    symptom: Symptom = seen("pip-no-version"), system: Distribution | None = None, statement: Symptom | None = seen("older-centos-in-words"),
    python: PythonEnv | None = None, offline: Symptom | None = seen(tag="pip-index-not-reached"),
) -> Verdict:  # fmt: skip
    """Newer releases are held back from this Python or this libc; mostly it is the Python, where no libc is told to be old."""
    asked, newest = str(symptom.get("asked") or ""), str(symptom.get("offered") or "").rpartition(",")[2].strip()
    if offline is not None or not asked.startswith("==") or newest in ("", "none") or not pythons(symptom.name):
        return False
    libc = version_key(known_libc(system, statement))
    old = bool(libc) and libc < (2, 28)
    fits = python is not None and supported(symptom.name, python.version, asked.lstrip("= ").partition("+")[0]) is True
    later = version_key(newest) < version_key(asked.lstrip("= ").partition("+")[0])
    return later and not old and not fits and {"name": symptom.name}


@rule("python-version-without-wheels", "likely")
def python_of_32_bits_has_none(
    symptom: Symptom = seen(tag="pip-offers-none"), _narrow: Symptom = seen("python-of-32-bits")
) -> Verdict:
    """Frameworks are built for 64 bits alone."""
    name = offered_nothing(symptom)
    return bool(name and (pythons(name) or COMPILED.fullmatch(name))) and {"name": symptom.name}


@rule("python-version-without-wheels", "possible")
def compiled_package_has_nothing_to_offer(
    symptom: Symptom = seen(tag="pip-offers-none"), platform: Platform | None = None, index: Symptom | None = seen("pip-single-index", "pip-connection-broken", "pip-could-not-fetch"),
    phone: Symptom | None = seen("android-system-shown"), system: Distribution | None = one(id="alpine"),
) -> Verdict:  # fmt: skip
    """A package that is built for each Python anew, and no reason is shown but the Python."""
    name = offered_nothing(symptom)
    plain = index is None and phone is None and system is None
    differs = platform is not None and is_of_another_system(name, platform)
    return plain and not differs and bool(COMPILED.fullmatch(name)) and {"name": symptom.name}


@rule("python-version-without-wheels", "possible")
def poetry_finds_no_wheel(symptom: Symptom = seen("poetry-has-no-candidate", "pipenv-has-no-version")) -> Verdict:
    """None of the files that the lock file names is for this Python, or for this system."""
    name = str(symptom.get("name")).lower()
    return bool(pythons(name) or COMPILED.fullmatch(name)) and {"name": symptom.name}


@rule("python-version-without-wheels", "likely")
def release_is_older_than_all_that_is_offered(
    symptom: Symptom = seen("pip-no-version"),
    offline: Symptom | None = seen(tag="pip-index-not-reached"),
    python: PythonEnv | None = None,
) -> Verdict:
    """A compiled package, asked for by a release that lies before all that the index has for this Python."""
    asked, offered = _pinned_release(symptom), str(symptom.get("offered") or "").split(",")[0].strip()
    known = symptom.name.lower().replace("_", "-") in _COMPILED and offered not in ("", "none")
    older = bool(asked) and version_key(asked) < version_key(offered)
    return (
        offline is None
        and known
        and older
        and {"name": symptom.name, "have": python.get("version") if python else None}
    )


@rule("python-version-without-wheels", "likely")
def nothing_was_offered_to_a_new_python(
    symptom: Symptom = seen("pip-no-version", offered="none"), _whole: Symptom = seen("pip-no-distribution"), python: PythonEnv = one(), offline: Symptom | None = seen("pip-connection-broken", "pip-could-not-fetch"),
    alone: Symptom | None = seen("pip-single-index", "aarch64-in-words", tag="jetson-named"), platform: Platform | None = one(system="macos"),
) -> Verdict:  # fmt: skip
    """Wheels for new Pythons come late: those that the table has today were not there yet, or are not in that index.

    pip's second line tells its output from a sentence that quotes it.
    """
    newest = pythons(symptom.name)[:2]
    mine = ".".join(str(python.version).split(".")[:2])
    return (
        offline is None
        and alone is None
        and platform is None
        and mine in newest
        and {"name": symptom.name, "have": python.version}
    )


@rule("python-version-without-wheels", "likely")
def index_lists_wheels_for_other_pythons(
    symptom: Symptom = seen("pip-no-version"), listed: Symptom = seen("wheels-listed-by-python"), typed: Symptom | None = seen("pip-asked-by-a-named-python"),
    python: PythonEnv | None = None,
) -> Verdict:  # fmt: skip
    """Somebody lists the package's files, and none of them is for the Python that pip was asked by."""
    named = (typed.get("python") or typed.get("pip") or typed.get("py")) if typed else None
    version = named or (python.get("version") if python else None)
    same = re.sub(r"[-_.]+", "-", str(listed.name)).lower() == re.sub(r"[-_.]+", "-", str(symptom.name)).lower()
    tag = "cp" + "".join(str(version).split(".")[:2])
    fits = "abi3" in str(listed.listed) or tag in re.findall(r"cp3\d{1,2}", str(listed.listed))
    return bool(version) and same and not fits and {"name": symptom.name, "have": version}


@rule("python-version-without-wheels", "possible")
def nothing_was_offered_to_a_python_then_new(
    symptom: Symptom = seen("pip-no-version", offered="none"), python: PythonEnv | None = None, pip: Symptom | None = seen("pip-tells-its-release-and-python"), other: Symptom | None = seen(tag="pythons-other-reasons"),
    platform: Platform | None = one(system=("macos", "windows")), arm: Platform | None = one(architecture=("aarch64", "armv7l", "arm64", "i686", "ppc64le")), musl: Distribution | None = one(id="alpine"),
) -> Verdict:  # fmt: skip
    """The table has wheels for this Python today; they came months after it, and pip or the Python itself is of its first ones."""
    version = str(python.get("version")) if python else ""
    fresh = _of_its_first_patches(version) or (pip is not None and _of_its_first_months(pip))
    plain = all(reason is None for reason in (other, platform, arm, musl)) and not symptom.get("asked")
    return (
        plain
        and fresh
        and bool(pythons(symptom.name))
        and {"name": symptom.name, **({"have": version} if version else {})}
    )


@rule("python-version-without-wheels", "likely")
def index_of_builds_has_none_for_this_python(
    symptom: Symptom = seen(tag="pip-offers-none"), index: Symptom = seen("index-url-of-torch"), python: PythonEnv = one(), platform: Platform | None = None,
    offline: Symptom | None = seen(tag="pip-index-not-reached"),
) -> Verdict:  # fmt: skip
    """The one index that was asked holds the wheels of a CUDA from before this Python."""
    variant, system = (
        str(index.index).rstrip("/").rpartition("/")[2],
        str(platform.get("system") or "linux") if platform else "linux",
    )
    wanting = supported(nothing_offered(symptom), python.version, "", system, variant) is False
    return offline is None and wanting and {"name": symptom.name, "have": python.version}


@rule("python-version-without-wheels", "likely")
def programs_installer_asks_for_a_torch_from_before(
    symptom: Symptom = seen("installer-got-no-torch"), python: PythonEnv = one(), offline: Symptom | None = seen(tag="pip-index-not-reached"), platform: Platform | None = None
) -> Verdict:  # fmt: skip
    """The release of torch that the program pins was never made for this Python."""
    system = str(platform.get("system") or "linux") if platform else "linux"
    wanting = supported("torch", str(python.get("version") or ""), str(symptom.version), system) is False
    return offline is None and wanting and {"name": "torch", "have": python.version}
