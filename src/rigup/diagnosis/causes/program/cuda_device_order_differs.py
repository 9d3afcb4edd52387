"""CUDA counts the GPUs in another order than nvidia-smi."""

from rigup.diagnosis.causes.masks import CUDA_MASK, chosen
from rigup.diagnosis.rule import Verdict, one, rule, seen, text_rule
from rigup.machine.kinds import Gpu, Symptom, Variable, World


def _ascending(mask: str) -> bool:
    parts = chosen(mask)
    return all(part.isdigit() for part in parts) and [int(part) for part in parts] == sorted(int(part) for part in parts)


@rule("cuda-device-order-differs")
def two_cards_change_places(
    gpu: Gpu, other: Gpu, order: Variable | None = one(name="CUDA_DEVICE_ORDER"), mask: Variable | None = one(name=CUDA_MASK)
) -> Verdict:
    """One comes first in one list and second in the other; a mask of one's own may well reorder."""
    if gpu is other or (order and order.value == "PCI_BUS_ID") or (mask and mask.value and not _ascending(mask.value)):
        return False
    crossed = gpu.nvml_index < other.nvml_index and gpu.runtime_index > other.runtime_index
    return crossed and gpu.name != other.name


@text_rule("cuda-device-order-differs", "likely")
def people_say_that_the_orders_differ(
    statement: Symptom = seen(tag="device-order-in-words"), first: Gpu | None = one(nvml_index=0), second: Gpu | None = one(nvml_index=1)
) -> Verdict:
    """Words alone; the only card of a list has no order."""
    return (first is None or second is not None) and {"told": statement.id}


@text_rule("cuda-device-order-differs")
def smaller_card_than_was_meant_is_full(
    gpu: Gpu,
    other: Gpu,
    mask: Variable = one(name=CUDA_MASK),
    full: Symptom = seen(tag="device-out-of-memory"),
    order: Variable | None = one(name="CUDA_DEVICE_ORDER"),
) -> Verdict:
    """One number is given; nvidia-smi lists a larger card under it than the one that the program got and filled."""
    unlike = gpu is not other and gpu.name != other.name and gpu.runtime_index == 0 and order is None
    intended = (mask.value or "").isdigit() and str(other.nvml_index) == mask.value
    return unlike and intended and gpu.vram < other.vram and {"said": full.id, "severity": "error"}


@text_rule("cuda-device-order-differs", "likely")
def its_first_is_another_than_the_lists(
    gpu: Gpu,
    other: Gpu,
    order: Variable | None = one(name="CUDA_DEVICE_ORDER"),
    mask: Variable | None = one(name=CUDA_MASK),
    box: World | None = one(at="container"),
) -> Verdict:
    """A program's card of some number, and the one that nvidia-smi lists under it: two unlike cards."""
    if gpu is other or (order and order.value == "PCI_BUS_ID") or box is not None:
        return False
    number, listed = gpu.runtime_index, gpu.nvml_index
    mine = chosen(mask.value or "") if mask is not None and mask.get("value") else []
    if mine:
        number = int(mine[number]) if number < len(mine) and mine[number].isdigit() else listed
    return number != listed and other.nvml_index == number and gpu.name != other.name


@text_rule("cuda-device-order-differs", "likely")
def cores_are_not_in_the_order_of_names(
    zero: Symptom = seen("program-counts-cores-of-each-card", number="0"),
    other: Symptom = seen("program-counts-cores-of-each-card"),
    first: Gpu = one(nvml_index=0, vendor="nvidia"),
    listed: Gpu = one(vendor="nvidia"),
) -> Verdict:
    """Two cards have one name in nvidia-smi's list, and two numbers of cores in a program's list, or the other way round."""
    number = int(other.number)
    pair = number > 0 and listed.get("nvml_index") == number
    return pair and (first.name == listed.name) != (zero.cores == other.cores) and {"number": number}
