"""A pod stays Pending, for no node takes it."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Symptom


@mends("pod-not-placed")
def toleration_of_the_taint(symptom: Symptom = seen("scheduler-tells-of-a-taint-of-gpus")) -> Params:
    """Any value and effect of it: the scheduler tells no effect."""
    return {"toleration": f"tolerations: [{{key: {symptom.taint}, operator: Exists}}]"}
