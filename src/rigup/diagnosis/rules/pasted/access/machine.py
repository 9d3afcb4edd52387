"""Groups that may open a card's nodes, and rights that the nodes themselves lack."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.rocm import MASKS, OVERRIDE
from rigup.machine.kinds import (
    Account,
    DeviceNode,
    Gpu,
    ModuleParameter,
    Platform,
    Symptom,
    Torch,
    Variable,
    World,
)

_RENDER = "/dev/dri/renderD"


@rule("render-group-missing", "possible")
def amds_tool_is_refused(
    symptom: Symptom = seen("amdsmi-not-permitted"),
    change: Symptom | None = seen("amdsmi-was-to-set"),
    works: Torch | None = one(available=True),
) -> Verdict:
    """Nothing is told of who asks. To change a setting is for root alone, whatever the groups."""
    return change is None and works is None and symptom.values()


@rule("render-group-missing", "possible")
def torch_for_rocm_finds_none(
    symptom: Symptom = seen("torch-no-cuda-gpus", runtime="HIP"), boxed: Symptom | None = seen(tag="boxes-named"), mask: Variable | None = one(name=MASKS),
    world: World | None = None, platform: Platform | None = None, card: Gpu | None = one(vendor="amd", seen_by=("rocminfo", "rocm-smi")),
    wsl: Symptom | None = seen(tag="wsl-spoken-of"),
) -> Verdict:  # fmt: skip
    """On a host whose card nobody doubts it is most often the right to open the nodes."""
    elsewhere = boxed is not None or symptom.place.world or bool(world and world.get("container"))
    guest = platform is not None and bool(platform.get("wsl") or platform.get("system") == "windows")
    guest = guest or wsl is not None
    return not elsewhere and not guest and mask is None and card is None and {"said": symptom.id}


@rule("render-group-missing", "likely")
def root_may_and_a_person_may_not(
    root: Symptom = seen(tag="root-needed"), _named: Symptom = seen("hip-error-in-quotes", "kfd-named", tag="rocm"), world: World | None = None, platform: Platform | None = None,
    other: Gpu | None = one(vendor="nvidia"), override: Variable | None = one(name=OVERRIDE), boxed: Symptom | None = seen(tag="container-spoken-of"),
) -> Verdict:  # fmt: skip
    """What fails for a person and not for root fails for want of a right; or of the variables that a service of root's has."""
    if override is not None or boxed is not None:
        return False
    elsewhere = root.place.world or bool(world and world.get("container")) or bool(platform and platform.get("wsl"))
    return not elsewhere and other is None and {"said": root.id}


@rule("render-group-missing", "likely")
def rocminfo_answers_root_alone(
    error: Symptom = seen("hsa-out-of-resources", "hsa-call-failed-by-number", "kfd-permission-denied"), root: Symptom = seen("rocminfo-with-sudo-answers"),
    boxed: Symptom | None = seen(tag="container-spoken-of"),
) -> Verdict:  # fmt: skip
    """The same program, shown as it fails and as it answers to root."""
    outside = not error.place.world.startswith("container")
    return outside and boxed is None and {"said": error.id, "works": root.id}


@rule("render-group-missing", "likely")
def groups_are_listed_without_those_of_the_nodes(
    error: Symptom = seen("hsa-call-failed-by-number", "hsa-out-of-resources", "hip-no-device"), account: Account = one(at="shell"),
    node: DeviceNode | None = one(path="/dev/kfd"), boxed: Symptom | None = seen(tag="container-spoken-of"), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """Whose the nodes are nobody shows; distributions give them to one of two groups, and this account is in neither."""
    own = account.get("uid") == 0 or {"root", "video", "render"} & set(account.groups)
    elsewhere = boxed is not None or bool(platform and platform.get("wsl"))
    return node is None and not own and not elsewhere and {"said": error.id}


@rule("render-group-missing", "likely")
def none_is_found_for_an_account_without_the_group(
    account: Account, symptom: Symptom = seen(tag="intel-finds-none"), node: DeviceNode | None = None, other: Gpu | None = one(vendor="nvidia"), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """The same where the node is not shown: the account is in none of the groups that open it anywhere."""
    outside = bool(account.groups) and not {"render", "video"} & set(account.groups) and account.get("uid") != 0 and account.get("user") != "root"  # fmt: skip
    return outside and node is None and other is None and guest is None and not inside(account) and {"vendor": "intel", "said": symptom.id}  # fmt: skip


@rule("render-group-missing", "possible")
def none_is_found_and_the_node_is_for_a_group(
    node: DeviceNode,
    symptom: Symptom = seen(tag="intel-finds-none"),
    account: Account | None = None,
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """The node is there and opens for a group alone; who asks nobody tells."""
    shut = node.path.startswith(_RENDER) and node.knows("mode") and node.mode[8:9] != "w" and not node.get("acl")
    return shut and account is None and other is None and not inside(node) and {"vendor": "intel", "said": symptom.id}


@rule("render-group-missing", "likely")
def build_for_intel_sees_none_for_such_an_account(
    account: Account, torch: Torch = one(xpu_available=False), other: Gpu | None = one(vendor="nvidia"), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """torch's build for Intel finds nothing, and the account is in no group that opens the nodes."""
    outside = bool(account.groups) and not {"render", "video"} & set(account.groups) and account.get("uid") != 0 and account.get("user") != "root"  # fmt: skip
    return outside and "+xpu" in str(torch.get("version")) and other is None and guest is None and not inside(account) and {"vendor": "intel"}  # fmt: skip


@rule("render-group-missing", "possible")
def runtime_of_intels_does_not_start(
    symptom: Symptom = seen("xpu-runtime-does-not-start"), listed: Symptom | None = seen("xpu-lists-a-card"), works: Torch | None = one(xpu_available=True), card: Gpu | None = one(vendor="intel", seen_by=("sycl-ls", "clinfo")),
    inside: Symptom | None = seen(tag="container-spoken-of"), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """On Linux the runtime opens the card's node first; a card that something lists is open."""
    linux = str(symptom.get("path") or "").startswith("/") and not symptom.place.world
    return linux and all(other is None for other in (listed, works, card, inside, guest)) and {"vendor": "intel"}


@rule("device-node-permissions", "likely")
def module_was_told_to_close_its_nodes(
    mode: ModuleParameter = one(module="nvidia", name="NVreg_DeviceFileMode"), symptom: Symptom = seen(tag="unseen"), root: Symptom = seen("root-alone-sees-it-in-nvtop", "nvidia-smi-refused-without-sudo"),
    account: Account | None = one(uid=0),
) -> Verdict:  # fmt: skip
    """An option of the module leaves others without access, and root sees the card where this account does not."""
    given = str(mode.get("running") or mode.get("configured") or "")
    return (
        account is None
        and re.fullmatch(r"0?[0-7]{2}[01245]", given) is not None
        and {"said": symptom.id, "why": root.id}
    )
