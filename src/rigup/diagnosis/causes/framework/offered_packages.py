"""Packages that an index offers nothing of, or not for this system."""

import re

from rigup.knowledge.package_systems import is_of_other_systems
from rigup.machine.kinds import Platform, Symptom


def offered_nothing(symptom: Symptom) -> str:
    """The package of which pip was offered nothing at all, as it is written everywhere."""
    # 0.0.1 is a name that is kept free
    none = not symptom.knows("offered") or re.fullmatch(r"(?:none)?|0\.0\.1(?:\.dev\d)?", symptom.offered)
    return re.sub(r"[-_.]{1,9}", "-", str(symptom.get("name"))).lower() if none else ""


def is_of_another_system(name: str, platform: Platform) -> bool:
    """Whether a package is made for systems of which this is none."""
    return is_of_other_systems(name, "linux" if platform.get("wsl") else platform.system)


def nothing_offered(symptom: Symptom) -> str:
    """The package of which pip was offered nothing at all."""
    none = not symptom.knows("offered") or symptom.offered in ("none", "")
    return re.sub(r"[-_.]{1,9}", "-", str(symptom.get("name"))).lower() if none else ""
