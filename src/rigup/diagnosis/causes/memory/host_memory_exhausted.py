"""Main memory ran out, and the program was killed for it."""

from rigup.diagnosis.causes.memory_sizes import GIB
from rigup.diagnosis.rule import Params, Verdict, mends, one, seen, text_rule
from rigup.machine.kinds import Platform, Symptom


@text_rule("host-memory-exhausted", "likely")
def llama_wants_more_than_main_memory(
    symptom: Symptom = seen("llama-was-refused-main-memory"), windows: Platform | None = one(system="windows")
) -> Verdict:
    """What the processor is to hold, mostly a long context's cache, is more than the system gives."""
    return (windows is None or int(symptom.bytes) >= GIB) and {"said": symptom.id}


@mends("host-memory-exhausted")
def what_is_to_be_less(
    compiler: Symptom | None = seen("compiler-killed-for-memory"), engine: Symptom | None = seen("llama-was-refused-main-memory", "ollama-wants-more-of-the-systems-memory", "ollama-names-what-was-killed"),
    job: Symptom | None = seen("oom-kill-in-job-step", "slurm-ended-it-for-memory"), wsl: Platform | None = one(wsl=2), loader: Symptom | None = seen("worker-killed-for-memory"),
) -> Params:  # fmt: skip
    """A build takes memory for each file that it compiles at once, an engine for its model and its context; WSL has half of what Windows has."""
    return {
        "jobs": "2" if compiler is not None else None, "model": "smaller" if engine is not None else None,
        "memory": "--mem" if job is not None else None, "workers": None if compiler or engine or (wsl and not loader) else "fewer",
        "wsl": "memory=" if wsl is not None else None,
    }  # fmt: skip
