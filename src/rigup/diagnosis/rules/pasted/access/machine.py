"""Groups that may open a card's nodes, and rights that the nodes themselves lack."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import closed, inside
from rigup.diagnosis.rules.access import inside as from_inside
from rigup.diagnosis.rules.pasted.heard import (
    BOXES_NAMED,
    CONTAINERS_SPOKEN_OF,
    CONTAINERS_TOLD,
    KFD_DENIED,
    OURS,
    ROCM,
    ROOT_NEEDED,
    UNSEEN,
    WSL_TOLD,
)
from rigup.diagnosis.rules.rocm import MASKS, OVERRIDE
from rigup.diagnosis.rules.told import INTEL_FINDS_NONE, Told
from rigup.machine.kinds import (
    Account,
    DeviceNode,
    Gpu,
    KernelModule,
    ModuleParameter,
    Platform,
    Symptom,
    Torch,
    Variable,
    World,
)

_GROUPS = ("render", "video")
_RENDER = "/dev/dri/renderD"


# -- render-group-missing
@rule("render-group-missing", "likely")
def account_without_the_nodes_group_cannot_open_it(
    said: Symptom = seen("video-library-cannot-open-the-node"), node: DeviceNode = one(), who: Account = one(), user: Symptom | None = seen("compose-runs-as-a-plain-user"),
    given: Symptom | None = seen("compose-hands-the-nodes-on"),
) -> Verdict:  # fmt: skip
    """The node belongs to a group that the account is not in."""
    render = node.path.startswith("/dev/dri/renderD") and node.mode[8:9] != "w"
    outside = user is None and given is None and not inside(said)
    return render and outside and node.group not in who.groups and who.get("uid") != 0 and {"group": node.group}


@rule("render-group-missing", "likely")
def amds_tool_is_refused_to_an_account(said: Symptom = seen("amdsmi-not-permitted"), who: Account = one()) -> Verdict:
    """Whoever asks is in neither of the groups that own AMD's nodes."""
    plain = bool(who.groups) and who.get("uid") != 0 and not inside(who)
    return plain and not any(group in who.groups for group in _GROUPS) and {"said": said.id, "group": "render"}


@rule("render-group-missing", "possible")
def amds_tool_is_refused(
    said: Symptom = seen("amdsmi-not-permitted"),
    change: Symptom | None = seen("amdsmi-was-to-set"),
    works: Torch | None = one(available=True),
) -> Verdict:
    """Nothing is told of who asks. To change a setting is for root alone, whatever the groups."""
    return change is None and works is None and said.values()


