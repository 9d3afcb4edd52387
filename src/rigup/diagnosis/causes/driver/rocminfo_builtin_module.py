"""rocminfo misses a module that is part of the kernel."""

from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.machine.kinds import DeviceNode, KernelModule, KfdNode, Platform, Symptom, Torch


@rule("rocminfo-builtin-module")
def module_is_part_of_the_kernel(
    _said: Symptom = seen(tag="module-builds-missed"), _module: KernelModule = one(name="amdgpu", built_in=True)
) -> Verdict:
    """An old rocminfo looks for a file that only a loadable module has."""
    return True


@rule("rocminfo-builtin-module", "likely")
def configured_as_part_of_the_kernel(
    symptom: Symptom = seen(tag="module-builds-missed"), _built: Symptom = seen(tag="amdgpu-built-in")
) -> Verdict:
    """The same of its other tools, where the kernel's configuration is told."""
    return {"said": symptom.id}


@rule("rocminfo-builtin-module", "likely")
def amdkfd_is_there_all_the_same(node: KfdNode, _said: Symptom = seen("rock-module-not-loaded")) -> Verdict:
    """amdkfd lists a GPU, so the module cannot be missing."""
    return node.knows("node") and not inside(node)


@rule("rocminfo-builtin-module", "likely")
def its_node_is_there_all_the_same(
    symptom: Symptom = seen("rock-module-not-loaded"), _node: DeviceNode = one(path="/dev/kfd"), platform: Platform | None = None
) -> Verdict:
    """/dev/kfd exists, so the module cannot be missing."""
    return not inside(symptom) and not (platform and platform.get("wsl"))


@rule("rocminfo-builtin-module", "likely")
def torch_computes_all_the_same(
    symptom: Symptom = seen("rock-module-not-loaded"), torch: Torch = one(available=True), platform: Platform | None = None
) -> Verdict:
    """torch for ROCm finds its device in the same place."""
    return bool(torch.get("hip")) and not (platform and platform.get("wsl")) and {"said": symptom.id}


@rule("rocminfo-builtin-module", "likely")
def kernel_added_the_card(_said: Symptom = seen("rock-module-not-loaded"), _added: Symptom = seen("kfd-added-device")) -> Verdict:
    """The kernel's log says that amdkfd took the card."""
    return True
