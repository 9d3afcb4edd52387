"""`rigup fix` takes the steps that mend findings of the doctor, and lets the doctor look again."""

from typing import TYPE_CHECKING

import click

from rigup.cli.layout import wrapped
from rigup.cli.taking import RunOptions, go, say_data
from rigup.language import _
from rigup.schemas.fix import NothingMended

if TYPE_CHECKING:
    from rigup.plan.applying.journal import Intent
    from rigup.schemas.fix import Mending
    from rigup.schemas.shared import Finding


def mend(mending: "Mending", all_safe: bool, options: RunOptions, shown: str, program: tuple[str, ...] = ()) -> int:
    """Show what mends the findings, ask, do it, and look again, with the program if one was named; the exit status."""
    from rigup.workflows.intents import can_be_taken
    from rigup.workflows.mending import intent_of, safely_mended

    findings = safely_mended(mending.findings) if all_safe else mending.findings
    if all_safe and not findings:
        return _none_is_safe(options)
    if not options.silent and not all_safe:
        click.echo(shown)
    intent = intent_of(mending, findings, all_safe)
    if not any(map(can_be_taken, intent.steps)):
        return _by_hand(options)
    if all_safe and not options.silent:
        _list(findings, intent)
    status = go(intent, options)
    return status if options.dry_run else max(status, _look_again({finding.cause for finding in findings}, options, program))


def _none_is_safe(options: RunOptions) -> int:
    if options.as_json:
        say_data(options, NothingMended(verdict="nothing"))
    elif not options.quiet:
        click.echo(_("The doctor finds nothing that safe steps could mend."))
    return 0


def _list(findings: "list[Finding]", intent: "Intent") -> None:
    from rigup.cli.plan_report import steps_text

    lines = [line for finding in findings for line in wrapped(finding.title, "- ", "  ")]
    click.echo("\n".join([*lines, "", *steps_text(intent.steps)]))


def _by_hand(options: RunOptions) -> int:
    """Nothing of it is rigup's to do."""
    if options.as_json:
        say_data(options, NothingMended(verdict="by-hand"))
    else:
        sentence = _("None of these steps can be taken by rigup from here; nothing was changed.")
        click.echo("\n" + "\n".join(wrapped(sentence)), err=True)
    return 1


def _look_again(causes: set[str], options: RunOptions, program: tuple[str, ...]) -> int:
    """Whether the doctor still finds what was to be mended."""
    from rigup.workflows.mending import still_found

    left = still_found(causes, program)
    if options.as_json:
        return int(bool(left))
    if not left:
        if not options.quiet:
            click.echo(_("The doctor looked again, and does not find it any more."))
        return 0
    sentence = _("The doctor looked again, and still finds: {titles}")
    click.echo("\n".join(wrapped(sentence.format(titles="; ".join(finding.title for finding in left)))), err=True)
    return 1
