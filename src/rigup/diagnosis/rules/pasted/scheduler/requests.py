"""What a job asked Slurm for: no GPU, too few, unevenly."""

from math import prod

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA
from rigup.diagnosis.rules.pasted.heard import PROGRAM_STOPS, SLURM_SHELL, TASKS_DIFFER
from rigup.diagnosis.rules.pasted.reckoned import is_a_shell
from rigup.diagnosis.rules.program import CUDA_MASK, NO_DEVICE
from rigup.diagnosis.rules.scheduler import asking, per_node
from rigup.machine.kinds import Gpu, JobRequest, Launch, Symptom, Torch, Variable

_NONE = (*NO_DEVICE, *NO_CUDA, "nvidia-smi-no-devices", "nvidia-smi-cannot-communicate")
_CPU = ("ollama-computes-on-cpu", "gromacs-no-gpu", "jax-cuda-not-there", "jax-falls-back-to-the-processor", "jax-lists-the-processor-alone", "runs-on-the-cpu-shown", "vllm-no-device-shown", "nvidia-smi-no-devices", "nvidia-smi-none-in-words", *NO_CUDA)  # fmt: skip
_WANTS = ("program-num-gpus", "program-gpu-list", "program-tp-size", "data-parallel-list", "vllm-tensor-parallel", "vllm-world-too-large")  # fmt: skip
_EMPTY = ("nvidia-smi-ends-with-nothing-found", "nvidia-smi-no-devices")
_SLURM = ("srun-task-failed", "slurm-told", "slurm-told-in-small-letters", "batch-system-is-slurm")
_BEYOND = ("cuda-invalid-ordinal", "torch-invalid-device-id", "visible-list-beyond", "visible-list-beyond-several", "nccl-duplicate-gpu", "nccl-ranks-on-one-gpu")  # fmt: skip
_FEWER = (
    "server-is-to-shard-on-one-card", "gromacs-has-more-tasks-than-cards", "namd-has-more-processes-than-cards", "mesh-is-larger-than-the-cards",
    "tensorflow-is-told-of-a-card-beyond", "trial-wants-more-cards-than-ray-has", "yolo-is-told-of-cards-beyond",
)  # fmt: skip


def _wanted(said: Symptom) -> int:
    """As many as a message counts, lists, multiplies, or names the last of."""
    if said.get("shape"):
        return prod(int(part) for part in said.shape.split(",") if part.strip())
    if said.get("list"):
        return len(said.list.split(","))
    return int(said.get("count") or int(said.get("index") or 1) + 1)


# -- slurm-no-gpu-requested
@rule("slurm-no-gpu-requested", "likely")
def counted_none_in_a_step_that_asks_for_none(torch: Torch = one(devices=0), job: JobRequest = one()) -> Verdict:
    """A command on a partition of GPUs, shown whole, that names none, and torch counts none."""
    numbers = any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task", "asked"))
    cpu = torch.knows("cuda") and torch.cuda is None
    return not numbers and not cpu and not job.knows("script") and "gpu" in job.partition.lower() and {"partition": job.partition}  # fmt: skip


@rule("slurm-no-gpu-requested", "likely")
def typed_command_asks_for_none(_none: Symptom = seen(*_NONE), job: JobRequest = one(interactive=True)) -> Verdict:
    """A shell on a node, whose whole command is shown and names no GPU."""
    numbers = any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task", "constraint"))
    return not job.get("asked") and not numbers and bool(job.get("partition")) and {"partition": job.partition}


@rule("slurm-no-gpu-requested", "likely")
def typed_step_asks_for_none(torch: Torch = one(available=False), job: JobRequest = one()) -> Verdict:
    """A command on a partition of GPUs, shown whole, that names none, and torch finds none."""
    numbers = any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task", "asked"))
    cpu = torch.knows("cuda") and torch.cuda is None
    return not numbers and not cpu and not job.knows("script") and "gpu" in job.partition.lower() and {"partition": job.partition}  # fmt: skip


@rule("slurm-no-gpu-requested", "likely")
def header_asks_for_none(_none: Symptom = seen(*_NONE), job: JobRequest = one(launcher=("python", "srun"))) -> Verdict:
    """The header of a batch script without its first line, with what it starts below it, and no GPU in it."""
    numbers = any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task"))
    return not job.knows("asked") and job.knows("script") and not numbers and "gpu" in job.partition.lower() and {"partition": job.partition}  # fmt: skip


@rule("slurm-no-gpu-requested", "likely")
def program_computes_on_the_processor(_said: Symptom = seen(*_CPU), job: JobRequest = one(asked=False)) -> Verdict:
    """Slurm's own answer has no GPU among the job's resources, and a program takes the processor."""
    return "cpu" not in (job.get("partition") or "").lower() and {"partition": job.get("partition")}


@rule("slurm-no-gpu-requested", "likely")
def torch_counts_none_in_a_job_without_any(torch: Torch, job: JobRequest = one(asked=False)) -> Verdict:
    """The same, where torch sees none."""
    none = torch.get("available") is False or torch.get("devices") == 0
    return none and "cpu" not in (job.get("partition") or "").lower() and {"partition": job.get("partition")}


