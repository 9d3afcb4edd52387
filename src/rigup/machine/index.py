"""Facts of one kind by what tells them apart: a statement finds the facts that it may speak of without passing all others by."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from rigup.machine.facts import Fact

_ANY = "*"  # the node of a statement that names none: every node's facts come into question
Spot = tuple[object, str, Any]


class Index:
    """Facts by place and key, and by node and key. Facts of a kind without keys differ by their places alone."""

    def __init__(self) -> None:
        self._spots: dict[Spot, dict[int, Fact]] = defaultdict(dict)
        self._of: dict[int, set[Spot]] = {}
        self._rank: dict[int, int] = {}
        self._next = 0

    def put(self, fact: Fact) -> None:
        """A new fact, or one of which more is known."""
        number = self._rank.setdefault(id(fact), self._next)
        self._next = max(self._next, number + 1)
        spots = set(_spots(fact, (fact.place, fact.place.node, _ANY)))
        for gone in self._of.get(number, set()) - spots:
            del self._spots[gone][number]
        for spot in spots - self._of.get(number, set()):
            self._spots[spot][number] = fact
        self._of[number] = spots

    def drop(self, fact: Fact) -> None:
        """One that has become a part of another."""
        number = self._rank.pop(id(fact))
        for spot in self._of.pop(number, set()):
            del self._spots[spot][number]

    def here(self, new: Fact) -> list[Fact]:
        """Facts of a statement's own place that share a key with it, in the order in which they were first stated."""
        return self._found(_spots_of(new, (new.place,)))

    def near(self, new: Fact) -> list[Fact]:
        """The same of all places that may be the statement's."""
        return self._found(_spots_of(new, (new.place.node, "") if new.place.node else (_ANY,)))

    def on_node(self, new: Fact) -> Iterator[Fact]:
        """All facts of the nodes that may be the statement's, whatever their keys."""
        for node in (new.place.node, "") if new.place.node else (_ANY,):
            yield from self._spots[node, "", None].values()

    def _found(self, spots: Iterator[Spot]) -> list[Fact]:
        facts: dict[int, Fact] = {}
        for spot in spots:
            if spot in self._spots:
                facts |= self._spots[spot]
        return [fact for _number, fact in sorted(facts.items())]


def _spots(fact: Fact, places: tuple[object, ...]) -> Iterator[Spot]:
    yield from _spots_of(fact, places)
    if fact.keys:
        yield from ((place, "", None) for place in places)


def _spots_of(fact: Fact, places: tuple[object, ...]) -> Iterator[Spot]:
    """Where a fact stands by each key that is known of it."""
    if not fact.keys:
        yield from ((place, "", None) for place in places)
    for key in fact.keys:
        if held := fact.fields.get(key):
            yield from ((place, key, held.value) for place in places)
