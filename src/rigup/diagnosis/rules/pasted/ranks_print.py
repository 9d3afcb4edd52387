"""What launchers and schedulers print of numbers that do not fit, beside what the job was asked for."""

from math import prod

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.scheduler import asking, per_node, tasks_per_node, total
from rigup.machine.kinds import JobRequest, Launch, SharedMemory, Symptom, Torch, World


@rule("slurm-ntasks-mismatch", "likely")
def srun_tells_of_fewer_tasks(
    said: Symptom = seen("srun-starts-fewer-than-nodes", "srun-ignores-tasks-per-node"), want: Launch = one(), job: JobRequest | None = one(interactive=True)
) -> Verdict:  # fmt: skip
    """srun itself says that it starts fewer tasks than the job was to have, and a rank counts on more."""
    return job is None and want.world > int(said.tasks) and {"tasks": int(said.tasks), "devices": want.world}


@rule("slurm-ntasks-mismatch", "likely")
def product_of_devices_and_nodes_is_another(said: Symptom = seen("lightning-product-differs"), job: JobRequest = one()) -> Verdict:  # fmt: skip
    """The trainer's devices and nodes do not make up the ranks that the job started."""
    return bool(job) and {"tasks": int(said.world) // int(said.nodes), "devices": int(said.devices)}


@rule("slurm-ntasks-mismatch", "likely")
def ranks_were_told_of_different_worlds(_said: Symptom = seen("ranks-told-of-different-worlds"), job: JobRequest = one()) -> Verdict:  # fmt: skip
    """Two ranks that met believe in different numbers of ranks."""
    return job.knows("tasks") or job.knows("tasks_per_node") or job.knows("nodes")


@rule("slurm-ntasks-mismatch", "likely")
def mpi_starts_more_than_the_jobs_tasks(said: Symptom = seen("mpi-finds-too-few-slots"), job: JobRequest = one()) -> Verdict:  # fmt: skip
    """Open MPI takes a slot for each of the job's tasks."""
    known = job.get("tasks") or job.get("tasks_per_node")
    return bool(known) and total(job) < int(said.slots) and {"tasks": tasks_per_node(job), "devices": int(said.slots)}


@rule("slurm-no-gpu-requested", "likely")
def ray_counts_none_in_a_job_without_any(_said: Symptom = seen("ray-cluster-has-no-gpu"), job: JobRequest = one(asked=False)) -> Verdict:  # fmt: skip
    """Ray, started in a job without GPUs, has none to give."""
    return {"partition": job.get("partition")}


@rule("cuda-visible-devices-wrong", "likely")
def launcher_took_the_mask_and_finds_no_such_card(
    mask: Symptom = seen("deepspeed-takes-the-mask"), said: Symptom = seen("deepspeed-finds-no-such-slot")
) -> Verdict:
    """The launcher counts all cards of the machine, and the mask names one beyond them."""
    return said.slot in mask.list.split(",") and {"name": "CUDA_VISIBLE_DEVICES"}


@rule("cpu-only-torch", "likely")
def build_for_the_processor_has_no_nccl(_said: Symptom = seen("torch-was-built-without-nccl"), torch: Torch = one(cuda=None, hip=None)) -> Verdict:  # fmt: skip
    """The build's own version tells that it is for the processor, and a group of GPUs is wanted of it."""
    return torch.knows("cuda") and not (torch.get("platform") or "").startswith("macos")


_BEYOND = ("cuda-invalid-ordinal", "torch-invalid-device-id", "visible-list-beyond", "visible-list-beyond-several", "nccl-duplicate-gpu", "nccl-ranks-on-one-gpu")  # fmt: skip


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


@rule("slurm-gpu-binding-per-task", "likely")
def bound_task_finds_no_way_to_its_peer(job: JobRequest, _said: Symptom = seen("ranks-find-no-way-to-a-peers-card")) -> Verdict:  # fmt: skip
    """GPUs are bound to tasks, and one task's NCCL reaches for another's."""
    bound = job.get("binding", "none").partition(":")[0] in ("single", "closest", "map_gpu", "mask_gpu", "per_task")
    tasks = tasks_per_node(job) or 1
    return tasks > 1 and (bound or bool(job.get("gpus_per_task"))) and {"have": per_node(job), **asking(tasks)}


@rule("multinode-wrong-interface", "likely")
def each_node_meets_at_its_own_loopback(
    _at: Symptom = seen("several-nodes-meet-at-the-loopback"), _late: Symptom = seen("elastic-rendezvous-timed-out", "rendezvous-timed-out", "some-clients-joined", "one-client-joined"),
) -> Verdict:  # fmt: skip
    """Several nodes are told to meet at `localhost`, which is another place on each, and the meeting times out."""
    return True


_STOPS = (
    "program-stops-without-a-gpu", "program-stops-without-cuda", "program-stops-without-torchs-cuda", "program-stops-on-a-setup-without-gpu", "program-finds-no-gpu-device",
    "ray-gave-a-gpu-and-torch-has-none",
)  # fmt: skip


@rule("slurm-no-gpu-requested", "likely")
def program_stops_in_a_job_without_any(_said: Symptom = seen(*_STOPS), job: JobRequest = one(asked=False)) -> Verdict:  # fmt: skip
    """The whole request is known, no GPU is in it, and a program ends because it finds none."""
    return "cpu" not in (job.get("partition") or "").lower() and {"partition": job.get("partition")}


@rule("container-without-gpu", "likely")
def program_stops_in_a_container_that_asked_for_none(_said: Symptom = seen(*_STOPS), world: World = one(gpu_requested=False)) -> Verdict:  # fmt: skip
    """The command that started the container names no GPU, and a program ends because it finds none."""
    return bool(world.get("container"))


_FEWER = (
    "server-is-to-shard-on-one-card", "gromacs-has-more-tasks-than-cards", "namd-has-more-processes-than-cards", "mesh-is-larger-than-the-cards",
    "tensorflow-is-told-of-a-card-beyond", "trial-wants-more-cards-than-ray-has", "yolo-is-told-of-cards-beyond",
)  # fmt: skip


@rule("slurm-gpu-request-too-small")
def program_has_fewer_than_it_is_to_use(want: Symptom = seen(*_FEWER), job: JobRequest = one()) -> Verdict:
    """A program tells how many it is to use, and the fewer that it has are what its one node was asked for."""
    have, wanted = per_node(job), _wanted(want)
    same = want.get("have") is None or have == int(want.have)
    return have is not None and same and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}  # fmt: skip


