"""The queue replayed: when a request would start, if jobs end as their limits or as completed jobs let expect.

Conservative backfill: every waiting job, in the order of tier, priority and submission, is given the earliest moment at
which it fits beside what was placed before it. The scheduler plans with limits; where jobs are expected to end sooner it
plans again at each end. A job that a higher tier may preempt stands in that tier's way for its GraceTime only.
"""

import heapq
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from rigup.train.advise.backlog import Backlog
from rigup.train.advise.history import LIMITS, History
from rigup.train.advise.inputs import Cluster, Job, Node, Partition
from rigup.train.advise.profile import Board, Profile

REQUEUE_WAIT = 121.0
"""Seconds until a requeued job may start again: the lifetime of its credential and one (slurmctld, job_mgr.c)."""
POISON = frozenset(
    {
        "PartitionTimeLimit",
        "PartitionNodeLimit",
        "BadConstraints",
        "DependencyNeverSatisfied",
        "InvalidAccount",
        "InvalidQOS",
    }
)
"""Reasons of jobs that can never run."""
LEFT_OUT = ("JobHeld", "Dependency", "Assoc", "QOS", "PartitionDown", "PartitionInactive", "JobArrayTaskLimit")
"""How reasons begin of jobs that wait for something else than nodes."""
_Key = tuple[float, float, int]


class Mine(NamedTuple):
    """A request of ours: the job, and how long each of its pieces holds its nodes."""

    job: Job
    pieces: tuple[float, ...]


class _Run:
    """A running job: when the scheduler expects it to end, and when it does."""

    __slots__ = ("ends", "job", "planned")

    def __init__(self, job: Job, planned: float, ends: float) -> None:
        self.job, self.planned, self.ends = job, planned, ends


