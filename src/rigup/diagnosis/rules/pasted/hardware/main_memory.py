"""The processor's memory: a program that was killed for it, and one that was refused some."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.memory import GIB
from rigup.machine.kinds import Platform, Symptom


@rule("host-memory-exhausted", "likely")
def llama_wants_more_than_main_memory(
    symptom: Symptom = seen("llama-was-refused-main-memory"), windows: Platform | None = one(system="windows")
) -> Verdict:
    """What the processor is to hold, mostly a long context's cache, is more than the system gives."""
    return (windows is None or int(symptom.bytes) >= GIB) and {"said": symptom.id}
