"""The state of a cluster as advice needs it, from what was read of Slurm's answers."""

from collections.abc import Iterable, Iterator
from itertools import islice

from rigup.language import _
from rigup.machine.slurm import values
from rigup.train.advise.inputs import (
    DAY,
    UNLIMITED,
    Cluster,
    InputError,
    Job,
    Node,
    Partition,
    Past,
    Reservation,
)

DOWN = frozenset(
    {"DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "ERROR", "NOT_RESPONDING", "INVALID_REG", "FUTURE", "UNKNOWN",
     "POWERING_DOWN", "INVAL"}
)  # fmt: skip
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
    partitions = {one.name: _partition(one) for one in dump.partitions}
    reservations = tuple(kept for one in dump.reservations or () for kept in _reservations(one, now))
    covered = {name for kept in reservations for name in kept.nodes}
    jobs = [task for job in dump.jobs for task in _tasks(job, partitions, now)]
    return Cluster(
        now=now,
        nodes=[_node(one, covered) for one in dump.nodes],
        partitions=partitions,
        running=[job for job in jobs if job.start and job.on],
        pending=[job for job in jobs if not job.on],
        reservations=reservations,
        past=list(_past(dump.records or ())),
        slurm=dump.version,
    )


def _node(one: values.Node, covered: set[str]) -> Node:
    states = set(one.states)
    up = not states & DOWN and (not states & IN_RESERVATION or one.name in covered)
    gpus: dict[str, int] = {}
    for kind in one.gpus:
        gpus[kind.type or "gpu"] = gpus.get(kind.type or "gpu", 0) + kind.total
    return Node(
        name=one.name, partitions=frozenset(one.partitions), gpus=gpus, cpus=one.cpus or 0, memory=(one.memory or 0) // _MIB,
        up=up, weight=one.weight or 1, gpus_used=_used(one), features=frozenset(one.features), reason=one.reason,
    )  # fmt: skip


def _used(one: values.Node) -> int | None:
    counts = [kind.allocated for kind in one.gpus]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _partition(one: values.Partition) -> Partition:
    return Partition(
        one.name,
        one.state == "UP",
        one.max_time,
        one.max_nodes,
        one.tier,
        one.preempt_mode,
        float(one.grace),
        one.state,
    )


def _reservations(one: values.Reservation, now: float) -> Iterator[Reservation]:
    """A reservation that is not over, and the times at which one comes again that does so."""
    if not one.nodes or one.end is None:
        return
    start, end = float(one.start or 0), float(one.end)
    every = next((seconds for flag, seconds in _REPEATED.items() if flag in one.flags), 0.0)
    for number in range(REPEATS if every else 1):
        if end + number * every > now:
            yield Reservation(one.name, start + number * every, end + number * every, frozenset(one.nodes))


def _tasks(one: values.Job, partitions: dict[str, Partition], now: float) -> Iterator[Job]:
    """A job; of an array that waits, each of its tasks."""
    if not one.pending and not one.running:
        return
    job = _job(one, partitions, now)
    count = one.array_count if one.pending else 1
    for number in islice(range(count), MOST_TASKS):
        yield job if count == 1 else job._replace(id=one.id * 1_000_000 + number)


def _job(one: values.Job, partitions: dict[str, Partition], now: float) -> Job:
    gpu = max(one.gpus_per_node, key=lambda asked: asked.count, default=None)
    limits = [one.time_limit, *(partitions[name].max_time for name in one.partitions if name in partitions)]
    limit = next((seconds for seconds in limits if seconds), UNLIMITED)
    return Job(
        id=one.id, name=one.name, partitions=one.partitions, nodes=max(1, len(one.nodes) if one.running else one.node_count),
        limit=float(limit), gpu=gpu.type if gpu else "", gpus=gpu.count if gpu else 0,
        cpus=one.cpus_per_node or -(-(one.cpus or 1) // max(1, one.node_count)), memory=(one.memory_per_node or 0) // _MIB,
        priority=float(one.priority or 0), start=float(one.start or now) if one.running else 0.0,
        begin=float(one.eligible or 0) if one.pending else 0.0, on=one.nodes if one.running else (), reason=one.reason,
        array=one.array_job or 0, throttle=one.throttle or 0, reservation=one.reservation, only=frozenset(one.required_nodes),
        never_on=frozenset(one.excluded_nodes), features=_features(one.features),
    )  # fmt: skip


def _features(text: str) -> frozenset[str]:
    """Features that a node must have; an expression with a choice in it is not judged."""
    return frozenset() if set(text) & set("|[](){}*!,") else frozenset(word for word in text.split("&") if word)


def _past(records: Iterable[values.Record]) -> Iterator[Past]:
    for one in records:
        if one.state == "COMPLETED" and one.elapsed is not None and one.time_limit:
            yield Past(one.partition, min(1.0, max(0.0, one.elapsed / one.time_limit)))
