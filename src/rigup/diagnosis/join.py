"""Choosing what a rule is called with: facts that can be true together in one place."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rigup.diagnosis.rule import EVERY, MAYBE, NONE, ONE, Every, Need, Rule, group
from rigup.machine.facts import Fact, Look, Place
from rigup.machine.kinds import Symptom
from rigup.machine.store import Facts

_MOST = 2000  # ways of choosing that one rule is called with

Chosen = Fact | Every[Any] | None


class Candidate(NamedTuple):
    """Something that a parameter may be, and the place that it binds the others to."""

    value: Chosen
    place: Place


def bindings(rule: Rule, facts: Facts) -> Iterator[dict[str, Any]]:
    """Every way of choosing a rule's parameters that holds in one place."""
    if rule.lacks(facts.of, facts.ids) or any(
        need.mode == ONE and not _of_kind(need, facts) for need in rule.needs.values()
    ):
        return  # as with most rules on most machines
    names = list(rule.needs)
    for count, chosen in enumerate(_chosen(list(rule.needs.values()), facts, Place())):
        if count >= _MOST:
            return
        yield dict(zip(names, chosen, strict=True))


def _chosen(needs: list[Need], facts: Facts, place: Place) -> Iterator[tuple[Chosen, ...]]:
    """Choose the first part, and the others where it leaves us."""
    if not needs:
        yield ()
        return
    need, rest = needs[0], needs[1:]
    fitting = [(found, met) for found in _candidates(need, facts) if (met := place.meet(_seen_from(found.place, need)))]
    if not fitting and need.mode == MAYBE:  # nobody has seen one here; elsewhere is another matter
        fitting = [(Candidate(None, Place()), place)]
    for candidate, met in fitting:
        for others in _chosen(rest, facts, met):
            yield (candidate.value, *others)


def _seen_from(held: Place, need: Need) -> Place:
    """A part that names its own place shares only the machine and the moment with the others."""
    return held._replace(world="", process="") if need.at else held


def _candidates(need: Need, facts: Facts) -> Iterator[Candidate]:
    found = [fact for fact in _of_kind(need, facts) if _at(fact.place, need) and need.fits(fact)]
    if need.mode in (EVERY, NONE):
        yield from _groups(need, found, facts)
        return
    yield from (Candidate(fact, fact.place) for fact in found)


def _of_kind(need: Need, facts: Facts) -> Sequence[Fact]:
    """All facts of the kind; of symptoms those of the wanted ids, for a log may hold thousands of others."""
    ids = next((wanted for name, wanted in need.fields if name == "id"), None) if need.kind is Symptom else None
    return facts.heard(*ids) if isinstance(ids, tuple) else facts.of(need.kind)


def _at(place: Place, need: Need) -> bool:
    """Whether a place is one of those that the rule names."""
    return not need.at or bool({place.world.partition(":")[0], place.process.partition(":")[0]} & set(need.at))


def _groups(need: Need, found: list[Fact], facts: Facts) -> Iterator[Candidate]:
    """One group for each place that somebody looked at; the best look vouches for it."""
    best: dict[Place, Look] = {}
    for look in facts.looks:
        if look.kind is need.kind and look.coverage != "refused" and _at(look.place, need):
            held = best.get(look.place)
            if held is None or (held.coverage != "whole" and look.coverage == "whole"):
                best[look.place] = look
    if need.mode == EVERY:
        best = {**_as_far_as_seen(found), **best}
    wanted = " ".join([need.kind.__name__, *(str(value) for _, value in need.fields)])
    for place, look in best.items():
        there = [fact for fact in found if fact.place.meet(place) is not None]
        if need.mode == EVERY or not there:
            yield Candidate(group(there, look, wanted), place)


def _as_far_as_seen(found: list[Fact]) -> dict[Place, Look]:
    """Where facts are known and nobody says that these are all: an excerpt."""
    return {fact.place: Look(type(fact), fact.place, "what was seen", "excerpt") for fact in found}
