"""What a person changed or made since a run is put into a folder of its own before undo would write over it.

The folder lies under the state folder and is named after the run; in it everything has the path that it had.
"""

import filecmp
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from rigup.plan.applying import kept
from rigup.plan.applying.holdings import digest_of
from rigup.plan.applying.journal import Record, state

Argv = tuple[str, ...]


class Aside(NamedTuple):
    """One path that undo would write over, and where what is there now goes first."""

    path: str
    to: str

    def argv(self) -> Argv:
        """The command, the same whether root runs it or the person. A folder goes: no file could take its place."""
        verb = ("mv",) if os.path.isdir(self.path) and not os.path.islink(self.path) else ("cp", "-a")
        return (*verb, "-T", "--", self.path, self.to)


def folder_of(record: Record) -> Path:
    """Where it lies, whether there is something or not."""
    return state() / "put-aside" / record.ident


def of_files(record: Record, paths: Iterable[str], left: dict[str, str], before: Path) -> tuple[Aside, ...]:
    """Those of the paths at which something else stands than a step left, and than was there before it.

    Args:
        record: the run.
        paths: what undo writes over.
        left: what the step left, by `digest_of`; a path that is missing there may hold anything.
        before: what was kept for the step.

    """
    moves = []
    for path in paths:
        now = digest_of(path)
        if now in ("absent", left.get(path, "")) or kept.is_as_before(path, before):
            continue
        moves.append(Aside(path, str(place_of(record, path))))
    return tuple(moves)


def of_folder(record: Record, folder: Path, names: Iterable[str], known_as: Path) -> list[str]:
    """Move files of a folder, which people knew by another name, out of it; returns where they lie now. Raises OSError."""
    places = []
    for name in names:
        old, new = folder / name, place_of(record, str(known_as / name))
        new.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not os.access(old.parent, os.W_OK | os.X_OK):
            os.chmod(old.parent, 0o700)
        shutil.move(old, new)
        places.append(str(new))
    return places


def place_of(record: Record, path: str) -> Path:
    """A place where nothing else lies; what a killed undo has put there already is written once more."""
    whole = folder_of(record) / os.path.abspath(path).replace(":", "").lstrip("/\\")
    for number in range(1000):
        place = whole.with_name(f"{whole.name}.{number}") if number else whole
        if not os.path.lexists(place) or _same(path, place):
            return place
    raise FileExistsError(17, os.strerror(17), str(whole))


def _same(path: str, place: Path) -> bool:
    try:
        return not place.is_symlink() and filecmp.cmp(path, place, shallow=False)
    except OSError:
        return False