def _wanted(said: Symptom) -> int:
    """As many as a message counts, lists, multiplies, or names the last of."""
    if said.get("shape"):
        return prod(int(part) for part in said.shape.split(",") if part.strip())
    if said.get("list"):
        return len(said.list.split(","))
    return int(said.get("count") or int(said.get("index") or 1) + 1)


@rule("shm-too-small", "possible")
def bus_error_in_a_container_with_the_default(
    _error: Symptom = seen("bus-error-plain", "bus-error-signal"), world: World = one(gpu_requested=True),
    larger: Symptom | None = seen("container-is-started-with-more-shared-memory", "container-shares-the-hosts-memory"), shared: SharedMemory | None = None,
) -> Verdict:  # fmt: skip
    """The command that started the container asks for GPUs and for no more shared memory than the engine's default."""
    return bool(world.get("container")) and larger is None and shared is None


@rule("slurm-gpu-request-too-small", "likely")
def submitit_asks_for_fewer_cards_than_tasks(
    asks: Symptom = seen("submitit-asks-for-tasks-and-cards"),
    _beyond: Symptom = seen(*_BEYOND, "lightning-rank-beyond-devices"),
) -> Verdict:
    """A job asked for in Python: fewer GPUs on a node than tasks there, and a task looks for a card beyond."""
    have, tasks = int(asks.get("gpus") or asks.gpus_), int(asks.get("tasks") or asks.tasks_)
    return 0 < have < tasks and {"have": have, **asking(tasks)}
