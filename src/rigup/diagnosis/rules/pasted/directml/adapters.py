"""DirectML: no module for this Python, another adapter, operations left to the processor."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.directml import DIRECTML_USED, small
from rigup.knowledge.directml import torch_of_directml
from rigup.machine.kinds import Gpu, Package, Symptom, Torch
from rigup.machine.names import same_name


# -- directml-module-missing
@rule("directml-module-missing", "likely")
def directml_is_asked_for_and_the_check_is_cudas(
    asked: Symptom = seen("directml-chosen", "directml-option"), said: Symptom = seen("webui-torch-no-gpu"),
    loaded: Symptom | None = seen("directml-loaded", "directml-device-used", "directml-default-device"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The web ui was told to use DirectML, and asked torch for CUDA all the same."""
    return loaded is None and nvidia is None and {"said": said.id, "asked": asked.id}


@rule("directml-module-missing", "likely")
def torch_is_none_that_it_stands_on(
    torch: Torch, asked: Symptom = seen("directml-chosen", "directml-option"), module: Package | None = one(name="torch-directml"),
    loaded: Symptom | None = seen("directml-loaded", *DIRECTML_USED),
) -> Verdict:  # fmt: skip
    """Each release pins the torch that it was built with, and puts it in its place: beside another build for the processor it is not there."""
    release, _, local = str(torch.version).partition("+")
    other = local == "cpu" and release not in torch_of_directml()
    return other and module is None and loaded is None and {"package": "torch-directml", "asked": asked.id}


@rule("directml-module-missing", "likely")
def module_lies_beside_another_torch(
    torch: Torch, module: Package = one(name="torch-directml"),
    said: Symptom = seen("directml-native-not-loaded", "directml-native-lacks-a-symbol"),
) -> Verdict:  # fmt: skip
    """Its compiled part is made for the torch that its release pins; another was put over it, and it does not load."""
    pins = torch_of_directml(str(module.get("version")))
    other = bool(pins) and str(torch.version).partition("+")[0] not in pins
    return other and {"package": "torch-directml", "said": said.id}


# -- directml-wrong-adapter
@rule("directml-wrong-adapter", "likely")
def first_of_a_list_is_integrated(
    used: Symptom = seen("directml-adapter-printed", "directml-numbered-in-use"), other: Gpu = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The adapter with the first number is used unless told otherwise."""
    name, better = str(used.get("name")).strip(), str(other.get("name") or "")
    return bool(better) and small(name) and not same_name(better, name) and {"used": name, "better": better}


# -- directml-op-cpu-fallback
@rule("directml-op-cpu-fallback", "likely")
def private_device_lacks_an_operator(
    said: Symptom = seen("private-device-has-no-operator", "directml-operator-not-run"), _where: Symptom = seen("directml-imported", "directml-spoken-of", "directml-used", *DIRECTML_USED)
) -> Verdict:  # fmt: skip
    """To torch DirectML is a device of somebody's own; not all operations are written for it."""
    return {"operator": None, "said": said.id, "severity": "error"}


@rule("directml-op-cpu-fallback", "likely")
def plug_in_has_no_kernel(
    said: Symptom = seen("tensorflow-has-no-kernel-for-its-gpu", "tensorflow-group-is-for-the-processor"),
    where: Symptom = seen("directml-spoken-of", "directml-adapter-listed"), cuda: Symptom | None = seen("tf-speaks-of-cuda"),
) -> Verdict:  # fmt: skip
    """TensorFlow calls DirectML's device a GPU; what was asked of it has code for the processor alone."""
    return cuda is None and {"operator": None, "said": said.id, "where": where.id}


@rule("directml-op-cpu-fallback", "likely")
def many_nodes_are_left_to_the_processor(
    dml: Symptom = seen("nodes-on-directml"), cpu: Symptom = seen("nodes-on-the-processor")
) -> Verdict:
    """A few that handle shapes are always there; a quarter of a model is what DirectML has no operations for."""
    return int(cpu.count) * 3 > int(dml.count) and {"said": cpu.id}
