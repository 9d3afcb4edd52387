"""A job's ranks: how many there are, who starts them, and which GPU each is bound to."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.reckoned import is_a_shell
from rigup.diagnosis.rules.scheduler import asking, per_node, tasks_per_node, total
from rigup.machine.kinds import JobRequest, Launch, Symptom

_BOUND = ("single", "closest", "map_gpu", "mask_gpu", "per_task")


@rule("slurm-ntasks-mismatch", "likely")
def fewer_tasks_than_gpus_were_asked_for(job: JobRequest, _named: Symptom = seen("lightning-told")) -> Verdict:
    """The same where nobody shows its trainer: a task each was meant for the GPUs of a node, and fewer tasks start."""
    product = (job.get("nodes") or 1) * (job.tasks_per_node or 1)
    intended = per_node(job) == job.tasks_per_node and (job.tasks_per_node or 1) > 1
    return intended and 0 < (job.tasks or 0) < product and {"devices": job.tasks_per_node}


@rule("slurm-ntasks-mismatch", "likely")
def each_task_starts_all_again(
    counted: Symptom = seen("more-workers-than-world"), job: JobRequest | None = None, slurm: Symptom | None = seen("slurm-told", "slurm-told-in-small-letters"),
) -> Verdict:  # fmt: skip
    """More processes than the world has places, as the scheduler's tasks start all of them once more."""
    return int(counted.workers) > int(counted.world) and (job is not None or slurm is not None)


@rule("slurm-ntasks-mismatch", "likely")
def tasks_start_a_launcher_each(
    job: JobRequest, _launcher: Symptom = seen("srun-starts-a-launcher"), _taken: Symptom = seen("address-in-use")
) -> Verdict:
    """A launcher starts the ranks of its node itself; several on one node meet at one port."""
    tasks = tasks_per_node(job) or 1
    return tasks > 1 and {"tasks": tasks, "devices": 1, "once": True}


@rule("slurm-ntasks-mismatch", "possible")
def every_node_gets_the_same_rank(
    job: JobRequest, symptom: Symptom = seen("srun-gives-every-node-one-rank")
) -> Verdict:
    """srun starts the same line on all nodes of the job: each launcher there takes itself for the one node of that number."""
    return job.get("nodes", 1) > 1 and not job.get("tasks") and {"said": symptom.id, "tasks": job.nodes, "devices": 1}


@rule("slurm-ntasks-mismatch", "likely")
def more_tasks_than_the_cards_of_whole_nodes(
    job: JobRequest, symptom: Symptom = seen("nccl-duplicate-gpu", "nccl-ranks-on-one-gpu", "cuda-invalid-ordinal", "torch-invalid-device-id", "lightning-rank-beyond-devices"),
    shared: Symptom | None = seen(tag="shared-on-purpose"),
) -> Verdict:  # fmt: skip
    """Each task takes the card of its number; the job has several nodes with all their cards, so that more cannot be asked for."""
    have, tasks = per_node(job) or 0, tasks_per_node(job) or 1
    more = (job.get("nodes") or 1) > 1 and 1 < have < tasks and not job.get("gpus")
    return more and shared is None and {"tasks": tasks, "devices": have, "said": symptom.id}


@rule("slurm-ntasks-mismatch")
def lightning_compares_the_tasks(
    symptom: Symptom = seen(tag="tasks-differ"),
    job: JobRequest | None = None,
    shell: Symptom | None = seen(tag="slurm-shell"),
) -> Verdict:
    """In a batch job it is right; in a shell it takes the shell's one task for the job's."""
    return not is_a_shell(job, shell) and symptom.values()


@rule("slurm-ntasks-mismatch", "likely")
def srun_tells_of_fewer_tasks(
    symptom: Symptom = seen("srun-starts-fewer-than-nodes", "srun-ignores-tasks-per-node"), want: Launch = one(), job: JobRequest | None = one(interactive=True)
) -> Verdict:  # fmt: skip
    """srun itself says that it starts fewer tasks than the job was to have, and a rank counts on more."""
    return job is None and want.world > int(symptom.tasks) and {"tasks": int(symptom.tasks), "devices": want.world}


