"""A package has no wheels for this Python."""

import re

from rigup.diagnosis.causes.directml.packages import OF_DIRECTML
from rigup.diagnosis.causes.framework.fitting_pythons import (
    in_range,
    later_torch,
    nearest,
    of_its_first_months,
    of_its_first_patches,
    plain_release,
    python_of_tag,
    pythons_of,
    release_named,
)
from rigup.diagnosis.causes.framework.offered_packages import is_of_another_system, nothing_offered, offered_nothing
from rigup.diagnosis.causes.framework.own_environments import made_anew
from rigup.diagnosis.causes.framework.programs import plain_system
from rigup.diagnosis.causes.framework.pythons_there import pythons_there
from rigup.diagnosis.causes.framework.wanted_releases import OF_TORCH, known_libc, release_asked_for
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.cuda import version_key
from rigup.knowledge.package_systems import is_compiled
from rigup.knowledge.program_builds import is_package, plain_name, program_of
from rigup.knowledge.pythons import pythons, supported
from rigup.knowledge.torch_builds import builds, companions, index_url
from rigup.knowledge.wheels import families
from rigup.machine.kinds import Distribution, Platform, PythonEnv, Symptom


def _system(platform: Platform | None) -> str:
    return str(platform.get("system") or "linux") if platform else "linux"


@rule("python-version-without-wheels")
def no_wheel_for_this_python(
    symptom: Symptom = seen("pip-no-version"),
    python: PythonEnv = one(),
    platform: Platform | None = None,
    offline: Symptom | None = seen(tag="pip-index-not-reached"),
    index: Symptom | None = seen("pip-looks-in"),
) -> Verdict:
    """The index was reached, and the table knows that this Python has no wheel there."""
    alone = str(index.get("variant")) if index else ""
    wanting = supported(symptom.name, python.version, release_asked_for(symptom), _system(platform), alone) is False
    asked = {"asked": release} if (release := release_asked_for(symptom)) else {}
    return offline is None and wanting and {"name": symptom.name, "have": python.version, **asked}


@rule("python-version-without-wheels", "possible")
def no_wheel_and_nobody_tells_the_python(
    symptom: Symptom = seen("pip-no-version"),
    python: PythonEnv | None = None,
    offline: Symptom | None = seen(tag="pip-index-not-reached"),
    alone: Symptom | None = seen("pip-single-index"),
) -> Verdict:
    """Nothing was offered of a package whose wheels are made for certain Pythons."""
    nothing = symptom.offered in ("none", "") if symptom.knows("offered") else not symptom.get("asked")
    elsewhere = alone is not None and symptom.name not in OF_TORCH  # such an index has torch's own packages only
    is_unserved = nothing and not elsewhere and python is None and offline is None
    return is_unserved and bool(pythons(symptom.name)) and {"name": symptom.name}


@rule("python-version-without-wheels", "possible")
def no_wheel_of_a_release_and_the_list_is_cut(
    symptom: Symptom = seen("pip-no-version"), python: PythonEnv | None = None, offline: Symptom | None = seen(tag="pip-index-not-reached")
) -> Verdict:
    """What was offered nobody shows; one release was asked for that was never made for every Python."""
    release = release_asked_for(symptom).partition("+")[0]
    cut = not symptom.knows("offered") and bool(release and pythons(symptom.name)) and offline is None
    return cut and (python is None or supported(symptom.name, python.version, release) is not True) and {"name": symptom.name}


@rule("python-version-without-wheels", "possible")
def only_the_last_line_of_pip(
    symptom: Symptom = seen("pip-no-distribution"),
    more: Symptom | None = seen("pip-no-version", "pip-looks-in", tag="pip-index-not-reached"),
) -> Verdict:
    """Somebody shows the last line alone; the package is made for certain Pythons, and was for fewer in its day."""
    return more is None and bool(pythons(symptom.name, release_asked_for(symptom)))


