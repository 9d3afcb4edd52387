"""What to ask of Slurm: the numbers that the text shows, and in place of what."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.diagnosis.rules.scheduler import asking, per_node, tasks_per_node
from rigup.machine.kinds import JobRequest, Launch, Symptom

_MOST = 8  # tasks on a node of which each may well want a GPU
_UNKNOWN = "=N"  # how a rule writes a number that the text does not show


@mends("slurm-no-gpu-requested")
def gpus_by_node(job: JobRequest | None = None, want: Launch | None = None) -> Params:
    """As many on each node as the program wants devices; else as many as it has tasks there, if these are few."""
    tasks = (tasks_per_node(job) if job else None) or 1
    wanted = (want.get("devices") if want else None) or (tasks if tasks <= _MOST else 1)
    option = asking(wanted)["option"]
    script = job is not None and any(
        reading.where.text.lstrip().startswith("#SBATCH") for reading in job.fields.values()
    )
    return {"line": option, "option": None} if script else {"option": option}


@mends("slurm-ntasks-mismatch")
def tasks_by_node(
    knew: Params, want: Launch | None = None, job: JobRequest | None = None, more: Symptom | None = seen("more-workers-than-world"),
) -> Params:  # fmt: skip
    """One task for each device and one node for each that the trainer is told; one for all where each starts them itself."""
    if more is not None or knew.get("once") or (want is not None and want.get("framework") == "torchrun"):
        return _tasks(1, job)
    nodes = knew.get("wanted_nodes") or (want.get("nodes") if want else None)
    have = (knew.get("wanted_nodes") and knew.get("nodes")) or (job.get("nodes") if job else None)
    if nodes and have and str(nodes) != str(have):
        return {"option": "--nodes=" + str(nodes)}
    return _tasks(_devices(knew, want, job), job)


def _devices(knew: Params, want: Launch | None, job: JobRequest | None) -> int:
    """What the trainer is told, what a node has, or how many ranks come up on each; 0 where the text shows none of it."""
    count = knew.get("devices") or (want.get("devices") if want else None) or (per_node(job) if job else None)
    if not count and want is not None and want.get("ranks") and want.get("world"):
        own = set(want.ranks)
        count = len(own) if all(want.ranks.count(rank) > 1 for rank in own) and len(own) < want.world else None
    return int(count or 0)


def _tasks(number: int, job: JobRequest | None) -> Params:
    if not number:
        return {"option": None, "unknown": "--ntasks-per-node"}
    option = f"--ntasks-per-node={number}"
    former = f"--ntasks={job.tasks}" if job is not None and job.get("tasks") else None
    return {"instead": option, "former": former, "option": None} if former else {"option": option}


@mends("slurm-gpu-request-too-small")
def as_many_as_the_program_wants(
    knew: Params, symptom: Symptom | None = seen("nodes-of-a-job-count-unlike-cards")
) -> Params:
    """Where the text does not show how many these are."""
    return {} if knew.get("option") or symptom else {"unknown": "--gpus-per-node"}


@mends("slurm-gpu-binding-per-task", "slurm-uneven-gpus")
def for_the_node_and_not_for_the_task(
    knew: Params, job: JobRequest | None = None, want: Launch | None = None
) -> Params:
    """The option that binds, or that leaves it to the scheduler where the cards come from, has to go."""
    option = str(knew.get("option") or "")
    if not option or option.endswith(_UNKNOWN):
        devices = want.get("devices") if want else None
        option = str(asking(int(devices))["option"]) if devices else ""
    if not option:
        return {"option": None, "unknown": "--gpus-per-node"}
    if job is not None and job.get("gpus_per_node") and (job.get("binding") or "bind" in option):
        return {"option": None}  # enough is asked for; the binding alone has to go
    former = _former(job)
    return (
        {"option": None, "instead": option, "former": former} if former and "bind" not in option else {"option": option}
    )


def _former(job: JobRequest | None) -> str:
    """As the script has it."""
    if job is None:
        return ""
    if job.get("gpus_per_task"):
        return f"--gpus-per-task={job.gpus_per_task}"
    if job.get("gpus") and not job.get("gpus_per_node") and (job.get("nodes") or 1) > 1:
        return f"--gpus={job.gpus}"
    return ""
