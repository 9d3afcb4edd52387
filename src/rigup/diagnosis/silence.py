"""Sentences about programs that did not answer."""

from rigup.language import _
from rigup.machine.facts import Unanswered
from rigup.schemas import doctor


def unanswered(answers: list[Unanswered]) -> list[doctor.Unanswered]:
    """Each once, as answers have it: the command, how it failed to answer, and that as a sentence."""
    return [
        doctor.Unanswered(command=entry.command, how=entry.how, **_figures(entry), said=entry.said, because=because(entry))
        for entry in dict.fromkeys(answers)
    ]


def _figures(answer: Unanswered) -> dict[str, float]:
    name = {"hung": "seconds", "crashed": "signal"}.get(answer.how, "status")
    return {name: answer.number}


def because(answer: Unanswered) -> str:
    """What happened, as one sentence."""
    sentence = {
        "hung": _("`{command}` gave no answer in {number} s."),
        "crashed": _("`{command}` was ended by signal {number} before it answered."),
        "silent": _("`{command}` ended with status {number} and without a word."),
        "failed": _("`{command}` ended with status {number} and said: {said}"),
        "garbage": _("What `{command}` printed is no answer that rigup understands: {said}"),
        "not-started": _("`{command}` could not be started: {said}."),
    }[answer.how]
    return sentence.format(command=answer.command, number=f"{answer.number:g}", said=answer.said)