class Queue:
    """A cluster's queue, of the parts of it that the given partitions share nodes with."""

    def __init__(self, cluster: Cluster, history: History, partitions: Sequence[str]) -> None:
        self.near = near = frozenset(_connected(cluster.nodes, set(partitions)))
        self.now, self.history = cluster.now, history
        self.nodes = [node for node in cluster.nodes if node.partitions & near]
        self.partitions, self.reservations = cluster.partitions, cluster.reservations
        self.running = [job for job in cluster.running if near.intersection(job.partitions)]
        self.soft = _preemptible(cluster, near)
        ready = [
            job
            for job in cluster.pending
            if near.intersection(job.partitions) and job.reason not in POISON and not job.reason.startswith(LEFT_OUT[:-1])
            and any(self._partition(name).up for name in job.partitions)
        ]  # fmt: skip
        self.waiting = sorted(
            ((self.key(job, order), job) for order, job in enumerate(ready)), key=lambda pair: pair[0]
        )
        self.tiers = sorted(
            {-key[0] for key, _ in self.waiting} | {p.tier for p in self.partitions.values()}, reverse=True
        )

    def _partition(self, name: str) -> Partition:
        return self.partitions.get(name, Partition(name))

    def tier(self, job: Job) -> float:
        """The highest tier of its partitions."""
        return max((self._partition(name).tier for name in job.partitions), default=1)

    def key(self, job: Job, order: int) -> _Key:
        """What the queue is sorted by."""
        return (-self.tier(job), -job.priority, order)

    def grace(self, job: Job) -> float:
        """How long a job that is preempted may go on."""
        return max((self._partition(name).grace for name in job.partitions), default=0.0)

    def is_soft(self, job: Job) -> bool:
        """Whether a higher tier may preempt it."""
        return any(name in self.soft for name in job.partitions)

    def expected(self, job: Job, quantile: float, at: float) -> float:
        """How long a job runs from its start, by the history; one that runs at `at` longer than that."""
        already = max(0.0, at - job.start) / job.limit if job.start and job.limit else 0.0
        name = job.partitions[0] if job.partitions else ""
        return max(
            job.limit * self.history.used(name, quantile, already), max(0.0, at - job.start) + 1 if job.start else 1.0
        )

    def runs(self, quantile: float) -> list[_Run]:
        """What runs now. A job over its limit is expected to end at once."""
        found = []
        for job in self.running:
            planned = max(self.now + 1, job.start + job.limit)
            ends = max(self.now + 1, min(planned, job.start + self.expected(job, quantile, self.now)))
            found.append(_Run(job, planned, ends))
        return found

    def board(self, quantile: float, until: _Key) -> Board:
        """What is free when all that stand before a key were placed, each as long as it is expected to run."""
        board = Board(self.nodes, self.now, self.reservations)
        runs = self.runs(quantile)
        soft = [run for run in runs if self.is_soft(run.job)]
        for run in runs:
            board.hold(run.job, min(run.ends, self.now + self.grace(run.job)) if self.is_soft(run.job) else run.ends)
        throttles = _Throttles(runs)
        queue = list(self.waiting)
        heapq.heapify(queue)
        for tier in self.tiers:
            if tier < -until[0]:
                break
            for run in self._settled(board, soft, tier, self.now):
                if "REQUEUE" in self._partition(run.job.partitions[0]).preempted:
                    begin = self.now + self.grace(run.job) + REQUEUE_WAIT
                    job = run.job._replace(start=0.0, on=(), begin=begin)
                    heapq.heappush(queue, (self.key(job, 0), job))
            while queue and queue[0][0] < until and -queue[0][0][0] >= tier:
                job = heapq.heappop(queue)[1]
                length = min(job.limit, self.expected(job, quantile, self.now))
                if placed := board.earliest(job, length, throttles.free(job, self.now)):
                    board.place(job, length, *placed)
                    throttles.add(job, placed[0] + length)
        return board

    def _settled(self, board: Board, soft: list[_Run], tier: float, moment: float) -> list[_Run]:
        """Let preemptible jobs of a tier go on where no higher one took their nodes; returns those that cannot."""
        out = []
        for run in [run for run in soft if self.tier(run.job) >= tier]:
            soft.remove(run)
            begin = moment + self.grace(run.job)
            if begin >= run.ends:
                continue
            if _fits(board, run.job, begin, run.ends):
                board.hold(run.job, run.ends, begin)
            else:
                out.append(run)
        return out

    def starts(self, mine: Mine, board: Board) -> list[float] | None:
        """When each piece starts, on a board on which all that stand before are placed; the board is left as it was."""
        taken: list[tuple[float, float, list[Profile]]] = []
        found: list[float] = []
        begin = self.now
        for length in mine.pieces:
            placed = board.earliest(mine.job, mine.job.limit, begin)
            if not placed:
                found = []
                break
            start, profiles = placed
            found.append(start)
            if len(mine.pieces) > 1:
                board.place(mine.job, length, start, profiles)
                taken.append((start, length, profiles))
            begin = start + length + REQUEUE_WAIT
        for start, length, profiles in taken:
            _give_back(mine.job, start, length, profiles)
        return found or None


def _give_back(job: Job, start: float, length: float, profiles: Sequence[Profile]) -> None:
    for profile in profiles:
        if need := profile.need(job):
            profile.take(start, start + length, need, 1)


def _fits(board: Board, job: Job, start: float, end: float) -> bool:
    for name in job.on:
        profile = board.profiles.get(name)
        need = profile.need(job) if profile else None
        if profile and need and not profile.fits(start, end, need):
            return False
    return True


class _Throttles:
    """How many tasks of an array run at a time."""

    def __init__(self, runs: Iterable[_Run]) -> None:
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


class _Moment(NamedTuple):
    """What a plan at a moment gave: what starts at once, when the rest does, and what is preempted."""

    begun: list[Job]
    mine: list[int]
    planned: list[float]
    out: list[_Run]


