"""The start of the live view: the first picture is on the screen before textual is loaded."""

import contextlib
import importlib.util
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import click

from rigup.cli.guard import unguarded
from rigup.cli.live.feed import Feed, LiveFeed, ReplayFeed
from rigup.cli.live.picture import compose
from rigup.cli.live.themes import THEMES, escapes, theme_of
from rigup.cli.live.view import Frame, View
from rigup.language import _

_ORDERLY = 3.0  # seconds
_ALTERNATE, _BACK = "\x1b[?1049h\x1b[?25l\x1b[2J", "\x1b[?25h\x1b[?1049l"


def can_be_live(environ: Mapping[str, str]) -> bool:
    """Whether there is a terminal that a view can take, and what shows it."""
    terminal = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.__stderr__))
    return terminal and environ.get("TERM", "dumb") != "dumb" and has_textual()


def has_textual() -> bool:
    """Whether the extra is installed; it is not loaded."""
    return importlib.util.find_spec("textual") is not None


def live(options: Mapping[str, Any]) -> int:
    """Show the view until the person ends it; the exit status."""
    view = View(replay=bool(options["replay"]))
    theme = theme_of(os.environ, options["theme"] or "")
    with _recording_errors() if view.replay or options["record"] else contextlib.nullcontext():
        feed = ReplayFeed(options["replay"]) if view.replay else _live_feed(options)
        frame = feed.first()
    with contextlib.suppress(KeyboardInterrupt), _screen():
        size = os.get_terminal_size()
        unguarded(sys.stdout).write(text_of(frame, view, size.columns, size.lines, theme))
        sys.stdout.flush()
        from rigup.cli.live.app import LiveApp

        app = LiveApp(feed, frame, view, theme)
        threading.Thread(target=_end_with_terminal, args=(feed,), daemon=True).start()
        app.run()
        return app.return_code or 0
    return 0


def _recording_errors() -> contextlib.AbstractContextManager[None]:
    """Loaded where there is a recording: SQLite takes time that the first picture has not."""
    from rigup.cli.watch_record import recording_errors

    return recording_errors()


def _end_with_terminal(feed: Feed) -> None:
    """End the process some seconds after its terminal went, if it has not ended by then.

    textual's writer dies of the first write to a terminal that is gone, and the view then waits for ever for room in its queue.
    """
    import select

    if not hasattr(select, "poll"):
        return
    gone = select.poll()
    gone.register(sys.stdin.fileno(), 0)  # nothing but that the other end was closed
    gone.poll()
    time.sleep(_ORDERLY)
    feed.stop()
    os._exit(129)  # as a shell calls what SIGHUP ended


def _live_feed(options: Mapping[str, Any]) -> LiveFeed:
    from rigup.watch.watcher import Watcher

    recorder = None
    if options["record"]:
        from rigup.watch.recording import Recorder

        recorder = Recorder(options["record"])
    return LiveFeed(Watcher(options["tree"], options["anonymous"]), options["interval"], recorder, options["count"])


def text_of(frame: Frame, view: View, wide: int, high: int, theme: str) -> str:
    """A picture with the sequences that a terminal colours it by, from the upper left corner on."""
    styles = {role: escapes(style) for role, style in THEMES[theme].items()}
    pieces = []
    for at, line in enumerate(compose(frame, view, wide, high).lines, 1):
        pieces.append(f"\x1b[{at};1H")
        pieces += [f"\x1b[{styles[span.role]}m{span.text}\x1b[0m" if styles[span.role] else span.text for span in line]
    return "".join(pieces)


@contextlib.contextmanager
def _screen() -> Iterator[None]:
    """The terminal's other screen, without an echo of keys; as it was before, however this ends."""
    out = unguarded(sys.stdout)
    try:
        import termios
    except ImportError:
        termios = None  # type: ignore[assignment]
    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle) if termios else None
    try:
        if termios and before is not None:
            silent = [*before[:3], before[3] & ~(termios.ECHO | termios.ICANON), *before[4:]]
            termios.tcsetattr(handle, termios.TCSANOW, silent)
        out.write(_ALTERNATE)
        out.flush()
        yield
    finally:
        out.write(_BACK)
        out.flush()
        if termios and before is not None:
            with contextlib.suppress(termios.error):  # the terminal is gone
                termios.tcsetattr(handle, termios.TCSADRAIN, before)


def without() -> None:
    """Say what brings the view, once, where there is a terminal and nothing shows it."""
    click.echo(_("The live view with graphs needs textual: pip install 'rigup[watch]'. This was the plain table."), err=True)
