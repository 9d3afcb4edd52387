"""DirectML: no module for this Python, another adapter, operations left to the processor."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.directml import small
from rigup.knowledge.directml import torch_of_directml
from rigup.machine.kinds import Gpu, Package, Symptom, Torch
from rigup.machine.names import same_name


@rule("directml-module-missing", "likely")
def torch_is_none_that_it_stands_on(
    torch: Torch, asked: Symptom = seen("directml-chosen", "directml-option"), module: Package | None = one(name="torch-directml"),
    loaded: Symptom | None = seen("directml-loaded", tag="directml-used"),
) -> Verdict:  # fmt: skip
    """Each release pins the torch that it was built with, and puts it in its place: beside another build for the processor it is not there."""
    release, _, local = str(torch.version).partition("+")
    other = local == "cpu" and release not in torch_of_directml()
    return other and module is None and loaded is None and {"package": "torch-directml", "asked": asked.id}


@rule("directml-module-missing", "likely")
def module_lies_beside_another_torch(
    torch: Torch, module: Package = one(name="torch-directml"),
    symptom: Symptom = seen("directml-native-not-loaded", "directml-native-lacks-a-symbol"),
) -> Verdict:  # fmt: skip
    """Its compiled part is made for the torch that its release pins; another was put over it, and it does not load."""
    pins = torch_of_directml(str(module.get("version")))
    other = bool(pins) and str(torch.version).partition("+")[0] not in pins
    return other and {"package": "torch-directml", "said": symptom.id}


@rule("directml-wrong-adapter", "likely")
def first_of_a_list_is_integrated(
    used: Symptom = seen("directml-adapter-printed", "directml-numbered-in-use"), other: Gpu = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The adapter with the first number is used unless told otherwise."""
    name, better = str(used.get("name")).strip(), str(other.get("name") or "")
    return bool(better) and small(name) and not same_name(better, name) and {"used": name, "better": better}


@rule("directml-op-cpu-fallback", "likely")
def many_nodes_are_left_to_the_processor(
    dml: Symptom = seen("nodes-on-directml"), cpu: Symptom = seen("nodes-on-the-processor")
) -> Verdict:
    """A few that handle shapes are always there; a quarter of a model is what DirectML has no operations for."""
    return int(cpu.count) * 3 > int(dml.count) and {"said": cpu.id}
