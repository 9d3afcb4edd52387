"""Wheels that do not fit: the Python, the libc, the processor, the system, and packages that belong together."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge.cuda import version_key
from rigup.knowledge.distributions import distribution
from rigup.knowledge.pythons import pythons, supported
from rigup.knowledge.torch_builds import build, builds, companions
from rigup.machine.kinds import (
    Cpu,
    Distribution,
    Package,
    Platform,
    PythonEnv,
    Symptom,
    Torch,
)

_OF_TORCH = ("torch", "torchvision", "torchaudio")


# -- the Python
@rule("python-version-without-wheels")
def no_wheel_for_this_python(
    symptom: Symptom = seen("pip-no-version"), python: PythonEnv = one(), platform: Platform | None = None, offline: Symptom | None = seen(tag="pip-index-not-reached"),
    index: Symptom | None = seen("pip-looks-in"),
) -> Verdict:  # fmt: skip
    """The index was reached, and the table knows that this Python has no wheel there."""
    alone = str(index.get("variant")) if index else ""
    wanting = supported(symptom.name, python.version, _release(symptom), _system(platform), alone) is False
    asked = {"asked": release} if (release := _release(symptom)) else {}
    return offline is None and wanting and {"name": symptom.name, "have": python.version, **asked}


@rule("python-version-without-wheels", "possible")
def no_wheel_and_nobody_tells_the_python(
    symptom: Symptom = seen("pip-no-version"), python: PythonEnv | None = None, offline: Symptom | None = seen(tag="pip-index-not-reached"),
    alone: Symptom | None = seen("pip-single-index"),
) -> Verdict:  # fmt: skip
    """Nothing was offered of a package whose wheels are made for certain Pythons."""
    nothing = symptom.offered in ("none", "") if symptom.knows("offered") else not symptom.get("asked")
    elsewhere = alone is not None and symptom.name not in _OF_TORCH  # such an index has torch's own packages only
    is_unserved = nothing and not elsewhere and python is None and offline is None
    return is_unserved and bool(pythons(symptom.name)) and {"name": symptom.name}


@rule("python-version-without-wheels", "possible")
def no_wheel_of_a_release_and_the_list_is_cut(
    symptom: Symptom = seen("pip-no-version"), python: PythonEnv | None = None, offline: Symptom | None = seen(tag="pip-index-not-reached"),
) -> Verdict:  # fmt: skip
    """What was offered nobody shows; one release was asked for that was never made for every Python."""
    release = _release(symptom).partition("+")[0]
    cut = not symptom.knows("offered") and bool(release and pythons(symptom.name)) and offline is None
    return (
        cut
        and (python is None or supported(symptom.name, python.version, release) is not True)
        and {"name": symptom.name}
    )


@rule("python-version-without-wheels", "possible")
def only_the_last_line_of_pip(
    symptom: Symptom = seen("pip-no-distribution"),
    more: Symptom | None = seen("pip-no-version", "pip-looks-in", tag="pip-index-not-reached"),
) -> Verdict:
    """Somebody shows the last line alone; the package is made for certain Pythons, and was for fewer in its day."""
    return more is None and bool(pythons(symptom.name, _release(symptom)))


@rule("python-version-without-wheels", "likely")
def the_release_is_older_than_all_offered(
    symptom: Symptom = seen("pip-no-version"), python: PythonEnv | None = None, offline: Symptom | None = seen(tag="pip-index-not-reached"),
    platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """The index holds newer releases only: the one that was asked for has no wheel for this Python."""
    offered, asked = _with_wheels(symptom), _release(symptom)
    older = offline is None and bool(asked and offered) and version_key(asked) < version_key(offered[0])
    known = bool(pythons(symptom.name)) and symptom.offered not in ("none", "")
    fits = python is not None and supported(symptom.name, python.version, asked, _system(platform)) is True
    return older and known and not fits


@rule("python-version-without-wheels", "likely")
def nothing_offered_but_what_has_no_wheels(
    symptom: Symptom = seen("pip-no-version"), offline: Symptom | None = seen(tag="pip-index-not-reached")
) -> Verdict:
    """All that is offered is older than the oldest release with wheels: empty shells that any Python may have."""
    newest, known = symptom.offered.rpartition(",")[2].strip(), [row.torch for row in builds()]
    shells = symptom.name == "torch" and symptom.offered not in ("none", "") and bool(known)
    return shells and offline is None and version_key(newest) < min(map(version_key, known)) and {"name": symptom.name}


@rule("python-version-without-wheels", "likely")
def uv_finds_nothing_for_this_python(
    symptom: Symptom = seen("uv-nothing-for-this-platform"), python: PythonEnv = one(), platform: Platform | None = None,
    other: Symptom | None = seen("uv-other-platform-only"),
) -> Verdict:  # fmt: skip
    """uv speaks of the platform where it means the Python too; the table knows that this one has no wheel."""
    wanting = supported(symptom.name, python.version, _release(symptom), _system(platform)) is False
    return other is None and wanting and {"name": symptom.name, "have": python.version}


@rule("python-version-without-wheels", "possible")
def uv_finds_nothing_and_says_no_more(
    symptom: Symptom = seen("uv-nothing-for-this-platform"), python: PythonEnv | None = None,
    other: Symptom | None = seen("uv-other-platform-only"),
) -> Verdict:  # fmt: skip
    """Older releases of uv give no hint; mostly it is the Python."""
    return other is None and python is None and bool(pythons(symptom.name)) and {"name": symptom.name}


@rule("python-version-without-wheels")
def wheel_of_another_python(symptom: Symptom = seen("wheel-tag-refused"), python: PythonEnv = one()) -> Verdict:
    """`cp310` in a wheel's name is Python 3.10 and no other."""
    major, minor = (*version_key(python.version), 0)[:2]
    return (
        symptom.tag.startswith("cp")
        and symptom.abi != "abi3"
        and symptom.tag.split(".")[0] != f"cp{major}{minor}"
        and {"name": symptom.name, "have": python.version}
    )


