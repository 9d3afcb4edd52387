"""Who may open what."""

from rigup.diagnosis.rule import Params, Verdict, mends, one, rule
from rigup.machine.kinds import Account, DeviceNode


@rule("render-group-missing")
def account_not_in_the_nodes_group(node: DeviceNode = one(path="/dev/kfd", at="host"), who: Account = one(at="shell")) -> Verdict:
    """The node opens for its group, and this account is not in it."""
    return node.group not in who.groups and node.mode[8:9] != "w" and who.get("uid") != 0


@mends("render-group-missing")
def the_group_to_join(node: DeviceNode = one(path="/dev/kfd"), who: Account | None = one(at="shell")) -> Params:
    """Which group, and who."""
    return {"group": node.group, "user": (who and who.get("user")) or "$USER"}
