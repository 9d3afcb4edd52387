"""Archives: those that somebody sent, unpacked into a folder of our own, and those that we write.

Nothing in an archive is believed: names may lead outside, links may lead anywhere, a small file may unpack
to a disk full. Regular files are written under names that were checked, links are made last and are only
ever followed inside the tree (see `layout.py`), and everything has a limit (see `unpacking.py`). Where names
or links cannot be as they were (Windows), they are kept beside the files.
"""

import json
import os
import shutil
import tempfile
import zipfile
from contextlib import suppress
from typing import IO

from rigup.language import _
from rigup.machine import file_names, unpacking
from rigup.machine.unpacking import Member, TooMuch, is_tar, members

_DEEPEST = 40  # folders
_KEPT: list[tempfile.TemporaryDirectory[str]] = []  # until somebody calls discard


class ArchiveError(Exception):
    """An archive that cannot be unpacked, with what is wrong with it."""


def is_archive(path: str) -> bool:
    """Whether a file is a tar or zip archive, by its content."""
    try:
        return zipfile.is_zipfile(path) or is_tar(path)
    except (OSError, EOFError):
        return False


def unpacked(path: str, simple_names: bool = os.name == "nt") -> str:
    """The folder that an archive was unpacked into; `discard` removes it. Raises ArchiveError.

    `simple_names`: our disk holds neither links nor names such as `0000:01:00.0`.
    """
    _KEPT.append(tempfile.TemporaryDirectory(prefix="rigup-", ignore_cleanup_errors=True))
    folder = _KEPT[-1].name
    place = _Unpacking(folder, simple_names)
    try:
        for member in members(path):
            place.take(member)
    except TooMuch as error:
        raise ArchiveError(_("{path} holds more than a capture of a machine does.").format(path=path)) from error
    except unpacking.DAMAGED as error:
        raise ArchiveError(_("{path} is damaged: {error}").format(path=path, error=str(error)[:200])) from error
    inner = _inner_folder(folder)
    place.finish(inner)
    return inner


def discard() -> None:
    """Remove what was unpacked; it has been read."""
    while _KEPT:
        _KEPT.pop().cleanup()


class _Unpacking:
    """A folder that an archive is unpacked into."""

    def __init__(self, folder: str, simple_names: bool) -> None:
        self.folder, self.simple_names, self.total = folder, simple_names, 0
        self.links: dict[str, str] = {}

    def take(self, member: Member) -> None:
        """One entry. No link exists yet, so no write can be led astray."""
        name = _safe(member.name)
        if name is None:
            return
        if member.link is not None:
            self.links[name] = member.link
            return
        target = os.path.join(self.folder, self.fitting(name))
        with suppress(OSError):  # a file where another entry wants a folder, a name that is too long
            os.makedirs(target if member.body is None else os.path.dirname(target), exist_ok=True)
            if member.body is not None and not os.path.isdir(target):
                self.write(target, member.body)

    def write(self, target: str, body: IO[bytes]) -> None:
        """A file's head, and an end to it all when the files together are too large."""
        bounded = _Bounded(body)
        try:
            with open(target, "wb") as file:
                shutil.copyfileobj(bounded, file)
        except (PermissionError, FileNotFoundError, IsADirectoryError):
            return
        self.total += unpacking.MOST_OF_ONE - bounded.left
        if self.total > unpacking.MOST_BYTES:
            raise TooMuch

    def fitting(self, name: str) -> str:
        """The name as our disk can hold it."""
        return "/".join(map(file_names.escaped, name.split("/"))) if self.simple_names else name

    def finish(self, inner: str) -> None:
        """Make the links, or keep them beside the files."""
        if self.simple_names:
            above = os.path.relpath(inner, self.folder).replace(os.sep, "/")
            start = "" if above == "." else "/".join(map(file_names.plain, above.split("/"))) + "/"
            targets = {"/" + name[len(start) :]: where for name, where in self.links.items() if name.startswith(start)}
            _keep(inner, "links.json", targets)
            _keep(inner, file_names.MARK, file_names.ESCAPED)
            return
        for name, where in self.links.items():
            target = os.path.join(self.folder, name)
            with suppress(OSError, ValueError):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                if not os.path.lexists(target):
                    os.symlink(where, target)


def _keep(folder: str, name: str, content: object) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(content, file)


def _safe(name: str) -> str | None:
    """The name below our folder, or None for one that would lead out of it or is absurd."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    plain = [part for part in name.split("/") if part not in ("", ".")]
    fit = parts and ".." not in parts and len(parts) <= _DEEPEST
    sound = all(len(part.encode("utf-8", "surrogateescape")) < 256 for part in plain) and name.isprintable()
    return "/".join(plain) if fit and sound else None


class _Bounded:
    """A body that ends after the limit of one file, whatever its header claimed."""

    def __init__(self, body: IO[bytes]) -> None:
        self.body, self.left = body, unpacking.MOST_OF_ONE

    def read(self, size: int = -1, /) -> bytes:
        got = self.body.read(self.left if size < 0 else min(size, self.left))
        self.left -= len(got)
        return got


def _inner_folder(folder: str) -> str:
    """Past the single folder that archives are often made of."""
    for _step in range(3):
        inside = os.listdir(folder)
        inner = os.path.join(folder, inside[0]) if len(inside) == 1 else ""
        if not inner or os.path.islink(inner) or not os.path.isdir(inner) or inside[0] in _ROOTS:
            break
        folder = inner
    return folder


_ROOTS = frozenset(("proc", "sys", "dev", "etc", "usr", "opt", "home", "topology", "nodes"))
