"""What the ways to open NVIDIA's nodes and AMD's need: whose they are, and what else may shut them."""

from rigup.diagnosis.rule import Params, mends, one, seen, wordings
from rigup.diagnosis.rules.access import NOBODY, TEGRA, inside, named
from rigup.machine.kinds import Account, DeviceNode, Symptom, World

_KFD = "/dev/kfd"
_SELINUX = wordings(tag="selinux-denies")
_OWN_GROUPS = wordings(tag="podman-spoken-of")
_CONTROL = "/dev/nvidiactl"


@mends("render-group-missing")
def the_group_to_join(
    node: DeviceNode | None = one(path=_KFD), account: Account | None = one(at="shell"), error: Symptom | None = seen("kfd-group-not-held"),
) -> Params:  # fmt: skip
    """Which group, and who."""
    group = (node and node.get("group")) or (error and error.get("group")) or "render"
    return {"group": "render" if group == "root" else group, **named(account, error)}


@mends("device-node-permissions")
def the_nodes_group(node: DeviceNode, account: Account | None = one(at="shell")) -> Params:
    """The group that the node opens for, where it is one that a person can join."""
    ours, host = node.path.startswith(("/dev/nvidia", *TEGRA)), not inside(node)
    if ours and host and node.mode[1:2] != "r":
        return {"askew": "0666"}  # the module was given a number that is no mode
    if ours and host and node.group == "root" and node.owner == "root" and node.mode[8:9] != "w":
        return {"garbled": node.path}  # nobody can join root: the driver's own tool made it otherwise
    return {"group": node.group, **named(account)} if ours and node.group not in ("root", *NOBODY) else {}


@mends("device-node-permissions")
def what_else_may_shut_them(
    knew: Params, selinux: Symptom | None = seen(tag="selinux-denies"), world: World | None = None, spoken: Symptom | None = seen(tag="container-spoken-of"),
    own: Symptom | None = seen(tag="podman-spoken-of"),
) -> Params:  # fmt: skip
    """Labels where SELinux is spoken of, kept groups where podman starts it, and else the group of the nodes and their mode."""
    container = bool(world and world.get("container")) or spoken is not None or own is not None
    podman = own is not None or bool(world and world.get("container") == "podman")
    unknown = not any(knew.get(name) for name in ("group", "askew", "garbled"))
    return {
        "selinux": "relabel" if selinux is not None else None,
        "keep": "--group-add=keep-groups" if podman and selinux is None else None,
        "label": "--security-opt=label=disable" if selinux is not None and container else None,
        "closed": _CONTROL if unknown and selinux is None else None,
        "mode": "0666" if not knew.get("askew") and not knew.get("garbled") and selinux is None else None,
    }  # fmt: skip