def _with_wheels(symptom: Symptom) -> list[str]:
    """What pip was offered, less torch's first numbers: the index keeps empty shells of them for every Python."""
    offered = [release.strip() for release in symptom.offered.split(",")]
    return [release for release in offered if symptom.name != "torch" or not release.startswith("0.")]


@rule("python-version-without-wheels", "likely")
def the_release_is_older_than_all_offered(
    symptom: Symptom = seen("pip-no-version"),
    python: PythonEnv | None = None,
    offline: Symptom | None = seen(tag="pip-index-not-reached"),
    platform: Platform | None = None,
) -> Verdict:
    """The index holds newer releases only: the one that was asked for has no wheel for this Python."""
    offered, asked = _with_wheels(symptom), release_asked_for(symptom)
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
    symptom: Symptom = seen("uv-nothing-for-this-platform"),
    python: PythonEnv = one(),
    platform: Platform | None = None,
    other: Symptom | None = seen("uv-other-platform-only"),
) -> Verdict:
    """uv speaks of the platform where it means the Python too; the table knows that this one has no wheel."""
    wanting = supported(symptom.name, python.version, release_asked_for(symptom), _system(platform)) is False
    return other is None and wanting and {"name": symptom.name, "have": python.version}


@rule("python-version-without-wheels", "possible")
def uv_finds_nothing_and_says_no_more(
    symptom: Symptom = seen("uv-nothing-for-this-platform"),
    python: PythonEnv | None = None,
    other: Symptom | None = seen("uv-other-platform-only"),
) -> Verdict:
    """Older releases of uv give no hint; mostly it is the Python."""
    return other is None and python is None and bool(pythons(symptom.name)) and {"name": symptom.name}


@rule("python-version-without-wheels")
def wheel_of_another_python(symptom: Symptom = seen("wheel-tag-refused"), python: PythonEnv = one()) -> Verdict:
    """`cp310` in a wheel's name is Python 3.10 and no other."""
    major, minor = (*version_key(python.version), 0)[:2]
    other = symptom.tag.startswith("cp") and symptom.abi != "abi3" and symptom.tag.split(".")[0] != f"cp{major}{minor}"
    return other and {"name": symptom.name, "have": python.version, "made_for": next(iter(python_of_tag(symptom)), None)}


@text_rule("python-version-without-wheels", "possible")
def index_had_nothing_for_a_recent_python(
    symptom: Symptom = seen("pip-no-version"),
    python: PythonEnv = one(),
    index: Symptom = seen("pip-looks-in"),
    offline: Symptom | None = seen(tag="pip-index-not-reached"),
    mac: Platform | None = one(system="macos"),
) -> Verdict:
    """torch's own index had nothing; wheels for the newest Pythons came there months after them."""
    nothing = symptom.name == "torch" and symptom.get("offered") == "none" and not symptom.get("asked")
    recent = version_key(python.version)[:2] in [version_key(row)[:2] for row in pythons("torch")[:3]]
    return nothing and recent and offline is None and mac is None and bool(index) and {"have": python.version}


@text_rule("python-version-without-wheels", "possible")
def newer_than_all_that_is_offered(
    symptom: Symptom = seen("pip-no-version"),
    system: Distribution | None = None,
    statement: Symptom | None = seen("older-centos-in-words"),
    python: PythonEnv | None = None,
    offline: Symptom | None = seen(tag="pip-index-not-reached"),
) -> Verdict:
    """Newer releases are held back from this Python or this libc; mostly it is the Python, where no libc is told to be old."""
    asked, newest = str(symptom.get("asked") or ""), str(symptom.get("offered") or "").rpartition(",")[2].strip()
    if offline is not None or not asked.startswith("==") or newest in ("", "none") or not pythons(symptom.name):
        return False
    libc = version_key(known_libc(system, statement))
    old = bool(libc) and libc < (2, 28)
    fits = python is not None and supported(symptom.name, python.version, asked.lstrip("= ").partition("+")[0]) is True
    later = version_key(newest) < version_key(asked.lstrip("= ").partition("+")[0])
    return later and not old and not fits and {"name": symptom.name}