@rule("slurm-ntasks-mismatch", "likely")
def product_of_devices_and_nodes_is_another(symptom: Symptom = seen("lightning-product-differs"), job: JobRequest = one()) -> Verdict:  # fmt: skip
    """The trainer's devices and nodes do not make up the ranks that the job started."""
    return bool(job) and {"tasks": int(symptom.world) // int(symptom.nodes), "devices": int(symptom.devices)}


@rule("slurm-ntasks-mismatch", "likely")
def mpi_starts_more_than_the_jobs_tasks(symptom: Symptom = seen("mpi-finds-too-few-slots"), job: JobRequest = one()) -> Verdict:  # fmt: skip
    """Open MPI takes a slot for each of the job's tasks."""
    known = job.get("tasks") or job.get("tasks_per_node")
    return (
        bool(known)
        and total(job) < int(symptom.slots)
        and {"tasks": tasks_per_node(job), "devices": int(symptom.slots)}
    )


@rule("slurm-ntasks-mismatch", "likely")
def each_node_starts_from_rank_nought(want: Launch, job: JobRequest = one(launcher="srun")) -> Verdict:
    """A job of several nodes tells srun no tasks, so it starts one on each; what those start takes the same numbers twice."""
    ranks, nodes = want.ranks, job.get("nodes") or 1
    untold = not job.get("tasks") and not job.get("tasks_per_node")
    doubled = len(set(ranks)) > 1 and all(ranks.count(rank) == nodes for rank in ranks)
    return nodes > 1 and untold and doubled and want.world > len(set(ranks)) and {"world": want.world, "nodes": nodes}


@rule("slurm-ntasks-mismatch", "likely")
def world_has_one_rank_for_each_node(
    job: JobRequest = one(launcher="srun"), symptom: Symptom = seen("rank-of-a-world-on-a-host")
) -> Verdict:
    """As many ranks as nodes announce themselves, each on its first card, and every node was given several."""
    nodes, cards = job.get("nodes") or 1, per_node(job) or 1
    return nodes > 1 and int(symptom.world) == nodes and (tasks_per_node(job) or 1) == 1 < cards and {"tasks": 1, "devices": cards}  # fmt: skip


@rule("slurm-srun-missing", "likely")
def ranks_of_one_node_wait_for_the_others(
    want: Launch = one(framework="lightning"), _slurm: Symptom = seen("slurm-told", "slurm-told-in-small-letters"), job: JobRequest | None = one(launcher="srun"),
) -> Verdict:  # fmt: skip
    """The first node's ranks announce themselves once each, and nobody starts the same on the others."""
    count = len(want.ranks)
    first = 1 < count < want.world and sorted(want.ranks) == list(range(count)) and want.world % count == 0
    return first and job is None and {"total": want.world}


@rule("slurm-srun-missing", "likely")
def ranks_of_one_node_came(symptom: Symptom = seen("some-clients-joined"), job: JobRequest = one()) -> Verdict:
    """A launcher was started on the first of several nodes: exactly that node's ranks met."""
    nodes, came, world = job.get("nodes") or 1, int(symptom.came), int(symptom.world)
    alone = job.get("launcher") != "srun" and not job.get("interactive")
    return nodes > 1 and came * nodes == world and alone and {"total": nodes}


@rule("slurm-srun-missing", "possible")
def first_rank_alone_until_the_time_is_over(want: Launch, _end: Symptom = seen("slurm-time-limit", "rendezvous-timed-out", "lightning-srun-not-used")) -> Verdict:  # fmt: skip
    """Rank 0 of several announces itself, nobody else does, and the time is over, or Lightning misses srun."""
    return set(want.ranks) == {0} and len(want.ranks) == 1 and want.world > 1 and {"total": want.world}


@rule("slurm-srun-missing", "possible")
def ranks_of_other_nodes_do_not_come(
    _late: Symptom = seen("elastic-rendezvous-timed-out", "rendezvous-timed-out"), job: JobRequest = one(), started: JobRequest | None = one(launcher="srun"),
) -> Verdict:  # fmt: skip
    """A batch script of several nodes, no srun in it, and the launcher waits for nodes."""
    nodes = job.get("nodes") or 1
    return started is None and nodes > 1 and not job.get("interactive") and {"total": nodes}


@rule("slurm-srun-missing", "possible")
def first_rank_waits_in_a_job_that_is_told_of(
    symptom: Symptom = seen("one-client-joined"),
    _slurm: Symptom = seen("slurm-told", "batch-system-is-slurm"),
    job: JobRequest | None = one(),
) -> Verdict:
    """One rank of several came, and Slurm was to start them."""
    return job is None and {"total": int(symptom.world)}


@rule("slurm-gpu-binding-per-task", "likely")
def task_reaches_for_anothers_card(
    job: JobRequest, _beyond: Symptom = seen("ipc-handle-not-opened", "visible-list-beyond", "rank-sees-too-few", "cuda-invalid-ordinal"),
) -> Verdict:  # fmt: skip
    """GPUs are bound to tasks, and one task's CUDA reaches for another's."""
    bound = job.get("binding", "none").partition(":")[0] in _BOUND or bool(job.get("gpus_per_task"))
    tasks = tasks_per_node(job)
    return bound and tasks != 1 and {"have": per_node(job), **asking(tasks or per_node(job) or 2)}


@rule("slurm-gpu-binding-per-task", "likely")
def bound_task_finds_no_way_to_its_peer(job: JobRequest, _said: Symptom = seen("ranks-find-no-way-to-a-peers-card")) -> Verdict:  # fmt: skip
    """GPUs are bound to tasks, and one task's NCCL reaches for another's."""
    bound = job.get("binding", "none").partition(":")[0] in ("single", "closest", "map_gpu", "mask_gpu", "per_task")
    tasks = tasks_per_node(job) or 1
    return tasks > 1 and (bound or bool(job.get("gpus_per_task"))) and {"have": per_node(job), **asking(tasks)}


@rule("slurm-gpu-binding-per-task", "likely")
def bound_task_of_jax_looks_for_the_card_of_its_number(
    job: JobRequest, symptom: Symptom = seen("jax-cuda-not-there", "xla-supports-no-device-of-rocms"), _ranks: Symptom = seen("jax-starts-its-ranks")
) -> Verdict:  # fmt: skip
    """JAX gives each task of a node the card of the task's number; a bound task has one card, and that is number 0."""
    bound = job.get("binding", "none").partition(":")[0] in _BOUND or bool(job.get("gpus_per_task"))
    tasks = tasks_per_node(job) or 1
    return bound and tasks > 1 and {"option": "--gpu-bind=none", "said": symptom.id, **asking(tasks)}
