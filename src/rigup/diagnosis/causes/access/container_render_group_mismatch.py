"""The container got the GPU's nodes, and does not hold the group that owns them."""

from rigup.diagnosis.causes.access.device_nodes import KFD, NOBODY, closed
from rigup.diagnosis.causes.container_starters import asking, what_it_is_said_to_be_started_by, what_starts_it
from rigup.diagnosis.causes.masks import MASKS
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen, text_rule
from rigup.knowledge.starters import asked
from rigup.machine.kinds import Account, DeviceNode, Group, Symptom, Variable, World

_RENDER = "/dev/dri/renderD128"


@rule("container-render-group-mismatch", "likely")
def account_beside_nodes_that_are_handed_on(
    account: Account, _given: Symptom = seen(tag="nodes-handed-on"), node: DeviceNode = one(path=KFD)
) -> Verdict:
    """What starts a container hands the node on, and who is told of is not in its group: mostly inside, by number."""
    return not inside(node) and not inside(account) and closed(node, account) and {"group": node.get("group")}


@rule("container-render-group-mismatch", strength="likely")
def refused_though_it_was_handed_in(
    error: Symptom = seen("kfd-permission-denied", "kfd-permission-denied-errno", "ollama-amd-permissions", "kfd-group-not-held"),
    _given: Symptom = seen("kfd-handed-in"),
) -> Verdict:
    """A container was given the node, and something may not open it."""
    return {"said": error.id}


@rule("container-render-group-mismatch")
def refused_inside(
    error: Symptom = seen(
        "kfd-permission-denied",
        "kfd-permission-denied-errno",
        "ollama-amd-permissions",
        "kfd-group-not-held",
        "render-node-permission-denied",
    ),
    world: World | None = None,
) -> Verdict:
    """The node is there and does not open."""
    return inside(error) or bool(world and world.get("container"))


@rule("container-render-group-mismatch")
def number_not_held_inside(account: Account, node: DeviceNode) -> Verdict:
    """Groups are numbers: the one that owns the node outside may have no name, or another, inside."""
    ours = node.path == KFD or "/renderD" in node.path
    return ours and inside(node) and inside(account) and closed(node, account)


@rule("container-render-group-mismatch")
def group_that_no_namespace_knows(error: Symptom = seen("kfd-group-not-held", group=("nogroup", "nobody", "nfsnobody"))) -> Verdict:
    """rocminfo names the node's group as it sees it: so are those called that a user namespace has not been given."""
    return {"group": error.get("group")}


@rule("container-render-group-mismatch", strength="possible")
def server_inside_saw_what_rocblas_does_not(
    error: Symptom = seen("rocblas-no-devices"), mask: Variable | None = one(name=MASKS), world: World | None = None
) -> Verdict:
    """The same in a container."""
    inside = error.place.world.startswith("container") or bool(world and world.get("container"))
    return inside and not (mask and mask.get("value")) and {"said": error.id}


@text_rule("container-render-group-mismatch", "possible")
def group_is_a_number_there(
    node: DeviceNode = one(path="/dev/kfd"), account: Account | None = None, opened: Symptom | None = seen("radeon-listed-inside")
) -> Verdict:
    """A listing shows the number of a group that has no name there: the host's, seen from a container. What lists the chip there has opened the node."""
    return account is None and opened is None and node.group.isdigit() and node.mode[8:9] != "w" and {"group": node.group}


mends("container-render-group-mismatch")(what_starts_it)
mends("container-render-group-mismatch")(what_it_is_said_to_be_started_by)


@mends("container-render-group-mismatch")
def namespace_that_knows_no_such_group(
    knew: Params,
    world: World | None = None,
    docker: Symptom | None = seen("docker-in-words"),
    unknown: Symptom | None = seen("kfd-group-not-held", group=NOBODY),
    root: Symptom | None = seen("kfd-group-not-held", user="root"),
    node: DeviceNode | None = one(path="/dev/kfd", owner=NOBODY),
) -> Params:
    """Nobody's group, and root that is refused, are of a user namespace, where numbers of the host count for nothing: podman's, or one of LXC.

    A node that is nobody's inside tells such a namespace whatever the command was called: `docker` is podman on many systems.
    """
    if node is not None and inside(node) and knew.get("starter") == "docker":
        return {"starter": "podman"}
    by_docker = docker is not None or bool(world and world.get("container"))
    if by_docker or knew.get("starter") != "docker" or (unknown is None and root is None):
        return {}
    return {"starter": "podman", "mapped": asked("group", "lxc")}


@mends("container-render-group-mismatch")
def what_a_listing_tells(
    nodes: Every[DeviceNode] = every(DeviceNode), error: Symptom | None = seen("render-node-permission-denied")
) -> Params:
    """The node that does not open, and the number of its group on the host, where a listing has it."""
    path = _node_that_counts(nodes, by_itself=error is not None)
    numbers = (str(node.group) for node in nodes if node.path in (KFD, path) and _tells_the_hosts_number(node))
    return {"node": path, "number": next(numbers, None)}


@mends("container-render-group-mismatch")
def the_number_to_add(
    knew: Params, group: Group | None = one(name="render"), error: Symptom | None = seen("render-node-permission-denied")
) -> Params:
    """podman can keep the person's own groups; others want the number that the node's group has on the host."""
    path = str(knew.get("node") or (_RENDER if error is not None else KFD))
    outer = group.get("gid") if group is not None and not inside(group) else None
    known = outer if outer is not None else knew.get("number")
    holes = asking(knew, "group")
    hole, words = next(iter(holes.items()))
    number = str(known or ("NUMBER" if hole != "option" else f"$(stat -c %g {path})"))
    unknown = known is None and "{number}" in words and hole != "option"
    return {("any_" if unknown else "") + hole: words.replace("{number}", number), "node": path}


def _node_that_counts(nodes: Every[DeviceNode], by_itself: bool) -> str:
    """ROCm's own node, unless the message, or a listing without that, speaks of a render node alone."""
    listed = [node.path for node in nodes]
    render = next((path for path in listed if "/renderD" in path), "")
    return (render or _RENDER) if by_itself or (render and KFD not in listed) else KFD


def _tells_the_hosts_number(node: DeviceNode) -> bool:
    """A listing by numbers shows those of the host, also inside, where no user namespace lies between."""
    group = str(node.get("group") or "")
    return group.isdigit() and group not in NOBODY and (not inside(node) or node.get("owner") == "0")
