"""`rigup undo`: take the last run back, as exactly as can be, and say what cannot be."""

import os
import shlex
import sys
from typing import TYPE_CHECKING

import click

from rigup.cli.data import data_text
from rigup.cli.failing import CannotBeDone, spoken
from rigup.cli.layout import wrapped
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.plan.applying.journal import Record
    from rigup.plan.applying.undoing import Back
    from rigup.schemas.undo import Undone


@click.command("undo")
@click.argument("number", type=click.IntRange(min=1), required=False)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show exactly what would be run, and change nothing.")
@click.option("-q", "--quiet", is_flag=True, help="Say only what fails.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.undo/1).")
def command(number: int | None, yes: bool, dry_run: bool, quiet: bool, as_json: bool) -> int:
    """Take a run of apply or fix back: its steps in reverse order.

    NUMBER is the run's, as `rigup history` shows it; without it the last one is taken back.
    """
    from rigup.knowledge.tables import KnowledgeError
    from rigup.plan.applying.journal import JournalError
    from rigup.plan.applying.one import alone
    from rigup.plan.applying.taking import Failed

    if as_json:
        choose("en")  # data is the same in every language
    try:
        record = _found(number)
        if not dry_run:
            with alone():
                _settled(record)
        _stands(record)
        backs = _backs(record)
        if not as_json and (dry_run or not quiet):
            click.echo("\n".join(_shown(record, backs)))
        if dry_run:
            return _dry(backs, as_json)
        if backs:  # of nothing nobody is asked
            _agreed(yes, as_json)
        with alone():
            return _told(record, _taken_back(record, backs, quiet or as_json), quiet, as_json)
    except (JournalError, KnowledgeError, Failed) as error:
        raise spoken(error) from error


def _found(number: int | None) -> "Record":
    """The run that is meant: without a number the last one, also if it was killed before it had changed anything."""
    from rigup.plan.applying.journal import records
    from rigup.plan.applying.state import state_of

    if number is not None:
        return _numbered(number)
    there = [one for one in records() if state_of(one) != "taken-back"]
    found = next((one for one in reversed(there) if not _changed_nothing(one)), None)
    if found is None:
        raise CannotBeDone(_("There is nothing to take back. `rigup history` shows what was done."))
    return _not_under_way(found)


def _not_under_way(record: "Record") -> "Record":
    from rigup.plan.applying.journal import BusyError
    from rigup.plan.applying.one import is_being_planned

    if is_being_planned(record):
        raise BusyError(_("Another rigup of yours is changing this machine. Wait until it has ended."))
    return record


def _settled(record: "Record") -> None:
    """What runs that were killed left half is ended, so that it can be said what this one has done."""
    from rigup.cli.taking import in_order
    from rigup.machine.local import Local
    from rigup.plan.applying.stage import Stage
    from rigup.plan.applying.taking import settle

    in_order(record, silent=True)
    settle(record, Stage(record, record.intent()), Local())


def _stands(record: "Record") -> None:
    """Raise CannotBeDone where a later run changed the same environment: they go back in the order in which they came."""
    from rigup.plan.applying.journal import records
    from rigup.plan.applying.undoing import changed_after

    if later := changed_after(record, records()):
        told = _("Run {later} changed the same environment after run {number}. Take that back first: `rigup undo {later}`.")  # fmt: skip
        raise CannotBeDone(told.format(later=later.number, number=record.number))


def _numbered(number: int) -> "Record":
    from rigup.cli.history import run_of
    from rigup.plan.applying.state import state_of

    found = run_of(number)
    if state_of(found) == "taken-back":
        raise CannotBeDone(_("Run {number} is taken back already.").format(number=number))
    return _not_under_way(found)


def _changed_nothing(record: "Record") -> bool:
    """A run that came to an end without a change; who asks for the last run back does not mean it.

    One that was broken off is meant: nobody saw how it ended, and the run before it is not what was asked for.
    """
    from rigup.plan.applying.state import state_of, touched

    state = state_of(record)
    return (state == "failed" and not _backs(record)) or (state in ("failed", "finished") and not touched(record))


def _backs(record: "Record") -> "list[Back]":
    from rigup.machine.local import Local
    from rigup.plan.applying.system_packages import distribution
    from rigup.plan.applying.undoing import ways_back

    return ways_back(record, distribution(Local()))


