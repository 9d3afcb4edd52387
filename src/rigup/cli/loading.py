"""How much of what a plan has to load has come, read from an installer's lines and from what lies on the disk meanwhile."""

import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from packaging.utils import canonicalize_name

from rigup.language import _
from rigup.sizes import duration, size

_MOST_FOLDERS = 20_000  # of packages that uv unpacks at this moment
_BEGINS = re.compile(r"^\s*Downloading (?P<name>[A-Za-z0-9._-]{1,200})")
_HAS_COME = re.compile(r"^\s*(?:Downloaded|Using cached|Processing) (?P<name>\S{1,500})")
_ALL_HAVE_COME = re.compile(r"^\s*(?:Installing collected packages|Prepared \d{1,5} packages?)")
_EVERY = 1.0  # seconds between two looks at a folder that is removed
_SOON, _SURE = 3.0, 0.02  # seconds and share after which the time that is left can be told
_MEGA, _GIGA = 10**6, 10**9


class Loading:
    """What is to come, by name, with the bytes of each file and of what it becomes."""

    def __init__(self, sizes: Mapping[str, tuple[int, int]]) -> None:
        self._sizes: dict[str, tuple[int, int]] = {canonicalize_name(name): size for name, size in sizes.items()}
        self._come: set[str] = set()
        self._current, self._began = "", 0.0

    @property
    def total(self) -> int:
        """Bytes that have to be loaded; 0 where it is not known."""
        return sum(size for size, _disk in self._sizes.values())

    def says(self, line: str) -> None:
        """A line of the installer."""
        if begins := _BEGINS.match(line):
            self._began = self._began or time.monotonic()
            if "-" in begins["name"] and begins["name"].endswith(".whl"):  # pip loads one after another
                self._come.add(self._current)
            self._current = _package(begins["name"])
        elif come := _HAS_COME.match(line):
            self._come.add(_package(come["name"]))
        elif _ALL_HAVE_COME.match(line):
            self._come.update(self._sizes)

    def text(self, loaded: int, unpacked: int) -> str:
        """`340 MB of 2.9 GB, 40 s left`; "" where there is nothing to tell.

        Args:
            loaded: bytes of the file that comes now, as pip keeps it.
            unpacked: bytes on the disk of what uv unpacks while it comes.

        """
        if not self._began or not self.total:
            return ""
        done = sum(self._sizes[name][0] for name in self._come if name in self._sizes)
        coming = [size for name, size in self._sizes.items() if name not in self._come]
        files, disk = sum(size for size, _disk in coming), sum(on_disk for _size, on_disk in coming)
        done += min(files, max(loaded, unpacked * files // disk if disk else 0))
        amount = _("{done} of {total}").format(done=size(done), total=size(self.total))
        took = time.monotonic() - self._began
        if took < _SOON or done < self.total * _SURE or done >= self.total:
            return amount
        seconds = round(took * (self.total - done) / done)
        return _("{amount}, {time} left").format(amount=amount, time=duration(seconds, 0))


class Emptying:
    """How much of a folder is gone, where it is removed meanwhile; `measure` gives the bytes that are left."""

    def __init__(self, measure: Callable[[], int]) -> None:
        self._measure, self._total = measure, measure()
        self._began = self._looked = time.monotonic()
        self._left = self._total

    def text(self) -> str:
        """`1.2 GB of 5.6 GB, 4 s left`. The folder is looked at once a second at most."""
        now = time.monotonic()
        if now - self._looked >= _EVERY:
            self._left, self._looked = self._measure(), now
        gone = self._total - self._left
        amount = _("{done} of {total}").format(done=size(gone), total=size(self._total))
        took = self._looked - self._began
        if took < _SOON or gone < self._total * _SURE or not self._left:
            return amount
        return _("{amount}, {time} left").format(amount=amount, time=duration(round(took * self._left / gone), 0))


def _package(word: str) -> str:
    """A package's name, also of a file's name or address."""
    file = word.rpartition("/")[2]
    return canonicalize_name(file.partition("-")[0] if file.endswith((".whl", ".metadata")) else file)


def unpacked_now(variables: Mapping[str, str]) -> int:
    """Bytes of what uv unpacks at this moment, in its own folder."""
    total = 0
    with suppress(OSError):
        for entry in os.scandir(_cache_of_uv(variables)):
            if entry.name.startswith(".tmp"):
                total += _bytes(entry.path)
    return total


def _bytes(path: str) -> int:
    total = 0
    for above, _folders, files in islice(os.walk(path), _MOST_FOLDERS):
        for name in files:
            with suppress(OSError):
                total += os.lstat(os.path.join(above, name)).st_size
    return total


def _cache_of_uv(variables: Mapping[str, str]) -> Path:
    """Where uv keeps what it has loaded, by its own rules."""
    if configured := variables.get("UV_CACHE_DIR"):
        return Path(configured)
    if sys.platform == "win32":
        return Path(variables.get("LOCALAPPDATA", ""), "uv", "cache")
    return Path(variables.get("XDG_CACHE_HOME") or Path(variables.get("HOME", ""), ".cache"), "uv")
