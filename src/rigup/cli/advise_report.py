"""`rigup advise` as text: a table of allocations, their intervals as bars, and what to know beside."""

from collections.abc import Iterator

from rigup.cli.layout import columns, width, wrapped
from rigup.language import _
from rigup.schemas.advise import Advise, Advised, Span
from rigup.sizes import duration
from rigup.visible import visible

MOST = 12
"""Allocations that are shown, beside those that are named."""


def shown(answer: Advise) -> str:
    """The whole answer: sentences are wrapped, the tables stand as they are."""
    lines = [line for text in _head(answer) for line in wrapped(text, "", "  ")]
    if answer.allocations:
        rows = _chosen(answer)
        lines += ["", *_table(rows), "", _("Done in, from 10 to 90 %:"), *_bars(rows)]
    remarks = [line for text in _remarks(answer) for line in wrapped(text, "", "  ")]
    return "\n".join([*lines, *([""] if remarks else []), *remarks])


def _chosen(answer: Advise) -> list[Advised]:
    """The best, with the cheapest and the best of another kind wherever they stand."""
    named = {answer.cheapest, answer.flip.other if answer.flip else None}
    return [row for place, row in enumerate(answer.allocations) if place < MOST or row.allocation in named]


def _head(answer: Advise) -> Iterator[str]:
    if answer.best:
        first = answer.allocations[0]
        yield _("Soonest: {allocation}, done in {likely} ({low} to {high}).").format(
            allocation=visible(first.allocation),
            likely=duration(first.finish.likely),
            low=duration(first.finish.low),
            high=duration(first.finish.high),
        )
        if len(answer.best) > 1:
            yield _("It cannot be told apart from {others}.").format(others=visible(", ".join(answer.best[1:])))
    else:
        yield _("No allocation is advised.")
    if answer.cheapest:
        yield _("Cheapest: {allocation}.").format(allocation=visible(answer.cheapest))


def _table(rows: list[Advised]) -> Iterator[str]:
    head = (_("allocation"), _("epoch"), _("wait"), _("run"), _("done in"), _("GPU hours"), _("cost"), _("mind"))
    cells = [head, *(_row(row) for row in rows)]
    cells = cells if any(line[-1] for line in cells[1:]) else [line[:-1] for line in cells]
    widths = [max(columns(line[place]) for line in cells) for place in range(len(cells[0]))]
    for line in cells:
        padded = [text + " " * (wide - columns(text)) for text, wide in zip(line, widths, strict=True)]
        yield "  ".join(padded).rstrip()


def _row(row: Advised) -> tuple[str, ...]:
    wait = ("≤ " if row.wait.bound else "") + duration(row.wait.high if row.wait.bound else row.wait.likely)
    wait = wait if row.wait.high >= 1 else _("none")
    return (
        visible(row.allocation),
        duration(row.epoch.likely),
        wait,
        duration(row.run.likely),
        duration(row.finish.likely),
        f"{row.gpu_hours:.1f}",
        f"{row.cost:.1f}",
        ", ".join(row.risks),
    )


def _bars(rows: list[Advised]) -> Iterator[str]:
    """From 10 to 90 % of the time to the end, on one scale."""
    name = max(columns(visible(row.allocation)) for row in rows)
    room = max(10, width() - name - 12)
    most = max(row.finish.high for row in rows) or 1.0
    for row in rows:
        text = visible(row.allocation)
        yield (text + " " * (name - columns(text)) + "  " + _bar(row.finish, most, room) + "  " + duration(row.finish.high))


def _bar(span: Span, most: float, room: int) -> str:
    low, likely, high = (min(room - 1, round(value / most * (room - 1))) for value in (span.low, span.likely, span.high))
    marks = [" "] * room
    for place in range(low, high + 1):
        marks[place] = "─"
    marks[low], marks[high], marks[likely] = "├", "┤", "●"
    return "".join(marks)


def _remarks(answer: Advise) -> Iterator[str]:
    alike: dict[tuple[str, str, str], list[str]] = {}
    for gone in answer.never:
        kind, _colon, shape = gone.allocation.rpartition(":")
        alike.setdefault((kind, gone.reason, gone.because), []).append(shape)
    for (kind, reason, because), shapes in alike.items():
        yield _("never {allocation} ({reason}): {because}").format(
            allocation=visible(f"{kind}:{', '.join(shapes)}"), reason=reason, because=visible(because)
        )
    if flip := answer.flip:
        yield _("{first} stays first while it waits no longer than {wait}; then {other} is better.").format(
            first=visible(flip.first), wait=duration(flip.first_until_wait), other=visible(flip.other)
        )
        if flip.other_if_wait_under is not None:
            yield _("{other} would be first if it waited less than {wait}.").format(
                other=visible(flip.other), wait=duration(flip.other_if_wait_under)
            )
    yield from _sooner(answer)
    last_reason = ""
    for opinion in answer.second_opinion:
        says = _("refused") if opinion.says is None else duration(opinion.says)
        replay = _("never") if opinion.replay is None else duration(opinion.replay)
        yield (
            _("sbatch --test-only of {allocation}: {says}; the replay: {replay}. {because}")
            .format(
                allocation=visible(opinion.allocation),
                says=says,
                replay=replay,
                because="" if opinion.because == last_reason else visible(opinion.because),
            )
            .rstrip()
        )
        last_reason = opinion.because
    for job in answer.poison:
        yield _("Job {job} ({name}) can never run ({reason}), and spoils Slurm's own estimates.").format(
            job=job.job, name=visible(job.name), reason=visible(job.reason)
        )
    if following := answer.next_measurement:
        yield _("Measure next: {allocation}, about {minutes} min. {because}").format(
            allocation=visible(following.allocation), minutes=following.minutes, because=following.because
        )
    yield from answer.assumed


def _sooner(answer: Advise) -> Iterator[str]:
    """What would be first if preemption were accepted."""
    if answer.best and not answer.job.accept_preemption:
        first = answer.allocations[0].finish.likely
        soft = [row for row in answer.allocations if row.preemptible and row.finish.likely < first]
        if soft:
            name = visible(min(soft, key=lambda row: row.finish.likely).allocation)
            yield _("{allocation} would end sooner, but its jobs may be preempted: --accept-preemption lets it be first.").format(
                allocation=name
            )
