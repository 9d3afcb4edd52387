"""`rigup fix`: the steps that mend a finding, shown, and taken when you agree; then the doctor looks again."""

import shlex
import sys
from typing import TYPE_CHECKING

import click

from rigup.cli.data import data_text
from rigup.cli.guard import style
from rigup.cli.layout import wrapped
from rigup.language import _, choose, sentences

if TYPE_CHECKING:
    from rigup.schemas.fix import Mending


@click.command("fix")
@click.argument("cause", required=False)
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- PROGRAM [ARGUMENT]...]")
@click.option("--all-safe", is_flag=True, help="Mend all that can be mended by safe steps alone.")
@click.option("--from", "source", metavar="PATH", help="A report, a log, a folder of them or a captured tree.")
@click.option(
    "--env",
    "environment",
    default="",
    metavar="PATH",
    help="The environment: a path or a name; by default the active one, else the one in this folder.",
)
@click.option("--explain", "explained", is_flag=True, help="Tell of each step why it is taken.")
@click.option("-y", "--yes", is_flag=True, help="Take the steps without asking.")
@click.option("--dry-run", is_flag=True, help="Show exactly what would be run, and change nothing.")
@click.option("-q", "--quiet", is_flag=True, help="Say only what fails.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.fix/1).")
def command(
    cause: str | None,
    program: tuple[str, ...],
    all_safe: bool,
    source: str | None,
    environment: str,
    explained: bool,
    yes: bool,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Show the steps that mend a finding of the doctor; take them when you agree, and look again.

    Without CAUSE, list what can be mended and the command for each; nothing is changed.

    CAUSE is the name that the doctor gives, such as cpu-only-torch. What only a program's words tell is found by
    running that program (-- PROGRAM), before and after. Of another machine (--from) the steps are shown alone. What
    was done is taken back by `rigup undo`.
    """
    from rigup.cli.mending import mend
    from rigup.cli.taking import RunOptions, on_record
    from rigup.workflows.environments import folder_of
    from rigup.workflows.mending import SCHEMA, ways_to_mend

    if as_json:
        choose("en")  # data is the same in every language
    if cause is None and not all_safe:
        return _list(source, environment, program, as_json)
    _one_of(cause, all_safe, source)
    if program and source is not None:
        raise click.UsageError(_("Give --from or a program: a report of a machine, or what to run on this one."))
    run = RunOptions(yes=yes and source is None, dry_run=dry_run, quiet=quiet, as_json=as_json, schema=SCHEMA)
    with on_record(run, (cause or "--all-safe",)) as run:
        mending = ways_to_mend(cause, source, environment if source is not None else folder_of(environment), program)
        if source is None and mending.findings and (yes or dry_run or (sys.stdin.isatty() and not as_json)):
            return mend(mending, all_safe, run, _text(mending, explained), program)
    return _show(cause, mending, explained, as_json)


def _list(source: str | None, environment: str, program: tuple[str, ...], as_json: bool) -> int:
    """What can be mended, each with the command that mends it; nothing is changed."""
    from rigup.cli.report import grouped, loud
    from rigup.cli.typed_commands import commands
    from rigup.machine.outward import outward

    mending = outward(_found(source, environment, program))
    if as_json:
        click.echo(data_text(mending))
        return int(any(loud(finding) for finding in mending.findings))
    findings = [finding for finding in grouped(mending.findings) if loud(finding)]
    if not findings:
        click.echo("\n".join(wrapped(_("The doctor finds nothing that wants mending."))))
        return 0
    extra = ["--from", source] if source is not None else []
    for finding in findings:
        lines = wrapped(style(finding.title, bold=True))
        steps = [step for fix in finding.fixes[:1] for step in fix.steps]
        lines += [line for step in steps for line in wrapped(step.title, "  ", "  ")]
        lines += ["    " + line for step in steps for line in commands(step)]
        lines += ["  " + shlex.join(["rigup", "fix", finding.cause, *extra])] if steps else wrapped(finding.mends, "  ", "  ")
        click.echo("\n".join(lines) + "\n")
    click.echo("\n".join(wrapped(_("`rigup fix CAUSE` shows all steps and asks before it takes them."))))
    return 1


def _found(source: str | None, environment: str, program: tuple[str, ...]) -> "Mending":
    """The doctor's findings, in the shape of this command's answer: no steps are worked out further."""
    from rigup.diagnosis.answer import diagnose, diagnosed
    from rigup.schemas.fix import Mending
    from rigup.workflows.diagnosing import after_running

    doctor = diagnosed(after_running(program)) if program else diagnose(source)
    return Mending(cause=None, environment=environment or None, findings=doctor.findings, plan=None)


def _one_of(cause: str | None, all_safe: bool, source: str | None) -> None:
    """Raise UsageError where it is not clear what is to be mended."""
    if cause is not None and not all_safe:
        _check_cause(cause)
    elif cause is not None:
        raise click.UsageError(_("Name one cause, or --all-safe for all that safe steps mend. `rigup doctor` tells which there are."))
    elif source is not None:
        raise click.UsageError(_("--all-safe mends this machine; of another one name a cause, and its steps are shown."))


def _show(cause: str | None, mending: "Mending", explained: bool, as_json: bool) -> int:
    if as_json:
        click.echo(data_text(mending))
    elif not mending.findings and cause is None:
        click.echo(_("The doctor finds nothing that safe steps could mend."))
        return 0
    elif not mending.findings:
        sentence = _("{cause} is not found there. `rigup doctor` tells what is, `rigup explain {cause}` what it means.")
        click.echo("\n".join(wrapped(sentence.format(cause=cause))), err=True)
    else:
        click.echo(_text(mending, explained))
    return int(not mending.findings)


def _check_cause(cause: str) -> None:
    """Raise UsageError for a cause that there is not, with those whose names are near."""
    import difflib

    from rigup.knowledge.doctor_tables import causes

    if cause not in causes():
        message = _("{cause} is no cause that the doctor knows. `rigup explain` lists all.").format(cause=cause[:60])
        if near := difflib.get_close_matches(cause, causes(), 3):
            message = sentences(message, _("Near it are: {near}.").format(near=", ".join(near)))
        raise click.UsageError(message)


def _text(mending: "Mending", explained: bool) -> str:
    from rigup.cli.plan_report import steps_text, text
    from rigup.cli.report import after, has_own_check
    from rigup.machine.outward import outward

    mending = outward(mending)
    parts: list[str] = []
    for finding in mending.findings:
        parts.append("\n".join(wrapped(style(finding.title, bold=True))))
        if mending.plan is None:
            fixes = finding.fixes[:2]
            ways = [
                "\n".join([*steps_text(fix.steps, explained), *(after(fix, "     ") if has_own_check(fixes, number) else [])])
                for number, fix in enumerate(fixes)
            ]
            parts += [_("or:") + "\n" + way if number else way for number, way in enumerate(ways)]
    if mending.plan is not None:
        parts.append(text(mending.plan, explained))
    return "\n\n".join(parts)
