"""DirectML: no module for this Python, another adapter, operations left to the processor."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.directml import DIRECTML_USED, small
from rigup.machine.kinds import Gpu, Symptom
from rigup.machine.names import same_name


# -- directml-module-missing
@rule("directml-module-missing", "likely")
def directml_is_asked_for_and_the_check_is_cudas(
    asked: Symptom = seen("directml-chosen", "directml-option"), said: Symptom = seen("webui-torch-no-gpu"),
    loaded: Symptom | None = seen("directml-loaded", "directml-device-used", "directml-default-device"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The web ui was told to use DirectML, and asked torch for CUDA all the same."""
    return loaded is None and nvidia is None and {"said": said.id, "asked": asked.id}


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
def many_nodes_are_left_to_the_processor(
    dml: Symptom = seen("nodes-on-directml"), cpu: Symptom = seen("nodes-on-the-processor")
) -> Verdict:
    """A few that handle shapes are always there; a quarter of a model is what DirectML has no operations for."""
    return int(cpu.count) * 3 > int(dml.count) and {"said": cpu.id}
