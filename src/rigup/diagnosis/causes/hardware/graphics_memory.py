"""Main memory that graphics in a processor compute with."""

from rigup.diagnosis.causes.memory_sizes import size
from rigup.diagnosis.rule import Params
from rigup.knowledge.gtt import pages_to_share
from rigup.machine.kinds import Memory, Symptom

MIB = 1 << 20  # bytes of the units that the kernel's parameters have


def pages_to_allow(memory: Memory) -> Params:
    """The limit in pages."""
    pages = pages_to_share(memory.total)
    return {"pages": pages} if pages else {}


def total_of(symptom: Symptom) -> float:
    """Bytes that a runtime counts as the GPU's."""
    if symptom.get("kib"):
        return int(symptom.kib) * 1024.0
    total = symptom.get("total") or symptom.get("total2")
    return (size(total + " G") if symptom.id == "vllm-memory-taken" and total else size(total)) or 0.0
