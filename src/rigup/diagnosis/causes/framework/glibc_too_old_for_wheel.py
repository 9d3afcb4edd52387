"""The build wants a newer glibc than this system has."""

import re

from rigup.diagnosis.causes.framework.offered_packages import offered_nothing
from rigup.diagnosis.causes.framework.wanted_releases import OF_TORCH, known_libc, libc_of, release_asked_for
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.conda_forge import channel, conda_package
from rigup.knowledge.cuda import version_key
from rigup.knowledge.distributions import distribution
from rigup.knowledge.package_systems import is_compiled
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.program_builds import addon_of_module, force_build, plain_name
from rigup.knowledge.pythons import pythons, supported
from rigup.knowledge.torch_builds import TorchBuild, build, builds, companions, index_url
from rigup.machine.kinds import Distribution, Platform, PythonEnv, Symptom, Torch

_OF_WHEELS = "2.17"  # what manylinux2014 asks for: no wheel of today is made for an older one
_OLDER_LIBC = lazy_regex(r"manylinux_2_(?:\d|1\d|2[0-7])_(?:x86_64|aarch64)")


def _manylinux(tag: str) -> tuple[int, str] | None:
    """`manylinux_2_28_x86_64` is (28, x86_64); the old names too."""
    old = {"manylinux1": 5, "manylinux2010": 12, "manylinux2014": 17}
    name, _, machine = tag.partition("_")
    if name in old:
        return old[name], machine
    parts = tag.split("_", 3)
    return (int(parts[2]), parts[3]) if parts[:2] == ["manylinux", "2"] and len(parts) > 3 and parts[2].isdigit() else None


def _older_libc(have_: str, offered: str, name: str) -> Verdict:
    have, wanted = _manylinux(have_), [tag for tag in map(_manylinux, re.findall(r"\w+", offered)) if tag]
    if not have or not wanted or any(tag[1] == have[1] and tag[0] <= have[0] for tag in wanted):
        return False
    same = sorted(tag[0] for tag in wanted if tag[1] == have[1])
    return bool(same) and {"want": f"2.{same[0]}", "have": f"2.{have[0]}", "file": name}


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


@rule("glibc-too-old-for-wheel", "likely")
def no_wheel_for_this_libc(
    symptom: Symptom = seen("pip-no-version"),
    system: Distribution = one(),
    python: PythonEnv | None = None,
    offline: Symptom | None = seen(tag="pip-index-not-reached"),
) -> Verdict:
    """The Python would do, and every wheel wants a newer glibc, or there is none at all (musl)."""
    rows = [
        row
        for row in builds()
        if symptom.name == "torch" and row.glibc and (not release_asked_for(symptom) or row.torch == release_asked_for(symptom))
    ]
    fits = python is None or supported(symptom.name, python.version, release_asked_for(symptom)) is True
    least = min((row.glibc for row in rows), key=version_key, default="")
    lacking = system.get("id") == "alpine" or (bool(least and libc_of(system)) and version_key(libc_of(system)) < version_key(least))
    return bool(rows) and offline is None and fits and lacking and {"want": least}


def _newer_libc(symptom: Symptom, have: str) -> Verdict:
    wanted = sorted(tag[0] for tag in map(_manylinux, str(symptom.os).split(".")) if tag)
    lacking = bool(have and wanted) and version_key(have) < (2, wanted[0])
    return lacking and {"want": f"2.{wanted[0]}", "have": have, "file": symptom.name}


@rule("glibc-too-old-for-wheel", "likely")
def refused_wheel_is_for_a_newer_libc(symptom: Symptom = seen("wheel-tag-refused"), system: Distribution = one()) -> Verdict:
    """`manylinux_2_28` in a wheel's name, and an older libc."""
    return _newer_libc(symptom, libc_of(system))


@rule("glibc-too-old-for-wheel", "likely")
def refused_wheel_is_for_a_newer_libc_than_told(
    symptom: Symptom = seen("wheel-tag-refused"), statement: Symptom = seen("older-centos-in-words")
) -> Verdict:
    """The same where a person names the release."""
    row = distribution(str(statement.distro).lower(), str(statement.release))
    return _newer_libc(symptom, row.glibc if row else "")


