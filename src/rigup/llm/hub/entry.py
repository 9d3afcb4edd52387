"""A model on disk: the files that are its own, and those that it shares."""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

WHOLE, PARTIAL, BROKEN, LEFT = "whole", "partial", "broken", "left"
_MOST_FILES, _MOST_DEPTH = 50_000, 8
_BLOCK = 512


class File(msgspec.Struct, frozen=True):
    """A file of a model.

    Attributes:
        path: by which it is named.
        real: where its bytes lie; the same where no link leads there.
        bytes: how many there are; of one that has not come whole those that the disk holds.
        identity: device and number of the file, which hard links share.
        links: names that the file system knows of it.
        used: when it was last read or written, in seconds since 1970.

    """

    path: Path
    real: Path
    bytes: int
    identity: tuple[int, int]
    links: int
    used: float


class Entry(msgspec.Struct, kw_only=True):
    """A model, or what is left of one.

    Attributes:
        name: by which a person calls it; together with the store it is the only one.
        store: who keeps it.
        root: the folder of that store: nothing outside is ever removed.
        model: what an engine is given, a GGUF file or a folder; None for what cannot be run.
        form: "gguf", "safetensors" or "other".
        state: "whole", "partial", "broken", or "left" (nothing refers to it).
        fault: why it is not whole, in a sentence.
        extra: links and files that only name it, such as a manifest.
        folder: what may be removed whole when no other model lies in it.

    """

    name: str
    store: str
    root: Path
    files: tuple[File, ...]
    model: Path | None = None
    form: str = "other"
    state: str = WHOLE
    fault: str = ""
    extra: tuple[Path, ...] = ()
    folder: Path | None = None

    @property
    def identities(self) -> dict[tuple[int, int], int]:
        """Bytes of each of its files, each once."""
        return {file.identity: file.bytes for file in self.files}

    @property
    def bytes(self) -> int:
        """What it takes on the disk; a file that has several names counts once."""
        return sum(self.identities.values())

    @property
    def used(self) -> float:
        """When any of it was last read or written."""
        return max((file.used for file in self.files), default=0.0)


def file_at(path: Path, partial: bool = False) -> File | None:
    """A plain file, also behind links; None for anything else, and for what cannot be looked at."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return None
        real = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
    held = status.st_blocks * _BLOCK if partial and hasattr(status, "st_blocks") else status.st_size
    used = max(status.st_atime, status.st_mtime)
    return File(path, real, min(held, status.st_size), (status.st_dev, status.st_ino), status.st_nlink, used)


def walked(root: Path) -> Iterator[tuple[Path, list[os.DirEntry[str]]]]:
    """Each folder below one with what is no folder in it, links to folders followed once each, within bounds.

    Raises:
        OSError: the first folder cannot be listed.

    """
    left, seen = _MOST_FILES, {_identity(root)}
    todo = [(root, 0)]
    while todo and left > 0:
        folder, depth = todo.pop()
        files = []
        try:
            with os.scandir(folder) as found:
                for item in found:
                    left -= 1
                    if left < 0:
                        break
                    if not _is_folder(item):
                        files.append(item)
                    elif depth < _MOST_DEPTH and (key := _identity(Path(item.path))) not in seen:
                        seen.add(key)
                        todo.append((Path(item.path), depth + 1))
        except OSError:
            if folder == root:
                raise
        yield folder, sorted(files, key=lambda item: item.name)


def _is_folder(item: os.DirEntry[str]) -> bool:
    try:
        return item.is_dir()
    except OSError:
        return False


def _identity(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


def total(entries: Iterable[Entry]) -> int:
    """Bytes of all of them; what several share counts once."""
    return sum({identity: size for entry in entries for identity, size in entry.identities.items()}.values())
