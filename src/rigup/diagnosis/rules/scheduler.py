"""Slurm jobs: what was asked for, what the launcher counts on, and how the program was started."""

from rigup.diagnosis.rule import Every, Params, Verdict, lacks, one, rule, seen
from rigup.diagnosis.rules.program import CUDA_MASK
from rigup.machine.kinds import CardCount, JobRequest, Launch, Symptom, Torch, Variable

_JOB = ("SLURM_JOB_ID", "SLURM_JOBID")
_GIVEN = (
    "SLURM_JOB_GPUS", "SLURM_STEP_GPUS", "SLURM_GPUS", "SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_TASK", CUDA_MASK,
    "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
)  # fmt: skip


def per_node(job: JobRequest) -> int | None:
    """GPUs that a job asks for on each node, as far as its options tell."""
    if job.get("gpus_per_node"):
        return int(job.gpus_per_node or 0)
    if job.get("given"):
        return min(job.given)
    nodes = job.get("nodes") or 1
    if job.get("gpus"):
        return int((job.gpus or 0) // nodes)
    if job.get("gpus_per_task"):
        return int(job.gpus_per_task or 0) * (tasks_per_node(job) or 1)
    return None


def tasks_per_node(job: JobRequest) -> int | None:
    """Tasks that srun starts on each node; one where neither script nor command names a number."""
    if job.get("tasks_per_node"):
        return int(job.tasks_per_node or 0)
    if job.get("tasks"):
        return max(int((job.tasks or 0) // (job.get("nodes") or 1)), 1)
    return 1 if job.get("nodes") or job.knows("asked") else None


def total(job: JobRequest) -> int:
    """All tasks of a job."""
    return int(job.get("tasks") or (job.get("nodes") or 1) * (job.get("tasks_per_node") or 1))


def wants_gpu(want: Launch) -> bool:
    """Whether the launcher was not set to use the processor."""
    return want.get("accelerator", "gpu") not in ("cpu", "mps", "tpu")


def asking(devices: int) -> Params:
    """What to ask for so that each node has as many devices."""
    return {"devices": devices, "option": "--gpus-per-node=" + str(devices)}


# -- no GPU asked for
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
    torch: Torch,
    job: Variable = one(name=_JOB),
    _given: Every[Variable] = lacks(Variable, name=_GIVEN),
    cards: CardCount = one(usable=0),
) -> Verdict:
    """The node's cards are on the bus, no tool could use one, and the environment is made for them."""
    made_for = torch.get({"nvidia": "cuda", "amd": "hip"}.get(cards.vendor, "cuda"))
    return bool(job.value and made_for)


@rule("slurm-no-gpu-requested")
def slurm_masks_all(
    _nothing: Symptom = seen(tag="scheduler-nothing"), mask: Variable = one(name=CUDA_MASK, value="NoDevFiles")
) -> Verdict:
    """Slurm's own word for a job without GPUs."""
    return bool(mask.value)


@rule("slurm-no-gpu-requested", "likely")
def slurm_masks_all_before_anything_ran(
    job: Variable = one(name=_JOB), mask: Variable = one(name=CUDA_MASK, value="NoDevFiles")
) -> Verdict:
    """The same word in a job's variables, where no program has failed yet."""
    return bool(job.value and mask.value)


# -- fewer than the program wants, or parts of them
@rule("slurm-gpu-request-too-small")
def fewer_gpus_than_devices(want: Launch, job: JobRequest) -> Verdict:
    """The numbers of the request and of the launcher."""
    have = per_node(job)
    few = have is not None and 0 < have < want.devices and not (job.get("gpus") and (job.get("nodes") or 1) > 1)
    return few and wants_gpu(want) and {"have": have, **asking(want.devices)}


@rule("slurm-gpu-request-too-small")
def fewer_gpus_than_tasks(
    job: JobRequest,
    clash: Symptom = seen(
        "nccl-duplicate-gpu", "nccl-ranks-on-one-gpu", "cuda-invalid-ordinal", "lightning-rank-beyond-devices"
    ),
    shared: Symptom | None = seen(tag="shared-on-purpose"),
) -> Verdict:
    """Two ranks meet on one GPU, or one looks for a GPU that is not there; but some share their GPUs on purpose."""
    have, tasks = per_node(job), tasks_per_node(job) or 1
    intended = shared is not None and not clash.id.startswith("nccl")
    few = have is not None and 0 < have < tasks and not intended and not job.get("gpus")
    whole = (job.get("nodes") or 1) > 1 and have != 1  # who goes on to a second node has taken all of the first
    return few and not whole and {"have": have, **asking(tasks)}


@rule("slurm-gpu-binding-per-task")
def enough_gpus_but_not_for_each_task(
    want: Launch, job: JobRequest, _missed: Symptom = seen("lightning-devices-missing")
) -> Verdict:
    """The request is enough, and a process says that it sees too few."""
    have = per_node(job)
    part = want.get("visible") is None or 0 < want.visible < want.devices
    return part and have is not None and have >= want.devices and {"have": have, **asking(want.devices)}


@rule("slurm-gpu-binding-per-task", "likely")
def bound_and_beyond(
    job: JobRequest, _beyond: Symptom = seen("cuda-invalid-ordinal", "lightning-rank-beyond-devices")
) -> Verdict:
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


@rule("slurm-uneven-gpus")
def nodes_got_different_numbers(job: JobRequest) -> Verdict:
    """What each node gave, as Slurm itself tells."""
    return len(set(job.given)) > 1 and {
        "numbers": ", ".join(map(str, job.given)),
        **asking(sum(job.given) // len(job.given)),
    }


@rule("slurm-uneven-gpus")
def total_is_spread_and_a_rank_is_beyond(
    job: JobRequest,
    _beyond: Symptom = seen("lightning-rank-beyond-devices", "cuda-invalid-ordinal", "lightning-devices-missing"),
) -> Verdict:
    """A total over several nodes, and a rank that finds no GPU of its number."""
    spread = (
        (job.gpus or 0) > 1 and (job.nodes or 1) > 1 and not job.get("gpus_per_node") and not job.get("gpus_per_task")
    )
    return spread and asking(-(-(job.gpus or 0) // (job.nodes or 1)))


@rule("slurm-uneven-gpus", "likely")
def some_tasks_of_a_job_are_beyond(
    _beyond: Symptom = seen("lightning-rank-beyond-devices"),
    _task: Symptom = seen("srun-task-failed"),
    job: JobRequest | None = None,
) -> Verdict:
    """Single tasks look for a device beyond their node's list; nothing else is known of the request."""
    unknown = job is None or (per_node(job) is None and not job.get("tasks_per_node"))
    return unknown and {"option": "--gpus-per-node=N"}


@rule("slurm-uneven-gpus", "possible")
def rank_is_beyond_though_enough_was_asked_for(
    job: JobRequest, _beyond: Symptom = seen("lightning-rank-beyond-devices")
) -> Verdict:
    """The request would do for all tasks of a node, and one of several nodes gave less."""
    have, tasks = per_node(job), tasks_per_node(job)
    return have is not None and tasks is not None and have >= tasks > 1 and (job.nodes or 1) > 1 and asking(have)


# -- tasks and ranks
@rule("slurm-ntasks-mismatch")
def ranks_come_up_twice(want: Launch) -> Verdict:
    """As many announce themselves as are counted on, and some numbers are there twice while others are missing."""
    ranks = set(want.ranks)
    doubled = len(want.ranks) >= want.world > len(ranks) > 1 and all(want.ranks.count(rank) > 1 for rank in ranks)
    return doubled and {"world": want.world}


@rule("slurm-ntasks-mismatch")
def another_number_of_tasks(
    want: Launch = one(framework="lightning"), job: JobRequest = one(launcher="srun")
) -> Verdict:
    """srun starts the ranks: one task for each device."""
    if job.get("interactive"):
        return False
    tasks = tasks_per_node(job)
    enough = (per_node(job) or want.devices) >= want.devices and want.get("visible", want.devices) >= want.devices
    return tasks is not None and enough and tasks != want.devices and {"tasks": tasks, "devices": want.devices}


@rule("slurm-ntasks-mismatch")
def another_number_of_nodes(
    want: Launch = one(framework="lightning"), job: JobRequest = one(launcher="srun")
) -> Verdict:
    """num_nodes of the trainer against --nodes of the job."""
    return job.nodes is not None and want.nodes != job.nodes and {"nodes": job.nodes, "wanted_nodes": want.nodes}


@rule("slurm-ntasks-mismatch", "likely")
def fewer_tasks_than_its_own_product(job: JobRequest, want: Launch = one(framework="lightning")) -> Verdict:
    """--ntasks beside --ntasks-per-node, and smaller than all nodes' together: the smaller one counts."""
    product = (job.get("nodes") or 1) * (job.tasks_per_node or 1)
    return 0 < (job.tasks or 0) < product and want.get("devices", 2) > 1 and {"devices": job.tasks_per_node}


@rule("slurm-ntasks-mismatch", "likely")
def step_runs_fewer_tasks_than_asked_for_each_node(
    tasks: Variable = one(name="SLURM_NTASKS"),
    each: Variable = one(name="SLURM_NTASKS_PER_NODE"),
    nodes: Variable | None = one(name=("SLURM_NNODES", "SLURM_JOB_NUM_NODES")),
) -> Verdict:
    """Inside the job the two numbers contradict each other."""
    numbers = [str(each.value), str(tasks.value), str(nodes.get("value") or 1) if nodes else "1"]
    fewer = all(number.isdigit() for number in numbers) and int(numbers[1]) < int(numbers[0]) * int(numbers[2])
    return fewer and {"devices": int(numbers[0])}


@rule("slurm-ntasks-mismatch", "likely")
def rank_beyond_its_devices(
    want: Launch, job: JobRequest, _beyond: Symptom = seen("lightning-rank-beyond-devices")
) -> Verdict:
    """More tasks on a node than devices."""
    tasks = tasks_per_node(job) or 1
    return tasks > want.devices and {"tasks": tasks, "devices": want.devices}


@rule("slurm-ntasks-mismatch", "likely")
def each_task_starts_them_all(
    want: Launch = one(framework="torchrun"), job: JobRequest = one(launcher="srun")
) -> Verdict:
    """torchrun starts the processes of its node itself: srun is to start it once there."""
    tasks = tasks_per_node(job) or 1
    return tasks > 1 and want.devices > 1 and {"tasks": tasks, "devices": 1, "once": True}


@rule("slurm-srun-missing", "likely")
def torchrun_on_the_first_node_only(
    want: Launch = one(framework=("torchrun", "accelerate")), job: JobRequest = one(launcher=("torchrun", "accelerate"))
) -> Verdict:
    """It waits for the other nodes, on which nobody starts it."""
    return want.nodes > 1 and (job.nodes or 1) > 1 and {"total": want.nodes}


@rule("slurm-srun-missing")
def first_rank_waits_alone(want: Launch, job: JobRequest = one(launcher="python")) -> Verdict:
    """One process is started, and counts on several."""
    alone = set(want.ranks) == {0} and want.world > 1
    return alone and total(job) > 1 and {"total": total(job)}


@rule("slurm-srun-missing", "possible")
def first_rank_alone_in_a_job_of_several_tasks(want: Launch, job: JobRequest) -> Verdict:
    """As above, where nobody shows by what it was started."""
    alone = set(want.ranks) == {0} and want.world == total(job) > 1
    return alone and not job.get("launcher") and not job.get("interactive") and {"total": total(job)}


@rule("slurm-srun-missing", "likely")
def several_tasks_and_one_start(
    _want: Launch = one(framework="lightning"), job: JobRequest = one(launcher="python")
) -> Verdict:
    """Lightning believes Slurm's numbers, and nobody starts the other tasks."""
    return total(job) > 1 and not job.get("interactive") and {"total": total(job)}


@rule("slurm-srun-missing", "likely")
def warned_in_a_job_of_several_tasks(
    _warned: Symptom = seen("lightning-srun-not-used"), job: JobRequest = one(launcher="python")
) -> Verdict:
    """Lightning's warning; in an interactive run it is harmless."""
    return total(job) > 1 and not _shell(job) and {"total": total(job)}


@rule("slurm-srun-missing", "likely")
def one_task_of_one_node_came(
    job: JobRequest = one(nodes=1), symptom: Symptom = seen("one-client-joined"), launcher: JobRequest | None = one(launcher="srun")
) -> Verdict:  # fmt: skip
    """As many were to come as the job has tasks on its one node, and the first alone was started."""
    several = total(job) == int(symptom.world) > 1
    return several and launcher is None and not job.get("interactive") and {"total": total(job)}


@rule("slurm-srun-missing", "likely")
def first_rank_waits_until_the_end(
    want: Launch,
    _end: Symptom = seen("slurm-time-limit", "rendezvous-timed-out"),
    _warned: Symptom = seen("lightning-srun-not-used"),
) -> Verdict:
    """srun is not used, rank 0 alone announces itself, and then the time is over."""
    return set(want.ranks) == {0} and want.world > 1 and {"total": want.world}


def _shell(job: JobRequest) -> bool:
    return bool(job.get("interactive")) or job.get("name") in ("bash", "interactive")


@rule("slurm-interactive-shell", "likely")
def alone_in_a_shell(want: Launch, job: JobRequest) -> Verdict:
    """One member of one, in a shell on a node, with more devices wanted or at hand."""
    several = max(want.get("devices", 1), want.get("visible", 1), per_node(job) or 1)
    return want.world == 1 and _shell(job) and several > 1 and {"devices": several}


@rule("slurm-interactive-shell", "possible")
def alone_with_several_devices(
    want: Launch = one(framework="lightning", world=1), job: JobRequest | None = None
) -> Verdict:
    """One member of one where several devices are wanted: a scheduler's single task was taken for all."""
    return job is None and (want.get("nodes") or 1) == 1 and want.devices > 1 and wants_gpu(want)


@rule("slurm-interactive-shell", "likely")
def shell_has_other_numbers(job: JobRequest, symptom: Symptom = seen("lightning-tasks-differ")) -> Verdict:
    """Lightning compares its devices with the one task of a shell."""
    return bool(job.get("interactive")) and {"devices": symptom.get("devices")}
