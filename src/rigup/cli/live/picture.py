"""One picture from a frame and the view: lines that fill the screen exactly, and what lies where for the mouse."""

import math

from msgspec import UNSET, Struct

from rigup.cli.layout import columns
from rigup.cli.live import table
from rigup.cli.live.gpus import gpu_head, gpu_line, host_line
from rigup.cli.live.spans import Line, Span, cell, fitted, harmless
from rigup.cli.live.tiles import host_tile, tile
from rigup.cli.live.view import HOST, METRICS, Frame, View, position, processes_of, shown, sort_of
from rigup.cli.watch_host import host_rows
from rigup.language import _
from rigup.watch.history import HOST_SERIES
from rigup.watch.ways import first_way

_TILE = 38  # columns of a graph at least
_LEAST_TILE, _MOST_TILE = 3, 8  # lines with its head
_ROWS = 5  # processes that have room before graphs have
_MOST_FINDINGS = 4
_HIGH = 40  # lines from which on there is room for more of the machine
_MARKS = {"error": ("✖ ", "bad"), "warning": ("▲ ", "warn"), "note": ("• ", "note")}


class Picture(Struct):
    """What is on the screen.

    Attributes:
        lines: each as wide as the screen.
        places: by line what lies there: ("gpu", position), ("finding", position), ("head", 0) or ("process", row).
        rows: how many processes have room.

    """

    lines: list[Line] = []
    places: dict[int, tuple[str, int]] = {}
    rows: int = 0

    def add(self, line: Line, place: tuple[str, int] | None = None) -> None:
        """One more line."""
        if place is not None:
            self.places[len(self.lines)] = place
        self.lines.append(line)


