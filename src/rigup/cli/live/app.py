"""The view by textual: one widget that shows pictures, and keys and the mouse as choices."""

import signal
import sys
import time
from collections.abc import Callable
from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Click, Key, MouseScrollDown, MouseScrollUp, Resize
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from rigup.cli.live import table, texts
from rigup.cli.live.feed import FASTEST, SLOWEST, Feed, ReplayFeed
from rigup.cli.live.picture import Picture, compose
from rigup.cli.live.screens import SignalScreen, TextScreen
from rigup.cli.live.signals import send
from rigup.cli.live.spans import Line
from rigup.cli.live.themes import THEMES
from rigup.cli.live.tiles import metric_name
from rigup.cli.live.view import METRICS, OF_GPUS, SORTS, Frame, View, position, shown, sort_of
from rigup.language import _
from rigup.schemas.watch import WatchedProcess
from rigup.watch.history import mark_of

_LATE = 3.0  # intervals, and as many seconds, after which it is said that no sample came
_WHEEL = 3  # rows
_FASTEST_REPLAY = 64.0


class Arrived(Message):
    """A frame from the thread that samples; None when there is no more."""

    def __init__(self, frame: Frame | None) -> None:
        super().__init__()
        self.frame = frame


class Resized(Message):
    """The widget has another size."""


class Canvas(Widget, can_focus=True):
    """Shows a picture; of a new one only the lines that differ are drawn."""

    DEFAULT_CSS = "Canvas { width: 1fr; height: 1fr; background: ansi_default; }"

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[Line] = []
        self._styles: dict[str, Style] = {}

    def on_resize(self, _event: Resize) -> None:
        """A picture of the new size."""
        self.post_message(Resized())

    def colour(self, theme: str) -> None:
        """Take the styles of a theme."""
        self._styles = {role: Style.parse(style) if style else Style.null() for role, style in THEMES[theme].items()}
        self.refresh()

    def show(self, lines: list[Line]) -> None:
        """Draw what differs from what is there."""
        before, self._lines = self._lines, lines
        if len(before) != len(lines):
            self.refresh()
            return
        changed = [at for at, line in enumerate(lines) if line != before[at]]
        if changed:
            self.refresh(*(Region(0, at, self.size.width, 1) for at in changed))

    def render_line(self, y: int) -> Strip:
        """A line as textual wants it."""
        if y >= len(self._lines):
            return Strip.blank(self.size.width, self._styles.get(""))
        segments = [Segment(span.text, self._styles[span.role]) for span in self._lines[y]]
        return Strip(segments, self.size.width)


