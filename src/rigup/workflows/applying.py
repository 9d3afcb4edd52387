"""A plan is made so: what forbids it, what is reached, the word and the root for it, its steps, and going on after a stop."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Literal, NamedTuple

import msgspec

from rigup.language import _, sentences
from rigup.machine.local import Local
from rigup.plan.applying import one as turn
from rigup.plan.applying.elevation import Elevation, elevation
from rigup.plan.applying.journal import BusyError, Intent, JournalError, Record, begun, records, withdrawn
from rigup.plan.applying.state import staged, touched, unfinished, unsettled
from rigup.plan.applying.taking import Outcome, Run, take
from rigup.plan.applying.undoing import left_in_order
from rigup.schemas.plan import Plan
from rigup.workflows.dialogue import Dialogue
from rigup.workflows.errors import CannotBeDoneError, RequestError

_LONGEST = 200  # letters of what was asked for, until a plan has a title of its own


class Refusal(NamedTuple):
    """Why a plan is not begun.

    Attributes:
        kind: there is nothing to do, nothing can be done, it is not known what would come, or a step cannot be taken here.
        because: a sentence; "" where the plan itself says it.
        steps: how many of the steps cannot be taken here.

    """

    kind: Literal["ready", "impossible", "unresolved", "blocked"]
    because: str = ""
    steps: int = 0


class Ended(NamedTuple):
    """A run and how it ended."""

    record: Record
    outcome: Outcome


# -- before ------------------------------------------------------------------------------------------


def refusal(plan: Plan) -> Refusal | None:
    """What keeps a plan from being begun; None where nothing does. Nothing is done by halves."""
    if plan.verdict != "possible":
        return Refusal(plan.verdict)
    if because := _unresolved(plan):
        return Refusal("unresolved", because)
    if blocked := [step for step in plan.steps if step.state == "blocked"]:
        return Refusal("blocked", blocked[0].because, len(blocked))
    return None


def _unresolved(plan: Plan) -> str:
    """Why it is not known what would be installed, where somebody was asked; "" where it is, or installers decide it."""
    resolution = plan.resolution
    if not resolution or resolution.whole or not resolution.by:
        return ""
    installs = any(step.kind.startswith("install-") for step in plan.steps if step.state == "needed")
    return sentences(*resolution.because) if installs else ""


def must_be_free(path: str) -> None:
    """Raise RequestError where something else lies: an environment takes the place of an environment alone."""
    if not path or not os.path.lexists(path):
        return
    marks = (os.path.join(path, mark) for mark in ("pyvenv.cfg", "conda-meta"))
    if os.path.isdir(path) and (not os.listdir(path) or any(map(os.path.exists, marks))):
        return
    template = _("{path} is there already and is no environment, so nothing was changed. Move it away, or name another place with --env.")
    raise RequestError(template.format(path=path))


def reached(intent: Intent, dialogue: Dialogue) -> Intent:
    """The same without places of packages that nobody answers at, where there are others, with a warning."""
    from rigup.plan.applying.reach import without_dead_places
    from rigup.stack.asked import kept_terms

    terms = kept_terms(intent.asked.get("terms", {}))
    steps, dead, only = without_dead_places(intent.steps, os.environ, terms.places)
    if dead:
        template = _("Not reached from here, so only the other places are asked: {places}.")
        dialogue.says(template.format(places=", ".join(dead)))
    if only:
        template = _("Nobody answers at {places}, and the packages are looked for nowhere else.")
        dialogue.says(template.format(places=", ".join(only)))
    asked = {**intent.asked, "not_reached": [*dead, *only], "only_silent": bool(only)} if dead or only else intent.asked
    return msgspec.structs.replace(intent, steps=steps, asked=asked)


def restarts(intent: Intent) -> bool:
    """Whether what is changed counts from the next start on."""
    return any(step.restart and step.where == "here" and step.state == "needed" for step in intent.steps)


def warning_over_ssh(intent: Intent) -> str:
    """A driver that fails at the next start can cost the way in: the way back, shown before it is needed; "" for none."""
    if not (os.environ.get("SSH_CONNECTION") and restarts(intent)):
        return ""
    return _(
        "You reach this machine over ssh, and these steps change what it starts with. If it does not come back: choose the kernel before in the boot menu, at its console or by its management controller, and then run `rigup undo`."
    )


@contextmanager
def announced(wishes: Iterable[str]) -> "Iterator[Record | None]":
    """Where nobody is going to be asked, a run is on record from now on; None where the journal cannot be written."""
    with ExitStack() as stack:
        record = None
        with suppress(JournalError):  # whoever has something to do learns it then
            record = stack.enter_context(turn.announced(" ".join(wishes)[:_LONGEST], os.getcwd()))
        yield record


# -- while -------------------------------------------------------------------------------------------


def carried_out(intent: Intent, reachable: Intent, dialogue: Dialogue, record: Record | None = None) -> Ended:
    """Ask, and take the steps of an intent that was shown.

    Args:
        intent: what is to be done, as it goes on record: all places may answer when it is gone on with.
        reachable: the same without places that do not answer now.
        dialogue: asks the person and shows progress.
        record: of a run that was announced.

    Raises:
        CannotBeDoneError: root was not given.
        JournalError: the journal cannot be written, or another run is under way.
        KeyboardInterrupt: it was stopped by hand; what was begun is whole or gone.

    """
    dialogue.agrees(_("Make it so?"))
    with turn.alone():
        started = begun(msgspec.structs.replace(intent, asked=reachable.asked), record)
        try:
            in_order(started, dialogue)
            root = _root(intent, dialogue)
        except BaseException:
            withdrawn(started)
            raise
        return Ended(started, _taken(started, reachable, root, dialogue))


def _root(intent: Intent, dialogue: Dialogue) -> Elevation:
    """Root is asked for once, before the first step; without it nothing is begun."""
    way = elevation(os.environ)
    needing = [step for step in intent.steps if step.root and step.where == "here" and step.state == "needed"]
    if needing and not way.granted(dialogue.can_type):
        template = _("{count} of the steps need root, and it was not given. Nothing was changed.")
        ways = _("`rigup plan --as script` writes the steps for an administrator.")
        raise CannotBeDoneError(sentences(template.format(count=len(needing)), ways))
    return way


def _taken(record: Record, intent: Intent, root: Elevation, dialogue: Dialogue) -> Outcome:
    def stays() -> str:
        return sentences(_("Stopped."), what_now(record))

    with root, dialogue.watches(len(intent.steps), intent.told.sizes, stays) as progress:
        return take(Run(record, intent, Local(), root, _variables(intent), progress))


def _variables(intent: Intent) -> Mapping[str, str]:
    """What commands inherit. At a place that does not answer an installer tries once more, not five times for each package."""
    if not intent.asked.get("only_silent"):
        return os.environ
    return {"PIP_RETRIES": "1", "UV_HTTP_RETRIES": "1", **os.environ}


def in_order(but: Record, dialogue: Dialogue) -> None:
    """Runs that were killed leave an environment half made beside, or half taken back: before another begins that is ended.

    Args:
        but: the run that begins, which orders its own things.
        dialogue: shows progress.

    Raises:
        Failed: a command of one of them still runs.
        JournalError: the journal cannot be read or written.

    """
    for broken_off in records():
        if broken_off.number == but.number or not unsettled(broken_off):
            continue
        left_in_order(broken_off, Local())
        template = _("Run {number} was broken off. What it had half made is gone; `rigup undo {number}` takes back what it had done.")
        dialogue.says(template.format(number=broken_off.number))


def what_now(record: Record) -> str:
    """What a person can do after a run that did not come to its end."""
    again = _("`rigup apply --resume` tries again from there.")
    if any(number not in staged(record) for number in touched(record)):
        return sentences(_("What was done before it stays; `rigup undo` takes that back."), again)
    return sentences(_("Nothing was changed: the environment is as it was."), again)


# -- going on ----------------------------------------------------------------------------------------


def to_go_on_with() -> Record:
    """The last run, if it did not come to its end.

    Raises:
        CannotBeDoneError: there is none, or it was broken off before it had a plan.
        BusyError: it is being planned.
        JournalError: the journal cannot be read.

    """
    candidates = (run for run in reversed(records()) if not (run.intent().announced and not unfinished(run)))
    last = next(candidates, None)
    if last is None or not unfinished(last):
        raise CannotBeDoneError(_("There is no run to go on with. `rigup history` shows those that there were."))
    if not last.intent().announced:
        return last
    not_being_planned(last)
    template = _("Run {number} was broken off before it had a plan: there is nothing to go on with. Give its command again.")
    raise CannotBeDoneError(template.format(number=last.number))


def not_being_planned(record: Record) -> Record:
    """The same run. Raises BusyError where another process is planning it."""
    if turn.is_being_planned(record):
        raise BusyError(_("Another rigup of yours is changing this machine. Wait until it has ended."))
    return record


def gone_on(last: Record, reachable: Intent, dialogue: Dialogue) -> Ended:
    """Ask, and go on with a run that did not come to its end; raises as `carried_out` does."""
    intent = last.intent()
    if changed := _not_as_foreseen(last, intent):
        raise CannotBeDoneError(changed)
    dialogue.agrees(_("Make it so?"))
    with turn.alone():
        root = _root(intent, dialogue)
        in_order(last, dialogue)
        return Ended(last, _taken(last, reachable, root, dialogue))


def _not_as_foreseen(record: Record, intent: Intent) -> str:
    """After a restart the machine is read again: what the rest of the plan stands on must be there; "" if it is."""
    if not record.of("barrier") or "wishes" not in intent.asked:
        return ""
    from rigup.plan.answer import answer
    from rigup.stack.asked import kept_terms
    from rigup.workflows.planning import Request, chosen

    asked = intent.asked
    request_fields = {"wishes": asked["wishes"], "environment": asked["environment"], **asked["options"]}
    again = msgspec.convert(request_fields, Request)
    plan = answer(chosen(again, terms=kept_terms(asked.get("terms", {}))))
    if plan.packages == intent.told.packages and not plan.system:
        return ""
    template = _(
        "After the restart the machine is not what the plan counted on, so nothing more was done. `rigup doctor` tells what is wrong, `rigup apply` plans anew."
    )
    return sentences(template, *(f"{change.change}: {change.why}" for change in plan.system))
