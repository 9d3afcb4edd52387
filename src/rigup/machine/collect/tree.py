"""A stream as a folder that `--from` and the readers take like any captured machine."""

import posixpath
import tempfile
from collections.abc import Iterable
from pathlib import Path

from rigup.machine.collect.stream import Collected
from rigup.machine.snapshot import Snapshot

_KEPT: list[tempfile.TemporaryDirectory[str]] = []  # until somebody calls discard


def kept(collected: Collected) -> str:
    """The tree of what was collected, in a folder of our own; `discard` removes it. Raises OSError."""
    _KEPT.append(tempfile.TemporaryDirectory(prefix="rigup-", ignore_cleanup_errors=True))
    folder = str(Path(_KEPT[-1].name, "tree"))
    write(collected, folder)
    return folder


def discard() -> None:
    """Remove all that was kept; it has been read."""
    while _KEPT:
        _KEPT.pop().cleanup()


def drop(folder: str) -> None:
    """Remove one tree that was kept, when nobody reads in it any more."""
    for kept_folder in [kept_folder for kept_folder in _KEPT if Path(kept_folder.name) == Path(folder).parent]:
        _KEPT.remove(kept_folder)
        kept_folder.cleanup()


def write(collected: Collected, folder: str) -> None:
    """Write the tree. Raises OSError."""
    _tame(collected.snapshot)
    collected.snapshot.write(folder)


def _tame(snapshot: Snapshot) -> None:
    """No link may be written below another: a stream that somebody made up could lead a write anywhere."""
    placed = {path: snapshot.real(posixpath.dirname(path)) + "/" + posixpath.basename(path) for path in snapshot.links}
    taken = set(placed.values())
    for path, spot in placed.items():
        if not taken.isdisjoint(_above(spot)):
            del snapshot.links[path]


def _above(path: str) -> Iterable[str]:
    while (path := posixpath.dirname(path)) not in ("/", ""):
        yield path
