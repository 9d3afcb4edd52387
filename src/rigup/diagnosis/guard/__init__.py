"""The one guard that every way to mend passes before it is shown: it lets a way through, changes it, or drops it with its title."""

from rigup.diagnosis.guard.checks import check
from rigup.diagnosis.guard.setting import Setting
from rigup.steps import Step
from rigup.steps.settings import OF_A_SHELL

_SPELT_BY_HAND = ("compile-program", "compile-for-vulkan")  # their commands are made in `spelling`
_OF_SERVICES = ("enable-service", "restart-service", "enable-hook", "service-variable")
__all__ = ["Setting", "check", "passed"]


def passed(steps: list[Step], setting: Setting) -> list[Step]:
    """The way as it can be shown there; nothing where it cannot."""
    if all(map(is_the_same_anywhere, steps)):
        return steps
    from rigup.diagnosis.guard.changes import CHANGES
    from rigup.diagnosis.guard.refusals import REFUSALS, flavour_of_a_branch_past_the_card

    first = steps[0]
    if first.params.get("service") in setting.absent and first.kind in _OF_SERVICES:
        return []  # what is not installed cannot be started
    if flavour_of_a_branch_past_the_card(first, setting):
        return []
    if any(refuses(step, setting) for step in steps for refuses in REFUSALS):
        return []
    for change in CHANGES:
        steps = change(steps, setting)
    return steps


def is_the_same_anywhere(step: Step) -> bool:
    """Whether it is words on what a person does by hand, of which no surroundings change anything."""
    by_hand = step.where == "by-hand" and not step.commands
    return by_hand and not (step.root or step.restart or step.kind in (*OF_A_SHELL, *_SPELT_BY_HAND))
