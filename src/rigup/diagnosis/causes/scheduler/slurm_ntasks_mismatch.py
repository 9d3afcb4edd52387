"""Slurm starts another number of tasks than the trainer counts on."""

from rigup.diagnosis.causes.scheduler.requests import is_a_shell, per_node, tasks_per_node, total
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen, text_rule
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import JobRequest, Launch, Symptom, Variable

_NODES_HAVE = (4, 8, 16)  # fewer that are named need not be all
_OF_A_CARD = lazy_regex(r"\W{0,4}(?:[\w.-]{1,60}:)?\d{1,9}:\d{1,9} \[(\d{1,2})\] ")  # NCCL's; its host is taken off


@rule("slurm-ntasks-mismatch")
def ranks_come_up_twice(want: Launch) -> Verdict:
    """As many announce themselves as are counted on, and some numbers are there twice while others are missing."""
    ranks = set(want.ranks)
    doubled = len(want.ranks) >= want.world > len(ranks) > 1 and all(want.ranks.count(rank) > 1 for rank in ranks)
    return doubled and {"world": want.world}


@rule("slurm-ntasks-mismatch")
def another_number_of_tasks(want: Launch = one(framework="lightning"), job: JobRequest = one(launcher="srun")) -> Verdict:
    """srun starts the ranks: one task for each device."""
    if job.get("interactive"):
        return False
    tasks = tasks_per_node(job)
    enough = (per_node(job) or want.devices) >= want.devices and want.get("visible", want.devices) >= want.devices
    return tasks is not None and enough and tasks != want.devices and {"tasks": tasks, "devices": want.devices}


@rule("slurm-ntasks-mismatch")
def another_number_of_nodes(want: Launch = one(framework="lightning"), job: JobRequest = one(launcher="srun")) -> Verdict:
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
def rank_beyond_its_devices(want: Launch, job: JobRequest, _beyond: Symptom = seen("lightning-rank-beyond-devices")) -> Verdict:
    """More tasks on a node than devices."""
    tasks = tasks_per_node(job) or 1
    return tasks > want.devices and {"tasks": tasks, "devices": want.devices}


@rule("slurm-ntasks-mismatch", "likely")
def each_task_starts_them_all(want: Launch = one(framework="torchrun"), job: JobRequest = one(launcher="srun")) -> Verdict:
    """torchrun starts the processes of its node itself: srun is to start it once there."""
    tasks = tasks_per_node(job) or 1
    return tasks > 1 and want.devices > 1 and {"tasks": tasks, "devices": 1, "once": True}


@text_rule("slurm-ntasks-mismatch", "likely")
def fewer_tasks_than_gpus_were_asked_for(job: JobRequest, _named: Symptom = seen("lightning-told")) -> Verdict:
    """The same where nobody shows its trainer: a task each was meant for the GPUs of a node, and fewer tasks start."""
    product = (job.get("nodes") or 1) * (job.tasks_per_node or 1)
    intended = per_node(job) == job.tasks_per_node and (job.tasks_per_node or 1) > 1
    return intended and 0 < (job.tasks or 0) < product and {"devices": job.tasks_per_node}


@text_rule("slurm-ntasks-mismatch", "likely")
def each_task_starts_all_again(
    counted: Symptom = seen("more-workers-than-world"),
    job: JobRequest | None = None,
    slurm: Symptom | None = seen("slurm-told", "slurm-told-in-small-letters"),
) -> Verdict:
    """More processes than the world has places, as the scheduler's tasks start all of them once more."""
    return int(counted.workers) > int(counted.world) and (job is not None or slurm is not None)


@text_rule("slurm-ntasks-mismatch", "likely")
def tasks_start_a_launcher_each(
    job: JobRequest, _launcher: Symptom = seen("srun-starts-a-launcher"), _taken: Symptom = seen("address-in-use")
) -> Verdict:
    """A launcher starts the ranks of its node itself; several on one node meet at one port."""
    tasks = tasks_per_node(job) or 1
    return tasks > 1 and {"tasks": tasks, "devices": 1, "once": True}