def _with_wheels(symptom: Symptom) -> list[str]:
    """What pip was offered, less torch's first numbers: the index keeps empty shells of them for every Python."""
    offered = [release.strip() for release in symptom.offered.split(",")]
    return [release for release in offered if symptom.name != "torch" or not release.startswith("0.")]


def _release(symptom: Symptom) -> str:
    """`==1.13.1` asks for one release."""
    asked = str(symptom.get("asked") or "")
    return asked.lstrip("= ") if asked.startswith("==") and "," not in asked else ""


def _system(platform: Platform | None) -> str:
    return str(platform.get("system") or "linux") if platform else "linux"


# -- torch and what belongs to it
@rule("torch-torchvision-mismatch")
def versions_of_two_releases(
    torch: Package = one(name=("torch", "pytorch")), vision: Package = one(name="torchvision")
) -> Verdict:
    """torchvision is made for one release of torch."""
    friends = companions(torch.version)
    if torch.get("env") != vision.get("env") or not friends or friends.extrapolated or _is_prerelease(torch, vision):
        return False
    differs = version_key(friends.torchvision)[:2] != version_key(vision.version)[:2]
    return differs and {
        "have": torch.version,
        "other": vision.version,
        "companion": "torchvision",
        "env": torch.get("env"),
    }


@rule("torch-torchvision-mismatch")
def audio_of_another_release(
    torch: Package = one(name=("torch", "pytorch")), audio: Package = one(name="torchaudio")
) -> Verdict:
    """torchaudio is made for one release of torch too, as long as the table names one."""
    friends = companions(torch.version)
    if torch.get("env") != audio.get("env") or not friends or friends.extrapolated or _is_prerelease(torch, audio):
        return False
    named = bool(friends.torchaudio) and not friends.torchaudio_note
    differs = named and version_key(friends.torchaudio)[:2] != version_key(audio.version)[:2]
    return differs and {
        "have": torch.version,
        "other": audio.version,
        "companion": "torchaudio",
        "env": torch.get("env"),
    }


@rule("torch-torchvision-mismatch")
def builds_for_two_toolkits(
    torch: Package = one(name="torch"), vision: Package = one(name=("torchvision", "torchaudio"))
) -> Verdict:
    """`+cu121` beside `+cpu`."""
    mine, theirs = _toolkit_of(torch), _toolkit_of(vision)
    plain = all(local.startswith(("cu", "cpu", "rocm")) and "." not in local[:4] for local in (mine, theirs))
    differs = torch.get("env") == vision.get("env") and plain and mine != theirs
    return differs and {"have": torch.version, "other": vision.version, "companion": vision.name}


def _toolkit_of(package: Package) -> str:
    """What a build's local part names; AMD's own wheels say besides of which commit each was made."""
    return str(package.version).partition("+")[2].partition(".git")[0]


def _is_prerelease(*packages: Package) -> bool:
    """Nightlies, and builds of NVIDIA's own, pair otherwise."""
    return any(mark in str(package.version) for package in packages for mark in ("a0", "dev", "rc", "nv", "git"))


# -- the libc
@rule("glibc-too-old-for-wheel")
def platform_tag_above_the_libc(symptom: Symptom = seen("uv-other-platform-only")) -> Verdict:
    """manylinux_2_28 is offered to a system that is manylinux_2_17."""
    return _older_libc(str(symptom.have), str(symptom.offered), str(symptom.name))


