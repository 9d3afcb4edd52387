"""`rigup doctor`: read a machine, name the root cause."""

import json
import sys
from typing import Any

import click

from rigup.language import _


@click.command("doctor")
@click.option(
    "--from",
    "source",
    metavar="PATH",
    help="A report, a log, a folder of them or a captured tree; - reads standard input.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.doctor/1).")
@click.option("-v", "--verbose", count=True, help="-v: all evidence with its sources; -vv: every fact.")
@click.option("--show-access", is_flag=True, help="Print exactly what is read on this machine, and read nothing.")
@click.option("--wake", is_flag=True, help="Ask also cards that are asleep; this wakes them.")
def command(source: str | None, as_json: bool, verbose: int, show_access: bool, wake: bool) -> int:
    """Read this machine and name the root cause of what keeps a GPU from its work.

    Nothing is changed, and nothing is sent anywhere. With --from the same is done for somebody else's
    machine: give the text that a program printed, or several of them in a folder.
    """
    if show_access:
        click.echo(access())
        return 0
    answer = _answer(source, wake)
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False, indent=1, default=str))
    else:
        from rigup.cli.report import text

        click.echo(text(answer, verbose, color=_wants_color(), here=source is None), color=_wants_color())
    return int(answer["verdict"] in ("broken", "degraded"))


def _answer(source: str | None, wake: bool) -> dict[str, Any]:
    from rigup.diagnosis.answer import diagnose
    from rigup.knowledge.tables import KnowledgeError
    from rigup.machine.sources import SourceError

    try:
        return diagnose(source, wake)
    except (SourceError, KnowledgeError) as error:
        raise click.ClickException(str(error)) from error


def access() -> str:
    """Everything that the doctor reads, by what it looks for."""
    from rigup.machine import readers  # noqa: F401  (registers them)
    from rigup.machine.reader import READERS, shown

    lines = [_("rigup doctor reads these files and runs these programs, and nothing else:"), ""]
    for name in sorted(READERS):
        inputs = [shown(given) for given in READERS[name].inputs]
        if inputs:
            about = ", ".join(kind.__name__ for kind in READERS[name].about)
            lines += [name.replace("_", " ") + " (" + about + ")", *("    " + given for given in inputs)]
    return "\n".join(lines)


def _wants_color() -> bool:
    import os

    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
