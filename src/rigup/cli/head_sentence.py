"""What a verdict means, as one sentence: what was seen, and whether anything of it is a fault."""

from rigup.diagnosis.blame import speaks_of_no_card
from rigup.language import _
from rigup.schemas.doctor import Doctor
from rigup.schemas.shared import Finding


def head_sentence(answer: Doctor, here: bool) -> str:
    """What the verdict means, as one sentence."""
    verdict = str(answer.verdict)
    loud = [shown for shown in answer.findings if shown.severity != "note"]
    if not loud and _failed(answer):
        return _("Nothing else is wrong, but what was computed here was not right when it was verified.")
    if loud and all(shown.guess for shown in loud):
        return _("Nothing that was read proves it, but it reads like this.")
    meaning = {
        "broken": _keeps_from_working(loud),
        "degraded": _("It works, but less well than it could."),
        "healthy": _("Nothing is wrong here.") if here else _healthy(answer),
        "unknown": _unknown(answer, bool(loud)),
    }[verdict]
    if verdict != "healthy" or answer.machine.accelerators:
        return meaning
    return _("There is no GPU here, and nothing is wrong: programs run on the CPU.") if here else _no_gpu(answer, meaning)


def _keeps_from_working(loud: list[Finding]) -> str:
    """That it does not work, and that no card is broken where all that is wrong is accounted for without."""
    if speaks_of_no_card(loud):
        return _("Something keeps this from working, and nothing that was seen speaks of a broken card.")
    return _("Something keeps this from working.")


def verdict_word(answer: Doctor) -> str:
    """What a person reads in the verdict's place: "broken" alone would be taken for the card, "unknown" for doubt where all is answered."""
    if answer.verdict == "broken":
        return _("A fault was found")
    quiet = answer.verdict == "unknown" and not _failed(answer) and all(shown.severity == "note" for shown in answer.findings)
    settled = _settled(answer) if quiet else None
    return settled[0] if settled else _(answer.verdict).capitalize()


def _settled(answer: Doctor) -> tuple[str, str] | None:
    """Word and sentence where nothing wrong was found, and something is known of what was asked or worries; None where nothing is."""
    if any(told.outright for told in answer.answers):
        return _("No fault of this machine was found"), _("What was asked is answered below.")
    if _works(answer):
        return _("Nothing wrong was found"), _("What shows it at work is named below.")
    return (_("No fault of this machine was found"), _("What is worth knowing stands below.")) if answer.answers else None


def _failed(answer: Doctor) -> bool:
    """Whether a proof that was asked for has failed."""
    return any(failure.asked for failure in answer.failed_verifications)


def _works(answer: Doctor) -> bool:
    """Whether a message shows something at work."""
    return any(message.works for message in answer.harmless)


def _healthy(answer: Doctor) -> str:
    """What was given, and that nothing of it is a fault."""
    programs = ", ".join(dict.fromkeys(message.program for message in answer.harmless if not message.works))
    works = _works(answer)
    if not programs:
        working = _("Nothing wrong is to be seen in what was given, and what is named below is seen to work.")
        return working if works else _("Nothing wrong is to be seen in what was given.")
    if works:
        told = _("What is shown works; the messages below ({programs}) are known, and none of them is a fault.")
    else:
        told = _("Nothing wrong is to be seen in what was given; the messages below ({programs}) are known, and none of them is a fault.")
    return told.format(programs=programs)


def _unknown(answer: Doctor, loud: bool) -> str:
    """Nothing wrong was found, and more can be said where something is known."""
    if not loud and (settled := _settled(answer)):
        return settled[1]
    if answer.harmless and not loud:
        return _("The messages that are named below are without consequence; of the rest too little was seen.")
    if not loud and any(device.state in ("expected", "verified") for device in answer.machine.accelerators or []):
        return _("Nothing wrong was found, and nothing that is shown speaks against the GPU; more is not known of what is asked.")
    return _("Too little was seen to say that all is well; nothing wrong was found.")


def _no_gpu(answer: Doctor, otherwise: str) -> str:
    """Only somebody who looked for cards can say that there is none."""
    known = answer.machine.accelerators == []
    return _("There is no GPU in this machine, and nothing is wrong: programs run on the CPU.") if known else otherwise