@text_rule("slurm-ntasks-mismatch", "possible")
def every_node_gets_the_same_rank(job: JobRequest, symptom: Symptom = seen("srun-gives-every-node-one-rank")) -> Verdict:
    """srun starts the same line on all nodes of the job: each launcher there takes itself for the one node of that number."""
    return job.get("nodes", 1) > 1 and not job.get("tasks") and {"said": symptom.id, "tasks": job.nodes, "devices": 1}


@text_rule("slurm-ntasks-mismatch", "likely")
def more_tasks_than_the_cards_of_whole_nodes(
    job: JobRequest,
    symptom: Symptom = seen(
        "nccl-duplicate-gpu", "nccl-ranks-on-one-gpu", "cuda-invalid-ordinal", "torch-invalid-device-id", "lightning-rank-beyond-devices"
    ),
    shared: Symptom | None = seen(tag="shared-on-purpose"),
) -> Verdict:
    """Each task takes the card of its number; the job has several nodes with all their cards, so that more cannot be asked for."""
    have, tasks = per_node(job) or 0, tasks_per_node(job) or 1
    more = (job.get("nodes") or 1) > 1 and 1 < have < tasks and not job.get("gpus")
    return more and shared is None and {"tasks": tasks, "devices": have, "said": symptom.id}


@text_rule("slurm-ntasks-mismatch")
def lightning_compares_the_tasks(
    symptom: Symptom = seen(tag="tasks-differ"), job: JobRequest | None = None, shell: Symptom | None = seen(tag="slurm-shell")
) -> Verdict:
    """In a batch job it is right; in a shell it takes the shell's one task for the job's."""
    return not is_a_shell(job, shell) and symptom.values()


@text_rule("slurm-ntasks-mismatch", "likely")
def srun_tells_of_fewer_tasks(
    symptom: Symptom = seen("srun-starts-fewer-than-nodes", "srun-ignores-tasks-per-node"),
    want: Launch = one(),
    job: JobRequest | None = one(interactive=True),
) -> Verdict:
    """srun itself says that it starts fewer tasks than the job was to have, and a rank counts on more."""
    return job is None and want.world > int(symptom.tasks) and {"tasks": int(symptom.tasks), "devices": want.world}


