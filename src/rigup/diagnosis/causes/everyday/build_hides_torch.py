"""The build of an extension does not see the torch that is installed."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Symptom


@mends("build-hides-torch")
def package_that_was_built(
    _said: Symptom = seen("build-finds-no-torch"), asked: Symptom = seen("package-is-asked-for")
) -> Params:
    """The one that the command line names."""
    return {"package": asked.package}


@mends("build-hides-torch")
def dependency_that_is_not_declared(
    _project: Symptom = seen("uv-project-at-work"),
    told: Symptom | None = seen("uv-names-the-missing-build-dependency"),
    asked: Symptom | None = seen("package-is-asked-for"),
) -> Params:
    """uv builds what a project names, and is told there what the build of a package needs besides."""
    name = str((told and told.get("package")) or (asked and asked.get("package")) or "")
    return {"declared": name, "package": None} if name else {}
