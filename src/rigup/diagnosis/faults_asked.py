"""What is asked of the causes that were found: which answers hold beside them, and what their sentences can name."""

from collections.abc import Callable, Iterable
from typing import Any

from rigup.diagnosis.blame import are_sure, is_one_of
from rigup.diagnosis.looking import Look
from rigup.knowledge.questions import Told
from rigup.schemas.shared import Finding, Step


def is_of_faults(told: Told, found: tuple[Finding, ...]) -> bool:
    """Whether an answer is of what was found, of its certainty, and of the way to mend it."""
    if told.causes and not any(is_one_of(one.cause, told.causes) for one in found):
        return False
    if told.tells and not any(step.kind in told.tells for step in _steps_of(found)):
        return False
    return not told.sure or are_sure(found)


def _steps_of(found: Iterable[Finding]) -> list[Step]:
    """The steps of the first way to mend each."""
    return [step for one in found for way in one.fixes[:1] for step in way.steps]


def _title(seen: Look) -> str:
    """What is wrong, in a line; of several what is the root."""
    return seen.found[0].title if seen.found else ""


def _way(seen: Look) -> str:
    """The first way to mend it."""
    return next((way.title for one in seen.found for way in one.fixes[:1]), "")


def _with(holds: Callable[[Step], bool]) -> Callable[[Look], str]:
    """What is done first of the first ways for which something holds; "" where of none."""
    return lambda seen: next((step.title for step in _steps_of(seen.found) if holds(step)), "")


def _without(holds: Callable[[Step], bool]) -> Callable[[Look], str]:
    """The first way, where something holds of none of the steps."""
    return lambda seen: "" if any(holds(step) for step in _steps_of(seen.found)) else _way(seen)


def _is_start(step: Step) -> bool:
    return step.restart or step.kind in ("restart", "power-off", "cold-start")


OF_FAULTS: dict[str, Callable[[Look], Any]] = {
    "cause": _title,
    "way": _way,
    "restarting_step": _with(_is_start),
    "way_without_restart": _without(_is_start),
    "root_step": _with(lambda step: step.root),
    "way_without_root": _without(lambda step: step.root),
    "loading_step": _with(lambda step: step.network),
    "way_without_loading": _without(lambda step: step.network),
    "destroying_step": _with(lambda step: step.tag == "destructive"),
    "way_that_destroys_nothing": _without(lambda step: step.tag == "destructive"),
}