@rule("glibc-too-old-for-wheel")
def no_platform_tag_for_the_libc(
    symptom: Symptom = seen("uv-no-platform-tag"), offer: Symptom = seen("uv-wheels-for-platforms")
) -> Verdict:
    """The same in the words of uv's resolver."""
    return offer.name == symptom.name and _older_libc(str(symptom.have), str(offer.offered), str(symptom.name))


def _older_libc(have_: str, offered: str, name: str) -> Verdict:
    have, wanted = _manylinux(have_), [tag for tag in map(_manylinux, re.findall(r"\w+", offered)) if tag]
    if not have or not wanted or any(tag[1] == have[1] and tag[0] <= have[0] for tag in wanted):
        return False
    same = sorted(tag[0] for tag in wanted if tag[1] == have[1])
    return bool(same) and {"want": f"2.{same[0]}", "have": f"2.{have[0]}", "file": name}


def _manylinux(tag: str) -> tuple[int, str] | None:
    """`manylinux_2_28_x86_64` is (28, x86_64); the old names too."""
    old = {"manylinux1": 5, "manylinux2010": 12, "manylinux2014": 17}
    name, _, machine = tag.partition("_")
    if name in old:
        return old[name], machine
    parts = tag.split("_", 3)
    return (
        (int(parts[2]), parts[3]) if parts[:2] == ["manylinux", "2"] and len(parts) > 3 and parts[2].isdigit() else None
    )


@rule("glibc-too-old-for-wheel", "likely")
def no_wheel_for_this_libc(
    symptom: Symptom = seen("pip-no-version"), system: Distribution = one(), python: PythonEnv | None = None, offline: Symptom | None = seen(tag="pip-index-not-reached"),
) -> Verdict:  # fmt: skip
    """The Python would do, and every wheel wants a newer glibc, or there is none at all (musl)."""
    rows = [
        row
        for row in builds()
        if symptom.name == "torch" and row.glibc and (not _release(symptom) or row.torch == _release(symptom))
    ]
    fits = python is None or supported(symptom.name, python.version, _release(symptom)) is True
    least = min((row.glibc for row in rows), key=version_key, default="")
    lacking = system.get("id") == "alpine" or (
        bool(least and libc_of(system)) and version_key(libc_of(system)) < version_key(least)
    )
    return bool(rows) and offline is None and fits and lacking and {"want": least}


@rule("glibc-too-old-for-wheel", "likely")
def refused_wheel_is_for_a_newer_libc(
    symptom: Symptom = seen("wheel-tag-refused"), system: Distribution = one()
) -> Verdict:
    """`manylinux_2_28` in a wheel's name, and an older libc."""
    return _newer_libc(symptom, libc_of(system))


def libc_of(system: Distribution) -> str:
    """As the system tells, or as the table has it for its release; "" where nobody knows, "musl" where it is none."""
    if system.knows("glibc"):
        return str(system.glibc or "musl")
    row = distribution(str(system.get("id") or ""), str(system.get("version") or ""))
    return row.glibc if row else ""


@rule("glibc-too-old-for-wheel", "likely")
def refused_wheel_is_for_a_newer_libc_than_told(
    symptom: Symptom = seen("wheel-tag-refused"), statement: Symptom = seen("older-centos-in-words")
) -> Verdict:
    """The same where a person names the release."""
    row = distribution(str(statement.distro).lower(), str(statement.release))
    return _newer_libc(symptom, row.glibc if row else "")


def _newer_libc(symptom: Symptom, have: str) -> Verdict:
    wanted = sorted(tag[0] for tag in map(_manylinux, str(symptom.os).split(".")) if tag)
    lacking = bool(have and wanted) and version_key(have) < (2, wanted[0])
    return lacking and {"want": f"2.{wanted[0]}", "have": have, "file": symptom.name}


@rule("glibc-too-old-for-wheel", "likely")
def installed_wheel_wants_a_newer_libc(torch: Torch, system: Distribution = one()) -> Verdict:
    """The table tells what the release was linked against."""
    row = build(torch.version) if "+" in torch.version and not torch.get("available") else None
    return (
        bool(row and not row.extrapolated and row.glibc and libc_of(system))
        and version_key(libc_of(system)) < version_key(row.glibc if row else "")
        and {"want": row and row.glibc}
    )


# -- the processor
@rule("cpu-instruction-set-missing")
def processor_lacks_what_wheels_use(_said: Symptom = seen(tag="illegal-instruction"), cpu: Cpu = one()) -> Verdict:
    """No AVX or AVX2: what today's wheels are compiled for."""
    missing = [name for name in ("avx", "avx2") if name not in cpu.flags]
    return "sse2" in cpu.flags and bool(missing) and {"want": ", ".join(missing).upper()}


