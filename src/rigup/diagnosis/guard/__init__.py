"""The one guard that every way to mend passes before it is shown: it lets a way through, changes it, or drops it with its title."""

from rigup.diagnosis.guard.checks import check
from rigup.diagnosis.guard.setting import Setting
from rigup.steps import Step

_OF_SERVICES = ("enable-service", "restart-service", "enable-hook", "service-variable")
SAME_ANYWHERE = ("fewer-workers", "give-more-memory", "smaller-model")
"""Words on what a person does by hand, of which no surroundings change anything: what changes steps is not imported for them."""
__all__ = ["SAME_ANYWHERE", "Setting", "check", "passed"]


def passed(steps: list[Step], setting: Setting) -> list[Step]:
    """The way as it can be shown there; nothing where it cannot."""
    if all(step.kind in SAME_ANYWHERE for step in steps):
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
