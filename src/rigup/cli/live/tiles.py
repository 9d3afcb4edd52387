"""Graphs under a line that names them: of GPUs, and of the machine itself."""

import math
from collections.abc import Sequence

from rigup.cli.live.gpus import DASH
from rigup.cli.live.graphs import graph
from rigup.cli.live.spans import Line, Span
from rigup.cli.live.view import HOST, Frame
from rigup.cli.watch_host import size
from rigup.language import _
from rigup.schemas.watch_gpu import WatchedGpu
from rigup.watch.history import key_of

Values = Sequence[float]  # NaN where one was not known


def metric_name(metric: str) -> str:
    """What a graph shows."""
    names = {"gpu": _("use"), "memory": _("memory"), "power": _("power"), "temperature": _("temperature")}
    return (names | {"cpu": "CPU", "ram": "RAM", "network": _("network"), "disk": _("disk")})[metric]


def tile(frame: Frame, gpu: WatchedGpu, metric: str, wide: int, high: int) -> list[Line]:
    """A graph of one GPU: `high` lines in all."""
    values = frame.graphs.get(key_of(gpu), {}).get(metric, [])
    limit = gpu.power.limit if isinstance(gpu.power.limit, int | float) else 0.0
    top = _top(values, wide, {"power": limit, "temperature": 100.0}.get(metric, 1.0))
    form, most = {"power": ("{:.0f} W", top), "temperature": ("{:.0f} °C", top)}.get(metric, ("{:.0%}", 1.0))
    bound = form.format(most) if metric in ("power", "temperature") else ""
    role = {"gpu": "use", "memory": "memory", "power": "power", "temperature": "heat"}[metric]
    now = DASH if not values or math.isnan(values[-1]) else form.format(values[-1])
    return _lines(f"GPU {gpu.index} ", metric, now, bound, values, role, top, wide, high)


def host_tile(frame: Frame, metric: str, wide: int, high: int) -> list[Line]:
    """A graph of the machine: "cpu", "ram", "network" or "disk"; `high` lines in all."""
    values = frame.graphs.get(HOST, {}).get(metric, [])
    is_share, now = metric in ("cpu", "ram"), values[-1] if values else math.nan
    top = _top(values, wide, 1.0 if is_share else 1024.0)
    text = DASH if math.isnan(now) else f"{now:.0%}" if is_share else size(now) + "/s"
    role = {"cpu": "use", "ram": "memory", "network": "power", "disk": "heat"}[metric]
    return _lines("", metric, text, "" if is_share else size(top) + "/s", values, role, top, wide, high)


def _top(values: Values, wide: int, least: float) -> float:
    """The value at the upper edge: of what is shown the highest, and no less than `least`."""
    known = [value for value in values[-2 * (wide - 1) :] if not math.isnan(value)]
    return max([least, *known]) or 1.0


def _lines(subject: str, metric: str, now: str, bound: str, values: Values, role: str, top: float, wide: int, high: int) -> list[Line]:
    head: Line = [
        Span(subject, "strong"),
        Span(metric_name(metric) + " ", "dim" if subject else "strong"),
        Span(now),
        Span(f"  ≤ {bound}" if bound else "", "dim"),
    ]
    return [head, *([Span(row, role)] for row in graph(values, wide - 1, high - 1, top))]