@text_rule("python-version-without-wheels", "likely")
def python_of_32_bits_has_none(symptom: Symptom = seen(tag="pip-offers-none"), _narrow: Symptom = seen("python-of-32-bits")) -> Verdict:
    """Frameworks are built for 64 bits alone."""
    name = offered_nothing(symptom)
    return bool(name and (pythons(name) or is_compiled(name))) and {"name": symptom.name}


@text_rule("python-version-without-wheels", "possible")
def compiled_package_has_nothing_to_offer(
    symptom: Symptom = seen(tag="pip-offers-none"),
    platform: Platform | None = None,
    index: Symptom | None = seen("pip-single-index", "pip-connection-broken", "pip-could-not-fetch"),
    phone: Symptom | None = seen("android-system-shown"),
    system: Distribution | None = one(id="alpine"),
) -> Verdict:
    """A package that is built for each Python anew, and no reason is shown but the Python."""
    name = offered_nothing(symptom)
    plain = index is None and phone is None and system is None
    differs = platform is not None and is_of_another_system(name, platform)
    return plain and not differs and is_compiled(name) and {"name": symptom.name}


@text_rule("python-version-without-wheels", "possible")
def poetry_finds_no_wheel(symptom: Symptom = seen("poetry-has-no-candidate", "pipenv-has-no-version")) -> Verdict:
    """None of the files that the lock file names is for this Python, or for this system."""
    name = str(symptom.get("name")).lower()
    return bool(pythons(name) or is_compiled(name)) and {"name": symptom.name}


@text_rule("python-version-without-wheels", "likely")
def release_is_older_than_all_that_is_offered(
    symptom: Symptom = seen("pip-no-version"), offline: Symptom | None = seen(tag="pip-index-not-reached"), python: PythonEnv | None = None
) -> Verdict:
    """A compiled package, asked for by a release that lies before all that the index has for this Python."""
    asked, offered = release_asked_for(symptom), str(symptom.get("offered") or "").split(",")[0].strip()
    known = is_compiled(symptom.name.lower().replace("_", "-")) and offered not in ("", "none")
    older = bool(asked) and version_key(asked) < version_key(offered)
    return offline is None and known and older and {"name": symptom.name, "have": python.get("version") if python else None}


@text_rule("python-version-without-wheels", "likely")
def nothing_was_offered_to_a_new_python(
    symptom: Symptom = seen("pip-no-version", offered="none"),
    _whole: Symptom = seen("pip-no-distribution"),
    python: PythonEnv = one(),
    offline: Symptom | None = seen("pip-connection-broken", "pip-could-not-fetch"),
    alone: Symptom | None = seen("pip-single-index", "aarch64-in-words", tag="jetson-named"),
    platform: Platform | None = one(system="macos"),
) -> Verdict:
    """Wheels for new Pythons come late: those that the table has today were not there yet, or are not in that index.

    pip's second line tells its output from a sentence that quotes it.
    """
    newest = pythons(symptom.name)[:2]
    mine = ".".join(str(python.version).split(".")[:2])
    return offline is None and alone is None and platform is None and mine in newest and {"name": symptom.name, "have": python.version}


@text_rule("python-version-without-wheels", "likely")
def index_lists_wheels_for_other_pythons(
    symptom: Symptom = seen("pip-no-version"),
    listed: Symptom = seen("wheels-listed-by-python"),
    typed: Symptom | None = seen("pip-asked-by-a-named-python"),
    python: PythonEnv | None = None,
) -> Verdict:
    """Somebody lists the package's files, and none of them is for the Python that pip was asked by."""
    named = (typed.get("python") or typed.get("pip") or typed.get("py")) if typed else None
    version = named or (python.get("version") if python else None)
    same = re.sub(r"[-_.]+", "-", str(listed.name)).lower() == re.sub(r"[-_.]+", "-", str(symptom.name)).lower()
    tag = "cp" + "".join(str(version).split(".")[:2])
    fits = "abi3" in str(listed.listed) or tag in re.findall(r"cp3\d{1,2}", str(listed.listed))
    return bool(version) and same and not fits and {"name": symptom.name, "have": version}


