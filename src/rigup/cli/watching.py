"""Progress of steps that are taken: a line for each, with what its command says while it runs, and the time it takes."""

import contextlib
import itertools
import os
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import click

from rigup.cli.guard import unguarded
from rigup.cli.layout import columns, width, wrapped
from rigup.cli.loading import Emptying, Loading, unpacked_now
from rigup.language import _
from rigup.machine.escapes import without_escapes
from rigup.sizes import size

_CLEAR = "\r\x1b[2K"
_MEGA = 10**6
_MOST_FOLDERS, _MOST_FILES = 64, 64  # that are looked at for one picture
_EVERY = 0.2  # seconds between two pictures


class Watching:
    """Shows steps as they are taken. On a terminal the last line lives; elsewhere each step is one line when it ends."""

    def __init__(self, count: int, silent: bool, sizes: Mapping[str, tuple[int, int]] | None = None) -> None:
        self._count, self._silent = count, silent
        self._loading = Loading(sizes or {})
        self._alive = not silent and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._heading, self._line, self._began = "", "", 0.0
        self._place, self._title = "", ""
        self._folder = ""
        self._emptied: Emptying | None = None
        self._done = threading.Event()
        self._lock = threading.Lock()

    def __enter__(self) -> "Watching":
        if self._alive:
            threading.Thread(target=self._draw, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._done.set()
        self._clear()

    def begins(self, number: int, title: str) -> None:
        """A step is taken now."""
        with self._lock:
            self._heading = _("[{number}/{count}] {title}").format(number=number + 1, count=self._count, title=title)
            self._title, self._line, self._began = title, "", time.monotonic()
            self._place = _("[{number}/{count}] {title}").format(number=number + 1, count=self._count, title="")

    def says(self, line: str) -> None:
        """A line of its command."""
        self._loading.says(line)
        plain = without_escapes(line)
        self._line = "".join(letter if letter.isprintable() else " " for letter in plain).strip() or self._line

    def watches(self, folder: str) -> None:
        """Where downloads lie while they come."""
        self._folder = folder

    def empties(self, folder: str) -> None:
        """A folder that is being removed."""
        from rigup.plan.environments.folder import size_of

        self._emptied = Emptying(lambda: size_of(Path(folder)).all) if folder and self._alive else None

    def ends(self, number: int, title: str, how: str) -> None:
        """It is done, or was not needed."""
        words = {"done": _("done"), "satisfied": _("is there"), "left": _("left to you"), "failed": _("failed")}
        heading = _("[{number}/{count}] {title}").format(number=number + 1, count=self._count, title=title)
        took = time.monotonic() - self._began if self._heading == heading else 0.0
        line = _("{step}: {how}").format(step=heading, how=words.get(how, how))
        if took >= 1.0:
            line = _("{told} ({seconds} s)").format(told=line, seconds=round(took))
        with self._lock:
            self._heading = ""
        if not self._silent:
            self._clear()
            click.echo("\n".join(wrapped(line)), err=True)

    def _draw(self) -> None:
        while not self._done.wait(_EVERY):
            with self._lock:
                heading, line = self._heading, self._line
                title, place = self._title, self._place
            if heading:
                seconds = round(time.monotonic() - self._began)
                # What has come stands first: titles are long, and a line holds only so much.
                unguarded(sys.stderr).write(_CLEAR)
                sys.stderr.write(_fitting(f"{place}{seconds} s  {self._amount_loaded()}{title}  {line}"))
                sys.stderr.flush()

    def _amount_loaded(self) -> str:
        """How much has come of what has to be loaded; where nobody knows how much that is, how large the last file is."""
        if self._emptied:
            return self._emptied.text() + "  "
        came = largest(self._folder) if self._folder else 0
        if amount := self._loading.text(came, unpacked_now(os.environ) if self._loading.total else 0):
            return amount + "  "
        return size(came) + "  " if came > _MEGA else ""

    def _clear(self) -> None:
        if self._alive:
            unguarded(sys.stderr).write(_CLEAR)
            sys.stderr.flush()


def largest(folder: str) -> int:
    """Bytes of the largest file in a folder of downloads: how much has come of the one that is loaded now."""
    most = 0
    for above, _folders, files in itertools.islice(os.walk(folder), _MOST_FOLDERS):
        for name in files[:_MOST_FILES]:
            with contextlib.suppress(OSError):
                most = max(most, os.lstat(os.path.join(above, name)).st_size)
    return most


def _fitting(text: str) -> str:
    """As much as one line of the terminal holds: a longer one could not be taken back."""
    room, used, found = width() - 1, 0, []
    for letter in text:
        used += columns(letter)
        if used > room:
            break
        found.append(letter)
    return "".join(found)
