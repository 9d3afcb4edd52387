"""A disk fails: the kernel lost it or cannot read it."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Symptom


@mends("storage-device-failing")
def what_the_kernel_proposes(proposed: Symptom = seen("nvme-kernel-proposes-no-power-saving")) -> Params:
    """The kernel names the arguments with which a drive stays awake."""
    return {"argument": str(proposed.argument)}
