"""The lower part of a picture: processes as rows."""

from typing import NamedTuple

from msgspec import UNSET

from rigup.cli.live.gpus import DASH, percent
from rigup.cli.live.spans import Line, Span, cell, harmless
from rigup.cli.live.view import OF_GPUS, View, use_of, words_of
from rigup.language import _
from rigup.schemas.watch import WatchedProcess
from rigup.watch.history import memory_of

_GIB = 1024**3


class Column(NamedTuple):
    """One column: its sort, head, width, side, and the least width of a picture that has it."""

    sort: str
    head: str
    wide: int
    right: bool
    least: int


def columns_at(wide: int, with_gpus: bool = True) -> list[Column]:
    """The columns that a picture of that width has, without those of GPUs where there is none; the last takes what is left."""
    every = [
        Column("pid", "PID", 8, True, 0),
        Column("gpu", "GPU", 4, False, 0),
        Column("user", _("User"), 9, False, 50),
        Column("use", _("Use"), 5, True, 0),
        Column("memory", _("Memory"), 9, True, 0),
        Column("cpu", "CPU", 6, True, 66),
        Column("rss", "RAM", 9, True, 100),
        Column("time", _("Time"), 8, True, 90),
        Column("job", _("Job"), 10, False, 110),
    ]
    chosen = [column for column in every if with_gpus and wide >= column.least]
    if not with_gpus:
        chosen = [column for column in every if column.sort not in OF_GPUS and (wide >= column.least or column.sort == "rss")]
    left = wide - sum(column.wide + 1 for column in chosen)
    return [*chosen, Column("command", _("Command"), max(left, 6), False, 0)]


def head(view: View, sort: str, parts: list[Column]) -> Line:
    """The heads; that by which rows stand has a mark."""
    line: Line = []
    for column in parts:
        mark = ("▲" if view.reverse else "▼") if column.sort == sort else ""
        line += [Span(cell(column.head + mark, column.wide, column.right), "head"), Span(" ")]
    return line[:-1]


def sort_at(x: int, wide: int, with_gpus: bool = True) -> str:
    """Whose head is at a column of the picture; "" for none by which rows can stand."""
    begin = 0
    for column in columns_at(wide, with_gpus):
        begin += column.wide + 1
        if x < begin:
            return "" if column.sort == "job" else column.sort
    return ""


def row(process: WatchedProcess, depth: int, now: float, parts: list[Column], chosen: bool) -> Line:
    """One process."""
    cells = _cells(process, depth, now)
    text = " ".join([cell(cells[column.sort], column.wide, column.right) for column in parts])
    if chosen:
        return [Span(text, "chosen")]
    return [Span(text, "dim" if process.because is not UNSET else "")]


def _cells(process: WatchedProcess, depth: int, now: float) -> dict[str, str]:
    box = process.container.engine if process.container is not UNSET else ""
    job = process.slurm_job if process.slurm_job is not UNSET else ""
    held, branch = memory_of(process), "  " * (min(depth, 8) - 1) + "└ " if depth else ""
    return {
        "pid": str(process.pid),
        "gpu": ",".join(str(part.index) for part in process.gpus),
        "user": harmless(process.user) if process.user is not UNSET else DASH,
        "use": percent(use_of(process)),
        "memory": size(held) if held else DASH,
        "cpu": percent(process.cpu if process.cpu is not UNSET else None),
        "rss": size(process.rss) if process.rss is not UNSET else DASH,
        "time": duration(now - process.start) if process.start is not UNSET else DASH,
        "job": harmless(" ".join(filter(None, (job, box)))),
        "command": branch + harmless(words_of(process)),
    }


def size(amount: int) -> str:
    """Bytes in few letters."""
    if amount >= _GIB / 10:
        return f"{amount / _GIB:.1f} GiB"
    return f"{amount / 1024**2:.0f} MiB" if amount >= 1024**2 or not amount else f"{amount / 1024:.0f} KiB"


def duration(seconds: float) -> str:
    """How long: minutes and seconds, hours and minutes, days and hours."""
    whole = max(int(min(seconds, 1e9)), 0)
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if days:
        return f"{days}d{hours % 24:02d}h"
    return f"{hours}h{minutes % 60:02d}m" if hours else f"{minutes}:{whole % 60:02d}"