class _Live:
    """A queue that goes on in time."""

    def __init__(self, queue: Queue, quantile: float, mine: Sequence[Mine], keys: Sequence[_Key]) -> None:
        self.queue, self.quantile, self.moment = queue, quantile, queue.now
        self.runs = queue.runs(quantile)
        self.waiting = list(queue.waiting)
        self.mine = {number: (key, one.job, 0) for number, (one, key) in enumerate(zip(mine, keys, strict=True))}
        self.asked = mine
        self.found: dict[int, list[float]] = {number: [] for number in self.mine}

    def plan(self) -> _Moment:
        """Place everything as the scheduler does, with limits. What of ours shares a replay does not take its place."""
        queue, now = self.queue, self.moment
        board = Board(queue.nodes, now, queue.reservations)
        soft = [run for run in self.runs if queue.is_soft(run.job)]
        longest = max((queue.grace(run.job) for run in soft), default=0.0)
        for run in self.runs:
            board.hold(run.job, min(run.planned, now + queue.grace(run.job)) if run in soft else run.planned)
        throttles = _Throttles([_Run(run.job, run.planned, run.planned) for run in self.runs])
        result, seized = _Moment([], [], [], []), set[str]()
        order: list[tuple[_Key, int, Job]] = [(key, -1, job) for key, job in self.waiting]
        order += [(key, number, job) for number, (key, job, _piece) in self.mine.items()]
        order.sort(key=lambda row: (row[0], row[1]))
        place = 0
        for tier in queue.tiers:
            out = self.queue._settled(board, soft, tier, now)
            result.out.extend(run for run in out if seized.intersection(run.job.on))
            while place < len(order) and -order[place][0][0] >= tier:
                _key, number, job = order[place]
                place += 1
                placed = board.earliest(job, job.limit, throttles.free(job, now))
                if not placed:
                    continue
                start, profiles = placed
                self._note(result, start, number, job, profiles)
                if number < 0 or len(self.asked) == 1:
                    board.place(job, job.limit, start, profiles)
                    throttles.add(job, start + job.limit)
                    seized.update(p.node.name for p in profiles if start <= now + longest)
        return result

    def _note(self, result: _Moment, start: float, number: int, job: Job, profiles: Sequence[Profile]) -> None:
        if start > self.moment:
            result.planned.append(start)
        elif number >= 0:
            result.mine.append(number)
            if len(self.asked) == 1:
                result.begun.append(job._replace(on=tuple(p.node.name for p in profiles)))
        else:
            result.begun.append(job._replace(on=tuple(p.node.name for p in profiles)))

    def step(self) -> bool:
        """Go to the next moment at which something begins or ends; False where all of ours have begun, or nothing does."""
        plan, now = self.plan(), self.moment
        for number in plan.mine:
            self._begin(number)
        started = {job.id for job in plan.begun}
        self.waiting = [(key, job) for key, job in self.waiting if job.id not in started]
        for job in plan.begun:
            length = self.queue.expected(job, self.quantile, now)
            if job.id < 0:  # ours
                length = self.asked[0].pieces[len(self.found[0]) - 1]
            self.runs.append(_Run(job._replace(start=now), now + job.limit, now + min(job.limit, length)))
        for run in plan.out:
            run.planned = run.ends = min(run.ends, now + self.queue.grace(run.job))
            if "REQUEUE" in self.queue._partition(run.job.partitions[0]).preempted and run.job.id >= 0:
                job = run.job._replace(start=0.0, on=(), begin=run.ends + REQUEUE_WAIT)
                self.waiting.append((self.queue.key(job, job.id), job))
        following = [run.ends for run in self.runs if run.ends > now] + [start for start in plan.planned if start > now]
        if not self.mine or not following:
            return False
        self.moment = min(following)
        self.runs = [run for run in self.runs if run.ends > self.moment]
        return True

    def _begin(self, number: int) -> None:
        key, job, piece = self.mine.pop(number)
        self.found[number].append(self.moment)
        if piece + 1 < len(self.asked[number].pieces):
            begin = self.moment + self.asked[number].pieces[piece] + REQUEUE_WAIT
            self.mine[number] = (key, job._replace(begin=begin), piece + 1)


