"""The system's own Python is kept by its package manager, which lets pip install nothing there."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.knowledge.package_managers import package_manager
from rigup.knowledge.program_builds import program_of
from rigup.machine.kinds import Distribution, Symptom


@mends("python-managed-by-system")
def environment_of_ones_own(
    asked: Symptom | None = seen("package-is-asked-for"), system: Distribution | None = None
) -> Params:
    """Where a distribution parts venv from Python its package comes first."""
    name = str(asked.get("package") or "") if asked is not None else ""
    manager = package_manager(str(system.get("id"))) if system is not None and system.get("id") else None
    program = program_of(name) if name else None
    wish = program.wish if program is not None else ""
    venv = manager.python_venv if manager is not None else ""
    return {
        "venv": venv or None,
        "wish": wish or None if venv else None,
        "alone": wish or None if not venv else None,
        "package": None if wish else name or None,
        "any": None if name else "packages",
    }