@rule("cpu-instruction-set-missing", "likely")
def killed_by_an_instruction(
    _said: Symptom = seen(tag="illegal-instruction"),
    cpu: Cpu | None = None,
    tile: Symptom | None = seen("amx-tile-load", "amx-frame", "swift-ended-itself"),
) -> Verdict:
    """The processor refused an instruction; which ones it has is not told."""
    return tile is None and (cpu is None or not cpu.knows("flags"))


@rule("amx-build-broken")
def crash_at_a_tile_instruction(
    _where: Symptom = seen("amx-tile-load", "amx-frame"),
    _fault: Symptom = seen(tag="segmentation-fault illegal-instruction"),
) -> Verdict:
    """The fault lies in AMX code."""
    return True


@rule("amx-build-broken", "likely")
def crash_after_repacking_for_amx(
    _buffer: Symptom = seen("amx-buffer"),
    _fault: Symptom = seen(tag="segmentation-fault illegal-instruction"),
    cpu: Cpu | None = None,
) -> Verdict:
    """Weights were repacked for AMX, then it crashed."""
    return cpu is None or not cpu.knows("flags") or "amx_tile" in cpu.flags


# -- the system
@rule("extension-without-platform-build")
def wheels_for_other_systems_only(symptom: Symptom = seen("uv-other-platform-only")) -> Verdict:
    """Nothing among what is offered is for this system."""
    mark = {"windows": "win_", "linux": "linux", "macos": "macosx"}.get(symptom.system.lower(), "")
    return bool(mark) and mark not in symptom.offered and {"name": symptom.name}


@rule("extension-without-platform-build")
def resolver_finds_wheels_for_other_systems(
    symptom: Symptom = seen("uv-no-platform-tag"), offer: Symptom | None = seen("uv-wheels-for-platforms")
) -> Verdict:
    """The same in the words of uv's resolver; a processor of another kind counts as another system. On a Mac it may be the Python that is for another one."""
    system, machine = _system_and_machine(str(symptom.have))
    listed = re.findall(r"\w+", str(offer.offered)) if offer is not None and offer.name == symptom.name else []
    served = any(_system_and_machine(tag) in ((system, machine), (system, "universal2")) for tag in listed)
    cut = offer is None and re.fullmatch(r"manylinux_2_(?:1?\d|2[0-7])_\w{3,12}", str(symptom.have))  # an older libc?
    mac = (system, machine) == ("macosx", "x86_64")
    return bool(system) and not served and not cut and not mac and {"name": symptom.name}


def _system_and_machine(tag: str) -> tuple[str, str]:
    """`macosx_15_0_x86_64` is (macosx, x86_64); a Mac's universal wheels serve both."""
    match = re.fullmatch(
        r"(manylinux|musllinux|linux|macosx|win)\w{0,12}?(?:_\d{1,2}){0,2}_(x86_64|aarch64|arm64|amd64|i686|universal2)",
        tag,
    )
    return (match[1], match[2]) if match else ("", "")


@rule("extension-without-platform-build", "likely")
def triton_is_for_linux(
    _said: Symptom = seen("no-working-triton"), platform: Platform = one(system="windows")
) -> Verdict:
    """torch.compile wants Triton, which has no wheels of its makers for Windows."""
    return platform.get("wsl") is None and {"name": "triton"}


@rule("extension-without-platform-build", "likely")
def a_build_for_processors_on_another_system(
    _said: Symptom = seen("bitsandbytes-for-cpu"), platform: Platform = one(system=("windows", "macos")), trains: Symptom | None = seen("epoch-with-its-loss"),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """Its releases of that time have GPU code for Linux only, and fall back to the processor elsewhere; who does not use it trains on.

    Beside a torch without a GPU build every release says so.
    """
    cpu_build = torch is not None and "+cpu" in str(torch.get("version"))
    return platform.get("wsl") is None and trains is None and not cpu_build and {"name": "bitsandbytes"}


@rule("extension-without-platform-build", "likely")
def a_package_for_linux_alone(
    symptom: Symptom = seen("pip-linux-only-package"), platform: Platform = one(system=("windows", "macos")),
    part: Symptom | None = seen("cuda-part-of-tensorflow-not-offered"),
) -> Verdict:  # fmt: skip
    """The package has wheels for Linux only; nobody wants it itself where it is a part of TensorFlow's."""
    wanted = part is None or platform.system == "macos"
    return wanted and platform.get("wsl") is None and {"name": symptom.name}
