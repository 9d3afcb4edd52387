"""/dev/shm is too small for the worker processes."""

from rigup.diagnosis.causes.container_starters import asking, what_it_is_said_to_be_started_by, what_starts_it
from rigup.diagnosis.rule import Params, Verdict, mends, rule, seen, text_rule
from rigup.knowledge.starters import asked
from rigup.machine.kinds import SharedMemory, Symptom, World

ENGINE_DEFAULT = 64 * 2**20  # what docker and podman give /dev/shm


@rule("shm-too-small")
def engines_default_and_a_crash(
    shared: SharedMemory, error: Symptom = seen("dataloader-bus-error", "shm-segment-failed", "torch-shm-file-failed")
) -> Verdict:
    """The size tells why, and the message who asked for more."""
    found = {"size": f"{shared.total // 2**20} MiB", **({"library": "NCCL"} if error.id == "shm-segment-failed" else {})}
    return (shared.total <= ENGINE_DEFAULT or shared.get("free") == 0) and found


@text_rule("shm-too-small", "likely")
def engines_default_and_a_bus_error(
    shared: SharedMemory, error: Symptom = seen("bus-error-plain", "bus-error-signal", "no-space-left-plain", "dataloader-worker-gone")
) -> Verdict:
    """A bus error, or no space, is what a full /dev/shm gives; its size is an engine's default."""
    full = error.id != "no-space-left-plain" or shared.get("free") == 0
    return full and shared.total <= ENGINE_DEFAULT and {"size": f"{shared.total // 2**20} MiB"}


@text_rule("shm-too-small", "possible")
def system_error_of_nccl_on_one_host(
    _error: Symptom = seen("nccl-system-error", "nccl-system-error-constant"),
    _alone: Symptom = seen("nccl-tests-on-one-host"),
    nodes: Symptom | None = seen("several-nodes-told", "nccl-uses-inner-interfaces", "nccl-no-address-family"),
    shared: SharedMemory | None = None,
) -> Verdict:
    """Between cards of one host NCCL asks the system for little but shared memory, and engines give little of it."""
    return nodes is None and (shared is None or shared.total <= ENGINE_DEFAULT)


mends("shm-too-small")(what_starts_it)
mends("shm-too-small")(what_it_is_said_to_be_started_by)


@mends("shm-too-small")
def how_shared_memory_is_asked_for(knew: Params, _any: World | None = None) -> Params:
    """A size of its own, or the host's where that can be shared."""
    shared = asked("shm-of-host", str(knew.get("starter") or "docker"))
    sized = asking(knew, "shm")
    return {**sized, **(asking(knew, "shm-of-host", "shared_") if shared or "option" in sized else {})}


@mends("shm-too-small")
def data_without_shared_memory(
    _lent: Symptom = seen(tag="lent-container hosted-notebook"), _loader: Symptom = seen("dataloader-bus-error")
) -> Params:
    """Who rents a container starts it not themselves."""
    return {"loader": "DataLoader"}
