"""The Python for which a release has wheels."""

import re

from rigup.diagnosis.causes.framework.wanted_releases import OF_TORCH
from rigup.knowledge.cuda import version_key
from rigup.knowledge.pythons import pythons, pythons_of_all, supported
from rigup.knowledge.torch_builds import builds
from rigup.machine.kinds import Symptom

_LATE = 5  # quarters of a year: so long after a Python's release its wheels may not be there yet
_FRESH = 1  # and of its own patches these come in the first months
_RELEASES = 5  # that have to have a Python before it is named unasked


def plain_release(version: str) -> str:
    """A release without its local part; "" for what is no single release."""
    return version.partition("+")[0] if re.fullmatch(r"\d+\.\d[\w.+]*", version) else ""


def in_range(known: list[str], want: str) -> list[str]:
    """Those that a text's own range of Pythons allows; that decides also where the tables know nothing."""
    if not re.fullmatch(r"[<>=!~\d., *]{3,80}", want):
        return known
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        allowed = SpecifierSet(want.replace(" ", ""))
    except InvalidSpecifier:
        return known
    return [python for python in known or pythons("torch") if python in allowed or python + ".99" in allowed]


def python_of_tag(wheel: Symptom | None) -> list[str]:
    """A wheel's own name tells its Python: `cp310`."""
    tag = re.match(r"cp(\d)(\d{1,2})\b", str(wheel.get("tag") or "")) if wheel and wheel.id == "wheel-tag-refused" else None
    return [f"{tag[1]}.{tag[2]}"] if tag else []


def pythons_of(name: str, release: str, system: str, alone: str, machine: str = "") -> list[str]:
    """Those of the release; where none is asked for, those that the last releases had all along."""
    exact = pythons(name, release, system, alone, machine) or pythons_of_all({name: release}, system, machine) or pythons(name, release)
    if release or alone or name not in OF_TORCH:
        return exact
    last = list(dict.fromkeys(row.torch for row in builds(system)))[:_RELEASES]
    steady = [python for python in exact if all(python in pythons("torch", release_, system) for release_ in last)]
    return steady or exact


def nearest(known: list[str], have: str) -> str:
    """Of those with wheels the one nearest to what is there; the newest where nobody tells what is."""
    mine = (*version_key(have), 0)[:2] if have else ()
    above = [python for python in known if mine and version_key(python) > mine]
    return above[-1] if mine and above and not [python for python in known if version_key(python) <= mine] else known[0]


def release_named(symptom: Symptom | None) -> str:
    """`==1.13.1` asks for one release; a wheel's name tells it."""
    if symptom is None:
        return ""
    asked = str(symptom.get("asked") or "")
    if asked.startswith("==") and "," not in asked and "*" not in asked:
        return asked.lstrip("= ").partition("+")[0]
    return str(symptom.get("version") or "").partition("+")[0] if symptom.knows("abi") else ""


def later_torch(asked: str, have: str, system: str) -> str:
    """The first release after one that has wheels for a Python; "" where there is none."""
    releases = dict.fromkeys(row.torch for row in reversed(builds(system)) if version_key(row.torch) > version_key(asked))
    return next((release for release in releases if supported("torch", have, release, system)), "")


def of_its_first_patches(version: str) -> bool:
    """`3.13.0`: a Python of its first months."""
    parts = version_key(version)
    return len(parts) > 2 and parts[:1] == (3,) and int(parts[2]) <= _FRESH


def of_its_first_months(pip: Symptom) -> bool:
    """pip counts its releases by year and quarter, and a Python comes each October: 3.8 that of 2019."""
    age = (int(str(pip.get("year"))) - int(str(pip.get("minor"))) - 11) * 4 + int(str(pip.get("quarter")))
    return 3 <= age <= _LATE
