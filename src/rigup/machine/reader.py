"""How a reader is declared: what it reads, and how a pasted text of its kind is known."""

import functools
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

import msgspec

from rigup.machine.facts import Fact, Place
from rigup.machine.host import LIMIT
from rigup.machine.literals import wait_for
from rigup.machine.texts import Text

Statements = Iterator[Fact]
Read = Callable[[Text], Statements]
Derive = TypeVar("Derive", bound=Callable[..., Statements])


class File(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A path or glob; `{Kind.field}` is filled in from facts read before. Braces list names: {a,b}."""

    path: str
    process: str = ""  # whose environment it configures: unit, shell
    wakes: str = ""  # reading it would ask a suspended card of this vendor, or of "any", and is left then
    most: int = LIMIT  # characters that are read: of a program the head is enough


class Run(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A program; it is ended after `seconds`.

    `given` is a path without which it is not worth running, `unless` one with which it is not. `says` is a pattern by
    which its answer is known where nothing can be stated of it: what is neither understood nor known is no answer.
    """

    argv: tuple[str, ...]
    seconds: float = 5.0
    wakes: str = ""
    given: str = ""
    unless: str = ""
    says: str = ""


class Listing(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Paths by a glob, as `ls -l` prints them; `{Kind.field}` is filled in."""

    path: str


class Ask(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """What the asking process is: `variables` (as env prints) or `account` (as id prints)."""

    about: str


Input = File | Run | Listing | Ask


class Reader(NamedTuple):
    """One function from a text to statements, and where its texts come from."""

    name: str
    about: tuple[type[Fact], ...]
    read: Read
    inputs: tuple[Input, ...]
    marks: tuple[str, ...]  # literals by which a pasted text is known to be of this kind
    whole: str  # regex by which a pasted text is known to be complete
    matched: str  # who speaks in its live answers, if symptoms may stand in them: "program", "kernel"
    place: Place  # of what it states, where the text does not tell
    rank: int
    adds: tuple[type[Fact], ...] = ()  # kinds of which it tells something, though not that one is absent

    @property
    def makes(self) -> tuple[type[Fact], ...]:
        """All kinds that it states."""
        return (*self.about, *self.adds)


class Derivation(NamedTuple):
    """Statements that follow from a fact and from knowledge."""

    name: str
    source: type[Fact]
    about: type[Fact]
    derive: Callable[..., Statements]
    beside: tuple[type[Fact], ...] = ()  # further kinds that it wants to know of; then it is given all facts


class Late:
    """A function of a file that is imported when it is first called; `line` is where it begins there."""

    def __init__(self, module: str, name: str, line: int) -> None:
        self.__module__, self.__name__, self.line = module, name, line

    @functools.cached_property
    def _function(self) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(import_module(self.__module__), self.__name__)
        return function

    def __call__(self, *given: Any) -> Any:
        """What the function answers."""
        return self._function(*given)


def line_of(function: Callable[..., object]) -> int:
    """Where a function begins in its file."""
    return function.line if isinstance(function, Late) else function.__code__.co_firstlineno


READERS: dict[str, Reader] = {}
DERIVED: dict[str, Derivation] = {}


def reads(
    *about: type[Fact],
    inputs: Iterable[Input] = (),
    marks: tuple[str, ...] = (),
    whole: str = "",
    matched: str = "",
    process: str = "",
    rank: int = 1,
    adds: tuple[type[Fact], ...] = (),
) -> Callable[[Read], Read]:
    """Register a reader. `about` are the kinds that it looks for: an absence of them is its to tell.

    Of the kinds that it `adds` to it sees a part only: where it finds none there may still be some.
    """

    def register(read: Read) -> Read:
        if read.__name__ in READERS:
            if not _is_expected(READERS[read.__name__].read, read):  # it would replace the other without a word
                raise ValueError("two readers are called " + read.__name__)
            return read
        wait_for(marks)
        place = Place(process=process)
        READERS[read.__name__] = Reader(read.__name__, about, read, tuple(inputs), marks, whole, matched, place, rank, adds)
        return read

    return register


def derives(about: type[Fact], *others: type[Fact]) -> Callable[[Derive], Derive]:
    """Register a derivation; the kind it starts from is its first parameter's annotation.

    One that looks at other kinds (`others`) is called with all facts as its second parameter. It may add to
    the fact that it was given (`absorb`) and yield that one: a statement of its own kind would need a key.
    """

    def register(derive: Derive) -> Derive:
        source = next(iter(derive.__annotations__.values()))
        if derive.__name__ not in DERIVED or not _is_expected(DERIVED[derive.__name__].derive, derive):
            DERIVED[derive.__name__] = Derivation(derive.__name__, source, about, derive, others)
        return derive

    return register


def _is_expected(known: Callable[..., object], function: Callable[..., object]) -> bool:
    """Whether a function is the one of which an index has told."""
    return isinstance(known, Late) and known.__module__ == function.__module__


def shown(query: Input) -> str:
    """An input as a person would type it."""
    if isinstance(query, Run):
        return " ".join(query.argv)
    if isinstance(query, Listing):
        return "ls -l " + query.path
    return query.path if isinstance(query, File) else {"variables": "env", "account": "id"}[query.about]
