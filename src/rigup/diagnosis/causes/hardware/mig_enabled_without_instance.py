"""A GPU is in MIG mode and has no instance."""

from rigup.diagnosis.causes.hardware.card_index import index_of
from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.machine.kinds import Gpu, Symptom


@rule("mig-enabled-without-instance")
def no_part_to_compute_on(gpu: Gpu = one(mig=True)) -> Verdict:
    """MIG is on, and the card has no parts."""
    return gpu.partitions == [] and index_of(gpu)


@rule("mig-enabled-without-instance", "likely")
def no_part_is_shown(gpu: Gpu = one(mig=True), _error: Symptom = seen(tag="mig-finds-none")) -> Verdict:
    """MIG is on, no part is shown, and CUDA finds no device."""
    return not gpu.get("partitions") and index_of(gpu)
