"""Every allocation judged: speed, time limit, waiting, pieces, end and cost."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rigup.language import _
from rigup.train.advise.history import LIMITS, MEDIAN, TENTH, History
from rigup.train.advise.inputs import UNLIMITED, Allocation, Cluster, Device, Job, Question, Rate, Work
from rigup.train.advise.never import Never, memory_of, never, usable
from rigup.train.advise.replay import replayed
from rigup.train.advise.speed import Epoch, Interval, Law, law
from rigup.train.advise.waiting import REQUEUE_WAIT, Groups, Mine, Queue, preemptible

SIGNAL_LEAD = 60.0
"""Seconds before the limit, beside a checkpoint's, at which a piece ends: Slurm may send its signal that much late."""
MARGIN = 1.2
MOST_PIECES = 1000


class Judged(NamedTuple):
    """An allocation that can run, with all that is worked out of it; seconds."""

    allocation: Allocation
    epoch: Epoch
    wait: Interval
    bound: bool
    run: Interval
    finish: Interval
    asked: float
    pieces: int
    gpu_hours: float
    cost: float
    preemptible: bool
    risks: list[str]


class _Fitting(NamedTuple):
    """An allocation that fits, before the queue is asked."""

    allocation: Allocation
    epoch: Epoch
    asked: float
    pieces: Mapping[float, tuple[float, ...]]


_LEVELS = (TENTH, MEDIAN, LIMITS)


def judged(question: Question) -> tuple[list[Judged], list[Never]]:
    """Judge all candidates, in the order in which they are given."""
    laws = _laws(question.rates)
    fitting: list[_Fitting] = []
    out: list[Never] = []
    for asked in dict.fromkeys(question.candidates):
        found = never(question, asked) or _timed(question, asked, laws.get(asked.device))
        if isinstance(found, Never):
            out.append(found)
        else:
            fitting.append(found)
    history = History(question.cluster.past)
    waits = _waits(question, fitting, history)
    runnable = []
    for option, starts in zip(fitting, waits, strict=True):
        if starts is None:
            out.append(Never(option.allocation, "reserved", _("No moment is left that reservations and running jobs keep free.")))
        else:
            runnable.append(_judge(question, option, starts, bool(history)))
    return runnable, out


def _laws(rates: Sequence[Rate]) -> dict[str, Law]:
    of: dict[str, list[Rate]] = {}
    for rate in rates:
        of.setdefault(rate.device, []).append(rate)
    return {device: fitted for device, rows in of.items() if (fitted := law(rows))}


def _timed(question: Question, asked: Allocation, speed: Law | None) -> Never | _Fitting:
    """What limit to ask for, and the pieces that come of it."""
    if speed is None:
        return Never(asked, "no-rate", _("No rate of {device} is known: measure one epoch.").format(device=asked.device))
    work, epoch = question.work, speed.epoch(asked)
    most = question.cluster.partitions[asked.partition].max_time or UNLIMITED
    limit = work.time_limit
    if limit is None:
        limit = math.ceil(MARGIN * (work.startup + work.epochs * epoch.seconds.high) / 60 - 1e-9) * 60.0
    limit = min(limit, most)
    pieces = {level: _pieces(work, work.epochs * seconds, limit) for level, seconds in zip(_LEVELS, epoch.seconds, strict=True)}
    if any(not piece for piece in pieces.values()) or (not work.requeue and pieces[MEDIAN][0] > limit):
        text = _("It takes about {run} h, a job of {partition} may run {limit} h, and it may not be requeued.")
        run = (work.startup + work.epochs * epoch.seconds.likely) / 3600
        return Never(asked, "time-limit", text.format(run=f"{run:.1f}", partition=asked.partition, limit=f"{limit / 3600:.1f}"))
    return _Fitting(asked, epoch, limit, pieces)


def _pieces(work: Work, seconds: float, limit: float) -> tuple[float, ...]:
    """How long each piece holds the nodes; empty where no number of pieces ends the work."""
    whole = work.startup + seconds
    if not work.requeue or whole <= limit:
        return (whole,)
    held = limit - SIGNAL_LEAD - work.checkpoint
    each = held - work.startup
    if each <= 0 or (count := math.ceil(seconds / each)) > MOST_PIECES:
        return ()
    return (*([held] * (count - 1)), work.startup + seconds - each * (count - 1))


