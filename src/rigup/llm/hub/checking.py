"""Files whose stores name them by their checksums: whether they still are what their names say."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rigup.llm.hub.entry import Entry, File

RIGHT, WRONG, UNKNOWN = "right", "wrong", "unknown"
_PIECE = 1 << 20
_NAMED = re.compile(r"(?:sha256-)?(?P<sha256>[0-9a-f]{64})|(?P<git>[0-9a-f]{40})")


class Checked(NamedTuple):
    """A file, and whether it is what its name says; "unknown" where its name says nothing."""

    entry: Entry
    path: Path
    verdict: str


def checksum_of(file: File) -> str:
    """The SHA-256 (64 digits), or git's name (40), that a store has given a file as its name; "" without one."""
    match = _NAMED.fullmatch(file.real.name)
    return (match["sha256"] or match["git"]) if match else ""


def worked_out(path: Path, size: int, git: bool = False) -> str:
    """The checksum of a file's bytes; "" where it cannot be read."""
    found = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False) if git else hashlib.sha256()
    try:
        with path.open("rb") as file:
            while part := file.read(_PIECE):
                found.update(part)
    except OSError:
        return ""
    return found.hexdigest()


def checked(entries: Iterable[Entry]) -> Iterator[Checked]:
    """Each file of some models, one that several share once."""
    seen = set()
    for entry in entries:
        for file in entry.files:
            if file.identity in seen:
                continue
            seen.add(file.identity)
            named = checksum_of(file)
            verdict = UNKNOWN
            if named:
                verdict = RIGHT if worked_out(file.real, file.bytes, git=len(named) == 40) == named else WRONG
            yield Checked(entry, file.path, verdict)