def replayed(queue: Queue, quantile: float, mine: Sequence[Mine]) -> list[list[float] | None]:
    """When each piece of each request starts; None where it never does. Each request is alone in the queue."""
    behind = len(queue.waiting)
    keys = [queue.key(one.job, behind) for one in mine]
    if _too_many(queue, len(queue.nodes)):
        return _backlogged(queue, quantile, mine, keys)
    if quantile >= LIMITS or not queue.history or _too_many(queue, len(queue.waiting) + len(queue.running)):
        boards = {key: queue.board(quantile, key) for key in set(keys)}
        return [queue.starts(one, boards[key]) for one, key in zip(mine, keys, strict=True)]
    last = queue.waiting[-1][0] if queue.waiting else (-float("inf"), 0.0, 0)
    preempting = any(queue.is_soft(job) for job in queue.running)
    shared = [n for n, one in enumerate(mine) if len(one.pieces) == 1 and keys[n] > last and not preempting]
    groups = [shared] if shared else []
    groups += [[n] for n in range(len(mine)) if n not in shared]
    found: list[list[float] | None] = [None] * len(mine)
    for group in groups:
        live = _Live(queue, quantile, [mine[n] for n in group], [keys[n] for n in group])
        while live.step():
            pass
        for place, n in enumerate(group):
            whole = len(live.found[place]) == len(mine[n].pieces)
            found[n] = live.found[place] if whole else None
    return found


MOST = 2_000_000
"""Placements on nodes, times a second factor, up to which a queue is planned node by node, or anew at each end."""


def _too_many(queue: Queue, factor: int) -> bool:
    """Whether that many steps for each waiting job would take too long. A plan alone looks at each step of each node."""
    steps = max(1, len(queue.running) // max(1, len(queue.nodes)))
    return (len(queue.waiting) + 10) * len(queue.nodes) * (steps if factor == len(queue.nodes) else factor) > MOST


def _backlogged(queue: Queue, quantile: float, mine: Sequence[Mine], keys: Sequence[_Key]) -> list[list[float] | None]:
    """The same for a long queue, in one pass for each place in it."""
    found: list[list[float] | None] = [None] * len(mine)
    for key in sorted(set(keys)):
        backlog = Backlog(queue.nodes, queue.now, queue.reservations)
        runs = queue.runs(quantile)
        for run in runs:
            soft = queue.is_soft(run.job) and queue.tier(run.job) < -key[0]
            backlog.hold(run.job, min(run.ends, queue.now + queue.grace(run.job)) if soft else run.ends)
        throttles = _Throttles(runs)
        for _key, job in takewhile(lambda pair, key=key: pair[0] < key, queue.waiting):  # type: ignore[misc]
            length = min(job.limit, queue.expected(job, quantile, queue.now))
            begin = throttles.free(job, queue.now)
            start = backlog.filled(job, length, begin)
            if start is None and (placed := backlog.earliest(job, begin)):
                start = placed[0]
                backlog.place(job, length, *placed)
            if start is not None:
                throttles.add(job, start + length)
        for number, one in enumerate(mine):
            if keys[number] == key:
                found[number] = _of_backlog(backlog, one)
    return found


def _of_backlog(backlog: Backlog, one: Mine) -> list[float] | None:
    """The start of the first piece; later ones are taken to wait for their turn alone."""
    if (start := backlog.filled(one.job, one.job.limit, backlog.now, keep=True)) is None:
        placed = backlog.earliest(one.job, backlog.now)
        if placed is None:
            return None
        start = placed[0]
        backlog.put_back(one.job, placed[1])
    starts = [start]
    for length in one.pieces[:-1]:
        starts.append(starts[-1] + length + REQUEUE_WAIT)
    return starts


def _connected(nodes: Sequence[Node], partitions: set[str]) -> set[str]:
    """Partitions that share nodes with these, and with those, and so on."""
    groups = {node.partitions for node in nodes}
    known = set(partitions)
    while more := [group for group in groups if group & known and not group <= known]:
        known.update(*more)
    return known


def _preemptible(cluster: Cluster, names: Iterable[str]) -> set[str]:
    """Partitions whose jobs a higher tier on the same nodes may preempt."""
    groups = {node.partitions for node in cluster.nodes}
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
    nodes = [node for node in cluster.nodes if device in node.gpus]
    return partition in _preemptible(cluster._replace(nodes=nodes), {partition})