@text_rule("python-version-without-wheels", "possible")
def nothing_was_offered_to_a_python_then_new(
    symptom: Symptom = seen("pip-no-version", offered="none"),
    python: PythonEnv | None = None,
    pip: Symptom | None = seen("pip-tells-its-release-and-python"),
    other: Symptom | None = seen(tag="pythons-other-reasons"),
    platform: Platform | None = one(system=("macos", "windows")),
    arm: Platform | None = one(architecture=("aarch64", "armv7l", "arm64", "i686", "ppc64le")),
    musl: Distribution | None = one(id="alpine"),
) -> Verdict:
    """The table has wheels for this Python today; they came months after it, and pip or the Python itself is of its first ones."""
    version = str(python.get("version")) if python else ""
    fresh = of_its_first_patches(version) or (pip is not None and of_its_first_months(pip))
    plain = all(reason is None for reason in (other, platform, arm, musl)) and not symptom.get("asked")
    return plain and fresh and bool(pythons(symptom.name)) and {"name": symptom.name, **({"have": version} if version else {})}


@text_rule("python-version-without-wheels", "likely")
def index_of_builds_has_none_for_this_python(
    symptom: Symptom = seen(tag="pip-offers-none"),
    index: Symptom = seen("index-url-of-torch"),
    python: PythonEnv = one(),
    platform: Platform | None = None,
    offline: Symptom | None = seen(tag="pip-index-not-reached"),
) -> Verdict:
    """The one index that was asked holds the wheels of a CUDA from before this Python."""
    variant, system = (str(index.index).rstrip("/").rpartition("/")[2], str(platform.get("system") or "linux") if platform else "linux")
    wanting = supported(nothing_offered(symptom), python.version, "", system, variant) is False
    return offline is None and wanting and {"name": symptom.name, "have": python.version}


@text_rule("python-version-without-wheels", "likely")
def programs_installer_asks_for_a_torch_from_before(
    symptom: Symptom = seen("installer-got-no-torch"),
    python: PythonEnv = one(),
    offline: Symptom | None = seen(tag="pip-index-not-reached"),
    platform: Platform | None = None,
) -> Verdict:
    """The release of torch that the program pins was never made for this Python."""
    system = str(platform.get("system") or "linux") if platform else "linux"
    wanting = supported("torch", str(python.get("version") or ""), str(symptom.version), system) is False
    return offline is None and wanting and {"name": "torch", "have": python.version}


@mends("python-version-without-wheels")
def a_python_that_has_wheels(
    knew: Params,
    symptom: Symptom | None = seen(tag="wheel-refused"),
    python: PythonEnv | None = None,
    platform: Platform | None = None,
    index: Symptom | None = seen("pip-looks-in"),
    poetry: Symptom | None = seen("poetry-has-no-candidate"),
    narrow: Symptom | None = seen("python-of-32-bits"),
    listed: Symptom | None = seen(tag="pythons-are-listed"),
) -> Params:
    """One that is there and serves, else the one nearest to what is there for which the release has wheels; which release, the text tells, or nobody."""
    name = str(knew.get("name") or (symptom.get("name") if symptom else "") or "")
    poetry = poetry if poetry is not None and name in ("", poetry.get("name")) else None
    have = str(knew.get("have") or (python.get("version") if python else "") or "")
    program = program_of(name) if name else None
    name = "torch" if program and program.name == "torch" and name not in OF_TORCH else name
    release = release_named(symptom) or plain_release(str((poetry.get("version") if poetry else None) or knew.get("version") or ""))
    machine = str(platform.get("architecture") or "") if platform is not None else ""
    found = pythons_of(name, release, plain_system(platform), str(index.get("variant") or "") if index else "", machine) if name else []
    if not found and program and program.on == "torch" and have and not release:
        found = [python for python in pythons("torch") if version_key(python) < version_key(have)[:2]]  # that one has none, the text says
    fitting = in_range(found, str(knew.get("want") or "")) or python_of_tag(symptom)
    fitting = [python for python in fitting if python == knew.get("made_for")] or fitting
    wish = program.wish if program and plain_name(name) in program.packages and program.name != "onnxruntime" else ""
    wish = wish or (name if any(name in family.called for family in families()) else "")
    if plain_name(name) in OF_DIRECTML:
        wish = ""  # PyPI's own wheels are those that compute on the card
    asked = wish or (name if is_package(name) else "")
    if symptom is not None and symptom.id == "wheel-tag-refused" and not wish:
        asked = ""  # the wheel itself is installed there, and may lie on no index
    exact = f"{asked}=={release}" if asked and release and (found or not wish) else asked
    there = pythons_there(listed)
    chosen = nearest([python for python in fitting if python in there] or fitting, have) if fitting else None
    variant = str(index.get("variant") or "") if index else ""
    friends = companions(release) if asked == "torch" and release and variant and chosen else None
    if friends is not None:
        return {"python": chosen, "release": release, "torchvision": friends.torchvision, "index": index_url(variant)}
    return {
        "python": f"{chosen} (64-bit)" if chosen and narrow is not None else chosen,
        "starter": there.get(chosen or ""),
        "torch": None if fitting or name else "torch",
        "wish": exact or None if wish else None,
        "exact": None if wish else exact or None,
        "only": None if asked else "only",
    }


