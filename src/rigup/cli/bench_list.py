"""What `rigup bench --list` shows: earlier runs, machines whose results are kept, and devices that others measured."""

import re

import click

from rigup.bench.records import Run, run_of
from rigup.bench.telling import figure, name_of
from rigup.cli.guard import style
from rigup.cli.layout import columns, padded, wrapped
from rigup.language import _
from rigup.schemas.bench import BenchList, MeasuredDevice

_MOST_RUNS = 20
_NO_BREAK = "\ue000"  # stands for a blank at which no line ends; nobody's letter


def text(answer: BenchList, color: bool = False) -> str:
    """The whole list."""
    runs = [run_of(run) for run in answer.runs[-_MOST_RUNS:]]
    parts = [_runs(runs), _machines(answer.machines), _measured(answer.measured), wrapped(_next())]
    report = "\n\n".join("\n".join(part) for part in parts if part)
    return report if color else click.unstyle(report)


def _head(line: str) -> str:
    return style(line, bold=True)


def _runs(runs: list[Run]) -> list[str]:
    if not runs:
        return wrapped(_("Nothing was measured on this machine yet."))
    head = _("This machine's earlier results, the newest last")
    moments = [run.recorded_at or "?" for run in runs]
    wide = max(map(columns, moments))
    lines = [_head(head)]
    for run, moment in zip(runs, moments, strict=True):
        lines += wrapped(_run(run), "  " + padded(moment, wide) + "  ")
    return lines


def _run(run: Run) -> str:
    """Where it ran, and the best product of each device."""
    return ": ".join(filter(None, (run.prefix, ", ".join(filter(None, map(_best, run.devices))))))


def _best(device: MeasuredDevice) -> str:
    """The device's fastest figure of the first kind that it has: products tell more than the rest."""
    first = [result for result in device.results if result.name == "matmul"] or device.results[:1]
    if not first:
        return ""
    best = max(first, key=lambda result: result.median)
    return f"{device.name or ''} {figure(best.median, best.unit)} ({name_of(best.name, best.type or '')})"


def _machines(names: list[str]) -> list[str]:
    if len(names) < 2:
        return []
    return [_head(_("Machines whose results are kept here")), *(line for name in names for line in wrapped(name, "  "))]


def _measured(names: list[str]) -> list[str]:
    """A line for each family: what all its names begin with, and what tells one from another."""
    head = _("Devices that others measured (`rigup knowledge NAME` tells the sources)")
    lines = [_head(head)]
    for family, members in _families(names).items():
        unbroken = ", ".join(member.replace(" ", _NO_BREAK) for member in members)
        lines += wrapped(unbroken, f"  {family} ", "    ")
    return [line.replace(_NO_BREAK, " ") for line in lines]


def _families(names: list[str]) -> dict[str, list[str]]:
    """Names by the words before the first that has a digit, each family in the order of its numbers."""
    found: dict[str, list[str]] = {}
    for name in names:
        words = name.split(" ")
        place = next((place for place, word in enumerate(words) if re.search(r"\d", word)), len(words) - 1)
        found.setdefault(" ".join(words[:place]), []).append(" ".join(words[place:]))
    return {family: sorted(members, key=_by_number) for family, members in sorted(found.items())}


def _by_number(name: str) -> list[tuple[int, str]]:
    """So that 780M stands before 7900."""
    return [(int(digits or 0), rest) for digits, rest in re.findall(r"(\d*)(\D*)", name)]


def _next() -> str:
    return _(
        "`rigup bench --compare` takes each of these names, a moment, a file of `rigup bench --json`, a capture, or any card that has a data sheet here."
    )