@text_rule("slurm-ntasks-mismatch", "likely")
def product_of_devices_and_nodes_is_another(symptom: Symptom = seen("lightning-product-differs"), job: JobRequest = one()) -> Verdict:
    """The trainer's devices and nodes do not make up the ranks that the job started."""
    return bool(job) and {"tasks": int(symptom.world) // int(symptom.nodes), "devices": int(symptom.devices)}


@text_rule("slurm-ntasks-mismatch", "likely")
def mpi_starts_more_than_the_jobs_tasks(symptom: Symptom = seen("mpi-finds-too-few-slots"), job: JobRequest = one()) -> Verdict:
    """Open MPI takes a slot for each of the job's tasks."""
    known = job.get("tasks") or job.get("tasks_per_node")
    return bool(known) and total(job) < int(symptom.slots) and {"tasks": tasks_per_node(job), "devices": int(symptom.slots)}


@text_rule("slurm-ntasks-mismatch", "likely")
def each_node_starts_from_rank_nought(want: Launch, job: JobRequest = one(launcher="srun")) -> Verdict:
    """A job of several nodes tells srun no tasks, so it starts one on each; what those start takes the same numbers twice."""
    ranks, nodes = want.ranks, job.get("nodes") or 1
    untold = not job.get("tasks") and not job.get("tasks_per_node")
    doubled = len(set(ranks)) > 1 and all(ranks.count(rank) == nodes for rank in ranks)
    return nodes > 1 and untold and doubled and want.world > len(set(ranks)) and {"world": want.world, "nodes": nodes}


@text_rule("slurm-ntasks-mismatch", "likely")
def world_has_one_rank_for_each_node(
    job: JobRequest = one(launcher="srun"), symptom: Symptom = seen("rank-of-a-world-on-a-host")
) -> Verdict:
    """As many ranks as nodes announce themselves, each on its first card, and every node was given several."""
    nodes, cards = job.get("nodes") or 1, per_node(job) or 1
    return nodes > 1 and int(symptom.world) == nodes and (tasks_per_node(job) or 1) == 1 < cards and {"tasks": 1, "devices": cards}


def _tasks(number: int, job: JobRequest | None) -> Params:
    if not number:
        return {"option": None, "unknown": "--ntasks-per-node"}
    option = f"--ntasks-per-node={number}"
    if job is None:
        return {"option": option}
    wanted, had = _shares(number, job)
    former = [f"--ntasks={job.tasks}"] if job.get("tasks") else []
    former += (
        [f"--ntasks-per-node={job.tasks_per_node}"]
        if job.get("tasks_per_node") not in (None, number) and (had or job.get("script"))
        else []
    )
    option, given = " ".join([option, *wanted]), ", ".join([*former, *had])
    if not given:
        return {"option": option}
    if job.get("script"):
        lines = ", ".join(f"`#SBATCH {one}`" for one in option.split())
        return {"lines": lines, "former": given, "option": None}
    return {"instead": option, "former": given, "option": None}


def _shares(number: int, job: JobRequest) -> tuple[list[str], list[str]]:
    """What each task is given, for as many tasks of a node as shall share the same; and as the job has it."""
    tasks = tasks_per_node(job) or 1
    given = {"--cpus-per-task": job.get("cpus_per_task"), "--gpus-per-task": job.get("gpus_per_task")}
    other = {name: max(each * tasks // number, 1) for name, each in given.items() if each and max(each * tasks // number, 1) != each}
    return [f"{name}={each}" for name, each in other.items()], [f"{name}={given[name]}" for name in other]


def _devices(knew: Params, want: Launch | None, job: JobRequest | None) -> int:
    """What the trainer is told, what a node has, or how many ranks come up on each; 0 where the text shows none of it."""
    count = knew.get("devices") or (want.get("devices") if want else None) or (per_node(job) if job else None)
    if not count and want is not None and want.get("ranks") and want.get("world"):
        own = set(want.ranks)
        count = len(own) if all(want.ranks.count(rank) > 1 for rank in own) and len(own) < want.world else None
    return int(count or 0)


@mends("slurm-ntasks-mismatch")
def ranks_on_each_host_of_a_log(knew: Params, twice: Symptom = seen("nccl-rank-twice"), heard: Every[Symptom] = every(Symptom)) -> Params:
    """NCCL's lines name the card of each rank on a host; all ranks that are counted on are so many times that."""
    indexes = [int(match[1]) for one in heard if (match := _OF_A_CARD.match(one.fields["id"].where.text))]
    cards, world = max(indexes, default=0) + 1, int(twice.get("world") or twice.get("world_") or 0)
    whole = cards in _NODES_HAVE and world > cards and world % cards == 0 and not knew.get("devices")
    return {"devices": cards, "wanted_nodes": world // cards} if whole else {}


@mends("slurm-ntasks-mismatch")
def tasks_by_node(
    knew: Params, want: Launch | None = None, job: JobRequest | None = None, more: Symptom | None = seen("more-workers-than-world")
) -> Params:
    """One task for each device and one node for each that the trainer is told; one for all where each starts them itself."""
    if more is not None or knew.get("once") or (want is not None and want.get("framework") == "torchrun"):
        return _tasks(1, job)
    nodes = knew.get("wanted_nodes") or (want.get("nodes") if want else None)
    have = (knew.get("wanted_nodes") and knew.get("nodes")) or (job.get("nodes") if job else None)
    if nodes and have and str(nodes) != str(have):
        return {"option": "--nodes=" + str(nodes)}
    asked = _tasks(_devices(knew, want, job), job)
    several = str(nodes or "").isdigit() and int(str(nodes)) > 1 and not have and asked.get("option")
    return {"option": f"--nodes={nodes} {asked['option']}"} if several else asked
