"""A queue that goes on in time, planned anew at each event: what the tests hold waits and ends against."""

import math
from collections.abc import Callable

from drawn_clusters import AGAIN, NOW, POISON, Drawn, Job, Kept, Node, soft

Span = tuple[float, float, int, int, int]
FAR = NOW + 400 * 86_400


class _Run:
    def __init__(self, job: Job, start: float, planned: float, ends: float, on: tuple[str, ...]) -> None:
        self.job, self.start, self.planned, self.ends, self.on = job, start, planned, ends, on


class Simulated:
    """A cluster with one request of ours in its queue; `length` tells how long a job really runs."""

    def __init__(self, of: Drawn, length: Callable[[Job], float]) -> None:
        self.of, self.length, self.now = of, length, float(NOW)
        self.nodes = [node for node in of.nodes if node.up]
        self.runs = [
            _Run(job, job.start, max(NOW + 1, job.start + job.limit), max(NOW + 1, job.start + length(job)), job.on)
            for job in of.jobs
            if job.on
        ]
        waiting = [
            job for job in of.jobs if not job.on and job.reason not in POISON and not job.reason.startswith(("JobHeld", "Dependency"))
        ]
        waiting = [job for job in waiting if of.parts[job.partition].state == "UP"]
        self.waiting = [job._replace(number=job.number * 1000 + task) for job in waiting for task in range(job.tasks or 1)]
        self.order = {job.number: place for place, job in enumerate(self.waiting)}

    def ends(self, mine: Job, pieces: tuple[float, ...]) -> tuple[float, float] | None:
        """Seconds until the first piece starts and the last one ends; None where it never does."""
        first, self.waiting = None, [*self.waiting, mine]
        for number, length in enumerate(pieces):
            start = self._until(mine)
            if start is None:
                return None
            first = start if first is None else first
            run = next(run for run in self.runs if run.job.number == mine.number)
            run.ends = start + length
            if number + 1 == len(pieces):
                return first - NOW, run.ends - NOW
            self.waiting.append(mine._replace(begin=int(run.ends + AGAIN)))
            self._on()
        return None

    def _until(self, mine: Job) -> float | None:
        while True:
            if any(job.number == mine.number for job in self._plan()):
                return self.now
            if not self._on():
                return None

    def _on(self) -> bool:
        """To the next event."""
        ahead = [run.ends for run in self.runs] + [moment for moment in self.starts if moment > self.now]
        ahead += [job.begin for job in self.waiting if job.begin > self.now]
        if not ahead or min(ahead) > FAR:
            return False
        self.now = min(ahead)
        self.runs = [run for run in self.runs if run.ends > self.now]
        return True

    def _key(self, job: Job) -> tuple[float, float, float]:
        return (-self.of.parts[job.partition].tier, -job.priority, self.order.get(job.number, math.inf))

    def _plan(self) -> list[Job]:
        """Start what can start now; notes when the rest is planned."""
        begun: list[Job] = []
        placed: dict[str, list[Span]] = {node.name: [] for node in self.nodes}
        self.starts: list[float] = []
        counts: dict[int, list[float]] = {}
        for run in self.runs:
            if run.job.tasks:
                counts.setdefault(run.job.number // 1000, []).append(run.planned)
        for job in sorted(self.waiting, key=self._key):
            usage = {name: list(spans) for name, spans in placed.items()}
            for run in self.runs:
                grace = self._pushed(run, job)
                _hold(usage, run.job, run.on, self.now, run.planned if grace is None else min(run.planned, grace))
            array, earliest = counts.setdefault(job.number // 1000, []), max(self.now, job.begin)
            if job.throttle and len(array) >= job.throttle:
                earliest = max(earliest, sorted(array)[-job.throttle])
            found = self._earliest(job, earliest, usage)
            if found is None:
                continue
            start, on = found
            if job.throttle:
                array.append(start + job.limit)
            if start <= self.now:
                self._start(job, on, begun)
            else:
                _hold(placed, job, on, start, start + job.limit)
                self.starts.append(start)
                self._preempt(job, on, start, placed)
        self.waiting = [job for job in self.waiting if job not in begun]
        return begun

    def _pushed(self, run: _Run, job: Job) -> float | None:
        """When a running job would be gone that this one may preempt; None where it may not."""
        parts = self.of.parts
        mine, other = parts[job.partition], parts[run.job.partition]
        return self.now + other.grace if soft(self.of, other.name) and mine.tier > other.tier else None

    def _start(self, job: Job, on: tuple[str, ...], begun: list[Job]) -> None:
        begun.append(job)
        self._preempt(job, on, self.now, {})
        self.runs.append(_Run(job, self.now, self.now + job.limit, self.now + min(job.limit, self.length(job)), on))

    def _preempt(self, job: Job, on: tuple[str, ...], start: float, placed: dict[str, list[Span]]) -> None:
        """Push out what stands in the way of a job that takes these nodes as soon as grace allows."""
        for run in list(self.runs):
            gone = self._pushed(run, job)
            if gone is None or start > gone or run.planned <= self.now or not set(run.on) & set(on):
                continue
            if not self._crowded(run, job, on):
                continue
            run.ends = run.planned = min(run.ends, max(gone, self.now))
            if self.of.parts[run.job.partition].mode == "REQUEUE" and run.job.number > 0:
                again = run.job._replace(on=(), start=0, begin=int(run.ends + AGAIN))
                self.waiting.append(again)
            if run.ends <= self.now:
                self.runs.remove(run)

    def _crowded(self, run: _Run, job: Job, on: tuple[str, ...]) -> bool:
        for node in self.nodes:
            if node.name in run.on and node.name in on:
                jobs = [other.job for other in self.runs if node.name in other.on]
                if sum(other.gpus for other in jobs) + job.gpus > node.gpus or sum(other.cpus for other in jobs) + job.cpus > node.cpus:
                    return True
        return False

    def _earliest(self, job: Job, earliest: float, usage: dict[str, list[Span]]) -> tuple[float, tuple[str, ...]] | None:
        fitting = [
            node
            for node in self.nodes
            if job.partition in node.partitions
            and node.kind == job.kind
            and node.gpus >= job.gpus
            and node.cpus >= job.cpus
            and node.memory >= job.memory
        ]
        moments = {earliest, *(float(kept.end) for kept in self.of.kept)}
        moments |= {span[1] for node in fitting for span in usage[node.name]}
        for moment in sorted(m for m in moments if m >= earliest):
            free = [node.name for node in fitting if _fits(node, usage[node.name], self.of.kept, job, moment)]
            if len(free) >= job.nodes:
                return moment, tuple(free[: job.nodes])
        return None


def _hold(usage: dict[str, list[Span]], job: Job, on: tuple[str, ...], start: float, end: float) -> None:
    for name in on:
        if name in usage and end > start:
            usage[name].append((start, end, job.gpus, job.cpus, job.memory))


def _fits(node: Node, spans: list[Span], kept: list[Kept], job: Job, start: float) -> bool:
    end = start + job.limit
    if any(node.name in reservation.nodes and start < reservation.end and end > reservation.start for reservation in kept):
        return False
    for moment in {start, *(span[0] for span in spans if start < span[0] < end)}:
        current = [span for span in spans if span[0] <= moment < span[1]]
        if sum(s[2] for s in current) + job.gpus > node.gpus or sum(s[3] for s in current) + job.cpus > node.cpus:
            return False
        if sum(s[4] for s in current) + job.memory > node.memory:
            return False
    return True
