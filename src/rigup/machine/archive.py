"""Archives that somebody sent: unpacked into a folder of our own, within bounds, and nowhere else.

Nothing in an archive is believed: names may lead outside, links may lead anywhere, a small file may unpack
to a disk full. Regular files are written under names that were checked, links are made last and are only
ever followed inside the tree (see `tree.py`), and everything has a limit.
"""

import os
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, NamedTuple

from rigup.language import _

_MOST_MEMBERS = 200_000
_MOST_BYTES = 1_000_000_000  # of all files together
_MOST_OF_ONE = 16_000_000
_DEEPEST = 40  # folders
_KEPT: list[tempfile.TemporaryDirectory[str]] = []  # until somebody calls discard


class ArchiveError(Exception):
    """An archive that cannot be unpacked, with what is wrong with it."""


class Member(NamedTuple):
    """One entry: a file to copy, or a link's target."""

    name: str
    size: int
    link: str | None
    body: IO[bytes] | None


def is_archive(path: str) -> bool:
    """Whether a file is a tar or zip archive, by its content."""
    try:
        return tarfile.is_tarfile(path) or zipfile.is_zipfile(path)
    except (OSError, EOFError):
        return False


def unpacked(path: str) -> str:
    """The folder that an archive was unpacked into; `discard` removes it. Raises ArchiveError."""
    _KEPT.append(tempfile.TemporaryDirectory(prefix="rigup-", ignore_cleanup_errors=True))
    folder = _KEPT[-1].name
    links: list[tuple[str, str]] = []
    total = 0
    try:
        for count, member in enumerate(_members(path)):
            total += min(member.size, _MOST_OF_ONE)
            if count >= _MOST_MEMBERS or total > _MOST_BYTES:
                raise ArchiveError(_("{path} holds more than a capture of a machine does.").format(path=path))
            if name := _safe(member.name):
                _place(os.path.join(folder, name), member, links)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise ArchiveError(_("{path} is damaged: {error}").format(path=path, error=str(error)[:200])) from error
    _link(links)
    return _descended(folder)


def discard() -> None:
    """Remove what was unpacked; it has been read."""
    while _KEPT:
        _KEPT.pop().cleanup()


def _members(path: str) -> Iterator[Member]:
    if zipfile.is_zipfile(path) and not tarfile.is_tarfile(path):
        with zipfile.ZipFile(path) as packed:
            for info in packed.infolist():
                if not info.is_dir() and not info.flag_bits & 1:  # not encrypted
                    with packed.open(info) as body:
                        yield Member(info.filename, info.file_size, None, body)
        return
    with tarfile.open(path, "r:*") as archive:
        for entry in archive:
            if entry.isreg():
                yield Member(entry.name, entry.size, None, archive.extractfile(entry))
            elif entry.issym() or entry.isdir():
                yield Member(entry.name, 0, entry.linkname if entry.issym() else "", None)


def _safe(name: str) -> str | None:
    """The name below our folder, or None for one that would lead out of it or is absurd."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    fit = parts and ".." not in parts and len(parts) <= _DEEPEST and all(len(part.encode()) < 256 for part in parts)
    return "/".join(parts) if fit and "\x00" not in name else None


def _place(target: str, member: Member, links: list[tuple[str, str]]) -> None:
    """Write one entry. No link exists yet, so no write can be led astray."""
    if member.link:
        links.append((target, member.link))
        return
    with suppress(OSError):  # a file where another entry wants a folder
        os.makedirs(target if member.body is None else os.path.dirname(target), exist_ok=True)
        if member.body is not None and not os.path.isdir(target):
            with open(target, "wb") as file:
                shutil.copyfileobj(_Bounded(member.body), file)


class _Bounded:
    """A body that ends after the limit of one file, whatever its header claimed."""

    def __init__(self, body: IO[bytes]) -> None:
        self.body, self.left = body, _MOST_OF_ONE

    def read(self, size: int = -1, /) -> bytes:
        got = self.body.read(self.left if size < 0 else min(size, self.left))
        self.left -= len(got)
        return got


def _link(links: list[tuple[str, str]]) -> None:
    for target, where in links:
        with suppress(OSError, ValueError):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if not os.path.lexists(target):
                os.symlink(where, target)


def _descended(folder: str) -> str:
    """Past the single folder that archives are often made of."""
    for _step in range(3):
        inside = os.listdir(folder)
        one = os.path.join(folder, inside[0]) if len(inside) == 1 else ""
        if not one or os.path.islink(one) or not os.path.isdir(one) or inside[0] in _ROOTS:
            break
        folder = one
    return folder


_ROOTS = frozenset(("proc", "sys", "dev", "etc", "usr", "opt", "home", "topology", "nodes"))
