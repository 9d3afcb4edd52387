"""`rigup history`: what rigup has done on this machine, for this person."""

from typing import TYPE_CHECKING

import click

from rigup.cli.data import data_text
from rigup.cli.history_report import local_time, run_lines, run_states
from rigup.cli.layout import columns, padded, wrapped
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.plan.applying.journal import Record
    from rigup.schemas.history import Run


@click.command("history")
@click.argument("number", type=click.IntRange(min=1), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.history/1).")
def command(number: int | None, as_json: bool) -> int:
    """Show what apply and fix have done here, the newest first, and how each run ended.

    With NUMBER one run in full: its steps, what was run and said, and how each ended.
    """
    from rigup.plan.applying.journal import records
    from rigup.schemas.history import Runs

    if as_json:
        choose("en")  # data is the same in every language
    if number is not None:
        return _in_full(number, as_json)
    runs = [_run(record) for record in reversed(records())]
    if as_json:
        click.echo(data_text(Runs(runs=runs)))
    elif not runs:
        click.echo(_("rigup has changed nothing here yet."))
    else:
        from rigup.machine.outward import outward

        click.echo("\n".join(line for run in runs for line in _lines(outward(run))))
    return 0


def _in_full(number: int, as_json: bool) -> int:

    from rigup.cli.history_report import whole_run
    from rigup.machine.outward import outward
    from rigup.schemas.history import OneRun
    from rigup.workflows.undoing import run_of

    record = run_of(number)
    run = whole_run(record, _run(record))
    if as_json:
        click.echo(data_text(OneRun(run=run)))
    else:
        click.echo("\n".join(run_lines(outward(run))))
    return 0


def _run(record: "Record") -> "Run":
    """A run; one whose intent cannot be read is listed too."""
    from rigup.plan.applying.journal import JournalError
    from rigup.plan.applying.state import done, state_of
    from rigup.schemas.history import Run

    try:
        intent = record.intent()
    except JournalError as error:
        return Run(number=record.number, state="unreadable", because=str(error))
    return Run(
        number=record.number,
        made_at=intent.made_at,
        title=intent.title,
        state=state_of(record),
        environment=intent.environment or None,
        done=len(done(record)),
        steps=len(intent.steps),
        folder=str(record.folder),
    )


def _lines(run: "Run") -> list[str]:
    states = run_states()
    room = max(map(columns, states.values()))
    first = f"{run.number:>4}  {padded(local_time(run.made_at or ''), 16)}  {padded(states[run.state], room)}  "
    return wrapped(run.title or run.because or "", first)
