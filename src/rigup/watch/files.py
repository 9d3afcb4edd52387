"""Files of this machine or of a captured tree, as bytes: what `Host` gives as text, for samplers that read often.

A watch reads hundreds of small files a second, and `gpu_metrics` is binary: so there is no text, no record and no glob here.
"""

import os
from typing import NamedTuple, Protocol

MOST = 65_536  # bytes of one file; the largest table of a driver has 4,000
_MOST_KEPT = 512  # number of the last file that is kept open; systems give a process 1,024 at least
READS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class Opened(Protocol):
    """A file that is read again and again."""

    def read(self, most: int = MOST) -> bytes:
        """Its first bytes as they are now. Raises OSError, of a process that has ended, too."""

    def close(self) -> None:
        """It is read no more."""


class Files(Protocol):
    """A file system that samplers read."""

    def read(self, path: str, most: int = MOST) -> bytes:
        """The first bytes of a file. Raises OSError."""

    def names(self, folder: str) -> list[str]:
        """What a folder holds, sorted. Raises OSError."""

    def link(self, path: str) -> str:
        """What a link says, not followed. Raises OSError."""

    def real(self, path: str) -> str:
        """Where a path leads in the end. Raises OSError."""

    def opened(self, path: str) -> Opened:
        """A file that will be read in each sample. Raises OSError."""


class _Kept:
    """A file of the kernel that stays open: each reading from its beginning is made anew, at half the cost of one that opens it."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def read(self, most: int = MOST) -> bytes:
        """Its first bytes. Raises OSError."""
        return os.pread(self._handle, most, 0)

    def close(self) -> None:
        """Let it go."""
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1


class Reopened(NamedTuple):
    """A file that is opened for each reading."""

    files: Files
    path: str

    def read(self, most: int = MOST) -> bytes:
        """Its first bytes. Raises OSError."""
        return self.files.read(self.path, most)

    def close(self) -> None:
        """Nothing is open."""


class LiveFiles:
    """The files of this machine."""

    def read(self, path: str, most: int = MOST) -> bytes:
        """The first bytes of a file. Raises OSError."""
        handle = os.open(path, READS)
        try:
            found = os.read(handle, most)
            # A file of the kernel may end a read early; what is shorter than its piece has ended.
            while len(found) == 4096 * (len(found) // 4096) and found and len(found) < most:
                more = os.read(handle, most - len(found))
                if not more:
                    break
                found += more
            return found
        finally:
            os.close(handle)

    def names(self, folder: str) -> list[str]:
        """What a folder holds, sorted. Raises OSError."""
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries)

    def link(self, path: str) -> str:
        """What a link says. Raises OSError."""
        return os.readlink(path)

    def real(self, path: str) -> str:
        """Where a path leads. Raises OSError."""
        return os.path.realpath(path, strict=True)

    def opened(self, path: str) -> Opened:
        """A file that stays open, as long as there is room for more. Raises OSError."""
        handle = os.open(path, READS)
        if handle < _MOST_KEPT and hasattr(os, "pread"):
            return _Kept(handle)
        os.close(handle)
        return Reopened(self, path)


def text_of(files: Files, path: str) -> str | None:
    """A small file as text without its last line break; None where it cannot be read or holds no text."""
    try:
        return files.read(path, 4096).decode("ascii").strip()
    except (OSError, ValueError):
        return None


def number_of(files: Files, path: str) -> int | None:
    """A file that holds one whole number, plain or after 0x; None where it does not, or it is all ones."""
    content = text_of(files, path)
    if not content or len(content) > 24:
        return None
    try:
        number = int(content, 16) if content[:2].lower() == "0x" else int(content)
    except ValueError:
        return None
    return None if number in ALL_ONES else number


ALL_ONES = frozenset((2**16 - 1, 2**32 - 1, 2**64 - 1, 2**63 - 1))
"""What firmware writes where it gives nothing."""
