"""What a script asks: the inputs that all readers declare, each once, with braces spelled out."""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rigup.machine import nvml, readers  # noqa: F401  (registers them)
from rigup.machine.feed import braced
from rigup.machine.host import LIMIT
from rigup.machine.reader import READERS, File, Listing, Reader, Run

_HOLE = re.compile(r"\{(\w+\.\w+)\}")
_OURS = {"Proof.env"}  # of rigup's own records, which a machine without rigup has not
_SPOT = "\x00"  # stands for a hole while braces are spelled out
# By path alone: sources ask for them to tell a container from its host.
_MARKS = (File("/.singularity.d/runscript", most=100), File("/.dockerenv", most=100))


class Path_(NamedTuple):  # noqa: N801  (pathlib has the plain name)
    """Files to read, or paths to list. `before` and `after` stand around what fills the hole, if there is one."""

    listed: bool
    before: str
    hole: str = ""
    after: str = ""
    most: int = LIMIT
    wakes: str = ""

    def at(self, value: str) -> str:
        """The pattern with its hole filled."""
        return self.before + value + self.after if self.hole else self.before


class Program(NamedTuple):
    """A program to run; `given` and `unless` are patterns of which one, or none, must be there."""

    argv: tuple[str, ...]
    seconds: float
    wakes: str
    given: tuple[str, ...]
    unless: tuple[str, ...]


def paths(of: Iterable[Reader] | None = None) -> list[Path_]:
    """All files and listings, each pattern once with the largest limit that anybody wants."""
    chosen = READERS.values() if of is None else of
    by_pattern: dict[tuple[bool, str, str, str], Path_] = {}
    extra = _MARKS if of is None else ()
    for query in (*(query for reader in chosen for query in reader.inputs), *extra):
        for path in _paths_of(query) if isinstance(query, File | Listing) else ():
            known = by_pattern.get(path[:4], path)
            by_pattern[path[:4]] = path._replace(most=max(path.most, known.most), wakes=path.wakes and known.wakes)
    return list(by_pattern.values())


def _paths_of(query: File | Listing) -> Iterator[Path_]:
    holes = _HOLE.findall(query.path)
    if len(holes) > 1 or _OURS.intersection(holes):
        return  # no script fills two holes at once; over ssh the second trip asks
    for path in braced(_HOLE.sub(_SPOT, query.path)):
        before, _spot, after = path.partition(_SPOT)
        most, wakes = (query.most, query.wakes) if isinstance(query, File) else (LIMIT, "")
        yield Path_(isinstance(query, Listing), before, holes[0] if holes else "", after, most, wakes)


def programs() -> list[Program]:
    """All programs, each argument vector once; what only rigup itself can run is asked in the vendor's words."""
    runs = (query for reader in READERS.values() for query in reader.inputs if isinstance(query, Run))
    return list({program.argv: program for query in runs if (program := _program(query))}.values())


def _program(query: Run) -> Program | None:
    argv = _elsewhere(query.argv)
    ways = [tuple(braced(path)) if path else () for path in (query.given, query.unless)]
    return Program(argv, query.seconds, query.wakes, *ways) if argv else None


def _elsewhere(argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """An argument vector for a machine without our Python; None where there is none."""
    if argv[0] != sys.executable:
        return argv
    if Path(argv[-1]) == Path(str(nvml.__file__)):
        columns = ",".join(column.partition(" ")[0] for column in nvml.COLUMNS)
        return ("nvidia-smi", "--query-gpu=" + columns, "--format=csv")
    return None


def makers(*kinds: str) -> list[Reader]:
    """Readers that state facts of these kinds."""
    return [reader for reader in READERS.values() if any(kind.__name__ in kinds for kind in reader.makes)]