@mends("python-version-without-wheels")
def release_for_the_python_that_is_there(
    knew: Params,
    symptom: Symptom = seen(tag="wheel-refused"),
    _project: Symptom = seen("uv-project-at-work", "poetry-project-at-work", "pdm-project-at-work"),
    using: Symptom | None = seen("uv-python-tags-only"),
    python: PythonEnv | None = None,
    platform: Platform | None = None,
) -> Params:
    """Who keeps the Python of a project takes the first release of torch after the one that is asked for that has wheels for it."""
    have = str(knew.get("have") or (python and python.get("version")) or (using and using.get("have")) or "")
    asked, system = release_named(symptom), plain_system(platform)
    if symptom.get("name") != "torch" or not asked or not have:
        return {}
    later = later_torch(asked, have, system)
    return {"later": f"torch=={later}"} if later else {}


@mends("python-version-without-wheels")
def python_that_the_starter_takes(
    knew: Params,
    starter: Symptom = seen("webui-names-its-environment"),
    tested: Symptom | None = seen("webui-tested-with-another-python"),
    platform: Platform | None = None,
) -> Params:
    """Who starts a web UI by its own starter gets nothing of an environment beside it."""
    path = str(starter.get("venv") or starter.get("exe") or "")
    windows = "\\" in path or (platform is not None and platform.get("system") == "windows")
    anew = made_anew(starter, tested, str(knew.get("python") or ""), windows)
    return {**dict.fromkeys(("python", "wish", "exact", "only", "torch")), **anew} if anew else {}


@mends("python-version-without-wheels")
def python_older_than_what_is_there(
    _said: Symptom = seen("rust-to-build-a-wheel-is-missing"),
    python: PythonEnv | None = None,
    asked: Symptom | None = seen("package-is-asked-for"),
) -> Params:
    """The installer falls back to sources in Rust, because the release has no wheel for this Python: one below has."""
    have = str(python.get("version") or "") if python is not None else ""
    below = [
        release for release in pythons("torch") if not release.endswith("t") and (not have or version_key(release) < version_key(have)[:2])
    ]
    chosen = below[min(1, len(below) - 1)] if below else None
    name = str(asked.get("package") or "") if asked is not None else ""
    return {"python": chosen, "wish": None, "torch": None, "exact": name or None, "only": None if name else "only"}


def is_gpu_package(name: str) -> bool:
    """Compiled for one CUDA or for GPUs: such packages have wheels for certain Pythons alone."""
    return re.search(r"-gpu$|-cu(?:da)?\d{2,3}x?$", name) is not None and not name.startswith("nvidia-")
