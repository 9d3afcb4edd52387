"""A library of the system is not installed."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.knowledge.package_managers import package_manager
from rigup.machine.kinds import Distribution, Symptom


@mends("system-library-missing")
def package_of_the_library(knew: Params, system: Distribution | None = None, conda: Symptom | None = seen(tag="conda-shown")) -> Params:
    """By the names of the family; conda has none of them for the system."""
    manager = package_manager(str(system.get("id"))) if system is not None and system.get("id") else None
    named = knew.get(manager.family) if manager is not None else None
    return {"packages": named, "of_conda": "libgl" if conda is not None and "libGL" in str(knew.get("lib")) else None}
