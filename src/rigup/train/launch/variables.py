"""Variables that a job's own numbers, its GPUs and its network ask for."""

from rigup.knowledge.launch import launch_variables
from rigup.train.launch.job import Job


def variables_of(job: Job) -> dict[str, str]:
    """By name; those that a person sets go over them.

    Raises KnowledgeError where the table is malformed.
    """
    variables = {"PYTHONUNBUFFERED": "1"}  # the last words of a rank that is killed are in the log
    if job.shape.cpus_per_task:
        variables["OMP_NUM_THREADS"] = str(job.shape.cpus_per_task)
    if job.shape.gpus_per_node:
        variables |= launch_variables(job.vendor, job.fabric)
    if job.shape.signal is not None and job.shape.requeue:
        variables["RIGUP_CHECKPOINT_SIGNAL"] = f"SIG{job.shape.signal.name}"
    return variables
