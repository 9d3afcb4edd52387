"""The queue replayed: when a request would start, if jobs end as their limits or as completed jobs let expect.

Conservative backfill: every waiting job, in the order of tier, priority and submission, is given the earliest moment at
which it fits beside what was placed before it. The scheduler plans with limits; where jobs are expected to end sooner it
plans again at each end. A job that a higher tier may preempt stands in that tier's way for its GraceTime only.
"""

import heapq
from collections.abc import Sequence
from typing import NamedTuple

from rigup.train.advise.backlog import backlogged
from rigup.train.advise.history import LIMITS
from rigup.train.advise.inputs import Job
from rigup.train.advise.profile import Board, Profile
from rigup.train.advise.waiting import REQUEUE_WAIT, Key, Mine, Queue, Run, Throttles


def placed_before(queue: Queue, quantile: float, until: Key) -> Board:
    """What is free when all that stand before a key were placed, each as long as it is expected to run."""
    board = Board(queue.nodes, queue.now, queue.reservations)
    runs = queue.runs(quantile)
    soft = [run for run in runs if queue.is_soft(run.job)]
    for run in runs:
        board.hold(run.job, min(run.ends, queue.now + queue.grace(run.job)) if queue.is_soft(run.job) else run.ends)
    throttles = Throttles(runs)
    line = list(queue.waiting)
    heapq.heapify(line)
    for tier in queue.tiers:
        if tier < -until[0]:
            break
        for run in settled(queue, board, soft, tier, queue.now):
            if "REQUEUE" in queue.partition(run.job.partitions[0]).preempted:
                begin = queue.now + queue.grace(run.job) + REQUEUE_WAIT
                job = run.job._replace(start=0.0, on=(), begin=begin)
                heapq.heappush(line, (queue.key(job, 0), job))
        while line and line[0][0] < until and -line[0][0][0] >= tier:
            job = heapq.heappop(line)[1]
            length = min(job.limit, queue.expected(job, quantile, queue.now))
            if placed := board.earliest(job, length, throttles.free(job, queue.now)):
                board.place(job, length, *placed)
                throttles.add(job, placed[0] + length)
    return board


def settled(queue: Queue, board: Board, soft: list[Run], tier: float, moment: float) -> list[Run]:
    """Let preemptible jobs of a tier go on where no higher one took their nodes; returns those that cannot."""
    out = []
    for run in [run for run in soft if queue.tier(run.job) >= tier]:
        soft.remove(run)
        begin = moment + queue.grace(run.job)
        if begin >= run.ends:
            continue
        if _fits(board, run.job, begin, run.ends):
            board.hold(run.job, run.ends, begin)
        else:
            out.append(run)
    return out


def starts(queue: Queue, mine: Mine, board: Board) -> list[float] | None:
    """When each piece starts, on a board on which all that stand before are placed; the board is left as it was."""
    taken: list[tuple[float, float, list[Profile]]] = []
    found: list[float] = []
    begin = queue.now
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


class _Moment(NamedTuple):
    """What a plan at a moment gave: what starts at once, when the rest does, and what is preempted."""

    begun: list[Job]
    mine: list[int]
    planned: list[float]
    out: list[Run]


class _Live:
    """A queue that goes on in time."""

    def __init__(self, queue: Queue, quantile: float, mine: Sequence[Mine], keys: Sequence[Key]) -> None:
        self.queue, self.quantile, self.moment = queue, quantile, queue.now
        self.runs = queue.runs(quantile)
        self.waiting = list(queue.waiting)
        self.mine = {number: (key, request.job, 0) for number, (request, key) in enumerate(zip(mine, keys, strict=True))}
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
        throttles = Throttles([Run(run.job, run.planned, run.planned) for run in self.runs])
        result, seized = _Moment([], [], [], []), set[str]()
        order: list[tuple[Key, int, Job]] = [(key, -1, job) for key, job in self.waiting]
        order += [(key, number, job) for number, (key, job, _piece) in self.mine.items()]
        order.sort(key=lambda row: (row[0], row[1]))
        place = 0
        for tier in queue.tiers:
            out = settled(queue, board, soft, tier, now)
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
            self.runs.append(Run(job._replace(start=now), now + job.limit, now + min(job.limit, length)))
        for run in plan.out:
            run.planned = run.ends = min(run.ends, now + self.queue.grace(run.job))
            if "REQUEUE" in self.queue.partition(run.job.partitions[0]).preempted and run.job.id >= 0:
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
    keys = [queue.key(request.job, queue.behind) for request in mine]
    if _too_many(queue, len(queue.nodes)):
        return backlogged(queue, quantile, mine, keys)
    if quantile >= LIMITS or not queue.history or _too_many(queue, len(queue.waiting) + len(queue.running)):
        boards = {key: placed_before(queue, quantile, key) for key in set(keys)}
        return [starts(queue, request, boards[key]) for request, key in zip(mine, keys, strict=True)]
    last = queue.waiting[-1][0] if queue.waiting else (-float("inf"), 0.0, 0)
    preempting = any(queue.is_soft(job) for job in queue.running)
    shared = [n for n, request in enumerate(mine) if len(request.pieces) == 1 and keys[n] > last and not preempting]
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