@rule("glibc-too-old-for-wheel", "likely")
def installed_wheel_wants_a_newer_libc(torch: Torch, system: Distribution = one()) -> Verdict:
    """The table tells what the release was linked against."""
    row = build(torch.version) if "+" in torch.version and not torch.get("available") else None
    return (
        bool(row and not row.extrapolated and row.glibc and libc_of(system))
        and version_key(libc_of(system)) < version_key(row.glibc if row else "")
        and {"want": row and row.glibc}
    )


@text_rule("glibc-too-old-for-wheel", "likely")
def symbols_of_a_newer_libc_are_listed(wanted: Symptom = seen("glibc-symbol-listed"), system: Distribution = one()) -> Verdict:
    """A library's own list of what it wants, and the libc that is there."""
    have = str(system.get("glibc") or "")
    return bool(have) and version_key(have) < version_key(wanted.want) and {"have": have, "want": wanted.want}


@text_rule("glibc-too-old-for-wheel", "likely")
def offers_end_before_what_is_asked(
    symptom: Symptom = seen("pip-no-version"),
    system: Distribution | None = None,
    statement: Symptom | None = seen("older-centos-in-words"),
    python: PythonEnv | None = None,
    offline: Symptom | None = seen(tag="pip-index-not-reached"),
) -> Verdict:
    """pip offers older releases alone, or none where no wheel is made for so old a libc; the Python is not to blame."""
    have, asked = known_libc(system, statement), str(symptom.get("asked") or "").lstrip("= ")
    if offline is not None or not have or not symptom.get("offered"):
        return False
    if python is not None and supported(symptom.name, python.version, asked.partition("+")[0]) is False:
        return False
    newest = str(symptom.offered).rpartition(",")[2].strip()
    none = newest == "none" and version_key(have) < version_key(_OF_WHEELS)
    older = newest != "none" and bool(asked) and version_key(newest) < version_key(asked)
    return (none or (older and version_key(have) < (2, 28))) and {"have": have, "file": symptom.name}


@text_rule("glibc-too-old-for-wheel", "likely")
def musl_has_no_wheels(
    symptom: Symptom = seen(tag="pip-offers-none"), system: Distribution = one(id="alpine"), python: PythonEnv | None = None
) -> Verdict:
    """There is no wheel for musl, where others have one for every Python that is in use."""
    name = offered_nothing(symptom)
    fits = python is None or not python.knows("version") or supported(name, python.version) is not False
    return fits and bool(name and (pythons(name) or is_compiled(name))) and {"want": None, "have": system.id}


@text_rule("glibc-too-old-for-wheel", "likely")
def offered_wheels_are_for_glibc(symptom: Symptom = seen("uv-other-platform-only")) -> Verdict:
    """The system is built on musl, and what is offered for its processor is not."""
    match = re.fullmatch(r"musllinux_\d_\d{1,2}_(\w{3,12})", str(symptom.have))
    offered = match and re.search(r"manylinux\w{1,20}_" + match[1] + r"\b", str(symptom.offered))
    return bool(offered) and {"want": None, "have": "musl", "file": symptom.name}


@text_rule("glibc-too-old-for-wheel", "possible")
def older_libc_and_the_offer_is_cut(
    symptom: Symptom = seen("uv-no-platform-tag"), offer: Symptom | None = seen("uv-wheels-for-platforms")
) -> Verdict:
    """uv names what the system takes; wheels of its processor are mostly made for a newer libc."""
    return offer is None and bool(_OLDER_LIBC.fullmatch(str(symptom.have))) and {"have": symptom.have, "file": symptom.name}


