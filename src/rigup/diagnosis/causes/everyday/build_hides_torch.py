"""The build of an extension does not see the torch that is installed."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Symptom


@mends("build-hides-torch")
def package_that_was_built(
    _said: Symptom = seen("build-finds-no-torch"), asked: Symptom = seen("package-is-asked-for")
) -> Params:
    """The one that the command line names."""
    return {"package": asked.package}
