"""The steps that lead from what is there to what was chosen, as pure data."""

from collections.abc import Iterator
from typing import Any

from rigup.plan import environment, system
from rigup.stack.choice import Choice
from rigup.stack.site import Site
from rigup.steps import Step

Answer = dict[str, Any]


def steps(choice: Choice) -> list[Answer]:
    """In the order in which they are taken; each with its state: satisfied, needed or blocked."""
    if not choice.possible:
        return []
    return [_judged(step, choice) for step in _all(choice)]


def _all(choice: Choice) -> Iterator[Step]:
    yield from system.steps(choice)
    yield from environment.steps(choice)


def _judged(step: Step, choice: Choice) -> Answer:
    state, because = _state(step, choice)
    told = step.json()
    return {**told, "state": state, "because": told["because"] or because}


def _state(step: Step, choice: Choice) -> tuple[str, str]:
    from rigup.language import _

    if environment.satisfied(step, choice):
        return "satisfied", _("It is there already.")
    if step.network and choice.site.network is False and not _brought_along(choice.site):
        return "blocked", _("It needs a network, and there is none.")
    return "needed", ""


def _brought_along(site: Site) -> bool:
    """Packages in a folder need no network."""
    return bool(site.sources.find_links)
