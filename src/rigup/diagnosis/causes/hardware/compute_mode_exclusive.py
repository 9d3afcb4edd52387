"""The GPU is busy: it may admit one process at a time."""

from rigup.diagnosis.causes.hardware.card_index import index_of, index_of_the_card
from rigup.diagnosis.causes.hardware.memory_holders import node_that_is_held, process_that_is_named
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen
from rigup.machine.kinds import Gpu, GpuProcess, Symptom

_EXCLUSIVE = ("Exclusive_Process", "Exclusive_Thread", "Prohibited")


@rule("compute-mode-exclusive")
def another_process_has_it(
    _error: Symptom = seen("ollama-driver-init-failed", tag="gpu-busy"), gpu: Gpu = one(compute_mode=_EXCLUSIVE)
) -> Verdict:
    """One process at a time may use the card, and another one does."""
    return (_error.get("code", "46") == "46") and index_of(gpu)


@rule("compute-mode-exclusive", "likely")
def taken_before_anybody_tries(
    gpu: Gpu = one(vendor="nvidia", compute_mode=_EXCLUSIVE),
    holder: GpuProcess = one(graphics=False),
    asked: Symptom | None = seen(tag="gpu-busy"),
) -> Verdict:
    """The list of its processes shows that it is taken: the next program will be refused."""
    here = asked is None and holder.get("gpu") is not None and holder.gpu == gpu.get("nvml_index")
    return here and {
        **index_of(gpu),
        "severity": "note",
        "pid": str(holder.pid),
        "holder": holder.get("name"),
        "owner": holder.get("owner"),
    }


@rule("compute-mode-exclusive", "possible")
def card_is_busy(error: Symptom = seen("ollama-driver-init-failed", tag="gpu-busy"), gpu: Gpu | None = None) -> Verdict:
    """A card that is shared by default is seldom busy; nobody has shown its mode."""
    return error.get("code", "46") == "46" and not (gpu and gpu.knows("compute_mode"))


@rule("compute-mode-exclusive", "likely")
def card_lets_no_program_in(
    gpu: Gpu = one(vendor="nvidia", compute_mode="Prohibited"),
    other: Gpu | None = one(vendor="nvidia", compute_mode=("Default", "Exclusive_Process")),
) -> Verdict:
    """No program may compute on it, and there is no other card that lets one."""
    return other is None and {**index_of(gpu), "barred": gpu.get("name") or "NVIDIA"}


mends("compute-mode-exclusive")(index_of_the_card)
mends("compute-mode-exclusive")(node_that_is_held)


@mends("compute-mode-exclusive")
def mode_of_all(knew: Params, gpu: Gpu | None = one(compute_mode="Prohibited")) -> Params:
    """Nobody can share a card that lets no program in: its mode goes first."""
    barred = gpu is not None or bool(knew.get("barred"))
    index = knew.get("index")
    return {"barred_index": index if barred else None, "index": None if barred else index, "all": "cards" if index is None else None}


mends("compute-mode-exclusive")(process_that_is_named)
