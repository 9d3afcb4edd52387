"""A word on the terminal where something takes longer than a second; nothing where nobody watches."""

import sys
import threading
from collections.abc import Callable
from types import TracebackType

from rigup.cli.guard import unguarded

_PATIENCE = 1.0  # seconds
_CLEAR = "\r\x1b[2K"


class Waiting:
    """Says what is being done, from the first second on, and takes it away when it is done.

    Standard error alone is written to, and only where it is a terminal that can take a line back.
    """

    def __init__(self, message: str) -> None:
        self._told, self._shown = message, False
        self._timer = threading.Timer(_PATIENCE, self._show)
        self._timer.daemon = True
        self._one = threading.Lock()  # of them speaks at a time

    def __enter__(self) -> "Waiting":
        if _can_take_back():
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._timer.cancel()
        if self._shown:
            unguarded(sys.stderr).write(_CLEAR)
            sys.stderr.flush()

    def aside(self, say: Callable[[str], None], text: str) -> None:
        """Say something that stays, above the word."""
        with self._one:
            if self._shown:
                unguarded(sys.stderr).write(_CLEAR)
                sys.stderr.flush()
            say(text)
            if self._shown:
                sys.stderr.write(self._told)
                sys.stderr.flush()

    def _show(self) -> None:
        with self._one:
            self._shown = True
            sys.stderr.write(self._told)
            sys.stderr.flush()


def _can_take_back() -> bool:
    import os

    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
