"""Who may open what: the device nodes of GPUs, on a host and in a container."""

from typing import Any

from rigup.diagnosis.rule import Every, Params, Verdict, one, rule, seen
from rigup.machine.facts import Fact
from rigup.machine.kinds import Account, DeviceNode, Gpu, Group, Jetson, Service, Symptom, Toolkit, Torch, World

_KFD = "/dev/kfd"
TEGRA = ("/dev/nvmap", "/dev/nvhost-", "/dev/nvgpu/")
NOBODY = ("nobody", "nogroup", "nfsnobody", "65534")  # whom a user namespace does not know


def inside(seen_there: Fact | Every[Any]) -> bool:
    """Whether something was seen in a container; so is a service that runs in one."""
    return seen_there.place.world.partition(":")[0] == "container"


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


def _is_member(node: DeviceNode, account: Account) -> bool:
    """Whether the account is in the node's group, which a listing may name by its number alone."""
    if not node.group.isdigit() or node.group in account.groups:
        return node.group in account.groups
    numbers = account.get("numbers") or ()
    return node.group in numbers if numbers else node.owner.isdigit()  # names and numbers tell nothing of each other


@rule("render-group-missing")
def account_not_in_the_nodes_group(
    account: Account, node: DeviceNode = one(path=_KFD), other: Gpu | None = one(vendor="nvidia"),
    mine: Gpu | None = one(vendor="amd", integrated=False), rocm: Toolkit | None = one(name="rocm"), torch: Torch | None = None,
    given: Symptom | None = seen(tag="nodes-handed-on"),
) -> Verdict:  # fmt: skip
    """Beside an NVIDIA card the graphics of an AMD processor are not meant for computing, unless ROCm is here."""
    intended = not other or mine or rocm or (torch and torch.get("hip"))
    outside = not inside(node) and not inside(account) and not by_another_number(node, account)
    return bool(intended) and given is None and outside and closed(node, account)


@rule("container-render-group-mismatch", "likely")
def account_beside_nodes_that_are_handed_on(account: Account, _given: Symptom = seen(tag="nodes-handed-on"), node: DeviceNode = one(path=_KFD)) -> Verdict:  # fmt: skip
    """What starts a container hands the node on, and who is told of is not in its group: mostly inside, by number."""
    return not inside(node) and not inside(account) and closed(node, account) and {"group": node.get("group")}


@rule("render-group-missing")
def account_may_not_open_render_nodes(
    account: Account, node: DeviceNode, _card: Gpu = one(vendor=("intel", "amd"), integrated=False), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A discrete Intel or AMD card without any other maker's beside it: the render node is its."""
    return not other and "/renderD" in node.path and not inside(node) and not inside(account) and closed(node, account)


@rule("render-group-missing")
def service_not_in_the_nodes_group(service: Service, group: Group, node: DeviceNode = one(path=_KFD)) -> Verdict:
    """The group file gives the service's user no way to the node, nor does its unit."""
    if inside(node) or node.mode[8:9] == "w" or group.name != node.group or service.user in ("root", *group.members):
        return False
    return service.name in COMPUTING and node.group not in (service.get("groups") or ()) and {"user": service.user}


# Services that compute on GPUs, by their units' names.
COMPUTING = (
    "ollama",
    "vllm",
    "llama-server",
    "llamacpp",
    "comfyui",
    "localai",
    "jupyterhub",
    "jupyterlab",
    "text-generation-webui",
)


@rule("render-group-missing", strength="likely")
def opening_was_refused(
    error: Symptom = seen("kfd-permission-denied", "kfd-permission-denied-errno", "ollama-amd-permissions", "kfd-group-not-held"),
    world: World | None = None, boxed: Symptom | None = seen("distrobox-named", "toolbox-entered", "rootless-told", "in-a-container-told"),
    denied: Symptom | None = seen("kfd-permission-denied", "kfd-permission-denied-errno"), root: Symptom | None = seen("kfd-group-not-held", user="root"),
) -> Verdict:  # fmt: skip
    """The program says so itself; where its place is not known it is taken for the host's, unless root was refused."""
    contained = bool(world and world.get("container")) or (denied is not None and root is not None)
    return not inside(error) and boxed is None and not contained


@rule("render-group-missing", strength="likely")
def render_node_was_refused(
    _card: Gpu = one(vendor=("intel", "amd")), error: Symptom = seen("render-node-permission-denied"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Beside an NVIDIA card such a refusal may be a desktop program's, and nothing to do with computing."""
    return not inside(error) and not other


@rule("device-node-permissions")
def nvidia_node_is_closed(account: Account, node: DeviceNode) -> Verdict:
    """NVIDIA's nodes open for all, unless a module option or a rule says otherwise."""
    name = node.path.removeprefix("/dev/nvidia")
    return name != node.path and (name in ("ctl", "-uvm") or name.isdigit()) and closed(node, account)


@rule("device-node-permissions")
def node_of_a_module_is_closed(account: Account, node: DeviceNode, jetson: Jetson) -> Verdict:
    """On a Jetson the memory and the GPU have nodes of their own, which the group video opens."""
    is_jetson = jetson.knows("l4t") or jetson.knows("kernel") or jetson.knows("model")
    return is_jetson and node.path.startswith(TEGRA) and closed(node, account)


def named(account: Account | None, error: Symptom | None = None) -> Params:
    """The account, where its name is known; else the fix speaks of the person's own. A service has one of its own."""
    kind, _colon, name = error.place.process.partition(":") if error else ("", "", "")
    if kind == "service" and name in COMPUTING:
        return {"user": name}
    return {"user": account.user} if account and account.get("user") else {}


@rule("container-render-group-mismatch", strength="likely")
def refused_though_it_was_handed_in(
    error: Symptom = seen("kfd-permission-denied", "kfd-permission-denied-errno", "ollama-amd-permissions", "kfd-group-not-held"), _given: Symptom = seen("kfd-handed-in"),
) -> Verdict:  # fmt: skip
    """A container was given the node, and something may not open it."""
    return {"said": error.id}


@rule("container-render-group-mismatch")
def refused_inside(
    error: Symptom = seen("kfd-permission-denied", "kfd-permission-denied-errno", "ollama-amd-permissions", "kfd-group-not-held",
                          "render-node-permission-denied"),
    world: World | None = None,
) -> Verdict:  # fmt: skip
    """The node is there and does not open."""
    return inside(error) or bool(world and world.get("container"))


@rule("container-render-group-mismatch")
def number_not_held_inside(account: Account, node: DeviceNode) -> Verdict:
    """Groups are numbers: the one that owns the node outside may have no name, or another, inside."""
    ours = node.path == _KFD or "/renderD" in node.path
    return ours and inside(node) and inside(account) and closed(node, account)
