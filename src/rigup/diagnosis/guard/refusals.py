"""Steps that are none there: each test tells whether a step has no place in these surroundings, and its way goes with it."""

from collections.abc import Callable

from rigup.diagnosis.guard.setting import Setting
from rigup.knowledge.directml import torch_of_directml
from rigup.knowledge.gpus import driver_branch_for, last_branches
from rigup.knowledge.torch_builds import builds
from rigup.steps import Step

_OF_CONDA = ("install-by-conda", "install-from-conda", "install-from-channel", "remove-with-conda", "install-with-conda")
_OF_MODULES = ("find-out", "load-module", "reload-module", "reload-module-under-service", "reload-driver", "blacklist-module")
_OF_UNIX = (
    "show-room",
    "show-room-of",
    "fewer-files",
    "show-quota",
    "more-open-files",
    "show-listener",
    "look-for-gpu-faults",
    "start-engine",
)
_SET_VARIABLES = ("set-variable", "set-variable-early", "service-variable", "hide-graphics", "try-without-direct-way")
_READ_BY = {
    "CUDA_": "nvidia",
    "NVIDIA_": "nvidia",
    "HSA_": "amd",
    "ROCR_": "amd",
    "HIP_": "amd",
    "AMD_": "amd",
    "ZE_": "intel",
    "ONEAPI_": "intel",
}
_READ_BY_AMD = ("CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING")  # ROCm's torch reads them as CUDA's does
_INTO_GROUPS = ("join-group", "join-group-by-hand", "join-group-yourself")


def conda_where_pip_keeps_the_packages(step: Step, setting: Setting) -> bool:
    """conda puts nothing into an environment of venv's."""
    return step.kind in _OF_CONDA and setting.owner in ("venv", "system")


def group_that_holds_already(step: Step, setting: Setting) -> bool:
    """Who is a member joins in vain: something else keeps the account out."""
    return step.kind in _INTO_GROUPS and step.params["group"] in setting.groups


def slot_that_such_a_board_has_not(step: Step, setting: Setting) -> bool:
    """No slot of a processor that is older than PCIe atomics routes them."""
    return step.kind == "slot-of-processor" and setting.old_board


def slot_of_a_module(step: Step, setting: Setting) -> bool:
    """What is screwed onto a board with its neighbours has no slot of its own, no riser and no cables."""
    return setting.module and step.kind in ("other-slot", "exchange-riser", "leave-the-slot", "separate-power-cables")


def newer_than_a_last_branch(step: Step, setting: Setting) -> bool:
    """A driver of a legacy branch was chosen for its card: no newer one drives that."""
    return step.kind == "newer-driver" and setting.branch in last_branches()[:-1]


def flavour_of_a_branch_past_the_card(step: Step, setting: Setting) -> bool:
    """No flavour of a branch that has dropped the card drives it, and none of it has a closed module for it."""
    ends = [int(last) for isa in setting.isas if (last := driver_branch_for(isa))]
    return step.kind == "install-module-flavour" and bool(ends) and setting.branch.isdigit() and int(setting.branch) > min(ends)


def modules_of_linux_on_windows(step: Step, setting: Setting) -> bool:
    """Windows loads its drivers in its own way."""
    return step.kind in _OF_MODULES and setting.system == "windows" and not setting.wsl


def tools_of_unix_on_windows(step: Step, setting: Setting) -> bool:
    """Nobody has them there."""
    return setting.system == "windows" and not setting.wsl and step.kind in _OF_UNIX


def build_that_there_is_not(step: Step, setting: Setting) -> bool:
    """An index has only what was built for it."""
    variant = step.params.get("index", "").partition("download.pytorch.org/whl/")[2]
    if step.kind not in ("install-torch", "install-torch-with-audio") or not variant or "/" in variant:
        return False
    system = "windows" if setting.system == "windows" else "linux"
    return not any(row.torch == step.params["torch"] and row.variant == variant for row in builds(system))


def torch_under_directml(step: Step, setting: Setting) -> bool:
    """torch-directml runs on the torch that it pins, and on no other."""
    exchanged = step.kind in ("install-torch", "install-torch-with-audio") and step.params["torch"] not in torch_of_directml()
    return exchanged and "torch-directml" in setting.on_torch


def variable_of_another_maker(step: Step, setting: Setting) -> bool:
    """What CUDA's or ROCm's programs read says nothing to another maker's."""
    maker = "apple" if setting.system == "macos" else setting.vendor
    name = str(step.params.get("name") or "")
    owners = {owner for prefix, owner in _READ_BY.items() if name.startswith(prefix)}
    return step.kind in _SET_VARIABLES and bool(maker and owners) and maker not in owners and not (maker == "amd" and name in _READ_BY_AMD)


def toolkit_that_is_there(step: Step, setting: Setting) -> bool:
    """What is installed is not installed again: the engine does not know it yet (see `spelling`)."""
    return setting.toolkit and step.kind == "set-up-container-toolkit"


def tool_of_nvidia_for_another_card(step: Step, setting: Setting) -> bool:
    """nvidia-smi sets no limit of another maker's card."""
    return step.kind == "lower-power-limit" and setting.vendor not in ("nvidia", "")


REFUSALS: tuple[Callable[[Step, Setting], bool], ...] = (
    conda_where_pip_keeps_the_packages,
    group_that_holds_already,
    slot_that_such_a_board_has_not,
    slot_of_a_module,
    newer_than_a_last_branch,
    modules_of_linux_on_windows,
    tools_of_unix_on_windows,
    build_that_there_is_not,
    torch_under_directml,
    variable_of_another_maker,
    toolkit_that_is_there,
    tool_of_nvidia_for_another_card,
)
