"""The nodes of the job have different numbers of GPUs."""

from rigup.diagnosis.causes.scheduler.requests import asking, for_the_node_and_not_for_the_task, per_node, tasks_per_node
from rigup.diagnosis.rule import Verdict, mends, rule, seen
from rigup.machine.kinds import JobRequest, Symptom


@rule("slurm-uneven-gpus")
def nodes_got_different_numbers(job: JobRequest) -> Verdict:
    """What each node gave, as Slurm itself tells."""
    return len(set(job.given)) > 1 and {"numbers": ", ".join(map(str, job.given)), **asking(sum(job.given) // len(job.given))}


@rule("slurm-uneven-gpus")
def total_is_spread_and_a_rank_is_beyond(
    job: JobRequest, _beyond: Symptom = seen("lightning-rank-beyond-devices", "cuda-invalid-ordinal", "lightning-devices-missing")
) -> Verdict:
    """A total over several nodes, and a rank that finds no GPU of its number."""
    spread = (job.gpus or 0) > 1 and (job.nodes or 1) > 1 and not job.get("gpus_per_node") and not job.get("gpus_per_task")
    return spread and asking(-(-(job.gpus or 0) // (job.nodes or 1)))


@rule("slurm-uneven-gpus", "likely")
def some_tasks_of_a_job_are_beyond(
    _beyond: Symptom = seen("lightning-rank-beyond-devices"), _task: Symptom = seen("srun-task-failed"), job: JobRequest | None = None
) -> Verdict:
    """Single tasks look for a device beyond their node's list; nothing else is known of the request."""
    unknown = job is None or (per_node(job) is None and not job.get("tasks_per_node"))
    return unknown and {"option": "--gpus-per-node=N"}


@rule("slurm-uneven-gpus", "possible")
def rank_is_beyond_though_enough_was_asked_for(job: JobRequest, _beyond: Symptom = seen("lightning-rank-beyond-devices")) -> Verdict:
    """The request would do for all tasks of a node, and one of several nodes gave less."""
    have, tasks = per_node(job), tasks_per_node(job)
    return have is not None and tasks is not None and have >= tasks > 1 and (job.nodes or 1) > 1 and asking(have)


mends("slurm-uneven-gpus")(for_the_node_and_not_for_the_task)
