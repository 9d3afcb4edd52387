"""The answer: what is first, what cannot be told from it, what is cheapest, and what would change it."""

import math
from collections.abc import Callable, Sequence

from msgspec import UNSET

from rigup.language import _
from rigup.schemas.advise import (
    Advise,
    Advised,
    AdvisedWork,
    EpochSpan,
    Flip,
    NeverRuns,
    NextMeasurement,
    PoisonJob,
    SecondOpinion,
    Span,
    WaitSpan,
)
from rigup.train.advise.inputs import Question, Work, allocation
from rigup.train.advise.judged import Judged, judged
from rigup.train.advise.speed import Interval
from rigup.train.advise.waiting import LEFT_OUT, POISON

MEASURED_WHILE = 2
"""Epochs of a measurement: the first one warms up and is not counted."""
DIFFERENT = 600.0
"""Seconds by which two estimates of a start differ when the difference is explained."""


def advice(question: Question) -> Advise:
    """Answer a question."""
    found, never = judged(question)
    accepted = question.work.accept_preemption
    ranked = sorted(found, key=lambda option: (option.preemptible and not accepted, option.finish.likely, option.cost))
    eligible = [option for option in ranked if accepted or not option.preemptible]
    tied = _tied(eligible)
    poison = [job for job in question.cluster.pending if job.reason in POISON]
    by_id = {job.array or job.id: PoisonJob(job=job.array or job.id, name=job.name, reason=job.reason) for job in poison}
    return Advise(
        now=question.cluster.now,
        slurm=question.cluster.slurm,
        job=_work(question.work),
        allocations=[_advised(option) for option in ranked],
        best=[str(option.allocation) for option in tied],
        ties=[[str(option.allocation) for option in tied]] if len(tied) > 1 else [],
        cheapest=_cheapest(eligible or ranked),
        never=[NeverRuns(allocation=str(row.allocation), reason=row.reason, because=row.because) for row in never],  # type: ignore[arg-type]
        flip=_flip(eligible),
        second_opinion=_second(question, ranked, bool(by_id)),
        poison=list(by_id.values()),
        next_measurement=_next(question.work, eligible, tied),
        assumed=[*question.assumed, *_assumed(question)],
    )


def _tied(eligible: Sequence[Judged]) -> list[Judged]:
    """The first, and those whose interval overlaps its own. Nothing where none may be first."""
    if not eligible:
        return []
    first = eligible[0].finish
    return [option for option in eligible if option.finish.low <= first.high and first.low <= option.finish.high]


def _cheapest(ranked: Sequence[Judged]) -> str | None:
    return str(min(ranked, key=lambda option: (option.cost, option.finish.likely)).allocation) if ranked else None


def _flip(eligible: Sequence[Judged]) -> Flip | None:
    if not eligible:
        return None
    first = eligible[0]
    kind = first.allocation[:2]
    other = next((option for option in eligible if option.allocation[:2] != kind), None)
    if other is None:
        return None
    under = first.finish.likely - (other.finish.likely - other.wait.likely)
    return Flip(
        first=str(first.allocation),
        other=str(other.allocation),
        first_until_wait=round(first.wait.likely + other.finish.likely - first.finish.likely),
        other_if_wait_under=round(under) if under > 0 else None,
    )


def _second(question: Question, ranked: Sequence[Judged], poisoned: bool) -> list[SecondOpinion]:
    waits = {str(option.allocation): option.wait.likely for option in ranked}
    found = []
    for opinion in question.second:
        replay = waits.get(opinion.allocation)
        says = None if opinion.start is None else max(0.0, opinion.start - question.cluster.now)
        because = _difference(says, replay, poisoned and says is not None) if says is not None else opinion.words
        found.append(SecondOpinion(allocation=opinion.allocation, says=says, replay=replay, because=because))
    return found


def _difference(says: float | None, replay: float | None, poisoned: bool) -> str:
    if says is None or replay is None:
        return _("Slurm names a time for an allocation that can never run.")
    if abs(says - replay) <= DIFFERENT:
        return _("Both agree.")
    if poisoned and says > replay:
        return _("Slurm adds up the limits of waiting jobs, also of those that can never run: it can be hours wrong.")
    return _("Slurm's estimate adds up limits without a plan: it can be hours wrong. The replay looks at every node.")


