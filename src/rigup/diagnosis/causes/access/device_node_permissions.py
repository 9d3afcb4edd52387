"""NVIDIA's device nodes do not open for this account or container."""

import re

from rigup.diagnosis.causes.access.device_nodes import NOBODY, closed, named
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.machine.kinds import Account, DeviceNode, Jetson, ModuleParameter, Symptom, World

TEGRA = ("/dev/nvmap", "/dev/nvhost-", "/dev/nvgpu/")
_CONTROL = "/dev/nvidiactl"


@rule("device-node-permissions")
def nvidia_node_is_closed(account: Account, node: DeviceNode) -> Verdict:
    """NVIDIA's nodes open for all, unless a module option or a rule says otherwise."""
    name = node.path.removeprefix("/dev/nvidia")
    return name != node.path and (name in ("ctl", "-uvm") or name.isdigit()) and closed(node, account)


@rule("device-node-permissions")
def node_of_a_module_is_closed(account: Account, node: DeviceNode) -> Verdict:
    """On a Jetson the memory and the GPU have nodes of their own, which the group video opens; no other machine has such."""
    return node.path.startswith(TEGRA) and closed(node, account)


@rule("device-node-permissions", "possible")
def closed_node_and_nobody_says_for_whom(
    symptom: Symptom = seen(tag="driver-told-unused"), node: DeviceNode = one(), account: Account | None = None
) -> Verdict:
    """NVIDIA's nodes open for all unless somebody changed that; a program finds no GPU, and whose it is nobody shows."""
    ours = re.fullmatch(r"/dev/nvidia(?:ctl|-uvm|\d{1,3})", node.path)
    stranger = account is None or closed(node, account)
    return bool(ours) and stranger and node.mode[8:9] != "w" and not node.get("acl") and {"said": symptom.id}


@rule("device-node-permissions", "likely")
def mode_is_no_mode(node: DeviceNode) -> Verdict:
    """A mode given in decimal, as in `NVreg_DeviceFileMode=666`: its bits lie askew, and the owner may not read."""
    ours = re.fullmatch(r"/dev/nvidia(?:ctl|-uvm|\d{1,3})", node.path)
    return bool(ours) and node.mode[1:2] != "r" and {"node": node.path}


@text_rule("device-node-permissions", "likely")
def module_was_told_to_close_its_nodes(
    mode: ModuleParameter = one(module="nvidia", name="NVreg_DeviceFileMode"),
    symptom: Symptom = seen(tag="unseen"),
    root: Symptom = seen("root-alone-sees-it-in-nvtop", "nvidia-smi-refused-without-sudo"),
    account: Account | None = one(uid=0),
) -> Verdict:
    """An option of the module leaves others without access, and root sees the card where this account does not."""
    given = str(mode.get("running") or mode.get("configured") or "")
    return account is None and re.fullmatch(r"0?[0-7]{2}[01245]", given) is not None and {"said": symptom.id, "why": root.id}


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
    knew: Params,
    selinux: Symptom | None = seen(tag="selinux-denies"),
    world: World | None = None,
    spoken: Symptom | None = seen(tag="container-spoken-of"),
    own: Symptom | None = seen(tag="podman-spoken-of"),
    ruled: Symptom | None = seen("device-filter-not-permitted", "device-filter-not-permitted-cut", "device-cgroup-not-writable"),
) -> Params:
    """Rules that the engine may not write, labels where SELinux is spoken of, kept groups where podman starts it, and else the group of the nodes and their mode."""
    if ruled is not None:
        return {"ruled": "no-cgroups"}
    container = bool(world and world.get("container")) or spoken is not None or own is not None
    podman = own is not None or bool(world and world.get("container") == "podman")
    unknown = not any(knew.get(name) for name in ("group", "askew", "garbled"))
    return {
        "selinux": "relabel" if selinux is not None else None,
        "keep": "--group-add=keep-groups" if podman and selinux is None else None,
        "label": "--security-opt=label=disable" if selinux is not None and container else None,
        "closed": _CONTROL if unknown and selinux is None else None,
        "mode": "0666" if not knew.get("askew") and not knew.get("garbled") and selinux is None else None,
    }


@mends("device-node-permissions")
def group_that_a_container_leaves_out(
    knew: Params, node: DeviceNode = one(), account: Account = one(at="shell"), refused: Symptom = seen("nvml-insufficient-permissions")
) -> Params:
    """Who holds the group of a node that opens for it is refused only where a rootless container leaves the account's groups out."""
    ours = node.path.startswith("/dev/nvidia") and node.mode[4:6] == "rw" and account.get("uid") != 0
    held = ours and not closed(node, account) and not inside(node) and not knew.get("selinux") and node.mode[8:9] != "w"
    return {"keep": "--group-add=keep-groups", "group": None, "held": refused.id} if held else {}


@mends("device-node-permissions")
def groups_of_a_jetson(
    knew: Params,
    refused: Symptom | None = seen("tegra-memory-refused", "tegra-node-refused"),
    node: DeviceNode | None = one(),
    jetson: Jetson | None = None,
    account: Account | None = one(at="shell"),
    world: World | None = one(at="container"),
    spoken: Symptom | None = seen(tag="container-spoken-of"),
) -> Params:
    """Its own nodes know neither the option of the desktop's module nor its control node: their group is joined by its name."""
    own = node is not None and node.path.startswith(TEGRA)
    if not (own or refused) or knew.get("selinux"):
        return {}
    only = {"mode": None, "closed": None}
    if world is not None or spoken is not None or (own and not knew.get("group")):
        return only
    group = knew.get("group") or "video"
    old = jetson is not None and str(jetson.get("l4t")).startswith("32.")  # of Ubuntu 18.04, which has no group render
    return {**only, **named(account), "jetson": group, "tegra": None if old else group, "group": group if old else None}
