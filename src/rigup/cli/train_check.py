"""`rigup train check SCRIPT [SBATCH]`: what would go wrong, as text, as data, or mended in the files."""

import sys
from typing import TYPE_CHECKING

import click

from rigup.cli.arguments import click_errors
from rigup.cli.data import data_text
from rigup.language import _, choose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rigup.schemas.train_check import TrainCheck, TrainFinding
    from rigup.workflows.train_checking import Checked


@click.command("check")
@click.argument("script", metavar="SCRIPT")
@click.argument("batch", metavar="[SBATCH]", required=False)
@click.option(
    "--cluster", metavar="FILE|here", help="What the partitions have: a file (sinfo --json, scontrol show), or the Slurm of this machine."
)
@click.option("--fix", is_flag=True, help="Mend in the files what needs no judgement; shows it and asks first.")
@click.option("--yes", is_flag=True, help="Do not ask before --fix.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.train-check/1).")
def command(script: str, batch: str | None, cluster: str | None, fix: bool, yes: bool, as_json: bool) -> int:
    """Tell what would go wrong with a training script under its batch script.

    Both are read and neither is run. Errors are what cannot work or is silently wrong; warnings waste GPUs, hours or
    results. What cannot be seen is not accused. With --cluster the request is held against what the partitions have.
    """
    from rigup.workflows.train_checking import checked

    if as_json:
        choose("en")  # data is the same in every language
    fixed = 0
    with click_errors():
        found = checked(script, batch, cluster)
        if fix and (fixed := _mend(found, yes or as_json, as_json)):
            found = checked(script, batch, cluster)
        answer = found.after_fixes(fixed)
    click.echo(data_text(answer) if as_json else checked_text(answer))
    return int(answer.verdict != "clean")


def _mend(found: "Checked", yes: bool, quiet: bool) -> int:
    """Show the changes, ask, and write them; how many findings they mend."""
    import difflib

    mended = 0
    for path, (before, after, count) in found.changes.items():
        if before == after:
            continue
        if not quiet:
            shown = difflib.unified_diff(before.splitlines(), after.splitlines(), str(path), str(path), lineterm="")
            click.echo("\n".join(shown))
        if not yes and not (sys.stdin.isatty() and click.confirm(_("Change {path} so?").format(path=path))):
            continue
        path.write_bytes(after.encode())
        mended += count
    return mended


def checked_text(answer: "TrainCheck") -> str:
    """A finding a paragraph: where, what, what stands there, what it means, what mends it."""
    from rigup.cli.layout import wrapped

    lines = findings_text(answer.findings)
    if answer.fixed:
        lines += wrapped(_("Mended in the files: {count}.").format(count=answer.fixed))
    if not answer.findings:
        lines += wrapped(_("Nothing that can be seen would go wrong."))
    if answer.batch is not None and not answer.starts:
        lines += wrapped(_("The batch script does not start this script, as far as can be seen: what its ranks would be is not known."))
    return "\n".join(lines).rstrip()


def findings_text(findings: "Iterable[TrainFinding]") -> list[str]:
    """Lines of findings, an empty one behind each."""
    from rigup.cli.layout import wrapped

    words = {"error": _("error"), "warning": _("warning"), "note": _("note")}
    lines: list[str] = []
    for finding in findings:
        head = _("{file}:{line}: {severity}: {title} ({cause})").format(
            file=finding.file, line=finding.line, severity=words[finding.severity], title=finding.title, cause=finding.cause
        )
        lines += wrapped(head, "", "    ")
        for at, quote in enumerate(finding.evidence):
            lines += wrapped(quote.text if not at else f"{quote.file}:{quote.line}: {quote.text}", "    | ", "    | ")
        lines += wrapped(finding.meaning, "    ")
        for way in finding.fixes:
            lines += wrapped(way.title, "    ")
            lines += [f"        {line}" for line in way.lines]
        lines.append("")
    return lines
