"""Groups of the host that a container does not have."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.machine.kinds import Account, DeviceNode, Symptom


@rule("container-render-group-mismatch", "possible")
def group_is_a_number_there(
    node: DeviceNode = one(path="/dev/kfd"), account: Account | None = None, opened: Symptom | None = seen("radeon-listed-inside")
) -> Verdict:  # fmt: skip
    """A listing shows the number of a group that has no name there: the host's, seen from a container. What lists the chip there has opened the node."""
    return (
        account is None and opened is None and node.group.isdigit() and node.mode[8:9] != "w" and {"group": node.group}
    )
