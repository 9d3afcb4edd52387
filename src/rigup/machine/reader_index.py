"""Who reads what, known without importing the files of readers: of most machines and texts few of them are needed.

An index holds what each reader and derivation declares; its function is imported when it is first called. The index comes
with the package; in a checkout it is made anew when one of the files has changed.
"""

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path

import msgspec

import rigup.machine.kinds  # noqa: F401  (so that all are known)
from rigup.machine.facts import Place, kinds
from rigup.machine.literals import wait_for
from rigup.machine.order import ordered
from rigup.machine.reader import DERIVED, READERS, Derivation, Input, Late, Reader, Run, line_of
from rigup.machine.reader_files import MODULES, OF_TEXTS, PACKAGE, SHARED
from rigup.stamps import Stamps, keep, kept, python_files, stamp
from rigup.version import __version__

INDEX = Path(__file__).with_name("readers.msgpack")
_PYTHON, _OWN = "{python}", "{rigup}"  # what stands in the index for the Python that runs us, and for our folder


class _Declared(msgspec.Struct, frozen=True, array_like=True):
    """A reader as it stands in the index; `line` is where its function begins in its module."""

    name: str
    module: str
    line: int
    about: list[str]
    inputs: tuple[Input, ...]
    marks: tuple[str, ...]
    whole: str
    matched: str
    place: Place
    rank: int
    adds: list[str]


class _Derived(msgspec.Struct, frozen=True, array_like=True):
    """A derivation as it stands there."""

    name: str
    module: str
    line: int
    source: str
    about: str
    beside: list[str]


class Index(msgspec.Struct, frozen=True, array_like=True):
    """All that the files declare.

    Attributes:
        version: of rigup.
        stamps: of the files; empty where it came with the package.
        derived: all derivations.
        asking: the readers of files that have one by which a machine is asked, with the others there.
        of_texts: packed, those of files by which no machine is asked.
        order: packed, `look.waves` of those who look for themselves, and of all; to work them out takes longer than to read them.

    """

    version: str
    stamps: Stamps
    derived: list[_Derived]
    asking: list[_Declared]
    of_texts: msgspec.Raw
    order: msgspec.Raw


def register() -> None:
    """Make known all derivations, and the readers of files by which a machine is asked."""
    by_name = kinds()
    for row in _index().derived:
        late = Late(row.module, row.name, row.line)
        beside = tuple(by_name[kind] for kind in row.beside)
        DERIVED[row.name] = Derivation(row.name, by_name[row.source], by_name[row.about], late, beside)
    _register(_index().asking)


def register_of_texts() -> None:
    """Make known the readers of pasted texts, too: more than half of all."""
    _register(msgspec.msgpack.decode(_index().of_texts, type=list[_Declared]))


def waves_of(names: frozenset[str]) -> list[list[str]] | None:
    """The waves of those who look for themselves, or of all; None where these are others."""
    return _orders().get(names)


@cache
def _orders() -> dict[frozenset[str], list[list[str]]]:
    orders = msgspec.msgpack.decode(_index().order, type=list[list[list[str]]])
    return {frozenset(name for wave in order for name in wave): order for order in orders}


def _register(rows: list[_Declared]) -> None:
    by_name = kinds()
    for row in rows:
        wait_for(row.marks)
        about, adds = (tuple(by_name[kind] for kind in named) for named in (row.about, row.adds))
        late = Late(row.module, row.name, row.line)
        inputs = tuple(map(_as_asked_here, row.inputs))
        READERS[row.name] = Reader(row.name, about, late, inputs, row.marks, row.whole, row.matched, row.place, row.rank, adds)


def build(path: Path, shipped: bool = False) -> Index:
    """Import all files, make the index and write it; an installation that nobody may write works as well, only slower."""
    known = {*READERS, *DERIVED}
    for module in (SHARED, *(f"{PACKAGE}.{name}" for name in MODULES)):
        import_module(module)
    of_texts = {f"{PACKAGE}.{name}" for name in OF_TEXTS}
    readers = tuple(reader for reader in READERS.values() if _is_own(reader.read))
    derived = tuple(derivation for derivation in DERIVED.values() if _is_own(derivation.derive))
    rows = [_declared(reader) for reader in readers]
    asking = tuple(reader for reader in readers if reader.inputs and reader.read.__module__ not in of_texts)
    orders = [ordered(chosen, derived) for chosen in (asking, readers)]
    index = Index(
        __version__,
        {} if shipped else _stamps(),
        [_derived(derivation) for derivation in derived],
        [row for row in rows if row.module not in of_texts],
        msgspec.Raw(msgspec.msgpack.encode([row for row in rows if row.module in of_texts])),
        msgspec.Raw(msgspec.msgpack.encode(orders)),
    )
    for declared in (READERS, DERIVED):  # who is known is the same, however the index came to be
        for name in declared.keys() - known:
            del declared[name]
    keep(path, msgspec.msgpack.encode(index))
    return index


@cache
def _index() -> Index:
    return kept(INDEX, Index, _stamps, build)


def _declared(reader: Reader) -> _Declared:
    about, adds = ([kind.__name__ for kind in kinds] for kinds in (reader.about, reader.adds))
    where = reader.read.__module__, line_of(reader.read)
    return _Declared(
        reader.name,
        *where,
        about,
        tuple(map(_as_asked_anywhere, reader.inputs)),
        reader.marks,
        reader.whole,
        reader.matched,
        reader.place,
        reader.rank,
        adds,
    )


def _as_asked_anywhere(query: Input) -> Input:
    """A program of our own that our Python runs, in words that mean the same on every machine."""
    if not isinstance(query, Run) or query.argv[0] != sys.executable:
        return query
    words = (word.replace(_folder(), _OWN, 1) if word.startswith(_folder()) else word for word in query.argv[1:])
    return msgspec.structs.replace(query, argv=(_PYTHON, *words))


def _as_asked_here(query: Input) -> Input:
    """The same in the words of this machine."""
    if not isinstance(query, Run) or query.argv[0] != _PYTHON:
        return query
    words = (word.replace(_OWN, _folder(), 1) if word.startswith(_OWN) else word for word in query.argv[1:])
    return msgspec.structs.replace(query, argv=(sys.executable, *words))


def _folder() -> str:
    return str(Path(__file__).parent.parent)


def _derived(row: Derivation) -> _Derived:
    where = row.derive.__module__, line_of(row.derive)
    return _Derived(row.name, *where, row.source.__name__, row.about.__name__, [kind.__name__ for kind in row.beside])


def _is_own(function: Callable[..., object]) -> bool:
    return function.__module__ == SHARED or function.__module__.startswith(PACKAGE + ".")


def _stamps() -> Stamps:
    folder = Path(__file__).parent
    files = [str(folder / name) for name in ("derive.py", "order.py", "reader.py", "reader_files.py", Path(__file__).name)]
    return {path: stamp(path) for path in (*files, *python_files(str(folder / "readers")))}
