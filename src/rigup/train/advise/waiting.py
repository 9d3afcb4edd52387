"""Who waits and who runs, in the order in which a scheduler takes them: tier, priority, submission."""

import heapq
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rigup.train.advise.history import LIMITS, History, part
from rigup.train.advise.inputs import Cluster, Job, Partition

REQUEUE_WAIT = 121.0
"""Seconds until a requeued job may start again: the lifetime of its credential and one (slurmctld, job_mgr.c)."""
POISON = frozenset(
    {"PartitionTimeLimit", "PartitionNodeLimit", "BadConstraints", "DependencyNeverSatisfied", "InvalidAccount", "InvalidQOS"}
)
"""Reasons of jobs that can never run."""
LEFT_OUT = ("JobHeld", "Dependency", "Assoc", "QOS", "PartitionDown", "PartitionInactive", "JobArrayTaskLimit")
"""How reasons begin of jobs that wait for something else than nodes."""
Key = tuple[float, float, int]


class Mine(NamedTuple):
    """A request of ours: the job, and how long each of its pieces holds its nodes."""

    job: Job
    pieces: tuple[float, ...]


class Run:
    """A running job: when the scheduler expects it to end, and when it does."""

    __slots__ = ("ends", "job", "planned")

    def __init__(self, job: Job, planned: float, ends: float) -> None:
        self.job, self.planned, self.ends = job, planned, ends


class Groups:
    """Nodes and jobs of a cluster by their partitions: many have the same."""

    def __init__(self, cluster: Cluster) -> None:
        self.of_nodes = {node.partitions for node in cluster.nodes}
        self.of_running = {job.partitions for job in cluster.running}
        self.pending: dict[tuple[str, ...], list[tuple[int, Job]]] = {}
        for order, job in enumerate(cluster.pending):
            self.pending.setdefault(job.partitions, []).append((order, job))


def ready(job: Job) -> bool:
    """Whether a job waits for nodes alone."""
    return job.reason not in POISON and not job.reason.startswith(LEFT_OUT[:-1])


class Queue:
    """A cluster's queue, of the parts of it that the given partitions share nodes with."""

    def __init__(self, cluster: Cluster, history: History, partitions: Sequence[str], groups: Groups | None = None) -> None:
        groups = groups or Groups(cluster)
        self.near = near = frozenset(_connected(groups.of_nodes, set(partitions)))
        self.now, self.history = cluster.now, history
        self.partitions, self.reservations = cluster.partitions, cluster.reservations
        here = {names for names in groups.of_nodes if names & near}
        self.nodes = [node for node in cluster.nodes if node.partitions in here]
        own = {names for names in groups.of_running if near.intersection(names)}
        self.running = [job for job in cluster.running if job.partitions in own]
        self.soft = _preemptible(cluster, groups.of_nodes, near)
        self.behind = len(cluster.pending)  # the order of who comes last
        self.waiting: list[tuple[Key, Job]] = []
        for names, jobs in groups.pending.items():
            if near.intersection(names) and any(self.partition(name).up for name in names):
                tier = -max((self.partition(name).tier for name in names), default=1)
                self.waiting += [((tier, -job.priority, order), job) for order, job in jobs if ready(job)]
        self.waiting.sort(key=lambda pair: pair[0])
        self.tiers = sorted({-key[0] for key, _ in self.waiting} | {p.tier for p in self.partitions.values()}, reverse=True)
        self._beyond: list[tuple[list[float], int]] | None = None  # of each running job
        self.layout: object = None  # what a replay of a long queue keeps of it for the next

    def partition(self, name: str) -> Partition:
        """By name."""
        return self.partitions.get(name, Partition(name))

    def tier(self, job: Job) -> float:
        """The highest tier of its partitions."""
        return max((self.partition(name).tier for name in job.partitions), default=1)

    def key(self, job: Job, order: int) -> Key:
        """What the queue is sorted by."""
        return (-self.tier(job), -job.priority, order)

    def grace(self, job: Job) -> float:
        """How long a job that is preempted may go on."""
        return max((self.partition(name).grace for name in job.partitions), default=0.0)

    def is_soft(self, job: Job) -> bool:
        """Whether a higher tier may preempt it."""
        return any(name in self.soft for name in job.partitions)

    def expected(self, job: Job, quantile: float, at: float) -> float:
        """How long a job runs from its start, by the history; one that runs at `at` longer than that."""
        already = max(0.0, at - job.start) / job.limit if job.start and job.limit else 0.0
        name = job.partitions[0] if job.partitions else ""
        return max(job.limit * self.history.used(name, quantile, already), max(0.0, at - job.start) + 1 if job.start else 1.0)

    def runs(self, quantile: float) -> list[Run]:
        """What runs now. A job over its limit is expected to end at once."""
        soonest, found = self.now + 1, []
        if quantile < LIMITS and self._beyond is None:
            self._beyond = [self._of_history(job) for job in self.running]
        for place, job in enumerate(self.running):
            planned = ends = max(soonest, job.start + job.limit)
            if quantile < LIMITS and self._beyond:
                length = max(job.limit * part(*self._beyond[place], quantile), self.now - job.start + 1, 1.0)
                ends = max(soonest, min(planned, job.start + length))
            found.append(Run(job, planned, ends))
        return found

    def _of_history(self, job: Job) -> tuple[list[float], int]:
        already = max(0.0, self.now - job.start) / job.limit if job.limit else 0.0
        return self.history.beyond(job.partitions[0] if job.partitions else "", already)


class Throttles:
    """How many tasks of an array run at a time."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._ends: dict[int, list[float]] = {}
        for run in runs:
            if run.job.array:
                heapq.heappush(self._ends.setdefault(run.job.array, []), run.ends)

    def free(self, job: Job, now: float) -> float:
        """When the next task may start."""
        ends = self._ends.get(job.array, []) if job.throttle else []
        while ends and len(ends) > job.throttle:
            heapq.heappop(ends)
        return max(now, heapq.heappop(ends)) if job.throttle and len(ends) >= job.throttle else now

    def add(self, job: Job, end: float) -> None:
        """A task ends then."""
        if job.throttle:
            heapq.heappush(self._ends.setdefault(job.array, []), end)


def _connected(groups: set[frozenset[str]], partitions: set[str]) -> set[str]:
    """Partitions that share nodes with these, and with those, and so on."""
    known = set(partitions)
    while more := [group for group in groups if group & known and not group <= known]:
        known.update(*more)
    return known


def _preemptible(cluster: Cluster, groups: set[frozenset[str]], names: Iterable[str]) -> set[str]:
    """Partitions whose jobs a higher tier on the same nodes may preempt."""
    found = set()
    for name in names:
        partition = cluster.partitions.get(name)
        if not partition or not {"REQUEUE", "CANCEL"}.intersection(partition.preempted.split(",")):
            continue
        others = {other for group in groups if name in group for other in group if other in cluster.partitions}
        if any(cluster.partitions[other].tier > partition.tier for other in others):
            found.add(name)
    return found


def preemptible(cluster: Cluster, partition: str, device: str) -> bool:
    """Whether jobs of a partition on nodes with such devices may be preempted."""
    groups = {node.partitions for node in cluster.nodes if device in node.gpus}
    return partition in _preemptible(cluster, groups, {partition})