@text_rule("glibc-too-old-for-wheel", "likely")
def wheel_is_for_any_python_and_was_refused(
    symptom: Symptom = seen("wheel-tag-refused"),
    platform: Platform | None = one(system=("windows", "macos")),
    arm: Symptom | None = seen(tag="arm-shown"),
) -> Verdict:
    """`abi3` and `py3` serve every later Python; what is left of the tag is the libc."""
    any_python = symptom.get("abi") == "abi3" or str(symptom.get("tag")).startswith("py3")
    newer = re.match(r"manylinux_2_(2[89]|3\d|4\d)_x86_64", str(symptom.get("os")))
    fits = any_python and newer is not None and platform is None and arm is None
    return fits and {"want": f"2.{newer[1] if newer else ''}", "file": symptom.name}


@text_rule("glibc-too-old-for-wheel", "likely")
def wheel_that_was_asked_for_is_for_a_newer_libc(
    symptom: Symptom = seen("wheel-with-a-tag-is-installed"), system: Distribution = one()
) -> Verdict:
    """The file's name tells for which libc it was made, and the system's is older."""
    have, wanted = libc_of(system), [int(minor) for minor in re.findall(r"manylinux_2_(\d{1,2})", str(symptom.os))]
    older = bool(have and wanted) and have != "musl" and version_key(have) < (2, min(wanted))
    return older and {"want": f"2.{min(wanted)}", "have": have, "file": symptom.name}


def _that_old(have: str, python: PythonEnv | None) -> TorchBuild | None:
    version = str(python.get("version") or "") if python else ""
    minor = ".".join(version.split(".")[:2])
    rows = [
        row
        for row in builds()
        if row.glibc and version_key(row.glibc) <= version_key(have) and row.cuda and (not minor or minor in row.python)
    ]
    return max(rows, key=lambda row: (version_key(row.torch), row.pypi, version_key(row.cuda)), default=None)


@mends("glibc-too-old-for-wheel")
def what_runs_on_this_libc(
    knew: Params,
    system: Distribution | None = None,
    torch: Torch | None = None,
    python: PythonEnv | None = None,
    symptom: Symptom | None = seen(tag="wheel-refused"),
    musl: Symptom | None = seen(tag="musl-system"),
    plus: Symptom | None = seen(tag="libstdc-too-old"),
    tagged: Symptom | None = seen("uv-other-platform-only", "uv-no-platform-tag"),
) -> Params:
    """A release of torch whose wheels this libc takes; a system with a newer one; musl takes none of them."""
    if (
        musl is not None
        or (system is not None and libc_of(system) == "musl")
        or (tagged is not None and str(tagged.get("have")).startswith("musl"))
    ):
        return {"least": None, "musl": "musl"}
    if plus is not None:
        return {"least": None, "library": conda_package("libstdc++.so.6"), "channel": channel()}
    name = str(knew.get("file") or knew.get("name") or (symptom.get("name") if symptom else "") or "")
    owner = name.rpartition("/site-packages/")[2].partition("/")[0] if "/site-packages/" in name else ""
    of_torch = owner in ("", *OF_TORCH) and (torch is not None or name.partition("-")[0] in OF_TORCH)
    have = str(knew.get("have") or (libc_of(system) if system else ""))
    row = _that_old(have, python) if of_torch and have else None
    friends = companions(row.torch) if row else None
    return {
        "least": knew.get("want") or (next((build.glibc for build in builds() if build.glibc), None)),
        "release": row.torch if row else None,
        "torchvision": friends.torchvision if friends else None,
        "index": index_url(row.variant) if row else None,
    }


@mends("glibc-too-old-for-wheel")
def package_that_is_compiled_here(knew: Params) -> Params:
    """What was compiled elsewhere and is none of torch's own is compiled on the system itself, where its file tells whose it is."""
    _before, _folder, rest = str(knew.get("file") or "").rpartition("/site-packages/")
    module = re.split(r"[/.]", rest)[0] if rest else ""
    package = addon_of_module(module) or (plain_name(module) if "/" in rest else "")
    if not package or module in OF_TORCH or knew.get("musl"):
        return {}
    force = force_build(package)
    return {"force": force or None, "compiled": package, "plain": None if force else package, "release": None}
