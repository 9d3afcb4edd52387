"""Each task is given only a part of the job's GPUs."""

from rigup.diagnosis.causes.masks import CUDA_MASK
from rigup.diagnosis.causes.scheduler.requests import asking, for_the_node_and_not_for_the_task, per_node, tasks_per_node
from rigup.diagnosis.rule import Verdict, mends, one, rule, seen, text_rule
from rigup.machine.kinds import JobRequest, Launch, Symptom, Variable

_BOUND = ("single", "closest", "map_gpu", "mask_gpu", "per_task")


@rule("slurm-gpu-binding-per-task")
def enough_gpus_but_not_for_each_task(want: Launch, job: JobRequest, _missed: Symptom = seen("lightning-devices-missing")) -> Verdict:
    """The request is enough, and a process says that it sees too few."""
    have = per_node(job)
    part = want.get("visible") is None or 0 < want.visible < want.devices
    return part and have is not None and have >= want.devices and {"have": have, **asking(want.devices)}


@rule("slurm-gpu-binding-per-task", "likely")
def bound_and_beyond(job: JobRequest, _beyond: Symptom = seen("cuda-invalid-ordinal", "lightning-rank-beyond-devices")) -> Verdict:
    """GPUs are bound to tasks, and a rank looks for one that is another's."""
    tasks, each = tasks_per_node(job) or 1, job.get("gpus_per_task")
    bound = job.get("binding", "none").partition(":")[0] in ("single", "closest", "map_gpu", "mask_gpu", "per_task")
    return tasks > 1 and (bound or bool(each)) and {"have": per_node(job), **asking(tasks)}


@rule("slurm-gpu-binding-per-task", "likely")
def some_tasks_see_none(job: JobRequest, _none: Symptom = seen("task-lists-no-devices")) -> Verdict:
    """GPUs were asked for by the task, and a task lists none."""
    tasks = tasks_per_node(job) or 1
    return bool(job.gpus_per_task) and tasks > 1 and {"have": per_node(job), **asking(tasks)}


@rule("slurm-gpu-binding-per-task", "possible")
def tasks_print_different_masks(job: JobRequest, mask: Variable = one(name=CUDA_MASK)) -> Verdict:
    """GPUs are bound to tasks, and the tasks name different ones."""
    bound = job.get("binding", "none").partition(":")[0] in ("single", "closest", "map_gpu", "mask_gpu", "per_task")
    return bound and bool(mask.others.get("value")) and {"have": per_node(job), **asking(tasks_per_node(job) or 1)}


@text_rule("slurm-gpu-binding-per-task", "likely")
def task_reaches_for_anothers_card(
    job: JobRequest, _beyond: Symptom = seen("ipc-handle-not-opened", "visible-list-beyond", "rank-sees-too-few", "cuda-invalid-ordinal")
) -> Verdict:
    """GPUs are bound to tasks, and one task's CUDA reaches for another's."""
    bound = job.get("binding", "none").partition(":")[0] in _BOUND or bool(job.get("gpus_per_task"))
    tasks = tasks_per_node(job)
    return bound and tasks != 1 and {"have": per_node(job), **asking(tasks or per_node(job) or 2)}


@text_rule("slurm-gpu-binding-per-task", "likely")
def bound_task_finds_no_way_to_its_peer(job: JobRequest, _said: Symptom = seen("ranks-find-no-way-to-a-peers-card")) -> Verdict:
    """GPUs are bound to tasks, and one task's NCCL reaches for another's."""
    bound = job.get("binding", "none").partition(":")[0] in ("single", "closest", "map_gpu", "mask_gpu", "per_task")
    tasks = tasks_per_node(job) or 1
    return tasks > 1 and (bound or bool(job.get("gpus_per_task"))) and {"have": per_node(job), **asking(tasks)}


@text_rule("slurm-gpu-binding-per-task", "likely")
def bound_task_of_jax_looks_for_the_card_of_its_number(
    job: JobRequest,
    symptom: Symptom = seen("jax-cuda-not-there", "xla-supports-no-device-of-rocms"),
    _ranks: Symptom = seen("jax-starts-its-ranks"),
) -> Verdict:
    """JAX gives each task of a node the card of the task's number; a bound task has one card, and that is number 0."""
    bound = job.get("binding", "none").partition(":")[0] in _BOUND or bool(job.get("gpus_per_task"))
    tasks = tasks_per_node(job) or 1
    return bound and tasks > 1 and {"option": "--gpu-bind=none", "said": symptom.id, **asking(tasks)}


mends("slurm-gpu-binding-per-task")(for_the_node_and_not_for_the_task)
