"""The kernel's compute driver does not serve this GPU."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.machine.kinds import Gpu, KfdNode, Symptom


@rule("kfd-gpu-not-supported")
def amdkfd_refuses_the_chip(
    symptom: Symptom = seen("kfd-chip-not-supported", "kfd-asic-not-supported", "kfd-device-unknown"),
    other: Gpu | None = one(vendor="nvidia"),
    served: Symptom | None = seen("kfd-added-device"),
    node: KfdNode | None = None,
) -> Verdict:
    """Beside another card that computes, one that only draws may well be refused. A kernel may know a chip too little, or no longer."""
    alone = other is None and served is None and node is None
    return alone and {"chip": symptom.get("chip") or symptom.get("device")}


@rule("kfd-gpu-not-supported", "likely")
def chip_that_amdkfd_never_had(
    chip: Symptom = seen("kfd-never-had-the-chip"),
    symptom: Symptom = seen("rock-module-not-loaded", tag="driver-amd-no-device"),
    served: Symptom | None = seen("kfd-added-device"),
    node: KfdNode | None = None,
) -> Verdict:
    """The first of that architecture, and the smallest of the next, are on none of its lists."""
    return served is None and node is None and {"chip": chip.get("chip"), "said": symptom.id}
