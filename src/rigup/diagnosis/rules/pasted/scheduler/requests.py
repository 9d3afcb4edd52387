"""What a job asked Slurm for: no GPU, too few, unevenly."""

from math import prod

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.reckoned import is_a_shell
from rigup.diagnosis.rules.program import CUDA_MASK
from rigup.diagnosis.rules.scheduler import asking, per_node
from rigup.machine.kinds import JobRequest, Launch, Symptom, Variable


def _devices_wanted(symptom: Symptom) -> int:
    """As many as a message counts, lists, multiplies, or names the last of."""
    if symptom.get("shape"):
        return prod(int(part) for part in symptom.shape.split(",") if part.strip())
    if symptom.get("list"):
        return len(symptom.list.split(","))
    return int(symptom.get("count") or int(symptom.get("index") or 1) + 1)


@rule("slurm-no-gpu-requested", "likely")
def header_asks_for_none(
    _none: Symptom = seen(tag="requests-none"), job: JobRequest = one(launcher=("python", "srun"))
) -> Verdict:
    """The header of a batch script without its first line, with what it starts below it, and no GPU in it."""
    numbers = any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task"))
    return not job.knows("asked") and job.knows("script") and not numbers and "gpu" in job.partition.lower() and {"partition": job.partition}  # fmt: skip


@rule("slurm-no-gpu-requested", "likely")
def program_computes_on_the_processor(
    _said: Symptom = seen(tag="requests-cpu"), job: JobRequest = one(asked=False)
) -> Verdict:
    """Slurm's own answer has no GPU among the job's resources, and a program takes the processor."""
    return "cpu" not in (job.get("partition") or "").lower() and {"partition": job.get("partition")}


@rule("slurm-no-gpu-requested", "likely")
def step_lists_no_card_though_its_driver_answers(
    symptom: Symptom = seen(tag="requests-empty"), _step: Symptom = seen("srun-task-failed"), _program: Symptom = seen(tag="no-device"), job: JobRequest | None = None,
    mask: Variable | None = one(name=CUDA_MASK),
) -> Verdict:  # fmt: skip
    """Without a driver nvidia-smi ends otherwise: this one answers, and a control group shows the step none of its cards."""
    numbers = job is not None and any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task", "asked"))
    return not numbers and mask is None and {"said": symptom.id}


@rule("slurm-no-gpu-requested", "likely")
def program_stops_in_a_job_without_any(_said: Symptom = seen(tag="program-stops-without-gpu"), job: JobRequest = one(asked=False)) -> Verdict:  # fmt: skip
    """The whole request is known, no GPU is in it, and a program ends because it finds none."""
    return "cpu" not in (job.get("partition") or "").lower() and {"partition": job.get("partition")}


@rule("slurm-no-gpu-requested", "likely")
def nodes_driver_is_not_permitted_in_a_job(_said: Symptom = seen("kfd-not-permitted"), job: JobRequest = one()) -> Verdict:  # fmt: skip
    """Slurm's control group lets a job open the cards that it asked for, and no other."""
    numbers = any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task", "asked"))
    return not numbers and {"partition": job.get("partition")}


@rule("slurm-gpu-request-too-small", "likely")
def engine_wants_more_than_the_job_has(
    want: Symptom = seen("vllm-tensor-parallel", "accelerate-processes"), job: JobRequest = one()
) -> Verdict:
    """A program is to use more GPUs than its one node was asked for."""
    have, wanted = per_node(job), int(want.count)
    return have is not None and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@rule("slurm-gpu-request-too-small", "likely")
def program_is_told_of_more_than_the_job_has(
    want: Symptom = seen(tag="gpu-count-wanted"), job: JobRequest = one()
) -> Verdict:
    """The program's own option names more GPUs than its one node was asked for."""
    have, listed = per_node(job), want.get("list")
    wanted = listed.count(",") + 1 if listed else int(want.get("count") or want.get("count2") or 0)
    return have is not None and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@rule("slurm-gpu-request-too-small", "likely")
def more_are_started_than_the_job_has_cards(
    want: Symptom = seen("nccl-test-wants-cards", "composer-counts-processes", "fairseq-counts-processes", "horovod-counts-processes"),
    job: JobRequest = one(), _beyond: Symptom = seen(tag="gpu-count-beyond"),
) -> Verdict:  # fmt: skip
    """A launcher's or a test's own number, on one node, and one of its processes looks for a card that the job has not."""
    have, wanted = per_node(job), int(want.count)
    return have is not None and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@rule("slurm-gpu-request-too-small", "likely")
def trainer_counts_fewer_than_it_is_to_find(want: Symptom = seen("lightning-finds-fewer-cards"), job: JobRequest = one()) -> Verdict:  # fmt: skip
    """The message has both numbers, and the fewer are what the job was given."""
    have, wanted = per_node(job), int(want.count)
    return have == int(want.have) and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@rule("slurm-gpu-request-too-small")
def program_has_fewer_than_it_is_to_use(
    want: Symptom = seen(tag="gpu-count-fewer"), job: JobRequest = one()
) -> Verdict:
    """A program tells how many it is to use, and the fewer that it has are what its one node was asked for."""
    have, wanted = per_node(job), _devices_wanted(want)
    same = want.get("have") is None or have == int(want.have)
    return have is not None and same and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}  # fmt: skip


@rule("slurm-gpu-request-too-small", "likely")
def submitit_asks_for_fewer_cards_than_tasks(
    asks: Symptom = seen("submitit-asks-for-tasks-and-cards"),
    _beyond: Symptom = seen("lightning-rank-beyond-devices", tag="gpu-count-beyond"),
) -> Verdict:
    """A job asked for in Python: fewer GPUs on a node than tasks there, and a task looks for a card beyond."""
    have, tasks = int(asks.get("gpus") or asks.gpus_), int(asks.get("tasks") or asks.tasks_)
    return 0 < have < tasks and {"have": have, **asking(tasks)}


@rule("slurm-gpu-request-too-small", "likely")
def engine_finds_fewer_than_it_requires(symptom: Symptom = seen("ray-has-too-few-for-the-engine"), job: JobRequest = one()) -> Verdict:  # fmt: skip
    """Ray counts what the job was given, and the engine wants more."""
    have = per_node(job)
    return bool(have) and (job.get("nodes") or 1) == 1 and {"said": symptom.id, "have": have}


@rule("slurm-interactive-shell", "likely")
def lightning_compares_the_task_of_a_shell(
    symptom: Symptom = seen(tag="tasks-differ"),
    job: JobRequest | None = None,
    shell: Symptom | None = seen(tag="slurm-shell"),
) -> Verdict:
    """As above, where the shell's own variables or its command are shown."""
    return is_a_shell(job, shell) and {"devices": symptom.get("devices") or (job and per_node(job)) or 1}


@rule("slurm-interactive-shell", "possible")
def first_rank_alone_in_a_shell(
    want: Launch = one(framework="lightning"), _job: JobRequest = one(interactive=True), works: Symptom | None = seen("epoch-with-its-loss")
) -> Verdict:  # fmt: skip
    """Somebody in a shell of a job starts one process, and it waits for as many as the job has tasks."""
    return works is None and set(want.ranks) == {0} and len(want.ranks) == 1 and want.world > 1 and {"devices": want.world}  # fmt: skip
