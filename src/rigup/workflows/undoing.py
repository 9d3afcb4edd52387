"""A run is taken back, as exactly as can be."""

import os
from typing import TYPE_CHECKING

from rigup.language import _
from rigup.machine.local import Local
from rigup.plan.applying import one as turn
from rigup.plan.applying.elevation import elevation
from rigup.plan.applying.journal import Record, records
from rigup.plan.applying.stage import Stage
from rigup.plan.applying.state import state_of, touched
from rigup.plan.applying.system_packages import distribution
from rigup.plan.applying.taking import Run, settle
from rigup.plan.applying.undoing import changed_after, take_back, ways_back
from rigup.workflows.applying import in_order, not_being_planned
from rigup.workflows.dialogue import Unattended
from rigup.workflows.errors import CannotBeDoneError, RequestError

if TYPE_CHECKING:
    from rigup.plan.applying.undoing import Back
    from rigup.schemas.undo import Undone
    from rigup.workflows.dialogue import Dialogue


def run_of(number: int) -> Record:
    """The run of that number. Raises RequestError where there is none."""
    record = next((run for run in records() if run.number == number), None)
    if record is None:
        template = _("There is no run {number}. `rigup history` shows those that there were.")
        raise RequestError(template.format(number=number))
    return record


def run_to_take_back(number: int | None) -> Record:
    """The run that is meant: without a number the last one, also if it was killed before it had changed anything.

    Raises:
        RequestError: there is no such run.
        CannotBeDoneError: it is taken back already, or there is nothing to take back.
        BusyError: it is being planned.

    """
    if number is not None:
        record = run_of(number)
        if state_of(record) == "taken-back":
            raise CannotBeDoneError(_("Run {number} is taken back already.").format(number=number))
        return not_being_planned(record)
    runs = [run for run in records() if state_of(run) != "taken-back"]
    last = next((run for run in reversed(runs) if not _changed_nothing(run)), None)
    if last is None:
        raise CannotBeDoneError(_("There is nothing to take back. `rigup history` shows what was done."))
    return not_being_planned(last)


def _changed_nothing(record: Record) -> bool:
    """A run that came to an end without a change; who asks for the last run back does not mean it.

    One that was broken off is meant: nobody saw how it ended, and the run before it is not what was asked for.
    """
    state = state_of(record)
    return (state == "failed" and not ways(record)) or (state in ("failed", "finished") and not touched(record))


def settled(record: Record) -> None:
    """What runs that were killed left half is ended, so that it can be said what this one has done.

    Raises:
        BusyError: another run is under way.
        Failed: a command of a killed run still runs.

    """
    with turn.alone():
        in_order(record, Unattended())
        settle(record, Stage(record, record.intent()), Local())


def must_be_last(record: Record) -> None:
    """Raise CannotBeDoneError where a later run changed the same environment: they go back in the order in which they came."""
    if later := changed_after(record, records()):
        template = _("Run {later} changed the same environment after run {number}. Take that back first: `rigup undo {later}`.")
        raise CannotBeDoneError(template.format(later=later.number, number=record.number))


def ways(record: Record) -> "list[Back]":
    """How each step of a run is taken back, in the order in which that is done."""
    return ways_back(record, distribution(Local()))


def taken_back(record: Record, backs: "list[Back]", dialogue: "Dialogue") -> "list[Back]":
    """Ask, and take a run back; what could not be taken back.

    Raises:
        CannotBeDoneError: root was not given.
        BusyError: another run is under way.
        KeyboardInterrupt: it was stopped by hand.

    """
    if backs:  # of nothing nobody is asked
        dialogue.agrees(_("Take it back?"))
    with turn.alone():
        root = elevation(os.environ)
        if any(back.root and back.commands for back in backs) and not root.granted(dialogue.can_type):
            raise CannotBeDoneError(_("Some of it needs root, and it was not given. Nothing was changed."))
        with root, dialogue.watches(len(backs), None, lambda: _("Stopped. `rigup undo` goes on with it.")) as progress:
            run = Run(record, record.intent(), Local(), root, os.environ, progress)
            return take_back(run, distribution(run.host))


def answer(record: "Record", left: "list[Back]") -> "Undone":
    """What became of it, as data."""
    from rigup.plan.applying.undoing import set_aside
    from rigup.schemas.undo import Left, Undone

    failed = any(not back.because for back in left)
    return Undone(
        verdict="failed" if failed else "taken-back",
        number=record.number,
        left=[Left(title=back.title, because=back.because or None) for back in left],
        put_aside=set_aside(record),
    )