@rule("render-group-missing", "possible")
def program_finds_no_device_of_rocms(
    said: Symptom = seen("ggml-finds-no-device-for-rocm"), node: DeviceNode | None = None, who: Account | None = None,
    platform: Platform | None = one(system="windows"), wsl: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """Nothing else is told: mostly the account may not open the nodes."""
    return node is None and who is None and platform is None and wsl is None and not inside(said) and {"said": said.id}


@rule("render-group-missing", "possible")
def vulkan_finds_the_processor_beside_a_card(
    said: Symptom = seen("vulkan-draws-by-the-processor-alone"), card: Gpu = one(vendor=("amd", "intel"))
) -> Verdict:
    """A card is there, and Mesa does not get at it."""
    return not inside(said) and {"said": said.id, "name": card.get("name")}


@rule("render-group-missing", "possible")
def a_render_node_was_refused(
    error: Symptom = seen("render-node-permission-denied"), other: Gpu | None = one(vendor="nvidia"), card: Gpu | None = one(vendor=("amd", "intel")),
) -> Verdict:  # fmt: skip
    """No card is told; NVIDIA's drivers do not compute by that node."""
    return other is None and card is None and not inside(error) and {"said": error.id}


@rule("render-group-missing", "likely")
def node_that_a_program_opened_was_refused(
    error: Symptom = seen("device-node-refused-below"), boxed: Symptom | None = seen("kfd-handed-in", *CONTAINERS_SPOKEN_OF), platform: Platform | None = one(wsl=2), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The program names the node, and a few lines below the system's refusal."""
    outside = boxed is None and platform is None and not inside(error)
    return outside and (other is None or error.get("node") == "kfd") and {"said": error.id}


@rule("render-group-missing", "likely")
def runtime_lists_the_card_for_root_alone(
    error: Symptom = seen("hsa-out-of-resources", "hip-init-failed", "hip-no-device", "hip-log-no-device", "torch-no-cuda-gpus", *KFD_DENIED[:2]),
    root: Symptom = seen("rocminfo-with-sudo-lists"), boxed: Symptom | None = seen(*CONTAINERS_SPOKEN_OF), mask: Variable | None = one(name=MASKS),
    nvidia: Gpu | None = one(vendor="nvidia"), own: Symptom | None = seen("rocminfo-without-sudo"),
) -> Verdict:  # fmt: skip
    """A person's program finds no GPU; rocminfo, asked with root's rights, lists it."""
    outside = boxed is None and not inside(error)
    return outside and mask is None and nvidia is None and own is None and {"said": error.id, "works": root.id}


@rule("render-group-missing", "likely")
def torch_finds_none_and_the_runtime_lists_it_for_root(
    torch: Torch = one(available=False), root: Symptom = seen("rocminfo-with-sudo-lists", "rocminfo-with-sudo-answers"), boxed: Symptom | None = seen(*CONTAINERS_SPOKEN_OF),
    mask: Variable | None = one(name=MASKS), nvidia: Gpu | None = one(vendor="nvidia"), own: Symptom | None = seen("rocminfo-without-sudo"),
) -> Verdict:  # fmt: skip
    """The same of a torch for ROCm."""
    return (
        boxed is None
        and mask is None
        and nvidia is None
        and own is None
        and bool(torch.get("hip"))
        and {"works": root.id}
    )


@rule("render-group-missing", "likely")
def torch_finds_none_for_an_account_without_the_groups(
    torch: Torch = one(available=False), who: Account = one(at="shell"), node: DeviceNode | None = one(path="/dev/kfd"), boxed: Symptom | None = seen(*CONTAINERS_SPOKEN_OF),
    mask: Variable | None = one(name=MASKS), nvidia: Gpu | None = one(vendor="nvidia"), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """A torch for ROCm and an account in none of the groups to which distributions give the nodes."""
    own = who.get("uid") == 0 or {"root", "video", "render"} & set(who.groups)
    elsewhere = boxed is not None or bool(platform and (platform.get("wsl") or platform.get("system") == "windows"))
    clear = node is None and mask is None and nvidia is None and not elsewhere
    return clear and not own and bool(torch.get("hip")) and {"user": who.get("user")}


@rule("render-group-missing", "likely")
def torch_for_rocm_finds_it_for_root(
    said: Symptom = seen("torch-finds-it-for-root"), torch: Torch | None = None, named: Symptom | None = seen(*OURS), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The same question, asked by a person and by root."""
    rocm = named is not None or (torch is not None and bool(torch.get("hip")))
    return rocm and nvidia is None and {"said": said.id}


@rule("render-group-missing", "possible")
def torch_for_rocm_finds_none(
    said: Symptom = seen("torch-no-cuda-gpus", runtime="HIP"), boxed: Symptom | None = seen(*BOXES_NAMED), mask: Variable | None = one(name=MASKS),
    world: World | None = None, platform: Platform | None = None, card: Gpu | None = one(vendor="amd", seen_by=("rocminfo", "rocm-smi")),
    wsl: Symptom | None = seen(*WSL_TOLD),
) -> Verdict:  # fmt: skip
    """On a host whose card nobody doubts it is most often the right to open the nodes."""
    elsewhere = boxed is not None or said.place.world or bool(world and world.get("container"))
    guest = platform is not None and bool(platform.get("wsl") or platform.get("system") == "windows")
    guest = guest or wsl is not None
    return not elsewhere and not guest and mask is None and card is None and {"said": said.id}


@rule("render-group-missing", "likely")
def root_may_and_a_person_may_not(
    root: Symptom = seen(*ROOT_NEEDED), _named: Symptom = seen("hip-error-in-quotes", "kfd-named", *ROCM), world: World | None = None, platform: Platform | None = None,
    other: Gpu | None = one(vendor="nvidia"), override: Variable | None = one(name=OVERRIDE), boxed: Symptom | None = seen(*CONTAINERS_SPOKEN_OF),
) -> Verdict:  # fmt: skip
    """What fails for a person and not for root fails for want of a right; or of the variables that a service of root's has."""
    if override is not None or boxed is not None:
        return False
    elsewhere = root.place.world or bool(world and world.get("container")) or bool(platform and platform.get("wsl"))
    return not elsewhere and other is None and {"said": root.id}


@rule("render-group-missing", "likely")
def rocminfo_answers_root_alone(
    error: Symptom = seen("hsa-out-of-resources", "hsa-call-failed-by-number", "kfd-permission-denied"), root: Symptom = seen("rocminfo-with-sudo-answers"),
    boxed: Symptom | None = seen(*CONTAINERS_SPOKEN_OF),
) -> Verdict:  # fmt: skip
    """The same program, shown as it fails and as it answers to root."""
    outside = not error.place.world.startswith("container")
    return outside and boxed is None and {"said": error.id, "works": root.id}


@rule("render-group-missing", "likely")
def groups_are_listed_without_those_of_the_nodes(
    error: Symptom = seen("hsa-call-failed-by-number", "hsa-out-of-resources", "hip-no-device"), who: Account = one(at="shell"),
    node: DeviceNode | None = one(path="/dev/kfd"), boxed: Symptom | None = seen(*CONTAINERS_SPOKEN_OF), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """Whose the nodes are nobody shows; distributions give them to one of two groups, and this account is in neither."""
    own = who.get("uid") == 0 or {"root", "video", "render"} & set(who.groups)
    elsewhere = boxed is not None or bool(platform and platform.get("wsl"))
    return node is None and not own and not elsewhere and {"said": error.id}


@rule("render-group-missing", "likely")
def one_account_may_and_another_may_not(
    works: Symptom = seen("works-for-another-account-told"), _ours: Symptom = seen("kfd-named", *OURS), other: Gpu | None = one(vendor="nvidia"),
    boxed: Symptom | None = seen(*CONTAINERS_SPOKEN_OF), override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """The same program on the same machine: what accounts differ in are their groups."""
    return other is None and boxed is None and override is None and {"said": works.id}


@rule("render-group-missing", "likely")
def none_is_found_where_the_node_is_closed(
    who: Account, node: DeviceNode, said: Symptom = seen(*INTEL_FINDS_NONE), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """A tool or a program finds no GPU, and the account may not open the render node."""
    return other is None and node.path.startswith(_RENDER) and not inside(node) and closed(node, who) and {"vendor": "intel", "said": said.id}  # fmt: skip


@rule("render-group-missing", "likely")
def none_is_found_for_an_account_without_the_group(
    who: Account, said: Symptom = seen(*INTEL_FINDS_NONE), node: DeviceNode | None = None, other: Gpu | None = one(vendor="nvidia"), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """The same where the node is not shown: the account is in none of the groups that open it anywhere."""
    outside = bool(who.groups) and not {"render", "video"} & set(who.groups) and who.get("uid") != 0 and who.get("user") != "root"  # fmt: skip
    return outside and node is None and other is None and guest is None and not inside(who) and {"vendor": "intel", "said": said.id}  # fmt: skip


@rule("render-group-missing", "possible")
def none_is_found_and_the_node_is_for_a_group(
    node: DeviceNode,
    said: Symptom = seen(*INTEL_FINDS_NONE),
    who: Account | None = None,
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """The node is there and opens for a group alone; who asks nobody tells."""
    shut = node.path.startswith(_RENDER) and node.knows("mode") and node.mode[8:9] != "w" and not node.get("acl")
    return shut and who is None and other is None and not inside(node) and {"vendor": "intel", "said": said.id}


@rule("render-group-missing", "likely")
def build_for_intel_sees_none_for_such_an_account(
    who: Account, torch: Torch = one(xpu_available=False), other: Gpu | None = one(vendor="nvidia"), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """torch's build for Intel finds nothing, and the account is in no group that opens the nodes."""
    outside = bool(who.groups) and not {"render", "video"} & set(who.groups) and who.get("uid") != 0 and who.get("user") != "root"  # fmt: skip
    return outside and "+xpu" in str(torch.get("version")) and other is None and guest is None and not inside(who) and {"vendor": "intel"}  # fmt: skip


@rule("render-group-missing", "likely")
def opencl_lists_for_root_alone(
    said: Symptom = seen("opencl-finds-no-platform", *INTEL_FINDS_NONE), _root: Symptom = seen("opencl-lists-for-root-alone"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """With root's rights the card is there, and without them it is not."""
    return other is None and not inside(said) and {"said": said.id}


@rule("render-group-missing", "likely")
def seen_after_a_login_at_the_seat(
    said: Symptom = seen("seat-login-helped"), card: Gpu | None = one(vendor=("intel", "amd")), named: Symptom | None = seen("intel-gpu-in-words", "amd-radeon-named"),
) -> Verdict:  # fmt: skip
    """Who sits at the machine is let in for the time; the group lets him in for good."""
    vendor = card.get("vendor") if card else "intel" if named and named.id == "intel-gpu-in-words" else "amd"
    return bool(card or named) and {"said": said.id, "vendor": vendor}


@rule("render-group-missing", "likely")
def processors_alone_where_the_node_is_closed(
    who: Account, node: DeviceNode, _shown: Symptom = seen("sycl-lists-processors-alone"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """oneAPI's own list has processors only, and the account may not open the render node."""
    return other is None and node.path.startswith("/dev/dri/renderD") and not inside(node) and closed(node, who)


@rule("render-group-missing", "likely")
def sycl_is_asked_where_the_node_is_closed(
    who: Account, node: DeviceNode, _asked: Symptom = seen("sycl-asked"), other: Gpu | None = one(vendor="nvidia"),
    works: Gpu | None = one(vendor="intel", seen_by=Told(bool)),
) -> Verdict:  # fmt: skip
    """Intel's lister was asked and lists no GPU, and the render node opens for a group that this account is not in."""
    ours = "/renderD" in node.path and not from_inside(node) and not from_inside(who)
    return other is None and works is None and ours and closed(node, who)


@rule("render-group-missing", "likely")
def hip_finds_none_for_an_account_without_the_groups(
    said: Symptom = seen("hip-log-no-device", "hip-no-device"), who: Account = one(at="shell"), node: DeviceNode | None = one(path="/dev/kfd"), mask: Variable | None = one(name=MASKS),
    platform: Platform | None = None, nvidia: Gpu | None = one(vendor="nvidia"), module: Symptom | None = seen("rock-module-not-loaded", "amdgpu-init-fatal"),
) -> Verdict:  # fmt: skip
    """HIP finds no device, and the account is in none of the groups to which distributions give the nodes."""
    own = who.get("uid") == 0 or {"root", "video", "render"} & set(who.groups)
    elsewhere = inside(said) or bool(platform and (platform.get("wsl") or platform.get("system") == "windows"))
    clear = node is None and mask is None and nvidia is None and module is None and not elsewhere
    return clear and not own and {"said": said.id, "user": who.get("user")}


@rule("render-group-missing", "possible")
def runtime_of_intels_does_not_start(
    said: Symptom = seen("xpu-runtime-does-not-start"), listed: Symptom | None = seen("xpu-lists-a-card"), works: Torch | None = one(xpu_available=True), card: Gpu | None = one(vendor="intel", seen_by=("sycl-ls", "clinfo")),
    inside: Symptom | None = seen(*CONTAINERS_TOLD), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """On Linux the runtime opens the card's node first; a card that something lists is open."""
    linux = str(said.get("path") or "").startswith("/") and not said.place.world
    return linux and all(other is None for other in (listed, works, card, inside, guest)) and {"vendor": "intel"}


# -- device-node-permissions
@rule("device-node-permissions", "likely")
def works_for_root_alone(
    _silent: Symptom = seen("nvidia-smi-refused-without-sudo"),
    module: KernelModule | None = one(name="nvidia", loaded=False),
) -> Verdict:
    """nvidia-smi fails, and the same under sudo answers."""
    return module is None


@rule("device-node-permissions", "possible")
def closed_nodes_and_torch_sees_none(node: DeviceNode = one(path=("/dev/nvidia0", "/dev/nvidiactl")), torch: Torch = one(available=False), who: Account | None = None) -> Verdict:  # fmt: skip
    """NVIDIA's nodes open for all unless somebody changed that; torch sees no card, and whose it is nobody shows."""
    stranger = who is None or closed(node, who)
    return stranger and node.mode[8:9] != "w" and not node.get("acl") and torch.available is False


@rule("device-node-permissions", "likely")
def sandbox_closes_the_nodes(
    said: Symptom = seen("wsl-access-blocked", "nvml-insufficient-permissions"), box: Symptom = seen("firejail-named", "flatpak-named"),
    platform: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """NVIDIA's library says that the system keeps it from the card, and a sandbox is what runs it."""
    return platform is None and {"said": said.id, "where": box.id}


@rule("device-node-permissions", "likely")
def module_was_told_to_close_its_nodes(
    mode: ModuleParameter = one(module="nvidia", name="NVreg_DeviceFileMode"), said: Symptom = seen(*UNSEEN), root: Symptom = seen("root-alone-sees-it-in-nvtop", "nvidia-smi-refused-without-sudo"),
    who: Account | None = one(uid=0),
) -> Verdict:  # fmt: skip
    """An option of the module leaves others without access, and root sees the card where this account does not."""
    given = str(mode.get("running") or mode.get("configured") or "")
    return who is None and re.fullmatch(r"0?[0-7]{2}[01245]", given) is not None and {"said": said.id, "why": root.id}
