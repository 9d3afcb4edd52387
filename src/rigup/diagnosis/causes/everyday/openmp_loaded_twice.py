"""Two copies of OpenMP are loaded into one program."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Symptom


@mends("openmp-loaded-twice")
def environment_without_a_mixture(_said: Symptom = seen("openmp-is-there-twice")) -> Params:
    """Made anew by one of pip and conda alone it has one copy."""
    return {"program": "torch"}
