"""What is made of files and kept: whether they are still the same by their sizes and times, and how it is put in its place."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from rigup.version import __version__

Stamp = tuple[int, int]
"""Size in bytes and time of the last change in nanoseconds; zeros where there is no such file."""
Stamps = dict[str, Stamp]


class Made(Protocol):
    """What is made of files, with the version that made it and their stamps; without stamps it came with the program."""

    @property
    def version(self) -> str:
        """Of the program."""

    @property
    def stamps(self) -> Stamps:
        """By the files' paths."""


Kept = TypeVar("Kept", bound=Made)


def stamp(path: str) -> Stamp:
    """The stamp of one file."""
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0)
    return status.st_size, status.st_mtime_ns


def python_files(folder: str) -> Iterator[str]:
    """All files of Python in a folder and those below it."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.endswith(".py"):
                yield entry.path
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from python_files(entry.path)


def keep(path: Path, made: bytes) -> None:
    """Put what was made of files in its place, whole; an installation that nobody may write works as well, only slower."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        part.write_bytes(made)
        part.replace(path)


def kept(path: Path, form: type[Kept], stamps: Callable[[], Stamps], build: Callable[[Path], Kept]) -> Kept:
    """What lies there, made anew where it is not of this version or its files have changed."""
    try:
        made = msgspec.msgpack.decode(path.read_bytes(), type=form)
    except (OSError, msgspec.MsgspecError):
        return build(path)
    return made if made.version == __version__ and (not made.stamps or made.stamps == stamps()) else build(path)
