"""What is said of programs that did not answer."""

from rigup.language import _
from rigup.machine.facts import Unanswered
from rigup.schemas import doctor


def unanswered(told: list[Unanswered]) -> list[doctor.Unanswered]:
    """Each once, as answers have it: the command, how it failed to answer, and that as a sentence."""
    return [
        doctor.Unanswered(command=one.command, how=one.how, **_figures(one), said=one.said, because=because(one))
        for one in dict.fromkeys(told)
    ]


def _figures(one: Unanswered) -> dict[str, float]:
    name = {"hung": "seconds", "crashed": "signal"}.get(one.how, "status")
    return {name: one.number}


def because(one: Unanswered) -> str:
    """What happened, as one sentence."""
    said = {
        "hung": _("`{command}` gave no answer in {number} s."),
        "crashed": _("`{command}` was ended by signal {number} before it answered."),
        "silent": _("`{command}` ended with status {number} and without a word."),
        "failed": _("`{command}` ended with status {number} and said: {said}"),
        "garbage": _("What `{command}` printed is no answer that rigup understands: {said}"),
        "not-started": _("`{command}` could not be started: {said}."),
    }[one.how]
    return said.format(command=one.command, number=f"{one.number:g}", said=one.said)
