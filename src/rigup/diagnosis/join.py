"""Choosing what a rule is called with: facts that can be true together in one place."""

import functools
import heapq
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from rigup.diagnosis.rule import EVERY, MAYBE, NONE, Every, Need, Rule, group
from rigup.machine.facts import Fact, Look, Place
from rigup.machine.kinds import Symptom
from rigup.machine.store import Facts

T = TypeVar("T")
_MOST = 2000  # ways of choosing that one rule is called with

Chosen = Fact | Every[Any] | None


class Candidate(NamedTuple):
    """Something that a parameter may be, and the place that it binds the others to."""

    value: Chosen
    place: Place


def bindings(rule: Rule, facts: Facts) -> Iterator[dict[str, Any]]:
    """Every way of choosing a rule's parameters that holds in one place."""
    if rule.lacks(facts.of, facts.ids):
        return  # as with most rules on most machines
    names = list(rule.needs)
    parts = [_Part(need, facts) for need in rule.needs.values()]
    for count, chosen in enumerate(_choices(parts, Place())):
        if count >= _MOST:
            return
        yield dict(zip(names, chosen, strict=True))


class _Part:
    """What one parameter may be, found once for all ways of choosing the others, and told apart by node."""

    def __init__(self, need: Need, facts: Facts) -> None:
        self.need, self._facts = need, facts
        self._near: dict[str, list[tuple[Candidate, Place]]] = {}

    @functools.cached_property
    def _all(self) -> list[tuple[Candidate, Place]]:
        return [(candidate, _seen_from(candidate.place, self.need)) for candidate in _candidates(self.need, self._facts)]

    def near(self, place: Place) -> list[tuple[Candidate, Place]]:
        """Those that the place's node does not rule out: of a thousand nodes each has but a few."""
        node = _node(place)
        if node not in self._near:
            self._near[node] = self._all if not node else _of_node(self._by_node, node)
        return self._near[node]

    @functools.cached_property
    def _by_node(self) -> dict[str, list[tuple[int, tuple[Candidate, Place]]]]:
        return _by_node((place, (candidate, place)) for candidate, place in self._all)


def _choices(parts: list[_Part], place: Place) -> Iterator[tuple[Chosen, ...]]:
    """Choose the first part, and the others where it leaves us."""
    if not parts:
        yield ()
        return
    part, rest = parts[0], parts[1:]
    fitting = [(found, met) for found, seen in part.near(place) if (met := place.meet(seen))]
    if not fitting and part.need.mode == MAYBE:  # nobody has seen one here; elsewhere is another matter
        fitting = [(Candidate(None, Place()), place)]
    for candidate, met in fitting:
        for others in _choices(rest, met):
            yield (candidate.value, *others)


def _node(place: Place) -> str:
    return place.node.partition(":")[0]


def _by_node(placed: Iterable[tuple[Place, T]]) -> dict[str, list[tuple[int, T]]]:
    """Things by the node of their place, with their number."""
    nodes: dict[str, list[tuple[int, T]]] = {}
    for number, (place, item) in enumerate(placed):
        nodes.setdefault(_node(place), []).append((number, item))
    return nodes


def _of_node(by_node: dict[str, list[tuple[int, T]]], node: str) -> list[T]:
    """Things of a node and those of none, in their order; of no node all."""
    groups = [by_node.get(node, ()), by_node.get("", ())] if node else list(by_node.values())
    return [item for _number, item in heapq.merge(*groups, key=itemgetter(0))]


def _seen_from(held: Place, need: Need) -> Place:
    """A part that names its own place shares only the machine and the moment with the others."""
    return held._replace(world="", process="") if need.at else held


def _candidates(need: Need, facts: Facts) -> Iterator[Candidate]:
    fitting = [fact for fact in _of_kind(need, facts) if _is_at(fact.place, need) and need.fits(fact)]
    if need.mode in (EVERY, NONE):
        yield from _groups(need, fitting, facts)
        return
    yield from (Candidate(fact, fact.place) for fact in fitting)


def _of_kind(need: Need, facts: Facts) -> Sequence[Fact]:
    """All facts of the kind; of symptoms those of the wanted ids, for a log may hold thousands of others."""
    ids = next((wanted for name, wanted in need.fields if name == "id"), None) if need.kind is Symptom else None
    return facts.heard(*ids) if isinstance(ids, tuple) else facts.of(need.kind)


def _is_at(place: Place, need: Need) -> bool:
    """Whether a place is one of those that the rule names."""
    return not need.at or bool({place.world.partition(":")[0], place.process.partition(":")[0]} & set(need.at))


def _groups(need: Need, fitting: list[Fact], facts: Facts) -> Iterator[Candidate]:
    """One group for each place that somebody looked at; the best look vouches for it."""
    best: dict[Place, Look] = {}
    for look in facts.looks:
        if look.kind is need.kind and look.coverage != "refused" and _is_at(look.place, need):
            held = best.get(look.place)
            if held is None or (held.coverage != "whole" and look.coverage == "whole"):
                best[look.place] = look
    if need.mode == EVERY:
        best = {**_as_far_as_seen(fitting), **best}
    wanted = " ".join([need.kind.__name__, *(str(value) for _, value in need.fields)])
    near = _by_node((fact.place, fact) for fact in fitting)
    for place, look in best.items():
        members = [fact for fact in _of_node(near, _node(place)) if fact.place.meet(place) is not None]
        if need.mode == EVERY or not members:
            yield Candidate(group(members, look, wanted), place)


def _as_far_as_seen(fitting: list[Fact]) -> dict[Place, Look]:
    """Where facts are known and nobody says that these are all: an excerpt."""
    return {fact.place: Look(type(fact), fact.place, "what was seen", "excerpt") for fact in fitting}
