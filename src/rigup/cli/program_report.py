"""`rigup doctor -- PROGRAM`: the program runs as ever, and the cause of its end is reported after it."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from rigup.cli.data import data_text
from rigup.cli.lasting import lasts
from rigup.language import _

if TYPE_CHECKING:
    from rigup.schemas.doctor import Doctor, Program

_BY_HAND = (1, 2, 3, 13, 15)  # SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM: somebody wanted it to end, or reads no more


def run_and_diagnose(
    program: tuple[str, ...], as_json: bool, verbose: int, wake: bool, color: bool, since_ok: bool = False, with_values: bool = False
) -> int:
    """Run a program; its exit status. The report of its death goes to standard error, as data to standard output."""
    from rigup.machine.outward import outward
    from rigup.workflows.diagnosing import of_program
    from rigup.workflows.supervision import leave, supervised

    lasts()
    try:
        ended = supervised(program, aside=as_json)
    except OSError as error:
        raise click.ClickException(_not_started(program[0], error)) from error
    if ended.status != 0 and not _by_hand(ended.status):
        answer = of_program(ended, wake, since_ok)
        answer = answer if with_values else outward(answer)
        if as_json:
            click.echo(data_text(answer, with_values))
        else:
            circumstances = _circumstances(answer.program) if answer.program else []
            head = [_heading(program[0], ended.status), *circumstances]
            click.echo("\n" + "\n".join(head) + "\n\n" + _report(answer, verbose, color), err=True, color=color)
    sys.stdout.flush()
    return leave(ended.status)


def death_text(argv: Sequence[str], status: int, output: str, color: bool) -> str:
    """What a program that was started for somebody died of, by its words; a report for a terminal."""
    from rigup.machine.outward import outward
    from rigup.machine.witness import Ended
    from rigup.workflows.diagnosing import of_program

    answer = of_program(Ended(argv=tuple(argv), status=status, output=output.encode()))
    return _report(outward(answer), 0, color)


def _by_hand(status: int) -> bool:
    """Also where a program returns what a shell would."""
    return -status in _BY_HAND or status - 128 in _BY_HAND


def _circumstances(program: "Program") -> list[str]:
    """Which rank failed of itself; the Python that ran, where it is not the one of the environment that is active."""
    from rigup.cli.layout import wrapped

    lines = []
    if rank := program.rank:
        sentence = _("Rank {rank} failed of itself; the others lost it: {said}")
        lines += wrapped(sentence.format(rank=rank.rank, said=rank.said))
    python, active = program.interpreter, program.environment
    if python and active and not python.startswith(active.rstrip("/") + "/"):
        sentence = _("It ran with {python}, which is not of the active environment {environment}.")
        lines += wrapped(sentence.format(python=python, environment=active))
    elif python:
        lines += wrapped(_("It ran with {python}.").format(python=python))
    return lines


def _report(answer: "Doctor", verbose: int, color: bool) -> str:
    """The report; a machine on which nothing is wrong is not praised beside a program that died."""
    if answer.verdict in ("broken", "degraded") or answer.since_ok:
        from rigup.cli.report import text

        return text(answer, verbose, color)
    from rigup.cli.layout import wrapped
    from rigup.cli.report import troubles

    sentence = _(
        "Nothing that rigup knows explains it: neither what the program printed, nor the kernel's log, nor this "
        "machine, which is in order as far as it was seen. `rigup doctor -v` tells how far that is."
    )
    return "\n".join([*wrapped(sentence), *(line for reason in troubles(answer) for line in wrapped(reason, "  - ", "    "))])


def _heading(name: str, status: int) -> str:
    if status < 0:
        return _("rigup: {name} was ended by signal {number}.").format(name=name, number=-status)
    return _("rigup: {name} ended with status {status}.").format(name=name, status=status)


def _not_started(name: str, error: OSError) -> str:
    import os

    if isinstance(error, FileNotFoundError):
        sentence = _("There is no program {name}. A report or a log is read with --from {name}.")
        return sentence.format(name=name)
    if os.path.isfile(name) and not os.access(name, os.X_OK):
        sentence = _("{name} is no program. A report or a log is read with: rigup doctor --from {name}")
        return sentence.format(name=name)
    return _("{name} could not be started: {error}.").format(name=name, error=error.strerror or type(error).__name__)