def _shown(record: "Record", backs: "list[Back]") -> list[str]:
    from rigup.cli.history_report import local_time, spoken_states
    from rigup.plan.applying.state import state_of

    told, intent = _("This takes back run {number} ({moment}, {state}): {title}."), record.intent()
    moment, state = local_time(intent.made_at), spoken_states()[state_of(record)]
    lines = wrapped(told.format(number=record.number, moment=moment, state=state, title=intent.title))
    for place, back in enumerate(backs, 1):
        lines += wrapped(_back_title(back), f"{place:>3}. ", "     ")
        lines += ["     " + shlex.join(argv) for argv in back.commands]
        lines += wrapped(back.because, "     ", "     ") if back.because else []
        kept = _("{path} was changed since. What it holds now is kept in {to}.")
        lines += [
            line for one in back.aside for line in wrapped(kept.format(path=one.path, to=one.to), "     ", "     ")
        ]
    return lines if backs else [*lines, *wrapped(_("It has changed nothing."))]


def _back_title(back: "Back") -> str:
    if back.because:
        return _("not taken back: {title}").format(title=back.title)
    return back.title if back.step < 0 else _("take back: {title}").format(title=back.title)


def _dry(backs: "list[Back]", as_json: bool) -> int:
    if as_json:
        from rigup.schemas.undo import UndoDryRun, WayBack

        told = [
            WayBack(title=back.title, commands=[list(argv) for argv in back.commands], because=back.because or None)
            for back in backs
        ]
        click.echo(data_text(UndoDryRun(verdict="possible", steps=told)))
    else:
        click.echo(_("Nothing was changed."))
    return 0


def _agreed(yes: bool, as_json: bool) -> None:
    if yes:
        return
    if as_json or not sys.stdin.isatty():
        raise click.UsageError(
            _("Nobody can be asked here, so nothing was changed. With --yes it is done without asking.")
        )
    from rigup.cli.taking import confirmed

    confirmed(_("Take it back?"))


def _taken_back(record: "Record", backs: "list[Back]", silent: bool) -> "list[Back]":
    from rigup.cli.stopping import stopped, stopping
    from rigup.cli.watching import Watching
    from rigup.machine.local import Local
    from rigup.plan.applying.elevation import elevation
    from rigup.plan.applying.system_packages import distribution
    from rigup.plan.applying.taking import Run
    from rigup.plan.applying.undoing import take_back

    root = elevation(os.environ)
    if any(back.root and back.commands for back in backs) and not root.granted(sys.stdin.isatty()):
        raise CannotBeDone(_("Some of it needs root, and it was not given. Nothing was changed."))
    with stopping() as signals:
        try:
            with root, Watching(len(backs), silent) as told:
                run = Run(record, record.intent(), Local(), root, os.environ, told)
                return take_back(run, distribution(run.host))
        except KeyboardInterrupt:
            raise stopped(_("Stopped. `rigup undo` goes on with it."), signals) from None


def _told(record: "Record", left: "list[Back]", quiet: bool, as_json: bool) -> int:
    from rigup.plan.applying.undoing import set_aside

    failed = [back for back in left if not back.because]
    if as_json:
        click.echo(data_text(_answer(record, left)))
        return int(bool(failed))
    for back in failed:
        sentence = _(
            "This could not be taken back: {title}. What its commands said is in {log}; `rigup undo` tries again."
        )
        click.echo("\n".join(wrapped(sentence.format(title=back.title, log=record.log(back.step)))), err=True)
    if not (failed or quiet):
        click.echo(_("Taken back.") if not left else _("Taken back, but for what is named above."))
    if aside := set_aside(record):
        sentence = _("What was changed or made since is not lost. It is kept here:")
        click.echo("\n".join([*wrapped(sentence), *("  " + one for one in aside)]))
    return int(bool(failed))


def _answer(record: "Record", left: "list[Back]") -> "Undone":
    from rigup.plan.applying.undoing import set_aside
    from rigup.schemas.undo import Left, Undone

    failed = any(not back.because for back in left)
    return Undone(
        verdict="failed" if failed else "taken-back", number=record.number,
        left=[Left(title=back.title, because=back.because or None) for back in left], put_aside=set_aside(record),
    )  # fmt: skip
