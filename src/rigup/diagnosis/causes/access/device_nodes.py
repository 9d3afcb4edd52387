"""Who may open a device node, and whose account it is."""

from rigup.diagnosis.causes.services import COMPUTING
from rigup.diagnosis.rule import Params
from rigup.machine.kinds import Account, DeviceNode, Symptom

KFD = "/dev/kfd"
RENDER = "/dev/dri/renderD"
NOBODY = ("nobody", "nogroup", "nfsnobody", "65534")  # whom a user namespace does not know


def is_render_node(path: str) -> bool:
    """Whether programs compute through it, and not only draw."""
    return path.startswith(RENDER)


def _is_member(node: DeviceNode, account: Account) -> bool:
    """Whether the account is in the node's group, which a listing may name by its number alone."""
    if not node.group.isdigit() or node.group in account.groups:
        return node.group in account.groups
    numbers = account.get("numbers") or ()
    return node.group in numbers if numbers else node.owner.isdigit()  # names and numbers tell nothing of each other


def closed(node: DeviceNode, account: Account) -> bool:
    """The node opens for its owner and its group only, and this account is neither."""
    if node.mode[8:9] == "w" or node.get("acl"):
        return False
    owner = node.owner not in NOBODY and (account.get("uid") == 0 or node.owner == account.get("user"))
    return not owner and not _is_member(node, account)


def by_another_number(node: DeviceNode, account: Account) -> bool:
    """The account has a group of a name that opens such nodes, and the node's number is another: names are the container's own."""
    listed = node.group.isdigit() and node.owner.isdigit()  # by its numbers, and not for want of a name
    return listed and "render" in account.groups and bool(account.get("numbers")) and not _is_member(node, account)


def in_the_usual_group(account: Account | None) -> bool:
    """Whether an account holds the group to which distributions give the render nodes; who asks as root needs none."""
    return account is not None and ("render" in (account.get("groups") or ()) or account.get("uid") == 0)


def named(account: Account | None, error: Symptom | None = None) -> Params:
    """The account, where its name is known; else the fix speaks of the person's own. A service has one of its own."""
    kind, _colon, name = error.place.process.partition(":") if error else ("", "", "")
    if kind == "service" and name in COMPUTING:
        return {"user": name}
    told = str(error.get("user") or "") if error else ""
    user = (account and account.get("user")) or (told if told != "root" else "")
    return {"user": user} if user else {}
