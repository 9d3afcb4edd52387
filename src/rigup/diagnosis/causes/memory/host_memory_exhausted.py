"""Main memory ran out, and the program was killed for it."""

from rigup.diagnosis.causes.memory_sizes import GIB
from rigup.diagnosis.rule import Params, Verdict, mends, one, seen, text_rule
from rigup.machine.kinds import Gpu, Memory, Platform, Symptom


@text_rule("host-memory-exhausted", "likely")
def llama_wants_more_than_main_memory(
    symptom: Symptom = seen("llama-was-refused-main-memory"), windows: Platform | None = one(system="windows")
) -> Verdict:
    """What the processor is to hold, mostly a long context's cache, is more than the system gives."""
    return (windows is None or int(symptom.bytes) >= GIB) and {"said": symptom.id}


@mends("host-memory-exhausted")
def what_is_to_be_less(
    compiler: Symptom | None = seen("compiler-killed-for-memory"),
    engine: Symptom | None = seen(
        "llama-was-refused-main-memory",
        "ollama-wants-more-of-the-systems-memory",
        "ollama-names-what-was-killed",
        "comfyui-named",
        "layers-offloaded-in-part",
    ),
    job: Symptom | None = seen("oom-kill-in-job-step", "slurm-ended-it-for-memory"),
    platform: Platform | None = one(wsl=2),
    system: Platform | None = one(system="linux", wsl=None),
    spoken: Symptom | None = seen("prompt-of-linux-on-a-machine-named-by-windows", tag="wsl-spoken-of"),
    loader: Symptom | None = seen("worker-killed-for-memory"),
    asked: Symptom | None = seen("job-asks-for-main-memory"),
    line: Symptom | None = seen("script-asks-for-main-memory"),
    moved: Symptom | None = seen("model-is-moved-after-loading"),
    shards: Symptom | None = seen("killed-while-shards-were-loaded"),
    card: Gpu | None = one(vendor="nvidia"),
    none: Symptom | None = seen(tag="no-gpu-told"),
    memory: Memory | None = None,
    limit: Symptom | None = seen("wslconfig-limits-memory"),
    told: Symptom | None = seen("memory-of-the-machine-told"),
    pod: Symptom | None = seen("pod-crashes-for-memory"),
) -> Params:
    """A build takes memory for each file that it compiles at once, an engine for its model and its context; WSL has half of what Windows has.

    A model that a program loads and then moves to the card lies whole in main memory first; no card is taken for granted.
    """
    wsl = platform or (spoken if system is None or not system.get("release") else None)  # whose kernel is not Microsoft's is none
    onto = (moved or (shards and card)) and none is None
    own = wsl is not None and limit is None and not (job or asked)
    return {
        "jobs": "2" if compiler is not None else None,
        "model": "smaller" if engine or (shards and not onto) else None,
        "memory": _twice(asked) if job is not None and line is None else None,
        "memory_of_script": _twice(line) if job is not None and line is not None else None,
        "had": f"{line.option}={line.amount}{line.get('unit') or ''}" if line is not None else None,
        "workers": None if compiler or engine or moved or shards or pod or (wsl and not loader) else "fewer",
        "wsl": _more_than_half(memory) if own else None,
        "of_wsl": f"{memory.total / GIB:.3g} GiB" if own and memory is not None and memory.knows("total") else None,
        "limited": f"{limit.memory}{limit.unit}" if limit is not None else None,
        "raised": _above(limit, told) if limit is not None else None,
        "more": "elsewhere" if wsl is None and pod is None else None,
        "load": "from_pretrained" if onto else None,
    }


def _twice(asked: Symptom | None) -> str:
    """The option with twice what the job asked for, as a first trial; without a figure where it named none."""
    return f"{asked.option}={2 * int(asked.amount)}{asked.get('unit') or ''}" if asked is not None else "--mem"


def _more_than_half(memory: Memory | None) -> str:
    """Three quarters of what Windows has, of which WSL shows the half that it takes by itself, and the same again as swap."""
    gib = round(memory.total / GIB) if memory is not None and memory.knows("total") else 0
    return f"memory={gib * 3 // 2}GB, swap={gib * 3 // 2}GB" if gib else "memory=, swap="


def _above(limit: Symptom, told: Symptom | None) -> str:
    """Three quarters of the memory that the machine is said to have; twice the limit where nobody says it."""
    now = int(limit.memory) // (1 if limit.unit == "GB" else 1024)
    has = int(next((told.get(name) for name in ("gib", "gib2", "gib3") if told.get(name)), 0)) if told is not None else 0
    gib = max(has * 3 // 4, now + 1) if has > now else max(2 * now, 2)
    return f"memory={gib}GB, swap={gib}GB"
