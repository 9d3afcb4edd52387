"""The job asks Slurm for no GPU."""

from rigup.diagnosis.causes.masks import CUDA_MASK
from rigup.diagnosis.causes.scheduler.requests import asking, tasks_per_node
from rigup.diagnosis.rule import Every, Params, Verdict, lacks, mends, one, rule, seen, text_rule
from rigup.machine.kinds import CardCount, JobRequest, Launch, Symptom, Torch, Variable

_JOB = ("SLURM_JOB_ID", "SLURM_JOBID")
_GIVEN = (
    "SLURM_JOB_GPUS",
    "SLURM_STEP_GPUS",
    "SLURM_GPUS",
    "SLURM_GPUS_PER_NODE",
    "SLURM_GPUS_ON_NODE",
    "SLURM_GPUS_PER_TASK",
    CUDA_MASK,
    "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
)
_MOST = 8  # tasks on a node of which each may well want a GPU


@rule("slurm-no-gpu-requested")
def program_finds_none_in_a_job_without_any(
    _nothing: Symptom = seen(tag="scheduler-nothing"), job: JobRequest = one(asked=False)
) -> Verdict:
    """The whole request is known, and there is no GPU in it."""
    return {"partition": job.get("partition")}


@rule("slurm-no-gpu-requested", "likely")
def torch_for_gpus_finds_none(torch: Torch = one(available=False), job: JobRequest = one(asked=False)) -> Verdict:
    """A build for GPUs, none found, and none asked for; on a partition of processors that is no fault."""
    made_for = torch.get("cuda") or torch.get("hip")
    return bool(made_for) and "cpu" not in (job.get("partition") or "").lower()


@rule("slurm-no-gpu-requested", "likely")
def nodes_are_chosen_by_gpu_and_none_is_asked_for(job: JobRequest = one(asked=False)) -> Verdict:
    """`-C gpu` chooses nodes with GPUs, and gives none."""
    return "gpu" in (job.get("constraint") or "").lower()


@rule("slurm-no-gpu-requested", "likely")
def launcher_wants_gpus_and_none_is_asked_for(want: Launch, _job: JobRequest = one(asked=False)) -> Verdict:
    """`accelerator="gpu"` in a job without a GPU."""
    return want.get("accelerator") in ("gpu", "cuda") or want.get("visible", 1) == 0


@rule("slurm-no-gpu-requested")
def program_finds_none_and_slurm_gave_none(
    _nothing: Symptom = seen(tag="scheduler-nothing"),
    job: Variable = one(name=_JOB),
    _given: Every[Variable] = lacks(Variable, name=_GIVEN),
) -> Verdict:
    """Inside the job no variable names a GPU."""
    return bool(job.value)


@rule("slurm-no-gpu-requested", "likely")
def node_has_gpus_and_slurm_gave_none(
    torch: Torch, job: Variable = one(name=_JOB), _given: Every[Variable] = lacks(Variable, name=_GIVEN), cards: CardCount = one(usable=0)
) -> Verdict:
    """The node's cards are on the bus, no tool could use one, and the environment is made for them."""
    made_for = torch.get({"nvidia": "cuda", "amd": "hip"}.get(cards.vendor, "cuda"))
    return bool(job.value and made_for)


@rule("slurm-no-gpu-requested")
def slurm_masks_all(_nothing: Symptom = seen(tag="scheduler-nothing"), mask: Variable = one(name=CUDA_MASK, value="NoDevFiles")) -> Verdict:
    """Slurm's own word for a job without GPUs."""
    return bool(mask.value)


@rule("slurm-no-gpu-requested", "likely")
def slurm_masks_all_before_anything_ran(
    job: Variable = one(name=_JOB), mask: Variable = one(name=CUDA_MASK, value="NoDevFiles")
) -> Verdict:
    """The same word in a job's variables, where no program has failed yet."""
    return bool(job.value and mask.value)


@text_rule("slurm-no-gpu-requested", "likely")
def header_asks_for_none(_none: Symptom = seen(tag="requests-none"), job: JobRequest = one(launcher=("python", "srun"))) -> Verdict:
    """The header of a batch script without its first line, with what it starts below it, and no GPU in it."""
    numbers = any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task"))
    return (
        not job.knows("asked") and job.knows("script") and not numbers and "gpu" in job.partition.lower() and {"partition": job.partition}
    )


@text_rule("slurm-no-gpu-requested", "likely")
def program_computes_on_the_processor(_said: Symptom = seen(tag="requests-cpu"), job: JobRequest = one(asked=False)) -> Verdict:
    """Slurm's own answer has no GPU among the job's resources, and a program takes the processor."""
    return "cpu" not in (job.get("partition") or "").lower() and {"partition": job.get("partition")}


@text_rule("slurm-no-gpu-requested", "likely")
def step_lists_no_card_though_its_driver_answers(
    symptom: Symptom = seen(tag="requests-empty"),
    _step: Symptom = seen("srun-task-failed"),
    _program: Symptom = seen(tag="no-device"),
    job: JobRequest | None = None,
    mask: Variable | None = one(name=CUDA_MASK),
) -> Verdict:
    """Without a driver nvidia-smi ends otherwise: this one answers, and a control group shows the step none of its cards."""
    numbers = job is not None and any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task", "asked"))
    return not numbers and mask is None and {"said": symptom.id}


@text_rule("slurm-no-gpu-requested", "likely")
def program_stops_in_a_job_without_any(
    _said: Symptom = seen(tag="program-stops-without-gpu"), job: JobRequest = one(asked=False)
) -> Verdict:
    """The whole request is known, no GPU is in it, and a program ends because it finds none."""
    return "cpu" not in (job.get("partition") or "").lower() and {"partition": job.get("partition")}


@text_rule("slurm-no-gpu-requested", "likely")
def nodes_driver_is_not_permitted_in_a_job(_said: Symptom = seen("kfd-not-permitted"), job: JobRequest = one()) -> Verdict:
    """Slurm's control group lets a job open the cards that it asked for, and no other."""
    numbers = any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task", "asked"))
    return not numbers and {"partition": job.get("partition")}


@mends("slurm-no-gpu-requested")
def gpus_by_node(job: JobRequest | None = None, want: Launch | None = None) -> Params:
    """As many on each node as the program wants devices; else as many as it has tasks there, if these are few."""
    tasks = (tasks_per_node(job) if job else None) or 1
    wanted = (want.get("devices") if want else None) or (tasks if tasks <= _MOST else 1)
    option = asking(wanted)["option"]
    readings = job.fields.values() if job is not None else ()
    script = any(reading.where.text.lstrip().startswith("#SBATCH") for reading in readings)
    return {"line": option, "option": None} if script else {"option": option}


@mends("slurm-no-gpu-requested")
def tasks_that_are_as_many_as_gpus(knew: Params, job: JobRequest, _lightning: Symptom = seen("lightning-no-gpu-backend")) -> Params:
    """Lightning takes each task for a process of one GPU, and stops where tasks and devices of a node are not one number."""
    reading = job.fields.get("tasks_per_node")
    if not knew.get("line") or reading is None or (tasks_per_node(job) or 1) <= _MOST:
        return {}
    words = reading.where.text.split()
    former = next((word for word in words if word.startswith("--ntasks-per-node")), "")
    return (
        {"lines": f"`#SBATCH {knew['line']}` and `#SBATCH --ntasks-per-node=1`", "former": former or None, "line": None} if former else {}
    )
