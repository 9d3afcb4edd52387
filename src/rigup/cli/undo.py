"""`rigup undo`: take the last run back, as exactly as can be, and say what cannot be."""

import shlex
from typing import TYPE_CHECKING

import click

from rigup.cli.data import data_text
from rigup.cli.layout import wrapped
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.plan.applying.journal import Record
    from rigup.plan.applying.undoing import Back


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
    from rigup.cli.taking import RunOptions, Terminal
    from rigup.workflows.undoing import must_be_last, run_to_take_back, settled, taken_back, ways

    if as_json:
        choose("en")  # data is the same in every language
    options = RunOptions(yes=yes, dry_run=dry_run, quiet=quiet, as_json=as_json, schema="rigup.undo/1")
    record = run_to_take_back(number)
    if not dry_run:
        settled(record)
    must_be_last(record)
    backs = ways(record)
    if not as_json and (dry_run or not quiet):
        click.echo("\n".join(_plan_lines(record, backs)))
    if dry_run:
        return _dry(backs, as_json)
    return _report_end(record, taken_back(record, backs, Terminal(options)), quiet, as_json)


def _plan_lines(record: "Record", backs: "list[Back]") -> list[str]:
    from rigup.cli.history_report import local_time, run_states
    from rigup.plan.applying.state import state_of

    sentence, intent = _("This takes back run {number} ({moment}, {state}): {title}."), record.intent()
    moment, state = local_time(intent.made_at), run_states()[state_of(record)]
    lines = wrapped(sentence.format(number=record.number, moment=moment, state=state, title=intent.title))
    for place, back in enumerate(backs, 1):
        lines += wrapped(_back_title(back), f"{place:>3}. ", "     ")
        lines += ["     " + shlex.join(argv) for argv in back.commands]
        lines += wrapped(back.because, "     ", "     ") if back.because else []
        kept = _("{path} was changed since. What it holds now is kept in {to}.")
        lines += [line for file in back.aside for line in wrapped(kept.format(path=file.path, to=file.to), "     ", "     ")]
    return lines if backs else [*lines, *wrapped(_("It has changed nothing."))]


def _back_title(back: "Back") -> str:
    if back.because:
        return _("not taken back: {title}").format(title=back.title)
    return back.title if back.step < 0 else _("take back: {title}").format(title=back.title)


def _dry(backs: "list[Back]", as_json: bool) -> int:
    if as_json:
        from rigup.schemas.undo import UndoDryRun, WayBack

        ways = [WayBack(title=back.title, commands=list(back.commands), because=back.because or None) for back in backs]
        click.echo(data_text(UndoDryRun(verdict="possible", steps=ways)))
    else:
        click.echo(_("Nothing was changed."))
    return 0


def _report_end(record: "Record", left: "list[Back]", quiet: bool, as_json: bool) -> int:
    from rigup.plan.applying.undoing import set_aside
    from rigup.workflows.undoing import answer

    failed = [back for back in left if not back.because]
    if as_json:
        click.echo(data_text(answer(record, left)))
        return int(bool(failed))
    for back in failed:
        sentence = _("This could not be taken back: {title}. What its commands said is in {log}; `rigup undo` tries again.")
        click.echo("\n".join(wrapped(sentence.format(title=back.title, log=record.log(back.step)))), err=True)
    if not (failed or quiet):
        click.echo(_("Taken back.") if not left else _("Taken back, but for what is named above."))
    if aside := set_aside(record):
        sentence = _("What was changed or made since is not lost. It is kept here:")
        click.echo("\n".join([*wrapped(sentence), *("  " + path for path in aside)]))
    return int(bool(failed))