def _next(work: Work, eligible: Sequence[Judged], tied: Sequence[Judged]) -> NextMeasurement | None:
    """What to measure: of those that cannot be told apart the least certain; else the first, where nobody measured it."""
    if not eligible:
        return None
    pool = list(tied) if len(tied) > 1 else [option for option in eligible[:1] if option.epoch.source != "measured"]
    if not pool:
        return None
    target = max(pool, key=lambda each: (_width(each.epoch.seconds), -each.wait.likely))
    seconds = work.startup + MEASURED_WHILE * target.epoch.seconds.likely
    because = (
        _("It is the least certain of those that cannot be told apart.")
        if len(tied) > 1
        else _("Nobody has measured there what is advised.")
    )
    return NextMeasurement(allocation=str(target.allocation), minutes=max(1, math.ceil(seconds / 60)), because=because)


def _width(interval: Interval) -> float:
    return round(interval.high / max(1e-9, interval.low), 6)


def _because(option: Judged) -> str:
    texts: dict[str, Callable[[], str]] = {
        "measured": lambda: _("Measured there."),
        "fitted": lambda: _("Worked out from other numbers of GPUs of that type."),
        "catalogue": lambda: _("Worked out from the data sheet alone: it can be far off."),
    }
    text = (
        _("Worked out from what rigup bench measured there and on another type.") if option.epoch.benched else texts[option.epoch.source]()
    )
    if option.epoch.extrapolated and option.epoch.source != "measured":
        text += " " + _("Nobody has measured so many.")
    return text


def _span(interval: Interval) -> Span:
    return Span(low=round(interval.low, 1), likely=round(interval.likely, 1), high=round(interval.high, 1))


def _advised(option: Judged) -> Advised:
    epoch, wait = _span(option.epoch.seconds), _span(option.wait)
    return Advised(
        allocation=str(option.allocation),
        partition=option.allocation.partition,
        device=option.allocation.device,
        nodes=option.allocation.nodes,
        gpus_per_node=option.allocation.gpus,
        epoch=EpochSpan(low=epoch.low, likely=epoch.likely, high=epoch.high, source=option.epoch.source, because=_because(option)),
        wait=WaitSpan(low=wait.low, likely=wait.likely, high=wait.high, bound=option.bound),
        run=_span(option.run),
        finish=_span(option.finish),
        asked=round(option.asked),
        pieces=option.pieces,
        gpu_hours=round(option.gpu_hours, 3),
        cost=round(option.cost, 3),
        preemptible=option.preemptible,
        risks=option.risks,  # type: ignore[arg-type]
    )


def _work(work: Work) -> AdvisedWork:
    known = {
        name: UNSET if (value := getattr(work, name)) is None else value
        for name in ("checkpoint_every", "gpu_memory", "gpu_memory_sharded", "host_memory_per_gpu", "time_limit")
    }
    return AdvisedWork(
        epochs=work.epochs,
        startup=work.startup,
        requeue=work.requeue,
        checkpoint=work.checkpoint,
        cpus_per_gpu=work.cpus_per_gpu,
        accept_preemption=work.accept_preemption,
        **known,
    )


def _assumed(question: Question) -> list[str]:
    """What was taken for granted of the queue."""
    out = [job for job in question.cluster.pending if job.reason.startswith(LEFT_OUT) and job.reason not in POISON]
    texts = []
    if out:
        texts.append(_("{count} waiting jobs are left out: they are held, or wait for something else than nodes.").format(count=len(out)))
    if not question.cluster.past:
        texts.append(_("No completed jobs are known, so every job is taken to run to its limit: waits are upper bounds."))
    return texts


def chosen(answer: Advise, text: str = "") -> Advised | None:
    """The allocation that a text names, or the first that may be called best; None where there is none."""
    wanted = str(allocation(text)) if text else next(iter(answer.best), "")
    return next((advised for advised in answer.allocations if advised.allocation == wanted), None)