def compose(frame: Frame, view: View, wide: int, high: int) -> Picture:
    """A picture of exactly `wide` by `high`; what has no room is left out from below, graphs first."""
    picture, wide, high = Picture(), max(wide, 1), max(high, 1)
    picture.add(host_line(frame, view))
    _host(picture, frame, high)
    room = high - 2 - min(len(frame.sample.findings), _MOST_FINDINGS)
    _gpus(picture, frame, view, wide, room * 4 // 5 + 1)
    rows = min(len(processes_of(frame.sample, view)), max(_ROWS, high // 3))
    _tiles(picture, frame, view, wide, room - (len(picture.lines) - 1) - (1 + rows if rows else 0))
    _findings(picture, frame, high)
    _processes(picture, frame, view, wide, high)
    picture.lines = picture.lines[: high - 1]
    while len(picture.lines) < high - 1:
        picture.add([])
    picture.lines.append(_foot(view, wide, bool(frame.sample.gpus)))
    picture.lines = [fitted(line, wide) for line in picture.lines[-high:]]
    picture.places = {at: place for at, place in picture.places.items() if at < high - 1}
    return picture


def _host(picture: Picture, frame: Frame, high: int) -> None:
    """The machine itself, as far as the first line does not tell it; beside GPUs where there is room."""
    if frame.sample.host is UNSET or (frame.sample.gpus and high < _HIGH):
        return
    rows = host_rows(frame.sample.host)
    shown_rows = rows if high >= _HIGH else [row for row in rows if row[0] not in ("CPU", "RAM")]
    wide = max((columns(name) for name, _text in shown_rows), default=0)
    for name, text in shown_rows:
        picture.add([Span(" " + cell(name, wide) + "  ", "dim"), Span(text)])


def _gpus(picture: Picture, frame: Frame, view: View, wide: int, room: int) -> None:
    """A line a GPU; where not all have room, those about the chosen one."""
    gpus = frame.sample.gpus
    if not gpus:
        picture.add([Span(_("There is no GPU here that can be watched."), "warn")])
        for error in frame.sample.errors[:3]:
            picture.add([Span(harmless(f"{error.what}: {error.because}"), "dim")])
        return
    picture.add(gpu_head(wide))
    most = max(room - 1, 1)
    first = 0 if len(gpus) <= most else max(0, min(view.gpu - most // 2, len(gpus) - most))
    for at, gpu in enumerate(gpus[first : first + most], first):
        picture.add(gpu_line(gpu, wide, at == view.gpu and len(gpus) > 1), ("gpu", at))


def _tiles(picture: Picture, frame: Frame, view: View, wide: int, room: int) -> None:
    """Graphs: of one GPU its metrics, of several the chosen metric of each, as far as there is room."""
    gpus = frame.sample.gpus
    across = max(1, min(wide // _TILE, 4))
    if not view.graphs or room < _LEAST_TILE:
        return
    if not gpus:
        _host_tiles(picture, frame, wide, room)
        return
    wanted = [(gpus[0], metric) for metric in METRICS] if len(gpus) == 1 else [(gpu, view.metric) for gpu in gpus]
    down = min(-(-len(wanted) // across), room // _LEAST_TILE)
    across = min(across, -(-len(wanted) // down))
    high, first = min(room // down, _MOST_TILE), 0
    if len(wanted) > across * down and len(gpus) > 1:
        first = max(0, min(view.gpu, len(wanted) - across * down))
    each = wide // across
    for begin in range(first, first + across * down, across):
        tiles = [tile(frame, gpu, metric, each, high) for gpu, metric in wanted[begin : begin + across]]
        for lines in zip(*tiles, strict=True):
            picture.add([span for line in lines for span in fitted(line, each)])


def _host_tiles(picture: Picture, frame: Frame, wide: int, room: int) -> None:
    """Graphs of the machine, as many as have room beside each other, in one row or two."""
    metrics = [metric for metric in HOST_SERIES if not all(math.isnan(value) for value in frame.graphs.get(HOST, {}).get(metric, []))]
    across = max(1, min(wide // _TILE, len(metrics) or 1))
    down = min(-(-len(metrics) // across), room // _LEAST_TILE)
    for begin in range(0, across * down, across):
        tiles = [host_tile(frame, metric, wide // across, min(room // down, _MOST_TILE)) for metric in metrics[begin : begin + across]]
        for lines in zip(*tiles, strict=True):
            picture.add([span for line in lines for span in fitted(line, wide // across)])


def _findings(picture: Picture, frame: Frame, high: int) -> None:
    found = frame.sample.findings
    most = min(_MOST_FINDINGS, max(high - 6 - len(picture.lines), 1))
    for at, finding in enumerate(found[:most]):
        mark, role = _MARKS[finding.severity]
        more = _("  (+{count}, f shows all)").format(count=len(found) - most) if at == most - 1 < len(found) - 1 else ""
        title, way = harmless(finding.title), harmless(first_way(finding)[0])
        picture.add([Span(f"{mark}{finding.cause}  {title}", role), Span(f"{more}  {way}", "dim")], ("finding", at))


def _processes(picture: Picture, frame: Frame, view: View, wide: int, high: int) -> None:
    rows, room = shown(frame, view), high - 2 - len(picture.lines)
    if room < 1 or not processes_of(frame.sample, view):
        return
    parts = table.columns_at(wide, bool(frame.sample.gpus))
    picture.rows = room
    picture.add(table.head(view, sort_of(frame.sample, view), parts), ("head", 0))
    at_chosen = position(rows, view)
    view.first = max(0, min(view.first, len(rows) - room, at_chosen), at_chosen - room + 1)
    for at, (depth, process) in enumerate(rows[view.first : view.first + room], view.first):
        chosen = at == at_chosen and view.chosen is not None
        picture.add(table.row(process, depth, frame.sample.time, parts, chosen), ("process", at))
    if not rows:
        picture.add([Span(_("No process has these words: {words}").format(words=harmless(view.words)), "dim")])


def _foot(view: View, wide: int, with_gpus: bool) -> Line:
    if view.typing:
        return [Span(_("Filter: "), "title"), Span(harmless(view.words) + "▏"), Span("  " + _("Enter keeps it, Esc drops it"), "dim")]
    if view.message:
        return [Span(harmless(view.message), "warn")]
    if view.words:
        return [Span(_("Filter: "), "title"), Span(harmless(view.words)), Span("  " + _("/ changes it, Esc drops it"), "dim")]
    keys = [("?", _("help")), ("q", _("quit")), ("s", _("sort")), ("/", _("filter")), ("t", _("tree"))]
    keys += [("space", _("pause")), ("←→", _("seek"))] if view.replay else [("k", _("signal"))]
    keys += [("f", _("findings"))]
    if with_gpus:
        keys += [("i", _("details")), ("m", _("graph")), *([] if view.replay else [("a", _("all"))])]
    line: Line = []
    for key, word in [*keys, ("T", _("colours"))]:
        if sum(columns(span.text) for span in line) + columns(f"{key} {word}  ") <= wide:
            line += [Span(key, "key"), Span(f" {word}  ", "dim")]
    return line
