"""One picture from a frame and the view: lines that fill the screen exactly, and what lies where for the mouse."""

from dataclasses import dataclass, field

from rigup.cli.live import table
from rigup.cli.live.gpus import gpu_head, gpu_line, host_line, tile
from rigup.cli.live.spans import Line, Span, fitted, harmless
from rigup.cli.live.view import METRICS, Frame, View, position, shown
from rigup.language import _
from rigup.watch.ways import first_way

_TILE = 38  # columns of a graph at least
_LEAST_TILE, _MOST_TILE = 3, 8  # lines with its head
_ROWS = 5  # processes that have room before graphs have
_MOST_FINDINGS = 4
_MARKS = {"error": ("✖ ", "bad"), "warning": ("▲ ", "warn"), "note": ("• ", "note")}


@dataclass
class Picture:
    """What is on the screen.

    Attributes:
        lines: each as wide as the screen.
        places: by line what lies there: ("gpu", position), ("finding", position), ("head", 0) or ("process", row).
        rows: how many processes have room.

    """

    lines: list[Line] = field(default_factory=list)
    places: dict[int, tuple[str, int]] = field(default_factory=dict)
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
    room = high - 2 - min(len(frame.sample.findings), _MOST_FINDINGS)
    _gpus(picture, frame, view, wide, room * 4 // 5 + 1)
    rows = min(len(frame.sample.processes), max(_ROWS, high // 3))
    _tiles(picture, frame, view, wide, room - (len(picture.lines) - 1) - (1 + rows if rows else 0))
    _findings(picture, frame, high)
    _processes(picture, frame, view, wide, high)
    picture.lines = picture.lines[: high - 1]
    while len(picture.lines) < high - 1:
        picture.add([])
    picture.lines.append(_foot(view))
    picture.lines = [fitted(line, wide) for line in picture.lines[-high:]]
    picture.places = {at: place for at, place in picture.places.items() if at < high - 1}
    return picture


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
    if not view.graphs or not gpus or room < _LEAST_TILE:
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


def _findings(picture: Picture, frame: Frame, high: int) -> None:
    found = frame.sample.findings
    most = min(_MOST_FINDINGS, max(high - 6 - len(picture.lines), 1))
    for at, finding in enumerate(found[:most]):
        mark, role = _MARKS[finding.severity]
        more = _("  (+{count}, f shows all)").format(count=len(found) - most) if at == most - 1 < len(found) - 1 else ""
        way = f" [{finding.cause}]  {harmless(first_way(finding)[0])}"
        picture.add([Span(mark + harmless(finding.title), role), Span(more + way, "dim")], ("finding", at))


def _processes(picture: Picture, frame: Frame, view: View, wide: int, high: int) -> None:
    rows, room = shown(frame, view), high - 2 - len(picture.lines)
    if room < 1 or not frame.sample.processes:
        return
    picture.rows = room
    picture.add(table.head(view, wide), ("head", 0))
    at_chosen = position(rows, view)
    view.first = max(0, min(view.first, len(rows) - room, at_chosen), at_chosen - room + 1)
    for at, (depth, process) in enumerate(rows[view.first : view.first + room], view.first):
        chosen = at == at_chosen and view.chosen is not None
        picture.add(table.row(process, depth, frame.sample.time, wide, chosen), ("process", at))
    if not rows:
        picture.add([Span(_("No process has these words: {words}").format(words=harmless(view.words)), "dim")])


def _foot(view: View) -> Line:
    if view.typing:
        return [Span(_("Filter: "), "title"), Span(harmless(view.words) + "▏"), Span("  " + _("Enter keeps it, Esc drops it"), "dim")]  # fmt: skip
    if view.message:
        return [Span(harmless(view.message), "warn")]
    if view.words:
        return [Span(_("Filter: "), "title"), Span(harmless(view.words)), Span("  " + _("/ changes it, Esc drops it"), "dim")]  # fmt: skip
    keys = [("?", _("help")), ("q", _("quit")), ("s", _("sort")), ("/", _("filter")), ("t", _("tree"))]
    keys += [("space", _("pause")), ("←→", _("seek"))] if view.replay else [("k", _("signal"))]
    keys += [("i", _("details")), ("m", _("graph")), ("f", _("findings")), ("T", _("colours"))]
    return [span for key, word in keys for span in (Span(key, "key"), Span(f" {word}  ", "dim"))]