class LiveApp(App[int]):
    """The live view.

    Args:
        feed: where frames come from; it is started and stopped here.
        frame: what is shown until the first comes.
        view: what the person chose so far.
        theme_name: colours, of THEMES.

    """

    CSS = "Screen { background: ansi_default; }"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c,ctrl+q", "quit", show=False, priority=True)]

    def __init__(self, feed: Feed, frame: Frame, view: View, theme_name: str) -> None:
        super().__init__(ansi_color=True)
        self.animation_level = "none"
        self.feed, self.frame, self.view = feed, frame, view
        self.colours, self.picture = theme_name, Picture()
        self._came = time.monotonic()
        self._over = False

    def compose(self) -> ComposeResult:
        """One widget."""
        yield Canvas()

    def on_mount(self) -> None:
        """Begin to sample."""
        self.canvas.colour(self.colours)
        self.set_interval(1.0, self._look_at_time)
        if sys.platform != "win32":
            import asyncio
            import contextlib

            loop = asyncio.get_running_loop()
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                for number in (signal.SIGTERM, signal.SIGHUP):
                    loop.add_signal_handler(number, lambda: self.exit(0))
        self.feed.start(lambda frame: self.post_message(Arrived(frame)))

    def on_unmount(self) -> None:
        """Let the drivers and the recording go."""
        self.feed.stop()

    @property
    def canvas(self) -> Canvas:
        """The widget that shows pictures."""
        return self.screen_stack[0].query_one(Canvas)

    def draw(self) -> None:
        """Compose the picture anew."""
        size = self.canvas.size
        if size.width and size.height:
            self.picture = compose(self.frame, self.view, size.width, size.height)
            self.canvas.show(self.picture.lines)

    def on_resized(self, _message: Resized) -> None:
        """Fill it."""
        self.draw()

    def on_arrived(self, message: Arrived) -> None:
        """A sample came."""
        if message.frame is None:
            self._over = True
            if not self.view.replay:
                self.exit(0)
            return
        self._came, self.view.late = time.monotonic(), 0.0
        if not self.view.paused or self.view.replay:
            self.frame = message.frame
            self.view.gpu = max(0, min(self.view.gpu, len(self.frame.sample.gpus) - 1))
        self.draw()

    def _look_at_time(self) -> None:
        """A sample that does not come is told of."""
        late = time.monotonic() - self._came
        if not self.view.replay and not self._over and late > _LATE * self.feed.interval + _LATE:
            self.view.late = late
            self.draw()

    # -- keys -------------------------------------------------------------------------------------
    def on_key(self, event: Key) -> None:
        """A key of the view; what is laid over it has its own."""
        if len(self.screen_stack) > 1:
            return
        self.view.message = ""
        if self.view.typing:
            self._type(event)
        else:
            do = _KEYS.get(event.character or "") or _KEYS.get(event.key)
            if do is None:
                return
            do(self)
        event.stop()
        self.draw()

    def _type(self, event: Key) -> None:
        """A letter of the words by which processes are shown."""
        if event.key == "escape":
            self.view.typing, self.view.words = False, ""
        elif event.key == "enter":
            self.view.typing = False
        elif event.key == "backspace":
            self.view.words = self.view.words[:-1]
        elif event.character and event.character.isprintable():
            self.view.words = (self.view.words + event.character)[:80]

    def rows(self) -> list[tuple[int, WatchedProcess]]:
        """The processes in the order in which they are shown."""
        return shown(self.frame, self.view)

    def chosen(self) -> WatchedProcess | None:
        """The chosen process, where it is still there."""
        return next((process for _depth, process in self.rows() if mark_of(process) == self.view.chosen), None)

    def move(self, by: int) -> None:
        """Choose the process that stands so many rows below."""
        rows = self.rows()
        if rows:
            at = position(rows, self.view) + by if self.view.chosen else 0
            self.view.chosen = mark_of(rows[max(0, min(at, len(rows) - 1))][1])

    def next_gpu(self, by: int) -> None:
        """Choose another GPU."""
        self.view.gpu = (self.view.gpu + by) % max(len(self.frame.sample.gpus), 1)

    def sort(self, by: int) -> None:
        """Sort by another column."""
        sorts = [sort for sort in SORTS if self.frame.sample.gpus or sort not in OF_GPUS]
        at = sorts.index(sort_of(self.frame.sample, self.view))
        self.view.sort = sorts[(at + by) % len(sorts)]

    def toggle(self, name: str) -> None:
        """Turn a choice round."""
        setattr(self.view, name, not getattr(self.view, name))
        self.feed.tree, self.feed.others = self.view.tree, self.view.others
        if name == "others" and self.view.sort in (*OF_GPUS, "cpu"):  # by what tells those apart that are shown
            self.view.sort = "cpu" if self.view.others else "memory"
        if isinstance(self.feed, ReplayFeed) and name == "paused":
            self.feed.paused = self.view.paused
            self.feed.wake()

    def escape(self) -> None:
        """Show all, choose none."""
        self.view.words, self.view.chosen = "", None

    def metric(self) -> None:
        """Graphs of the next metric."""
        self.view.metric = METRICS[(METRICS.index(self.view.metric) + 1) % len(METRICS)]
        self.view.message = metric_name(self.view.metric)

    def colour(self) -> None:
        """The next theme."""
        names = list(THEMES)
        self.colours = names[(names.index(self.colours) + 1) % len(names)]
        self.canvas.colour(self.colours)
        self.view.message = _("Colours: {theme}").format(theme=self.colours)

    def pace(self, factor: float) -> None:
        """Samples more or less often; a replay faster or slower."""
        if isinstance(self.feed, ReplayFeed):
            self.feed.speed = max(1 / 16, min(self.feed.speed / factor, _FASTEST_REPLAY))
            self.feed.wake()
            self.view.message = _("Speed: {speed}").format(speed=f"{self.feed.speed:g}")
        else:
            self.feed.interval = max(FASTEST, min(self.feed.interval * factor, SLOWEST))
            self.view.message = _("Every {seconds} s").format(seconds=f"{self.feed.interval:g}")

    def seek(self, by: int) -> None:
        """Elsewhere in a recording."""
        if isinstance(self.feed, ReplayFeed):
            self.feed.seek(by)

    def details(self) -> None:
        """All that is known of the chosen GPU."""
        gpus = self.frame.sample.gpus
        if gpus:
            gpu = gpus[min(self.view.gpu, len(gpus) - 1)]
            self.push_screen(TextScreen(f"GPU {gpu.index}", texts.gpu_text(gpu)))

    def enter(self) -> None:
        """All that is known of the chosen process."""
        process = self.chosen()
        if process is not None:
            self.push_screen(TextScreen(f"PID {process.pid}", texts.process_text(process)))
        else:
            self.details()

    def wrong(self) -> None:
        """What is wrong, and what mends it."""
        self.push_screen(TextScreen(_("Findings"), texts.findings_text(self.frame)))

    def help(self) -> None:
        """The keys."""
        self.push_screen(TextScreen(_("Keys"), texts.help_text(self.view.replay)))

    def ask_signal(self) -> None:
        """Which signal for the chosen process, and whether really."""
        process = self.chosen()
        if self.view.replay:
            self.view.message = _("A recording has no processes that run.")
        elif process is None:
            self.view.message = _("Choose a process first: ↑ and ↓.")
        else:
            self.push_screen(SignalScreen(process), lambda name: self._send(process, name or ""))

    def _send(self, process: WatchedProcess, name: str) -> None:
        if name:
            self.view.message = send(process, name)
            self.draw()

    # -- the mouse --------------------------------------------------------------------------------
    def on_click(self, event: Click) -> None:
        """What lies there is chosen; a head sorts."""
        kind, at = self.picture.places.get(event.screen_y, ("", 0))
        if len(self.screen_stack) > 1 or not kind:
            return
        self.view.message = ""
        if kind == "gpu":
            self.view.gpu = at
        elif kind == "finding":
            self.wrong()
        elif kind == "head":
            sample = self.frame.sample
            name = table.sort_at(event.screen_x, self.canvas.size.width, bool(sample.gpus))
            self.view.reverse = name == sort_of(sample, self.view) and not self.view.reverse
            self.view.sort = name or self.view.sort
        elif kind == "process" and at < len(rows := self.rows()):
            self.view.chosen = mark_of(rows[at][1])
        self.draw()

    def on_mouse_scroll_down(self, _event: MouseScrollDown) -> None:
        """Further down among the processes."""
        self._wheel(_WHEEL)

    def on_mouse_scroll_up(self, _event: MouseScrollUp) -> None:
        """Further up."""
        self._wheel(-_WHEEL)

    def _wheel(self, by: int) -> None:
        if len(self.screen_stack) == 1:
            self.move(by)
            self.draw()


