"""What is free on a node over time, and when a request first fits on enough nodes at once.

A request is a vector (processors, memory, GPUs by type); a node's profile is a list of steps: from a moment on, so much
is free. The last step has no end.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from rigup.train.advise.inputs import Job, Node, Reservation

Vector = tuple[int, ...]


def _covers(free: Vector, need: Vector) -> bool:
    for available, asked in zip(free, need, strict=True):  # noqa: SIM110  (twice as fast as all() of a generator)
        if available < asked:
            return False
    return True


class Profile:
    """What is free on one node."""

    __slots__ = ("free", "node", "reserved", "times", "types")

    def __init__(self, node: Node, now: float, reservations: Sequence[Reservation]) -> None:
        self.node = node
        self.types = tuple(node.gpus)
        self.times = [now]
        self.free: list[Vector] = [(node.cpus, node.memory, *node.gpus.values())]
        self.reserved = reservations

    def need(self, job: Job) -> Vector | None:
        """The request as this node would give it; None where it has not as much at all."""
        where = -1
        if job.gpus:
            have = [count if not job.gpu or kind == job.gpu else 0 for kind, count in self.node.gpus.items()]
            if not have or max(have) < job.gpus:
                return None
            where = have.index(max(have))
        if job.cpus > self.node.cpus or job.memory > self.node.memory:
            return None
        return (job.cpus, job.memory, *(job.gpus if place == where else 0 for place in range(len(self.types))))

    def take(self, start: float, end: float, need: Vector, given: int = -1) -> None:
        """Take a request from `start` to `end`; `given` 1 gives it back."""
        if end <= start:
            return
        first, last = self._cut(start), self._cut(end)
        for step in range(first, last):
            self.free[step] = tuple([x + given * y for x, y in zip(self.free[step], need, strict=True)])

    def _cut(self, moment: float) -> int:
        """The step that begins at a moment; it is made where there is none."""
        step = bisect_right(self.times, moment) - 1
        if step < 0:
            return 0
        if self.times[step] == moment:
            return step
        self.times.insert(step + 1, moment)
        self.free.insert(step + 1, self.free[step])
        return step + 1

    def fits(self, start: float, end: float, need: Vector) -> bool:
        """Whether a request fits all the time."""
        step = max(0, bisect_right(self.times, start) - 1)
        while step < len(self.times) and (step == 0 or self.times[step] < end):
            if not _covers(self.free[step], need):
                return False
            step += 1
        return True

    def windows(self, earliest: float, length: float, need: Vector, limit: float, reservation: str) -> list[tuple[float, float]]:
        """Moments, as spans, at which a request of that length may start. Before a reservation its limit has to end."""
        spans, begun, times, free = [], None, self.times, self.free
        last = len(times) - 1
        for step in range(max(0, bisect_right(times, earliest) - 1), last + 1):
            fitting = _covers(free[step], need)
            if fitting and begun is None:
                begun = max(earliest, times[step])
            if begun is not None and (not fitting or step == last):
                until = math.inf if fitting else times[step] - length
                if until >= begun:
                    spans.append((begun, until))
                begun = None
        for kept in self.reserved:
            if kept.name != reservation:
                spans = list(_without(spans, kept.start - limit, kept.end))
        return spans


def _without(spans: Sequence[tuple[float, float]], start: float, end: float) -> list[tuple[float, float]]:
    """Spans without what lies strictly between two moments."""
    kept: list[tuple[float, float]] = []
    for low, high in spans:
        if end <= low or start >= high:
            kept.append((low, high))
            continue
        if low <= start:
            kept.append((low, start))
        if end <= high:
            kept.append((end, high))
    return kept


class Board:
    """The profiles of all nodes."""

    def __init__(self, nodes: Sequence[Node], now: float, reservations: Sequence[Reservation]) -> None:
        kept: dict[str, list[Reservation]] = {}
        for reservation in reservations:
            for name in reservation.nodes:
                kept.setdefault(name, []).append(reservation)
        ordered = sorted(nodes, key=lambda node: node.weight)
        self.now = now
        self.profiles: Mapping[str, Profile] = {node.name: Profile(node, now, kept.get(node.name, ())) for node in ordered}
        self._of: dict[str, list[Profile]] = {}
        for profile in self.profiles.values():
            if profile.node.up:
                for partition in profile.node.partitions:
                    self._of.setdefault(partition, []).append(profile)

    def hold(self, job: Job, end: float, start: float | None = None) -> None:
        """Take what a running job has until a moment."""
        for name in job.on:
            if (profile := self.profiles.get(name)) and (need := profile.need(job)):
                profile.take(self.now if start is None else start, end, need)

    def earliest(self, job: Job, length: float, from_: float) -> tuple[float, list[Profile]] | None:
        """When a job can start, and on which nodes; None where it never can. `length`: how long it really holds them."""
        found = [self._in(partition, job, length, max(from_, job.begin)) for partition in job.partitions]
        return min((placement for placement in found if placement), key=lambda placement: placement[0], default=None)

    def _in(self, partition: str, job: Job, length: float, from_: float) -> tuple[float, list[Profile]] | None:
        spans: list[tuple[float, float, Profile]] = []
        for profile in self._of.get(partition, ()):
            if (need := _allowed(profile, job)) is not None:
                windows = profile.windows(from_, length, need, job.limit, job.reservation)
                spans += [(start, until, profile) for start, until in windows]
        if len(spans) < job.nodes:
            return None
        start = _meeting(spans, job.nodes)
        if start is None:
            return None
        return start, [profile for low, high, profile in spans if low <= start <= high][: job.nodes]

    def place(self, job: Job, length: float, start: float, profiles: Sequence[Profile]) -> None:
        """Take what a job needs."""
        for profile in profiles:
            if need := profile.need(job):
                profile.take(start, start + length, need)


def _allowed(profile: Profile, job: Job) -> Vector | None:
    name = profile.node.name
    if (job.only and name not in job.only) or name in job.never_on or not job.features <= profile.node.features:
        return None
    return profile.need(job)


def _meeting(spans: Sequence[tuple[float, float, Profile]], count: int) -> float | None:
    """The first moment that lies in the spans of as many nodes."""
    if count == 1:
        return min(start for start, _, _ in spans)
    edges = sorted([(start, 0) for start, _, _ in spans] + [(until, 1) for _, until, _ in spans if until < math.inf])
    open_ = 0
    for moment, closing in edges:
        open_ += -1 if closing else 1
        if open_ >= count and not closing:
            return moment
    return None
