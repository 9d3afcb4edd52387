"""The upper part of a picture: a line for the host, a line for each GPU, and their graphs."""

import time

from msgspec import UNSET

from rigup.cli.live.graphs import bar
from rigup.cli.live.spans import Line, Span, cell, harmless
from rigup.cli.live.view import Frame, View
from rigup.language import _
from rigup.schemas.watch_gpu import WatchedGpu
from rigup.schemas.watch_host import WatchedHost
from rigup.watch.history import memory_share, memory_used

DASH = "–"
_GIB = 1024**3
_HOT = 90.0  # °C from which on a temperature stands out where its limit is not told
_NEAR = 5.0  # K below the limit
_FULL = 0.95


def host_line(frame: Frame, view: View) -> Line:
    """The machine, its processors and memory, and the time of the sample."""
    sample = frame.sample
    line: Line = [Span(" rigup watch ", "title"), Span(" ")]
    if sample.host is not UNSET:
        line += _host_spans(sample.host)
    shown = time.strftime("%Y-%m-%d %H:%M:%S" if view.replay else "%H:%M:%S", time.localtime(_day(sample.time)))
    line += [Span("  " + shown, "dim")]
    if view.paused:
        line.append(Span("  " + _("paused"), "warn"))
    if view.late:
        line.append(Span("  " + _("no sample for {seconds} s").format(seconds=round(view.late)), "bad"))
    if frame.note:
        line.append(Span("  " + harmless(frame.note), "warn"))
    return line


def _day(moment: float) -> float:
    """A time that every C library can write."""
    return moment if 0 <= moment < 2**33 else 0.0


def _host_spans(host: WatchedHost) -> Line:
    parts: Line = []
    if host.name is not UNSET:
        parts.append(Span(harmless(host.name) + "  ", "strong"))
    if host.cpu is not UNSET and host.cpu.utilisation is not UNSET:
        parts += [Span("CPU ", "dim"), Span(f"{host.cpu.utilisation:4.0%}  ")]
    if host.memory is not UNSET:
        used = f"{host.memory.used / _GIB:.1f}/{host.memory.total / _GIB:.0f} GiB"
        parts += [Span("RAM ", "dim"), Span(used, "warn" if host.memory.used > _FULL * host.memory.total else "")]
    if host.load is not UNSET and host.load:
        parts += [Span("  " + _("load") + " ", "dim"), Span(f"{host.load[0]:.1f}")]
    return parts


def gpu_head(wide: int) -> Line:
    """What stands in the columns of `gpu_line`."""
    return [
        Span(_columns(["GPU", _("Name"), _("Use"), "", _("Memory"), "", _("Temp"), _("Power"), _("Clock"), _("Slowed by")], wide), "head")
    ]


def _widths(wide: int) -> list[int]:
    """Columns of index, name, use, its bar, memory, its bar, temperature, power, clock, reasons; 0 leaves one out."""
    if wide < 60:
        return [3, 0, 4, max(wide - 42, 0), 13, 0, 6, 6, 0, 8]
    bars = 10 if wide >= 110 else 5 if wide >= 92 else 0
    fixed = [3, 0, 4, bars, 14, bars, 6, 9, 8 if wide >= 76 else 0, 12 if wide >= 92 else 8]
    taken = sum(fixed) + sum(1 for column in fixed if column) + 1
    return [3, max(min(wide - taken, 34), 6), *fixed[2:]]


def _columns(cells: list[str], wide: int) -> str:
    right = (2, 4, 6, 7, 8)
    return " ".join(cell(text, room, at in right) for at, (text, room) in enumerate(zip(cells, _widths(wide), strict=True)) if room)


def gpu_line(gpu: WatchedGpu, wide: int, chosen: bool) -> Line:
    """One GPU in one line."""
    widths = _widths(wide)
    name = harmless(gpu.name) if gpu.name is not UNSET else DASH
    line: Line = [Span(cell(("▸" if chosen else " ") + str(gpu.index), widths[0]), "strong"), Span(" ")]
    line += [Span(cell(name, widths[1]) + " ", "strong" if chosen else "")] if widths[1] else []
    if gpu.state != "active":
        states = {"asleep": _("asleep"), "lost": _("lost"), "error": _("error")}
        why = f"  {harmless(gpu.because)}" if gpu.because is not UNSET else ""
        return [*line, Span(states[gpu.state], "dim" if gpu.state == "asleep" else "bad"), Span(why, "dim")]
    share, full = _number(gpu.utilisation.gpu), memory_share(gpu)
    pieces = [
        (percent(share), ""),
        (bar(share, widths[3]), "use"),
        (_memory(gpu), "warn" if (full or 0) > _FULL else ""),
        (bar(full, widths[5]), "memory"),
        (_degrees(gpu), _heat_role(gpu)),
        (_power(gpu, widths[7] >= 9), ""),
        (_clock(gpu), ""),
        (DASH if gpu.throttle is UNSET else ", ".join(gpu.throttle), "warn"),
    ]
    for at, (text, role) in enumerate(pieces, 2):
        if widths[at]:
            line += [Span(cell(text, widths[at], at in (2, 4, 6, 7, 8)), role), Span(" ")]
    return line[:-1]


def percent(value: float | None) -> str:
    """A share as per cent, a dash where nobody told."""
    return DASH if value is None else f"{value:.0%}"


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) else None


def _memory(gpu: WatchedGpu) -> str:
    used, total = memory_used(gpu)
    return f"{used / _GIB:.1f}/{total / _GIB:.0f} GiB" if used is not None and total else DASH


def _hottest(gpu: WatchedGpu) -> float | None:
    known = [value for value in map(_number, (gpu.temperature.junction, gpu.temperature.edge)) if value is not None]
    return max(known) if known else None


def _degrees(gpu: WatchedGpu) -> str:
    heat = _hottest(gpu)
    return DASH if heat is None else f"{heat:.0f} °C"


def _heat_role(gpu: WatchedGpu) -> str:
    limit = _number(gpu.temperature.limit)
    return "bad" if (_hottest(gpu) or 0.0) >= (limit - _NEAR if limit else _HOT) else ""


def _power(gpu: WatchedGpu, with_limit: bool) -> str:
    draw, limit = _number(gpu.power.draw), _number(gpu.power.limit)
    if draw is None:
        return DASH
    return f"{draw:.0f}/{limit:.0f} W" if with_limit and limit else f"{draw:.0f} W"


def _clock(gpu: WatchedGpu) -> str:
    clock = _number(gpu.clock.graphics)
    return DASH if clock is None else f"{clock / 1e6:.0f} MHz"
