"""Your account may not open the GPU's device node."""

from rigup.diagnosis.causes.access.device_nodes import KFD, by_another_number, closed, in_the_usual_group, is_render_node, named
from rigup.diagnosis.causes.grounds import symptoms_in
from rigup.diagnosis.causes.masks import MASKS
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.causes.rocm_overrides import OVERRIDE
from rigup.diagnosis.causes.services import COMPUTING
from rigup.diagnosis.rule import Params, Passes, Verdict, mends, one, rule, seen, text_rule
from rigup.machine.kinds import Account, DeviceNode, Gpu, Group, Platform, Service, Symptom, Toolkit, Torch, Variable, World


def _open_to_all(node: DeviceNode | None) -> bool:
    """Whether everybody may read and write it, as some distributions have it."""
    return node is not None and node.knows("mode") and node.mode[7:9] == "rw"


@rule("render-group-missing")
def account_not_in_the_nodes_group(
    account: Account,
    node: DeviceNode = one(path=KFD),
    other: Gpu | None = one(vendor="nvidia"),
    mine: Gpu | None = one(vendor="amd", integrated=False),
    rocm: Toolkit | None = one(name="rocm"),
    torch: Torch | None = None,
    given: Symptom | None = seen(tag="nodes-handed-on"),
) -> Verdict:
    """Beside an NVIDIA card the graphics of an AMD processor are not meant for computing, unless ROCm is here."""
    intended = not other or mine or rocm or (torch and torch.get("hip"))
    outside = not inside(node) and not inside(account) and not by_another_number(node, account)
    return bool(intended) and given is None and outside and closed(node, account)