@rule("slurm-no-gpu-requested", "likely")
def container_of_a_job_was_given_none(
    _void: Symptom = seen("visible-void"), job: JobRequest = one(), _said: Symptom = seen("image-found-no-driver", *NO_CUDA)
) -> Verdict:  # fmt: skip
    """Slurm's container hook hands on the job's GPUs: `void` says that it has none."""
    return bool(job.partition) and {"partition": job.partition}


@rule("slurm-no-gpu-requested", "likely")
def step_lists_no_card_though_its_driver_answers(
    said: Symptom = seen(*_EMPTY), _step: Symptom = seen("srun-task-failed"), _program: Symptom = seen(*NO_DEVICE), job: JobRequest | None = None,
    mask: Variable | None = one(name=CUDA_MASK),
) -> Verdict:  # fmt: skip
    """Without a driver nvidia-smi ends otherwise: this one answers, and a control group shows the step none of its cards."""
    numbers = job is not None and any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task", "asked"))
    return not numbers and mask is None and {"said": said.id}


@rule("slurm-no-gpu-requested", "likely")
def nvidia_smi_has_no_card_to_list_in_a_step(
    said: Symptom = seen("nvidia-smi-exits-with-six"), _slurm: Symptom = seen(*_SLURM), asked: JobRequest | None = one(asked=True),
    card: Gpu | None = one(seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """6 is its word for no such thing, 9 that for no driver: the node's driver runs, and its cards are not of this job."""
    return asked is None and card is None and {"said": said.id}


@rule("slurm-no-gpu-requested", "likely")
def ray_counts_none_in_a_job_without_any(_said: Symptom = seen("ray-cluster-has-no-gpu"), job: JobRequest = one(asked=False)) -> Verdict:  # fmt: skip
    """Ray, started in a job without GPUs, has none to give."""
    return {"partition": job.get("partition")}


@rule("slurm-no-gpu-requested", "likely")
def program_stops_in_a_job_without_any(_said: Symptom = seen(*PROGRAM_STOPS), job: JobRequest = one(asked=False)) -> Verdict:  # fmt: skip
    """The whole request is known, no GPU is in it, and a program ends because it finds none."""
    return "cpu" not in (job.get("partition") or "").lower() and {"partition": job.get("partition")}


@rule("slurm-no-gpu-requested", "likely")
def nodes_driver_is_not_permitted_in_a_job(_said: Symptom = seen("kfd-not-permitted"), job: JobRequest = one()) -> Verdict:  # fmt: skip
    """Slurm's control group lets a job open the cards that it asked for, and no other."""
    numbers = any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task", "asked"))
    return not numbers and {"partition": job.get("partition")}


@rule("slurm-no-gpu-requested", "likely")
def workflow_hands_its_step_to_slurm_without_gpus(
    _none: Symptom = seen("workflow-asks-for-no-accelerators"), _slurm: Symptom = seen("batch-system-is-slurm"),
    said: Symptom = seen("program-finds-no-gpu-device", "cuda-no-device", "torch-no-cuda-gpus", "torch-found-no-driver", "nvidia-smi-no-devices"),
) -> Verdict:  # fmt: skip
    """The workflow's own log names no accelerator for the step, and its program finds none."""
    return {"said": said.id}


# -- slurm-gpu-request-too-small
@rule("slurm-gpu-request-too-small", "likely")
def more_processes_than_cards(
    want: Symptom = seen("mpi-number-of-processes"), job: JobRequest = one(),
    _beyond: Symptom = seen("index-out-of-range-plain", "cuda-invalid-ordinal", "nccl-duplicate-gpu", "torch-invalid-device-id"),
) -> Verdict:  # fmt: skip
    """One process for each card is started, and one looks for a card that the job has not."""
    have, wanted = per_node(job), int(want.count)
    return have is not None and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@rule("slurm-gpu-request-too-small", "likely")
def engine_counts_fewer_than_it_is_to_use(
    want: Symptom = seen("tensor-parallel-larger-than-cards", "vllm-world-too-large"), job: JobRequest = one()
) -> Verdict:
    """The program's message has both numbers, and the fewer are what the job was given."""
    have, wanted = per_node(job), int(want.count)
    return have == int(want.have) and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@rule("slurm-gpu-request-too-small", "likely")
def engine_wants_more_than_the_job_has(
    want: Symptom = seen("vllm-tensor-parallel", "accelerate-processes"), job: JobRequest = one()
) -> Verdict:
    """A program is to use more GPUs than its one node was asked for."""
    have, wanted = per_node(job), int(want.count)
    return have is not None and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@rule("slurm-gpu-request-too-small", "likely")
def program_is_told_of_more_than_the_job_has(want: Symptom = seen(*_WANTS), job: JobRequest = one()) -> Verdict:
    """The program's own option names more GPUs than its one node was asked for."""
    have, listed = per_node(job), want.get("list")
    wanted = listed.count(",") + 1 if listed else int(want.get("count") or want.get("count2") or 0)
    return have is not None and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@rule("slurm-gpu-request-too-small", "likely")
def more_are_started_than_the_job_has_cards(
    want: Symptom = seen("nccl-test-wants-cards", "composer-counts-processes", "fairseq-counts-processes", "horovod-counts-processes"),
    job: JobRequest = one(), _beyond: Symptom = seen(*_BEYOND),
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
def program_has_fewer_than_it_is_to_use(want: Symptom = seen(*_FEWER), job: JobRequest = one()) -> Verdict:
    """A program tells how many it is to use, and the fewer that it has are what its one node was asked for."""
    have, wanted = per_node(job), _wanted(want)
    same = want.get("have") is None or have == int(want.have)
    return have is not None and same and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}  # fmt: skip


@rule("slurm-gpu-request-too-small", "likely")
def submitit_asks_for_fewer_cards_than_tasks(
    asks: Symptom = seen("submitit-asks-for-tasks-and-cards"),
    _beyond: Symptom = seen(*_BEYOND, "lightning-rank-beyond-devices"),
) -> Verdict:
    """A job asked for in Python: fewer GPUs on a node than tasks there, and a task looks for a card beyond."""
    have, tasks = int(asks.get("gpus") or asks.gpus_), int(asks.get("tasks") or asks.tasks_)
    return 0 < have < tasks and {"have": have, **asking(tasks)}


# -- slurm-uneven-gpus
@rule("slurm-uneven-gpus", "likely")
def total_does_not_divide_and_a_list_ends(job: JobRequest, _end: Symptom = seen("index-out-of-range-plain", "cuda-invalid-ordinal")) -> Verdict:  # fmt: skip
    """A total of GPUs that its nodes cannot share evenly, and a rank whose number is beyond its node's list."""
    gpus, nodes = job.get("gpus") or 0, job.get("nodes") or 1
    return nodes > 1 and gpus % nodes != 0 and {"option": "--gpus-per-node=N"}


@rule("slurm-gpu-request-too-small", "likely")
def engine_finds_fewer_than_it_requires(said: Symptom = seen("ray-has-too-few-for-the-engine"), job: JobRequest = one()) -> Verdict:  # fmt: skip
    """Ray counts what the job was given, and the engine wants more."""
    have = per_node(job)
    return bool(have) and (job.get("nodes") or 1) == 1 and {"said": said.id, "have": have}


# -- slurm-interactive-shell
@rule("slurm-interactive-shell", "likely")
def number_of_tasks_is_taken_from_a_shell(said: Symptom = seen("lightning-ntasks-unsupported"), job: JobRequest = one(interactive=True)) -> Verdict:  # fmt: skip
    """In a shell on a node Lightning reads what the shell was asked for as if it were a batch job's."""
    return {"said": said.id, "devices": per_node(job) or 1}


@rule("slurm-interactive-shell", "likely")
def lightning_compares_the_task_of_a_shell(
    said: Symptom = seen(*TASKS_DIFFER), job: JobRequest | None = None, shell: Symptom | None = seen(*SLURM_SHELL)
) -> Verdict:
    """As above, where the shell's own variables or its command are shown."""
    return is_a_shell(job, shell) and {"devices": said.get("devices") or (job and per_node(job)) or 1}


@rule("slurm-interactive-shell", "likely")
def alone_in_what_is_shown_to_be_a_shell(
    want: Launch = one(framework="lightning", world=1),
    _shown: Symptom = seen(*SLURM_SHELL),
    job: JobRequest | None = None,
) -> Verdict:
    """One member of one, several devices, and the variables of a shell."""
    several = max(want.get("devices", 1), want.get("visible", 1), (job and per_node(job)) or 1)
    return several > 1 and {"devices": several}


@rule("slurm-interactive-shell", "possible")
def alone_with_several_cards_under_slurm(
    want: Launch = one(framework="lightning", world=1), _slurm: Symptom = seen("lightning-leaves-it-to-slurm"), job: JobRequest | None = one(launcher="srun"),
) -> Verdict:  # fmt: skip
    """Lightning leaves it to Slurm to start ranks, counts one, and sees several cards."""
    return job is None and want.visible > 1 and {"devices": want.visible}


@rule("slurm-interactive-shell", "possible")
def first_rank_alone_in_a_shell(
    want: Launch = one(framework="lightning"), _job: JobRequest = one(interactive=True), works: Symptom | None = seen("epoch-with-its-loss")
) -> Verdict:  # fmt: skip
    """Somebody in a shell of a job starts one process, and it waits for as many as the job has tasks."""
    return works is None and set(want.ranks) == {0} and len(want.ranks) == 1 and want.world > 1 and {"devices": want.world}  # fmt: skip


@rule("slurm-no-gpu-requested", "possible")
def same_command_finds_none_in_a_step(
    said: Symptom = seen("cuda-there-and-not-in-a-step"), asked: JobRequest | None = one(asked=True), mask: Variable | None = one(name=CUDA_MASK)
) -> Verdict:  # fmt: skip
    """The environment can compute on a GPU, as the same command shows outside; the step's own command names none."""
    return asked is None and mask is None and {"said": said.id}
