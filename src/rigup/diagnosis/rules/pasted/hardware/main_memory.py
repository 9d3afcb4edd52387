"""The processor's memory: a program that was killed for it, and one that was refused some."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.memory import GIB
from rigup.machine.kinds import Platform, Symptom

_GONE = ("shell-reports-a-kill", "rank-ended-by-a-kill")


# -- host-memory-exhausted
@rule("host-memory-exhausted", "likely")
def llama_wants_more_than_main_memory(
    said: Symptom = seen("llama-was-refused-main-memory"), windows: Platform | None = one(system="windows")
) -> Verdict:
    """What the processor is to hold, mostly a long context's cache, is more than the system gives."""
    return (windows is None or int(said.bytes) >= GIB) and {"said": said.id}


@rule("host-memory-exhausted", "likely")
def program_is_gone_and_the_kernel_tells_why(
    gone: Symptom = seen(*_GONE), why: Symptom = seen("oom-killer")
) -> Verdict:
    """What started it says that it was killed, and the kernel's log that memory had run out."""
    return {"severity": "error", "said": gone.id, "log": why.id}


@rule("host-memory-exhausted", "likely")
def job_that_was_asked_of_ran_out(
    said: Symptom = seen("slurm-ended-it-for-memory"), _asked: Symptom = seen("slurm-was-asked-of-a-job")
) -> Verdict:
    """Slurm was asked of one job: it is the one that somebody misses, not one of many in a list."""
    return {"severity": "error", "said": said.id}
