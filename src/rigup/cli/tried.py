"""`rigup doctor -- PROGRAM`: the program runs as ever, and what it died of is told after it."""

import json
import sys
from typing import Any

import click

from rigup.language import _

_STOPPED_BY_HAND = (2, 15)  # SIGINT, SIGTERM: somebody wanted it to end
_BY_HAND = 130  # what a program returns that ends itself on Ctrl-C


def tried(
    program: tuple[str, ...], as_json: bool, verbose: int, wake: bool, color: bool, since_ok: bool = False
) -> int:
    """Run a program; its exit status. The report of its death goes to standard error, as data to standard output."""
    from rigup.cli.attend import attend, leave

    try:
        ended = attend(program, aside=as_json)
    except OSError as error:
        raise click.ClickException(_not_started(program[0], error)) from error
    if ended.status != 0 and -ended.status not in _STOPPED_BY_HAND and ended.status != _BY_HAND:
        from rigup.diagnosis.answer import diagnosed
        from rigup.machine.witness import witnessed

        answer = diagnosed(witnessed(ended), wake)
        if as_json:
            click.echo(json.dumps(answer, ensure_ascii=False, indent=1, default=str))
        else:
            told = "\n" + _heading(program[0], ended.status) + "\n" + _told(answer, verbose, color)
            click.echo(told, err=True, color=color)
    sys.stdout.flush()
    return leave(ended.status)


def _told(answer: dict[str, Any], verbose: int, color: bool) -> str:
    """The report; a machine on which nothing is wrong is not praised beside a program that died."""
    if answer["verdict"] in ("broken", "degraded"):
        from rigup.cli.report import text

        return text(answer, verbose, color)
    from rigup.cli.layout import wrapped

    said = _(
        "Nothing that rigup knows explains it: neither what the program printed, nor the kernel's log, nor this "
        "machine, which is in order as far as it was seen. `rigup doctor -v` tells how far that is."
    )
    return "\n".join(wrapped(said))


def _heading(name: str, status: int) -> str:
    if status < 0:
        return _("rigup: {name} was ended by signal {number}.").format(name=name, number=-status)
    return _("rigup: {name} ended with status {status}.").format(name=name, status=status)


def _not_started(name: str, error: OSError) -> str:
    import os

    if isinstance(error, FileNotFoundError):
        told = _("There is no program {name}. A report or a log is read with --from {name}.")
        return told.format(name=name)
    if os.path.isfile(name) and not os.access(name, os.X_OK):
        told = _("{name} is no program. A report or a log is read with: rigup doctor --from {name}")
        return told.format(name=name)
    return _("{name} could not be started: {error}.").format(name=name, error=error.strerror or type(error).__name__)
