"""Which devices a program sees, in which order, and since when."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.program import CUDA_MASK, DEVICE_MASKS, chosen
from rigup.machine.kinds import Gpu, Symptom, TensorFlow, Torch, Variable, World

_WORD = re.compile(r"(?!GPU-|MIG-|none$|nodevfiles$)[A-Za-z][A-Za-z]{2,12}(?::\d{1,2}|\d{1,2})?", re.IGNORECASE)


def counts_none(tensorflow: TensorFlow | None, torch: Torch | None) -> bool:
    """Asked for its GPUs it says none, and it is a build that could have some."""
    if tensorflow is not None:
        return tensorflow.get("built_with_cuda") is not False
    return torch is not None and not (torch.knows("cuda") and not torch.get("cuda") and not torch.get("hip"))


def is_no_first(value: str | None) -> bool:
    """Whether a mask begins with the number of a second card or a later one."""
    first = chosen(value or "")[0]
    return first.isdigit() and int(first) > 0


@rule("cuda-visible-devices-wrong", "likely")
def selector_lets_no_device_through(
    mask: Symptom = seen("sycl-lists-what-a-variable-lets-through"), _said: Symptom = seen(tag="intel-finds-none")
) -> Verdict:
    """SYCL shows what the variable names, and that is nothing: an index that no device has."""
    value = str(mask.get("value") or mask.get("set"))
    number = value.rpartition(":")[2]
    return number.isdigit() and int(number) > 0 and {"name": "ONEAPI_DEVICE_SELECTOR", "value": value}


@rule("cuda-visible-devices-wrong", "likely")
def mask_holds_a_word(_nothing: Symptom = seen(tag="no-device"), mask: Variable = one(name=DEVICE_MASKS)) -> Verdict:
    """`all` is a word of the container toolkit's variable; CUDA and HIP know numbers and UUIDs, and end their list at anything else."""
    first = chosen(mask.value or "")[0].strip("\"'")
    return bool(_WORD.fullmatch(first)) and {"name": mask.name}


@rule("cuda-visible-devices-wrong", "likely")
def launcher_took_the_mask_and_finds_no_such_card(
    mask: Symptom = seen("deepspeed-takes-the-mask"), symptom: Symptom = seen("deepspeed-finds-no-such-slot")
) -> Verdict:
    """The launcher counts all cards of the machine, and the mask names one beyond them."""
    return symptom.slot in mask.list.split(",") and {"name": "CUDA_VISIBLE_DEVICES"}


@rule("cuda-visible-devices-wrong", "likely")
def number_beyond_those_that_are_counted(symptom: Symptom = seen("yolo-counts-fewer")) -> Verdict:
    """Devices are counted from 0: the number that was asked for lies beyond the last."""
    return int(symptom.asked) >= int(symptom.count) and {"name": CUDA_MASK, "count": symptom.count}


@rule("cuda-device-order-differs")
def smaller_card_than_was_meant_is_full(
    gpu: Gpu, other: Gpu, mask: Variable = one(name=CUDA_MASK), full: Symptom = seen(tag="device-out-of-memory"), order: Variable | None = one(name="CUDA_DEVICE_ORDER"),
) -> Verdict:  # fmt: skip
    """One number is given; nvidia-smi lists a larger card under it than the one that the program got and filled."""
    unlike = gpu is not other and gpu.name != other.name and gpu.runtime_index == 0 and order is None
    intended = (mask.value or "").isdigit() and str(other.nvml_index) == mask.value
    return unlike and intended and gpu.vram < other.vram and {"said": full.id, "severity": "error"}


@rule("cuda-device-order-differs", "likely")
def its_first_is_another_than_the_lists(
    gpu: Gpu, other: Gpu, order: Variable | None = one(name="CUDA_DEVICE_ORDER"), mask: Variable | None = one(name=CUDA_MASK),
    box: World | None = one(at="container"),
) -> Verdict:  # fmt: skip
    """A program's card of some number, and the one that nvidia-smi lists under it: two unlike cards."""
    if gpu is other or (order and order.value == "PCI_BUS_ID") or box is not None:
        return False
    number, listed = gpu.runtime_index, gpu.nvml_index
    mine = chosen(mask.value or "") if mask is not None and mask.get("value") else []
    if mine:
        number = int(mine[number]) if number < len(mine) and mine[number].isdigit() else listed
    return number != listed and other.nvml_index == number and gpu.name != other.name


@rule("cuda-device-order-differs", "likely")
def cores_are_not_in_the_order_of_names(
    zero: Symptom = seen("program-counts-cores-of-each-card", number="0"), other: Symptom = seen("program-counts-cores-of-each-card"),
    first: Gpu = one(nvml_index=0, vendor="nvidia"), listed: Gpu = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Two cards have one name in nvidia-smi's list, and two numbers of cores in a program's list, or the other way round."""
    number = int(other.number)
    pair = number > 0 and listed.get("nvml_index") == number
    return pair and (first.name == listed.name) != (zero.cores == other.cores) and {"number": number}


@rule("cuda-visible-devices-set-too-late", "likely")
def mask_changed_nothing(symptom: Symptom = seen("count-behind-a-mask")) -> Verdict:
    """The program counts more devices than the mask that it set before leaves."""
    return int(symptom.count) > symptom.mask.count(",") + 1 and {"name": "CUDA_VISIBLE_DEVICES"}
