"""Judge every build that a wish allows, and take the best one of each framework."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from rigup.knowledge.cuda import version_key
from rigup.stack import frameworks
from rigup.stack.candidate import Candidate
from rigup.stack.co_install import conflict
from rigup.stack.inside import inside
from rigup.stack.serving import PARTNERS
from rigup.stack.site import Site, wanted
from rigup.stack.weigh import Judged, judged, rank, served_count, usable
from rigup.stack.wish import Wish

_MOST = 40  # builds of the first framework that are tried beside the others


class Decision(NamedTuple):
    """What was taken for each framework of a wish.

    Attributes:
        taken: one build a framework; not all of them where one is stuck.
        looked_at: every build that was judged.
        refused: those that somebody who wants the newest would ask about.
        stuck: whether a framework is left of which no build can be had.
        conflict: why no builds of all frameworks can share one environment, as a sentence; "" where they can.

    """

    taken: tuple[Judged, ...]
    looked_at: tuple[Judged, ...]
    refused: tuple[Judged, ...]
    stuck: bool
    conflict: str = ""


def decide(wish: Wish, site: Site) -> Decision:
    """The best build of each framework; they share one Python, which is changed where only that helps.

    Raises:
        KnowledgeError: a table is malformed.

    """
    decision = _in_order(wish, site)
    if not decision.stuck or wish.python or not decision.taken or decision.conflict:
        return decision
    known = {python for option in decision.looked_at for python in option.build.python if not python.endswith("t")}
    for python in sorted(known, key=version_key, reverse=True):
        again = _in_order(msgspec.structs.replace(wish, python=python), site)
        if not again.stuck:
            return again
    return decision


def solved(wish: Wish, site: Site) -> tuple[Judged, ...]:
    """The builds that would be taken; nothing where one cannot be had."""
    decision = decide(wish, inside(wish, site))
    return () if decision.stuck else decision.taken


class _Attempt(NamedTuple):
    """Builds that were tried beside each other: of each framework all that were judged, and the one that was taken."""

    by_framework: tuple[tuple[Judged, ...], ...]
    taken: tuple[Judged, ...]
    stuck: bool = False
    conflict: str = ""


def _in_order(wish: Wish, site: Site) -> Decision:
    """One framework after another: the first decides about Python.

    Where its best build takes from another what that could reach alone, the next ones are tried.
    """
    first, *rest = frameworks.leads(wish.asked(), wish.manager)
    builds = _judged(first, wish, site)
    ranked = sorted((option for option in builds if usable(option, site)), key=lambda option: rank(option, site, wish), reverse=True)
    attempts = [_Attempt((builds,), (), True)]
    for option in _unlike(ranked) if rest else ranked[:1]:
        attempts.append(_add_frameworks(_Attempt((builds,), (option,)), rest, wish, site))
        if not attempts[-1].conflict:
            break
    return _decision(
        max(attempts, key=lambda attempt: (not attempt.stuck, len(attempt.taken), _reach(attempt, site), -_weight(attempt))), site
    )


def _judged(lead: frameworks.Lead, wish: Wish, site: Site) -> tuple[Judged, ...]:
    return tuple(judged(build, site, wish) for build in lead.candidates(wish.asked(), site))


def _unlike(ranked: list[Judged]) -> list[Judged]:
    """The best of those that share the same libraries."""
    by_pins = {tuple(sorted(option.build.pins.items())): option for option in reversed(ranked)}
    return sorted(by_pins.values(), key=ranked.index)[:_MOST]


def _reach(attempt: _Attempt, site: Site) -> int:
    return sum(served_count(build, site) for build in attempt.taken)


def _weight(attempt: _Attempt) -> int:
    return sum(build.weight for build in attempt.taken)


def _loses(best: Judged | None, alone: Judged, site: Site) -> bool:
    """A build beside others is worse than the one that would be taken alone."""
    return best is None or served_count(best, site) < served_count(alone, site) or best.weight > alone.weight


def _add_frameworks(before: _Attempt, rest: Sequence[frameworks.Lead], wish: Wish, site: Site) -> _Attempt:
    """The best builds of the other frameworks that stand beside those that were taken."""
    if not rest:
        return before
    of_framework = _judged(rest[0], _with_python(wish, before.taken), site)
    able = sorted((option for option in of_framework if usable(option, site)), key=lambda option: rank(option, site, wish), reverse=True)
    builds = [option.build for option in before.taken]
    best = next((option for option in able if not conflict(option.build, builds)), None)
    lost = bool(able) and _loses(best, able[0], site)
    why = before.conflict or (conflict(able[0].build, builds) if lost else "")
    if best is None:
        return _Attempt((*before.by_framework, of_framework), before.taken, True, why)
    return _add_frameworks(_Attempt((*before.by_framework, of_framework), (*before.taken, best), False, why), rest[1:], wish, site)


def _decision(attempt: _Attempt, site: Site) -> Decision:
    refused: list[Judged] = []
    for place, of_framework in enumerate(attempt.by_framework):
        best = attempt.taken[place] if place < len(attempt.taken) else None
        others = [option.build for option in attempt.taken if option is not best]
        refused += [_with_conflict(option, others) for option in _newer_or_rival(of_framework, best, site)]
    looked_at = tuple(option for of_framework in attempt.by_framework for option in of_framework)
    return Decision(attempt.taken, looked_at, tuple(refused), attempt.stuck, attempt.conflict)


def _with_conflict(option: Judged, others: Iterable[Candidate]) -> Judged:
    """A build that nothing else speaks against, with what it takes from those beside it."""
    why = conflict(option.build, others) if not option.refusal else ""
    return msgspec.structs.replace(option, refusal=why) if why else option


def _with_python(wish: Wish, taken: tuple[Judged, ...]) -> Wish:
    """The next framework lives in the same environment."""
    if not taken or wish.python:
        return wish
    return msgspec.structs.replace(wish, python=taken[0].python)


def _newer_or_rival(candidates: Iterable[Judged], best: Judged | None, site: Site) -> list[Judged]:
    """What somebody who wants the newest would ask about."""
    on_cpu = best is not None and bool(wanted(site)) and not served_count(best, site)
    floor = version_key(best.build.version) if best and not on_cpu else ()
    makers = {device.vendor for device in wanted(site)}
    builds = list(candidates)
    candidates = [option for option in builds if made_for(option.build, makers)] or (builds[:1] if on_cpu or best is None else [])
    return [
        option for option in candidates if version_key(option.build.version) > floor or (option is not best and _rival(option, best, site))
    ]


def made_for(build: Candidate, makers: set[str]) -> bool:
    """Builds for other makers' devices need no word, nor those for the CPU beside a GPU."""
    kinds = {kind for maker in makers for kind in PARTNERS.get(maker, ())}
    return build.kind in kinds or not makers


def _rival(option: Judged, best: Judged | None, site: Site) -> bool:
    """A build of the same release that leaves a device out."""
    return best is None or (option.build.version == best.build.version and served_count(option, site) < served_count(best, site))
