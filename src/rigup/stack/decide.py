"""Judge every build that a wish allows, and take the best one of each framework."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from rigup.knowledge.cuda import version_key
from rigup.stack import frameworks
from rigup.stack.candidate import Candidate
from rigup.stack.inside import inside
from rigup.stack.serving import PARTNERS
from rigup.stack.site import Site
from rigup.stack.weigh import Judged, judged, rank, served_count, usable, wanted
from rigup.stack.wish import Wish


class Decision(NamedTuple):
    """What was taken for each framework of a wish.

    Attributes:
        taken: one build a framework; not all of them where one is stuck.
        looked_at: every build that was judged.
        refused: those that somebody who wants the newest would ask about.
        stuck: whether a framework is left of which no build can be had.

    """

    taken: tuple[Judged, ...]
    looked_at: tuple[Judged, ...]
    refused: tuple[Judged, ...]
    stuck: bool


def decide(wish: Wish, site: Site) -> Decision:
    """The best build of each framework; they share one Python, which is changed where only that helps.

    Raises:
        KnowledgeError: a table is malformed.

    """
    found = _in_order(wish, site)
    if not found.stuck or wish.python or not found.taken:
        return found
    known = {python for one in found.looked_at for python in one.build.python if not python.endswith("t")}
    for python in sorted(known, key=version_key, reverse=True):
        again = _in_order(msgspec.structs.replace(wish, python=python), site)
        if not again.stuck:
            return again
    return found


def solved(wish: Wish, site: Site) -> tuple[Judged, ...]:
    """The builds that would be taken; nothing where one cannot be had."""
    found = decide(wish, inside(wish, site))
    return () if found.stuck else found.taken


def _in_order(wish: Wish, site: Site) -> Decision:
    """One framework after another: the first decides about Python."""
    taken: tuple[Judged, ...] = ()
    looked_at: tuple[Judged, ...] = ()
    refused: tuple[Judged, ...] = ()
    asked = wish.asked()
    for lead in frameworks.leads(asked, wish.manager):
        told = [judged(build, site, _with_python(wish, taken)) for build in lead.candidates(asked, site)]
        best = max((one for one in told if usable(one, site)), key=lambda one: rank(one, site, wish), default=None)
        looked_at += tuple(told)
        refused += tuple(_above(told, best, site))
        if best is None:
            return Decision(taken, looked_at, refused, True)
        taken += (best,)
    return Decision(taken, looked_at, refused, False)


def _with_python(wish: Wish, taken: tuple[Judged, ...]) -> Wish:
    """The next framework lives in the same environment."""
    if not taken or wish.python:
        return wish
    return msgspec.structs.replace(wish, python=taken[0].python)


def _above(told: Iterable[Judged], best: Judged | None, site: Site) -> list[Judged]:
    """What somebody who wants the newest would ask about."""
    on_cpu = best is not None and bool(wanted(site)) and not served_count(best, site)
    floor = version_key(best.build.version) if best and not on_cpu else ()
    makers = {device.vendor for device in wanted(site)}
    builds = list(told)
    told = [one for one in builds if made_for(one.build, makers)] or (builds[:1] if on_cpu or best is None else [])
    return [
        one for one in told if version_key(one.build.version) > floor or (one is not best and _rival(one, best, site))
    ]


def made_for(build: Candidate, makers: set[str]) -> bool:
    """Builds for other makers' devices need no word, nor those for the CPU beside a GPU."""
    kinds = {kind for maker in makers for kind in PARTNERS.get(maker, ())}
    return build.kind in kinds or not makers


def _rival(one: Judged, best: Judged | None, site: Site) -> bool:
    """A build of the same release that leaves a device out."""
    return best is None or (
        one.build.version == best.build.version and served_count(one, site) < served_count(best, site)
    )
