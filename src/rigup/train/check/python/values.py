"""What is known of a value without running anything: a constant, what it depends on, or nothing."""

import ast
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from rigup.train.check.python.modules import Module

NOTHING = msgspec.UNSET
"""The constant of a value of which none is known."""

GLOBAL, LOCAL, NODE, WORLD, COUNT = "global-rank", "local-rank", "node-rank", "world-size", "device-count"
SPAWNED, RANDOM, AVAILABLE, INDEX = "spawn-index", "random", "if-available", "worker-id"
NAMED = "named-rank"  # a parameter that is called a rank, and of which nothing else is known
RANKS = frozenset((GLOBAL, LOCAL, SPAWNED, NAMED))


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a file."""

    file: str
    line: int


class Instance(msgspec.Struct, frozen=True, kw_only=True):
    """An object by the call that makes it.

    Attributes:
        name: the dotted name of what is called.
        call: the call; None where a configuration file makes it.
        module: where the call stands.
        fields: arguments by a configuration file.

    """

    name: str
    call: ast.Call | None
    module: "Module"
    frame: Any = None
    fields: Mapping[str, "Value"] = {}


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A value.

    Attributes:
        const: the constant, or NOTHING.
        marks: what it is computed from: ranks, counts of devices, random numbers.
        sources: the variables of the environment that it is read from.
        guard: of a condition: "one" where it holds on one rank alone, "others" where on all but one.
        items: of a tuple or list.
        fields: of a mapping or namespace, by key; `open` where there may be more of them.
        instance: the object, by the call that makes it.
        alternatives: what it may be, where it may be several things.
        place: where the constant stands.

    """

    const: Any = NOTHING
    marks: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    guard: str = ""
    items: tuple["Value", ...] | None = None
    fields: Mapping[str, "Value"] | None = None
    open: bool = False
    options: bool = False
    instance: Instance | None = None
    alternatives: tuple["Value", ...] = ()
    place: Place | None = None

    @property
    def known(self) -> bool:
        """Whether a constant is known."""
        return self.const is not NOTHING

    @property
    def ranked(self) -> bool:
        """It differs from rank to rank."""
        return bool(self.marks & RANKS)

    @property
    def number(self) -> int | None:
        """A whole number, also as digits; None for anything else."""
        if isinstance(self.const, bool) or not isinstance(self.const, int | str | float):
            return None
        try:
            return int(self.const) if not isinstance(self.const, float) or self.const.is_integer() else None
        except ValueError:
            return None

    @property
    def text(self) -> str | None:
        """A string; None for anything else."""
        return self.const if isinstance(self.const, str) else None

    def candidates(self) -> list["Value"]:
        """All that it may be, as far as is known."""
        found: list[Value] = []
        for each in self.alternatives or (self,):
            found += [each] if each is self or not each.alternatives else each.candidates()
        return found[:50]

    def is_none(self) -> bool:
        """It is None for certain."""
        return self.known and self.const is None


UNKNOWN_VALUE = Value()


def constant(value: Any, place: Place | None = None) -> Value:
    """A constant; containers with their parts as values."""
    if isinstance(value, dict):
        return Value(const=value, fields={str(key): constant(part, place) for key, part in value.items()}, place=place)
    if isinstance(value, list | tuple):
        return Value(const=value, items=tuple(constant(part, place) for part in value), place=place)
    return Value(const=value, place=place)


def mixed(values: Iterable[Value]) -> Value:
    """A value computed of others in a way that is not followed."""
    parts = list(values)
    return Value(marks=frozenset().union(*(part.marks for part in parts)), sources=_sources(parts))


def either(values: Iterable[Value]) -> Value:
    """One of several values: a constant where all agree."""
    parts = list(values)
    if not parts:
        return UNKNOWN_VALUE
    first = parts[0]
    if all(part == first for part in parts[1:]) or len(parts) == 1:
        return first
    marks = frozenset().union(*(part.marks for part in parts))
    alternatives = tuple(each for part in parts for each in part.candidates())[:50]
    same = all(part.known and type(part.const) is type(first.const) and part.const == first.const for part in parts)
    guards = {part.guard for part in parts if part.guard}
    return Value(
        const=first.const if same else NOTHING,
        marks=marks,
        sources=_sources(parts),
        alternatives=() if same else alternatives,
        place=first.place if same else None,
        guard=guards.pop() if len(guards) == 1 else "",
        items=first.items if same else None,
        fields=first.fields if same else None,
        options=any(part.options for part in parts),
        instance=next((part.instance for part in parts if part.instance), None)
        if sum(part.instance is not None for part in parts) == 1
        else None,
    )


def _sources(parts: Iterable[Value]) -> frozenset[str]:
    return frozenset().union(*(part.sources for part in parts))
