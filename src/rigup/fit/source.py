"""Bytes from the beginning of a file, as far as somebody asks: of a local file without a copy, of others as they come."""

import mmap
import os
from pathlib import Path
from typing import Protocol

from rigup.fit.errors import HeaderError
from rigup.language import _

Buffer = bytes | bytearray | mmap.mmap


class Source(Protocol):
    """Where a header is read from."""

    name: str
    size: int
    """Of the whole file, in bytes."""
    buffer: Buffer
    """What has come so far; it only grows, and it may be replaced: look at it anew after `need`."""
    enough: int
    """Bytes after which lists of texts are not walked but jumped over; 0 where walking costs nothing."""

    def need(self, end: int) -> None:
        """Have bytes up to `end`. Raises HeaderError where the file has not that many, or they do not come."""

    def step_to(self, end: int) -> None:
        """Nobody will look at what lies before `end`, unless it is there already."""

    def peek(self, at: int, count: int) -> bytes:
        """Some bytes from anywhere, fewer at the end of the file."""


class Local:
    """A file of this machine, mapped: only the pages that are looked at are read."""

    enough = 0

    def __init__(self, path: Path) -> None:
        self.name = path.name
        try:
            with open(path, "rb", opener=_unnoticed) as file:
                self.size = os.fstat(file.fileno()).st_size
                self.buffer: Buffer = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if self.size else b""
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise HeaderError(_("{path} cannot be read: {why}.").format(path=path, why=why)) from error

    def need(self, end: int) -> None:
        """Nothing has to come, but it may not be there."""
        if end > self.size:
            raise cut_off(self.name, self.size)

    def step_to(self, end: int) -> None:
        """It is all there."""

    def peek(self, at: int, count: int) -> bytes:
        """Some bytes."""
        return bytes(self.buffer[at : at + count])


def _unnoticed(path: str, flags: int) -> int:
    """Open a file so that a look at its header does not count as its use, where the system lets us."""
    try:
        return os.open(path, flags | getattr(os, "O_NOATIME", 0))
    except PermissionError:  # it is somebody else's
        return os.open(path, flags)


class Held:
    """Bytes that are there already."""

    enough = 0

    def __init__(self, content: bytes, name: str = "", size: int | None = None) -> None:
        self.name, self.buffer = name, content
        self.size = len(content) if size is None else size

    def need(self, end: int) -> None:
        """Nothing more will come."""
        if end > len(self.buffer):
            raise cut_off(self.name, len(self.buffer))

    def step_to(self, end: int) -> None:
        """It is all there."""

    def peek(self, at: int, count: int) -> bytes:
        """Some bytes."""
        return bytes(self.buffer[at : at + count])


def cut_off(name: str, size: int) -> HeaderError:
    """The error of a file that ends within its header."""
    template = _("{name} ends after {size} bytes, within its header: the download broke off, or this is another file. Load it anew.")
    return HeaderError(template.format(name=name, size=size))