def request(work: Work, asked: Allocation, limit: float) -> Job:
    """The job that an allocation comes to; its id is below 0."""
    return Job(
        id=-1,
        name="",
        partitions=(asked.partition,),
        nodes=asked.nodes,
        limit=limit,
        gpu=asked.device,
        gpus=asked.gpus,
        cpus=work.cpus_per_gpu * asked.gpus,
        memory=memory_of(work, asked),
        priority=-math.inf if work.priority is None else work.priority,
    )


def _waits(question: Question, fitting: Sequence[_Fitting], history: History) -> list[dict[float, list[float]] | None]:
    """When every piece starts at each level; None where it never does."""
    found: list[dict[float, list[float]] | None] = [None] * len(fitting)
    by_part: dict[frozenset[str], list[int]] = {}
    queues: dict[frozenset[str], Queue] = {}
    groups = Groups(question.cluster)
    for place, option in enumerate(fitting):
        queue = next((q for near, q in queues.items() if option.allocation.partition in near), None)
        queue = queue or Queue(question.cluster, history, [option.allocation.partition], groups)
        queues[queue.near] = queue
        by_part.setdefault(queue.near, []).append(place)
    for near, places in by_part.items():
        levels = {}
        for level in _LEVELS if history else (LIMITS,):
            levels[level] = replayed(queues[near], level, _mine(question, fitting, places, level))
        for number, place in enumerate(places):
            starts = {level: kept for level, rows in levels.items() if (kept := rows[number]) is not None}
            found[place] = starts if LIMITS in starts else None
    return found


def _mine(question: Question, fitting: Sequence[_Fitting], places: Sequence[int], level: float) -> list[Mine]:
    return [Mine(request(question.work, fitting[n].allocation, fitting[n].asked), fitting[n].pieces[level]) for n in places]


def _judge(question: Question, option: _Fitting, starts: Mapping[float, list[float]], known: bool) -> Judged:
    work, cluster = question.work, question.cluster
    first = {level: starts.get(level, starts[LIMITS])[0] - cluster.now for level in _LEVELS}
    runs = {level: sum(option.pieces[level]) for level in _LEVELS}
    ends = {level: _end(option.pieces[level], starts.get(level) or starts[LIMITS], cluster.now) for level in _LEVELS}
    wait, run, finish = _ordered(first), _ordered(runs), _ordered(ends)
    soft = preemptible(cluster, option.allocation.partition, option.allocation.device)
    if soft:
        finish = finish._replace(high=finish.high + REQUEUE_WAIT + _lost(work, option))
    hours = run.likely * option.allocation.total / 3600
    weight = question.devices.get(option.allocation.device, Device(option.allocation.device)).weight
    grace = max((p.grace for p in cluster.partitions.values()), default=0.0)
    return Judged(
        option.allocation,
        option.epoch,
        wait,
        not known and wait.high > grace,
        run,
        finish,
        option.asked,
        len(option.pieces[MEDIAN]),
        hours,
        hours * weight,
        soft,
        _risks(cluster, option, soft, work),
    )


def _end(pieces: Sequence[float], starts: Sequence[float], now: float) -> float:
    """From now to the end of the last piece. Pieces whose start is not known wait as the last that is did."""
    end = now
    for number, length in enumerate(pieces):
        if number < len(starts):
            end = starts[number] + length
        else:
            end += REQUEUE_WAIT + length
    return end - now


def _ordered(levels: Mapping[float, float]) -> Interval:
    low, likely, high = (levels[level] for level in _LEVELS)
    return Interval(min(low, likely), likely, max(likely, high))


def _lost(work: Work, option: _Fitting) -> float:
    """What a preemption costs at worst: a start and the work since the last checkpoint, or all of a piece."""
    piece = max(option.pieces[LIMITS])
    return piece if work.checkpoint_every is None else min(piece, work.startup + work.checkpoint_every)


def _risks(cluster: Cluster, option: _Fitting, soft: bool, work: Work) -> list[str]:
    names = {node.name for node in usable(cluster, option.allocation, work)}
    ahead = any(kept.end > cluster.now and names & kept.nodes for kept in cluster.reservations)
    late = len(option.pieces[LIMITS]) > 1 or sum(option.pieces[LIMITS]) > option.asked
    stands = {
        "time-limit": late,
        "preemption": soft,
        "extrapolated": option.epoch.extrapolated,
        "catalogue-rate": option.epoch.source == "catalogue",
        "maintenance": ahead,
    }
    return [risk for risk, holds in stands.items() if holds]
