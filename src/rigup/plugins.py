"""What other packages add: readers, rules and tables, by entry points of theirs. One that fails costs itself only.

    [project.entry-points."rigup.readers"]
    ours = "our_package.readers"        # imported: its functions register themselves by `@reads`
    [project.entry-points."rigup.rules"]
    ours = "our_package.rules"          # imported: its functions register themselves by `@rule` and `@mends`
    [project.entry-points."rigup.tables"]
    ours = "our_package"                # its folder `knowledge` lies over the shipped tables, below an administrator's

They are looked for among the packages that stand beside rigup, by their `entry_points.txt`: to ask importlib for all
entry points of all packages would take longer than the doctor does.
"""

import os
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

READERS, RULES, TABLES = "rigup.readers", "rigup.rules", "rigup.tables"
_ANY = b"[rigup."
_FILE = "entry_points.txt"
_INFO = (".dist-info", ".egg-info")
_MOST = 100_000  # bytes of one file of entry points


class Failure(NamedTuple):
    """An entry point that could not be used.

    Attributes:
        group: one of READERS, RULES, TABLES.
        name: of the entry point.
        value: what it names.
        error: type and words of what was raised.

    """

    group: str
    name: str
    value: str
    error: str


_failures: list[Failure] = []


def failures() -> list[Failure]:
    """The entry points that failed so far."""
    return list(_failures)


@cache
def load(group: str) -> tuple[str, ...]:
    """Import the modules that a group names, once; the names of those that could be."""
    return tuple(name for name, value in _named(group) if _imported(group, name, value))


@cache
def table_folders() -> tuple[Path, ...]:
    """The folders of tables that packages bring."""
    found = []
    for name, value in _named(TABLES):
        try:
            from importlib.util import find_spec

            spec = find_spec(value)
            places = list(spec.submodule_search_locations or ()) if spec else []
            if not places:
                raise ImportError(f"{value} is no package")
            found.append(Path(places[0], "knowledge"))
        except Exception as error:
            _failures.append(_failure(TABLES, name, value, error))
    return tuple(found)


def _imported(group: str, name: str, value: str) -> bool:
    import importlib

    try:
        importlib.import_module(value.partition(":")[0])
    except Exception as error:  # whatever it is, the doctor goes on
        _failures.append(_failure(group, name, value, error))
        return False
    return True


def _failure(group: str, name: str, value: str, error: Exception) -> Failure:
    return Failure(group, name, value, f"{type(error).__name__}: {str(error)[:200]}")


def _named(group: str) -> list[tuple[str, str]]:
    """Names and values of a group, over all packages, sorted: the order of folders is no order."""
    found = []
    for text in _texts():
        import configparser  # most have no such package

        parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
        parser.optionxform = str  # type: ignore[assignment, method-assign]  # names keep their letters
        try:
            parser.read_string(text)
        except configparser.Error:
            continue  # not ours to mend, and pip tells of it
        if parser.has_section(group):
            found += [(name, value.strip()) for name, value in parser.items(group)]
    return sorted(set(found))


@cache
def _texts() -> tuple[str, ...]:
    """The files of entry points in which this program is spoken of."""
    found: dict[str, None] = {}
    for folder in sys.path:
        try:
            with os.scandir(folder or ".") as entries:
                names = [entry.name for entry in entries if entry.name.endswith(_INFO)]
        except OSError:
            continue
        for name in names:
            body = _read(os.path.join(folder, name, _FILE))
            if _ANY in body:
                found[body.decode("utf-8", "replace")] = None
    return tuple(found)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_MOST)
    except OSError:
        return b""