def _page(by: int) -> Callable[[LiveApp], Any]:
    return lambda app: app.move(by * max(app.picture.rows, 1))


_KEYS: dict[str, Callable[[LiveApp], Any]] = {
    "q": lambda app: app.exit(0),
    "?": LiveApp.help,
    "h": LiveApp.help,
    "f1": LiveApp.help,
    "up": lambda app: app.move(-1),
    "down": lambda app: app.move(1),
    "pageup": _page(-1),
    "pagedown": _page(1),
    "home": lambda app: app.move(-(10**6)),
    "end": lambda app: app.move(10**6),
    "tab": lambda app: app.next_gpu(1),
    "shift+tab": lambda app: app.next_gpu(-1),
    "s": lambda app: app.sort(1),
    "S": lambda app: app.sort(-1),
    "r": lambda app: app.toggle("reverse"),
    "/": lambda app: app.toggle("typing"),
    "escape": LiveApp.escape,
    "t": lambda app: app.toggle("tree"),
    "a": lambda app: app.toggle("others"),
    "i": LiveApp.details,
    "enter": LiveApp.enter,
    "f": LiveApp.wrong,
    "m": LiveApp.metric,
    "g": lambda app: app.toggle("graphs"),
    "T": LiveApp.colour,
    "p": lambda app: app.toggle("paused"),
    "space": lambda app: app.toggle("paused"),
    "+": lambda app: app.pace(0.5),
    "-": lambda app: app.pace(2.0),
    "k": LiveApp.ask_signal,
    "left": lambda app: app.seek(-1),
    "right": lambda app: app.seek(1),
    "[": lambda app: app.seek(-60),
    "]": lambda app: app.seek(60),
    "{": lambda app: app.seek(-(2**40)),
    "}": lambda app: app.seek(2**40),
}