@rule("render-group-missing")
def account_may_not_open_render_nodes(
    account: Account,
    node: DeviceNode,
    _card: Gpu = one(vendor=("intel", "amd"), integrated=False),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """A discrete Intel or AMD card without any other maker's beside it: the render node is its."""
    return not other and "/renderD" in node.path and not inside(node) and not inside(account) and closed(node, account)


@rule("render-group-missing")
def service_not_in_the_nodes_group(service: Service, group: Group, node: DeviceNode = one(path=KFD)) -> Verdict:
    """The group file gives the service's user no way to the node, nor does its unit."""
    if inside(node) or node.mode[8:9] == "w" or group.name != node.group or service.user in ("root", *group.members):
        return False
    return service.name in COMPUTING and node.group not in (service.get("groups") or ()) and {"user": service.user}


@rule("render-group-missing", strength="likely")
def opening_was_refused(
    error: Symptom = seen("kfd-permission-denied", "kfd-permission-denied-errno", "ollama-amd-permissions", "kfd-group-not-held"),
    world: World | None = None,
    boxed: Symptom | None = seen("distrobox-named", "toolbox-entered", "rootless-told", "in-a-container-told"),
    denied: Symptom | None = seen("kfd-permission-denied", "kfd-permission-denied-errno"),
    root: Symptom | None = seen("kfd-group-not-held", user="root"),
) -> Verdict:
    """The program says so itself; where its place is not known it is taken for the host's, unless root was refused."""
    contained = bool(world and world.get("container")) or (denied is not None and root is not None)
    return not inside(error) and boxed is None and not contained


@rule("render-group-missing")
def tool_tells_the_group_and_the_node_is_closed(
    said: Symptom = seen("kfd-group-not-held"),
    denied: Symptom = seen("kfd-permission-denied", "kfd-permission-denied-errno"),
    node: DeviceNode = one(path=KFD),
    world: World | None = None,
    boxed: Symptom | None = seen("distrobox-named", "toolbox-entered", "rootless-told", "in-a-container-told"),
) -> Verdict:
    """It looks the account up among the group's members, and was refused; the node's own mode shows who may."""
    contained = boxed is not None or bool(world and world.get("container")) or inside(denied)
    return not contained and said.get("user") != "root" and not _open_to_all(node) and bool(node.group)


@rule("render-group-missing", strength="likely")
def render_node_was_refused(
    _card: Gpu = one(vendor=("intel", "amd")),
    error: Symptom = seen("render-node-permission-denied"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """Beside an NVIDIA card such a refusal may be a desktop program's, and nothing to do with computing."""
    return not inside(error) and not other


@rule("render-group-missing", "likely")
def works_for_root_alone(
    symptom: Symptom = seen(tag="driver-amd-no-device"),
    root: Symptom = seen("works-as-root", "works-with-sudo"),
    world: World | None = None,
    platform: Platform | None = None,
) -> Verdict:
    """What fails for a person and not for root fails for want of a right."""
    ours = not inside(symptom) and not (world and world.get("container"))
    return ours and not (platform and platform.get("wsl")) and {"said": symptom.id, "works": root.id}


@rule("render-group-missing", "likely")
def node_for_root_alone(node: DeviceNode = one(path="/dev/kfd", group="root"), account: Account | None = None) -> Verdict:
    """Nobody but root may open it, whoever it is that asks."""
    return account is None and not inside(node) and node.mode[7:9] == "--" and {"group": "render"}


@rule("render-group-missing", "possible")
def no_device_on_linux(
    symptom: Symptom = seen(tag="intel-gpu-unseen"),
    platform: Platform = one(system="linux"),
    where: Symptom | None = seen(tag="container-spoken-of"),
    torch: Torch | None = None,
    account: Account | None = None,
    node: DeviceNode | None = one(path=Passes(is_render_node)),
) -> Verdict:
    """A build with code for Intel's GPUs that finds none: mostly the account may not open the card's node, unless it holds the group."""
    if in_the_usual_group(account) or _open_to_all(node):
        return False
    built = torch is None or "+xpu" in str(torch.get("version")) or not torch.knows("version")
    return where is None and built and not platform.get("wsl") and not symptom.place.world and {"vendor": "intel"}


@rule("render-group-missing", "possible")
def build_for_intel_sees_none_on_linux(
    torch: Torch = one(xpu_available=False),
    platform: Platform = one(system="linux"),
    where: Symptom | None = seen(tag="container-spoken-of"),
    account: Account | None = None,
    node: DeviceNode | None = one(path=Passes(is_render_node)),
) -> Verdict:
    """The same by torch's own answer."""
    if in_the_usual_group(account) or _open_to_all(node):
        return False
    return where is None and "+xpu" in str(torch.get("version")) and not platform.get("wsl") and {"vendor": "intel"}


@rule("render-group-missing", strength="possible")
def server_saw_what_rocblas_does_not(
    error: Symptom = seen("rocblas-no-devices"), mask: Variable | None = one(name=MASKS), world: World | None = None
) -> Verdict:
    """The server found the card in sysfs, which everybody may read; the library could not open it."""
    inside = error.place.world.startswith("container") or bool(world and world.get("container"))
    return not inside and not (mask and mask.get("value")) and {"said": error.id}


@text_rule("render-group-missing", "possible")
def amds_tool_is_refused(
    symptom: Symptom = seen("amdsmi-not-permitted"),
    change: Symptom | None = seen("amdsmi-was-to-set"),
    works: Torch | None = one(available=True),
) -> Verdict:
    """Nothing is told of who asks. To change a setting is for root alone, whatever the groups."""
    return change is None and works is None and symptom.values()


@text_rule("render-group-missing", "possible")
def torch_for_rocm_finds_none(
    symptom: Symptom = seen("torch-no-cuda-gpus", runtime="HIP"),
    boxed: Symptom | None = seen(tag="boxes-named"),
    mask: Variable | None = one(name=MASKS),
    world: World | None = None,
    platform: Platform | None = None,
    card: Gpu | None = one(vendor="amd", seen_by=("rocminfo", "rocm-smi")),
    wsl: Symptom | None = seen(tag="wsl-spoken-of"),
    account: Account | None = None,
) -> Verdict:
    """On a host whose card nobody doubts it is most often the right to open the nodes, unless the account has it."""
    if in_the_usual_group(account):
        return False
    elsewhere = boxed is not None or symptom.place.world or bool(world and world.get("container"))
    guest = platform is not None and bool(platform.get("wsl") or platform.get("system") == "windows")
    guest = guest or wsl is not None
    return not elsewhere and not guest and mask is None and card is None and {"said": symptom.id}


@text_rule("render-group-missing", "likely")
def root_may_and_a_person_may_not(
    root: Symptom = seen(tag="root-needed"),
    _named: Symptom = seen("hip-error-in-quotes", "kfd-named", tag="rocm"),
    world: World | None = None,
    platform: Platform | None = None,
    other: Gpu | None = one(vendor="nvidia"),
    override: Variable | None = one(name=OVERRIDE),
    boxed: Symptom | None = seen(tag="container-spoken-of"),
) -> Verdict:
    """What fails for a person and not for root fails for want of a right; or of the variables that a service of root's has."""
    if override is not None or boxed is not None:
        return False
    elsewhere = root.place.world or bool(world and world.get("container")) or bool(platform and platform.get("wsl"))
    return not elsewhere and other is None and {"said": root.id}


@text_rule("render-group-missing", "likely")
def rocminfo_answers_root_alone(
    error: Symptom = seen("hsa-out-of-resources", "hsa-call-failed-by-number", "kfd-permission-denied"),
    root: Symptom = seen("rocminfo-with-sudo-answers"),
    boxed: Symptom | None = seen(tag="container-spoken-of"),
) -> Verdict:
    """The same program, shown as it fails and as it answers to root."""
    outside = not error.place.world.startswith("container")
    return outside and boxed is None and {"said": error.id, "works": root.id}


@text_rule("render-group-missing", "likely")
def groups_are_listed_without_those_of_the_nodes(
    error: Symptom = seen("hsa-call-failed-by-number", "hsa-out-of-resources", "hip-no-device"),
    account: Account = one(at="shell"),
    node: DeviceNode | None = one(path="/dev/kfd"),
    boxed: Symptom | None = seen(tag="container-spoken-of"),
    platform: Platform | None = None,
) -> Verdict:
    """Whose the nodes are nobody shows; distributions give them to one of two groups, and this account is in neither."""
    own = account.get("uid") == 0 or {"root", "video", "render"} & set(account.groups)
    elsewhere = boxed is not None or bool(platform and platform.get("wsl"))
    return node is None and not own and not elsewhere and {"said": error.id}


@text_rule("render-group-missing", "likely")
def none_is_found_for_an_account_without_the_group(
    account: Account,
    symptom: Symptom = seen(tag="intel-finds-none"),
    node: DeviceNode | None = None,
    other: Gpu | None = one(vendor="nvidia"),
    guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:
    """The same where the node is not shown: the account is in none of the groups that open it anywhere."""
    outside = (
        bool(account.groups) and not {"render", "video"} & set(account.groups) and account.get("uid") != 0 and account.get("user") != "root"
    )
    return outside and node is None and other is None and guest is None and not inside(account) and {"vendor": "intel", "said": symptom.id}


@text_rule("render-group-missing", "possible")
def none_is_found_and_the_node_is_for_a_group(
    node: DeviceNode,
    symptom: Symptom = seen(tag="intel-finds-none"),
    account: Account | None = None,
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """The node is there and opens for a group alone; who asks nobody tells."""
    shut = is_render_node(node.path) and node.knows("mode") and node.mode[8:9] != "w" and not node.get("acl")
    return shut and account is None and other is None and not inside(node) and {"vendor": "intel", "said": symptom.id}


@text_rule("render-group-missing", "likely")
def build_for_intel_sees_none_for_such_an_account(
    account: Account,
    torch: Torch = one(xpu_available=False),
    other: Gpu | None = one(vendor="nvidia"),
    guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:
    """torch's build for Intel finds nothing, and the account is in no group that opens the nodes."""
    outside = (
        bool(account.groups) and not {"render", "video"} & set(account.groups) and account.get("uid") != 0 and account.get("user") != "root"
    )
    return (
        outside and "+xpu" in str(torch.get("version")) and other is None and guest is None and not inside(account) and {"vendor": "intel"}
    )


@text_rule("render-group-missing", "possible")
def runtime_of_intels_does_not_start(
    symptom: Symptom = seen("xpu-runtime-does-not-start"),
    listed: Symptom | None = seen("xpu-lists-a-card"),
    works: Torch | None = one(xpu_available=True),
    card: Gpu | None = one(vendor="intel", seen_by=("sycl-ls", "clinfo")),
    inside: Symptom | None = seen(tag="container-spoken-of"),
    absent: Symptom | None = seen("render-nodes-not-there"),
    guest: Platform | None = one(wsl=(1, 2)),
    account: Account | None = None,
) -> Verdict:
    """On Linux the runtime opens the card's node first; a card that something lists is open, and so it is to who holds the group."""
    if in_the_usual_group(account):
        return False
    linux = str(symptom.get("path") or "").startswith("/") and not symptom.place.world
    return linux and all(other is None for other in (listed, works, card, inside, absent, guest)) and {"vendor": "intel"}


@mends("render-group-missing")
def the_group_to_join(
    knew: Params,
    node: DeviceNode | None = one(path=KFD),
    account: Account | None = one(at="shell"),
    error: Symptom | None = seen("kfd-group-not-held"),
) -> Params:
    """Which group, and who: a server's message is of the account that runs it, as a service or by hand."""
    group = (node and node.get("group")) or (error and error.get("group")) or "render"
    holes: Params = {"group": "render" if group == "root" else group}
    if isinstance(unit := knew.get("service"), Service):
        return {**holes, "service": unit.name, "account": knew.get("user"), "person": None}
    server = next(
        (symptom.place.process.partition(":")[2] for symptom in symptoms_in(knew) if symptom.place.process.startswith("service:")), ""
    )
    if server in COMPUTING:
        return {**holes, "service": server, "account": server, "by_hand": server, "own": None}
    mine = named(account, error)
    return {**holes, **mine, "person": mine.get("user"), "service": None}
