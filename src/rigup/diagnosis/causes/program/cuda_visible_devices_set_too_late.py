"""The visibility variable is set after CUDA was started."""

from rigup.diagnosis.causes.masks import chosen
from rigup.diagnosis.rule import Params, Verdict, mends, rule, seen, text_rule
from rigup.knowledge.torch_builds import reads_mask_at_import
from rigup.machine.kinds import Gpu, Mask, Symptom, Torch


@rule("cuda-visible-devices-set-too-late", "likely")
def mask_set_after_cuda_started(mask: Mask) -> Verdict:
    """The program's own order of things."""
    return bool(mask.get("after")) and {"name": mask.variable, "after": mask.after.rstrip("(")}


@rule("cuda-visible-devices-set-too-late", "likely")
def device_count_and_mask_disagree(_wrong: Symptom = seen("torch-device-beyond-count"), mask: Mask | None = None) -> Verdict:
    """torch counts by the variable as it is now, CUDA as it was."""
    return mask is not None and {"name": mask.variable}


@rule("cuda-visible-devices-set-too-late", "likely")
def program_counts_more_than_its_mask_names(mask: Mask, gpu: Gpu) -> Verdict:
    """The program lists a device whose number lies beyond all that it says to have left itself."""
    named = chosen(mask.value)
    beyond = all(part.isdigit() for part in named) and gpu.runtime_index >= len(named)
    return beyond and {"name": mask.variable}


@rule("cuda-visible-devices-set-too-late", "likely")
def release_that_reads_the_mask_at_its_import(mask: Mask, torch: Torch) -> Verdict:
    """The table knows releases that look at the variable when they are imported, and never again."""
    reads = reads_mask_at_import(torch.version)
    return mask.imported == "torch" and reads and {"name": mask.variable, "after": "import torch"}


@text_rule("cuda-visible-devices-set-too-late", "likely")
def mask_changed_nothing(symptom: Symptom = seen("count-behind-a-mask")) -> Verdict:
    """The program counts more devices than the mask that it set before leaves."""
    return int(symptom.count) > symptom.mask.count(",") + 1 and {"name": "CUDA_VISIBLE_DEVICES"}


@mends("cuda-visible-devices-set-too-late")
def value_that_the_program_sets(knew: Params, own: Mask | None) -> Params:
    """What is meant is the program's own value, with which it can be started."""
    value = own.get("value") if own is not None and own.variable == knew.get("name") else None
    return {"own": knew.get("name"), "value": value} if value else {"unknown": knew.get("name")}
