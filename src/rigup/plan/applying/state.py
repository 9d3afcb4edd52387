"""How far a record has come, told from its events: what was done, what was left half, what was taken back."""

import contextlib
from typing import TYPE_CHECKING, Literal

from rigup.plan.applying.journal import Event, JournalError, Record
from rigup.schemas.shared import Step

if TYPE_CHECKING:
    from rigup.schemas.history import StepEnd

State = Literal["finished", "failed", "waiting", "broken-off", "taken-back", "being-taken-back"]
_LAST = ("finished", "failed", "barrier", "taken-back", "broken-off")


def state_of(record: Record) -> State:
    """One word for a record. "broken-off": its run was killed; "waiting": it waits for a restart or for root."""
    last = next((event for event in reversed(record.events()) if event.what in (*_LAST, "undo-begin", "begin")), None)
    if last is None or last.what in ("begin", "broken-off"):
        return "broken-off"
    words: dict[str, State] = {
        "finished": "finished",
        "failed": "failed",
        "barrier": "waiting",
        "taken-back": "taken-back",
        "undo-begin": "being-taken-back",
    }
    return words[last.what]


def unfinished(record: Record) -> bool:
    """Whether `--resume` has something to go on with."""
    return state_of(record) in ("failed", "waiting", "broken-off")


def unsettled(record: Record) -> bool:
    """Whether it was killed and nobody has looked since how far it had come; False for one that cannot be understood."""
    if state_of(record) not in ("broken-off", "being-taken-back"):
        return False
    events = record.events()
    with contextlib.suppress(JournalError):
        return not record.intent().announced and (not events or events[-1].what != "settled")
    return False


def done(record: Record) -> set[int]:
    """Steps that were done and not taken back since."""
    numbers: set[int] = set()
    for event in record.events():
        if event.what in ("done", "swapped"):
            numbers |= {event.step} if event.step >= 0 else staged(record)
        elif event.what == "undone":
            numbers.discard(event.step)
    return numbers


def touched(record: Record) -> set[int]:
    """Steps that may have changed something and were not taken back: done, failed in the middle, or cut off.

    One that was cut off and found satisfied later is among them: it was this run that had satisfied it.
    """
    numbers: set[int] = set()
    for event in record.events():
        if event.what in ("begin", "done"):
            numbers.add(event.step)
        elif event.what == "undone":
            numbers.discard(event.step)
    return {step for step in numbers if step >= 0}


def ends(record: Record) -> "dict[int, StepEnd]":
    """How each step that was met stands now: done, failed, skipped, left, begun, undone, cannot-undo or undo-failed.

    What was made in an environment beside counts as done from the moment when that took its place.
    """
    by_step: dict[int, StepEnd] = {}
    staged_steps = staged(record)
    for event in record.events():
        if event.what == "swapped":
            by_step |= dict.fromkeys(staged_steps, "done")
        elif event.step >= 0 and event.what in _OF_A_STEP:
            by_step[event.step] = _OF_A_STEP[event.what]
    return by_step


_OF_A_STEP: "dict[str, StepEnd]" = {
    "begin": "begun",
    "done": "done",
    "failed": "failed",
    "skipped": "skipped",
    "left": "left",
    "undone": "undone",
    "cannot-undo": "cannot-undo",
    "undo-failed": "undo-failed",
}


def staged(record: Record) -> set[int]:
    """Steps that were taken in an environment beside, and count once that is swapped in."""
    return {event.step for event in record.of("begin") if event.told.get("staging")}


def swapped(record: Record) -> Event | None:
    """The swap that holds: none where it was taken back."""
    last = next((event for event in reversed(record.events()) if event.what in ("swapped", "swapped-back")), None)
    return last if last is not None and last.what == "swapped" else None


def left_to_others(record: Record) -> list[Step]:
    """Steps that somebody else takes: by hand, on another machine."""
    steps = record.intent().steps
    return [steps[number] for number in sorted({event.step for event in record.of("left")}) if number < len(steps)]
