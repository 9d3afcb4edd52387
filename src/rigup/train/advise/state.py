"""The state of a cluster as advice needs it, from what was read of Slurm's answers."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

from rigup.language import _
from rigup.machine.slurm import values
from rigup.train.advise.inputs import DAY, UNLIMITED, Cluster, InputError, Job, Node, Partition, Past, Reservation

DOWN = frozenset(
    {
        "DOWN",
        "DRAIN",
        "DRAINED",
        "DRAINING",
        "FAIL",
        "FAILING",
        "ERROR",
        "NOT_RESPONDING",
        "INVALID_REG",
        "FUTURE",
        "UNKNOWN",
        "POWERING_DOWN",
        "INVAL",
    }
)
"""States in which a node starts no job. What is powered down is started when it is needed."""
IN_RESERVATION = frozenset({"MAINT", "MAINTENANCE"})
MOST_TASKS = 10_000
_MIB = 1 << 20
_REPEATED = {"HOURLY": DAY / 24, "DAILY": DAY, "WEEKLY": 7 * DAY}
REPEATS = 31
"""How many times a reservation is taken to come again that does so."""


def cluster(dump: values.Dump, now: float) -> Cluster:
    """Everything at a moment. Raises InputError where nodes or jobs are not there."""
    if dump.nodes is None or dump.partitions is None or dump.jobs is None:
        raise InputError(_("Nodes, partitions and jobs of the cluster are needed, and not all of them could be read."))
    partitions = {partition.name: _partition(partition) for partition in dump.partitions}
    reservations = tuple(kept for reservation in dump.reservations or () for kept in _reservations(reservation, now))
    covered = {name for kept in reservations for name in kept.nodes}
    jobs = [task for job in dump.jobs for task in _tasks(job, partitions, now)]
    return Cluster(
        now=now,
        nodes=[_node(node, covered) for node in dump.nodes],
        partitions=partitions,
        running=[job for job in jobs if job.start and job.on],
        pending=[job for job in jobs if not job.on],
        reservations=reservations,
        past=list(_past(dump.records or ())),
        slurm=dump.version,
    )


def _node(node: values.Node, covered: set[str]) -> Node:
    states = set(node.states)
    up = not states & DOWN and (not states & IN_RESERVATION or node.name in covered)
    gpus: dict[str, int] = {}
    for kind in node.gpus:
        gpus[kind.type or "gpu"] = gpus.get(kind.type or "gpu", 0) + kind.total
    return Node(
        name=node.name,
        partitions=frozenset(node.partitions),
        gpus=gpus,
        cpus=node.cpus or 0,
        memory=(node.memory or 0) // _MIB,
        up=up,
        weight=node.weight or 1,
        gpus_used=_used(node),
        features=frozenset(node.features),
        reason=node.reason,
    )


def _used(node: values.Node) -> int | None:
    counts = [kind.allocated for kind in node.gpus]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _partition(partition: values.Partition) -> Partition:
    return Partition(
        partition.name,
        partition.state == "UP",
        partition.max_time,
        partition.max_nodes,
        partition.tier,
        partition.preempt_mode,
        float(partition.grace),
        partition.state,
    )


def _reservations(reservation: values.Reservation, now: float) -> Iterator[Reservation]:
    """A reservation that is not over, and the times at which one comes again that does so."""
    if not reservation.nodes or reservation.end is None:
        return
    start, end = float(reservation.start or 0), float(reservation.end)
    every = next((seconds for flag, seconds in _REPEATED.items() if flag in reservation.flags), 0.0)
    for number in range(REPEATS if every else 1):
        if end + number * every > now:
            yield Reservation(reservation.name, start + number * every, end + number * every, frozenset(reservation.nodes))


def _tasks(slurm_job: values.Job, partitions: dict[str, Partition], now: float) -> Iterator[Job]:
    """A job; of an array that waits, each of its tasks."""
    if not slurm_job.pending and not slurm_job.running:
        return
    job = _job(slurm_job, partitions, now)
    count = slurm_job.array_count if slurm_job.pending else 1
    for number in islice(range(count), MOST_TASKS):
        yield job if count == 1 else job._replace(id=slurm_job.id * 1_000_000 + number)


def _job(slurm_job: values.Job, partitions: dict[str, Partition], now: float) -> Job:
    kinds = slurm_job.gpus_per_node
    gpu = max(kinds, key=lambda asked: asked.count) if len(kinds) > 1 else kinds[0] if kinds else None
    limit = slurm_job.time_limit or _limit_of(slurm_job.partitions, partitions)
    return Job(
        id=slurm_job.id,
        name=slurm_job.name,
        partitions=slurm_job.partitions,
        nodes=max(1, len(slurm_job.nodes) if slurm_job.running else slurm_job.node_count),
        limit=float(limit),
        gpu=gpu.type if gpu else "",
        gpus=gpu.count if gpu else 0,
        cpus=slurm_job.cpus_per_node or -(-(slurm_job.cpus or 1) // max(1, slurm_job.node_count)),
        memory=(slurm_job.memory_per_node or 0) // _MIB,
        priority=float(slurm_job.priority or 0),
        start=float(slurm_job.start or now) if slurm_job.running else 0.0,
        begin=float(slurm_job.eligible or 0) if slurm_job.pending else 0.0,
        on=slurm_job.nodes if slurm_job.running else (),
        reason=slurm_job.reason,
        array=slurm_job.array_job or 0,
        throttle=slurm_job.throttle or 0,
        reservation=slurm_job.reservation,
        only=frozenset(slurm_job.required_nodes),
        never_on=frozenset(slurm_job.excluded_nodes),
        features=_features(slurm_job.features),
    )


def _limit_of(names: Iterable[str], partitions: dict[str, Partition]) -> float:
    """What a job's limit is where it has none of its own."""
    limits = [partitions[name].max_time for name in names if name in partitions]
    return next((seconds for seconds in limits if seconds), UNLIMITED)


@lru_cache(1024)
def _features(text: str) -> frozenset[str]:
    """Features that a node must have; an expression with a choice in it is not judged."""
    return frozenset() if set(text) & set("|[](){}*!,") else frozenset(word for word in text.split("&") if word)


def _past(records: Iterable[values.Record]) -> Iterator[Past]:
    for record in records:
        if record.state == "COMPLETED" and record.elapsed is not None and record.time_limit:
            yield Past(record.partition, min(1.0, max(0.0, record.elapsed / record.time_limit)))
