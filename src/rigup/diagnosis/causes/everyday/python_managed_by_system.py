"""The system's own Python is kept by its package manager, which lets pip install nothing there."""

from msgspec.structs import replace

from rigup.diagnosis.causes.framework.torch_builds import Machine, holes_of
from rigup.diagnosis.rule import Params, mends, one, seen
from rigup.knowledge.distributions import distribution
from rigup.knowledge.package_managers import package_manager
from rigup.knowledge.program_builds import program_of
from rigup.knowledge.torch_changes import nearest_build
from rigup.machine.kinds import Distribution, Driver, Gpu, Platform, PythonEnv, Symptom


@mends("python-managed-by-system")
def environment_of_ones_own(asked: Symptom | None = seen("package-is-asked-for"), system: Distribution | None = None) -> Params:
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


@mends("python-managed-by-system")
def build_for_the_card(
    knew: Params,
    gpu: Gpu | None = None,
    driver: Driver | None = one(vendor="nvidia"),
    python: PythonEnv | None = None,
    platform: Platform | None = None,
    system: Distribution | None = None,
    mac: Symptom | None = seen(tag="macs"),
) -> Params:
    """torch by its release and index, where the text names the card; a Mac has one build of each release."""
    if "torch" not in (knew.get("wish"), knew.get("alone")):
        return {}
    if mac is not None or (platform is not None and platform.get("system") == "macos"):
        return {"alone": None, "package": "torch"}
    wish = Machine(gpu, driver, python, platform, None).wish()
    row = distribution(str(system.get("id")), str(system.get("version") or "")) if system is not None else None
    own = wish.python or (row.python if row is not None else "")
    built = nearest_build(replace(wish, python=own)) if wish.isa else None
    if built is None:
        return {}
    there = "beside_venv" if knew.get("venv") else "release"
    return {**holes_of(built, there), "wish": None, "alone": None}
