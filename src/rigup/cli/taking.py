"""What apply, fix and undo share: a person's word and a person's terminal, and how the run ended, in words."""

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, NamedTuple

import click
from msgspec import UNSET, Struct, to_builtins

from rigup.cli.data import data_text
from rigup.cli.ended import failure, well
from rigup.cli.guard import style
from rigup.cli.layout import wrapped
from rigup.language import _, sentences

if TYPE_CHECKING:
    from rigup.cli.watching import Watching
    from rigup.plan.applying.journal import Intent, Record
    from rigup.schemas.plan import Plan
    from rigup.workflows.applying import Ended, Refusal
    from rigup.workflows.dialogue import Sizes


class RunOptions(NamedTuple):
    """How a person wants steps to be taken.

    Attributes:
        yes: without being asked.
        dry_run: shown alone.
        quiet: nothing is printed but what fails.
        as_json: the answer is data of the schema that is named.
        record: of a run that was announced, as nobody is going to be asked.

    """

    yes: bool
    dry_run: bool
    quiet: bool
    as_json: bool
    schema: str
    record: "Record | None" = None

    @property
    def silent(self) -> bool:
        """Nothing is printed but what fails."""
        return self.quiet or self.as_json


class Terminal:
    """A person at a terminal, as a workflow's other side."""

    def __init__(self, options: RunOptions) -> None:
        self._options = options

    @property
    def can_type(self) -> bool:
        """Whether a password can be typed."""
        return sys.stdin.isatty() and not self._options.as_json

    def says(self, sentence: str) -> None:
        """A paragraph."""
        if not self._options.silent:
            click.echo("\n" + "\n".join(wrapped(sentence)))

    def agrees(self, question: str) -> None:
        """The person's word. Where nobody can be asked, nothing is done."""
        if self._options.yes:
            return
        if self._options.as_json or not sys.stdin.isatty():
            raise click.UsageError(_("Nobody can be asked here, so nothing was changed. With --yes it is done without asking."))
        click.echo()
        _confirm(question)

    def watches(self, steps: int, sizes: "Sizes | None", stays: Callable[[], str]) -> "AbstractContextManager[Watching]":
        """Progress of the steps; Ctrl-C and a system that ends us leave things whole, and it is said what stays."""
        return _watching(steps, self._options.silent, sizes, stays)


@contextmanager
def _watching(steps: int, silent: bool, sizes: "Sizes | None", stays: Callable[[], str]) -> "Iterator[Watching]":
    from rigup.cli.stopping import stopped, stopping
    from rigup.cli.watching import Watching

    with stopping() as signals:
        try:
            with Watching(steps, silent, sizes) as watching:
                yield watching
        except KeyboardInterrupt:
            raise stopped(stays(), signals) from None


def _confirm(question: str) -> None:
    """Ask; raise click.Abort for a no and for Ctrl-C, which leaves the line of the question first."""
    try:
        if click.confirm(question, default=False):
            return
    except click.Abort:
        click.echo(err=True)
        raise
    raise click.Abort


@contextmanager
def on_record(options: RunOptions, wishes: tuple[str, ...]) -> "Iterator[RunOptions]":
    """Where nobody is going to be asked, a run is on record from now on."""
    if not options.yes or options.dry_run:
        yield options
        return
    from rigup.workflows.applying import announced

    with announced(wishes) as record:
        yield options._replace(record=record)


# -- before ------------------------------------------------------------------------------------------


def taken(intent: "Intent", plan: "Plan", options: RunOptions) -> int:
    """Show a plan, ask, and take its steps; the exit status."""
    from rigup.cli.plan_report import text
    from rigup.workflows.applying import refusal

    if not options.silent:
        click.echo(text(plan))
    if refused := refusal(plan):
        return _refusal(refused, intent, plan, options)
    return go(intent, options)


def go(intent: "Intent", options: RunOptions) -> int:
    """Ask, and take the steps of an intent that was shown; the exit status."""
    from rigup.workflows.applying import carried_out, must_be_free, reached, warning_over_ssh

    person = Terminal(options)
    must_be_free(intent.environment)
    reachable = reached(intent, person)
    if warning := warning_over_ssh(intent):
        person.says(warning)
    if options.dry_run:
        return _dry(reachable, options)
    return _report_end(carried_out(intent, reachable, person, options.record), options)


def resumed(options: RunOptions) -> int:
    """Go on with the last run that did not come to its end; the exit status."""
    from rigup.workflows.applying import gone_on, reached, to_go_on_with

    person = Terminal(options)
    last = to_go_on_with()
    intent = last.intent()
    if not options.silent:
        from rigup.machine.outward import outward_text

        title = outward_text(intent.title)
        click.echo(_("This goes on with run {number}: {title}.").format(number=last.number, title=title))
    reachable = reached(intent, person)
    return _dry(reachable, options) if options.dry_run else _report_end(gone_on(last, reachable, person), options)


def _refusal(refused: "Refusal", intent: "Intent", plan: "Plan", options: RunOptions) -> int:
    """Print why nothing is begun, as far as the plan has not; the exit status."""
    from rigup.schemas.apply import ApplyNothing
    from rigup.schemas.taken import Blocked

    if options.as_json and refused.kind in ("ready", "impossible"):
        say_data(options, ApplyNothing(verdict=refused.kind, plan=plan))
    elif options.as_json:
        steps = intent.steps if refused.kind == "blocked" else UNSET
        say_data(options, Blocked(verdict="blocked", because=refused.because, steps=steps))
    elif sentence := _why_not(refused):
        click.echo("\n" + "\n".join(wrapped(sentence)), err=True)
    return int(refused.kind != "ready")


def _why_not(refused: "Refusal") -> str:
    """The text below the plan; "" where the plan has it itself."""
    if refused.kind == "unresolved":
        ways = _("Check the network and the proxy, name a mirror with --mirror, or a folder of wheels in PIP_FIND_LINKS.")
        return sentences(_("Nothing was changed."), refused.because, ways)
    if refused.kind == "blocked":
        sentence = _("Nothing was changed: {count} of the steps cannot be taken here. {because}")
        ways = _("`rigup plan --as script` writes them for an administrator, `--no-root` plans without them.")
        return sentences(sentence.format(count=refused.steps, because=refused.because), ways)
    return ""


def _dry(intent: "Intent", options: RunOptions) -> int:
    """What would be run, word by word, where it stands now."""
    from rigup.machine.outward import outward
    from rigup.plan.applying.foreseen import foreseen
    from rigup.schemas.taken import DryRun

    answer = outward(DryRun(verdict="possible", steps=foreseen(intent, os.environ)))
    if options.as_json:
        say_data(options, answer)
        return 0
    click.echo("\n" + style(_("It would run"), bold=True))
    for step in answer.steps:
        click.echo("\n".join(wrapped(step.title, f"{step.number:>3}. ", "     ")))
        for argv in step.commands:
            click.echo("     " + shlex.join(argv))
        for path in step.writes:
            click.echo("     " + _("writes {path}").format(path=path))
    click.echo(_("Nothing was changed."))
    return 0


# -- after -------------------------------------------------------------------------------------------


def _report_end(ended: "Ended", options: RunOptions) -> int:
    from rigup.schemas import taken

    record, outcome = ended
    if options.as_json:
        log = str(record.log(outcome.step)) if outcome.step >= 0 else None
        end = taken.Ended(verdict=outcome.end, because=outcome.because or None, number=record.number, log=log)
        say_data(options, end)
    elif outcome.end == "failed":
        failure(record, outcome)
    elif not options.quiet:
        click.echo("\n" + "\n".join(well(record, outcome)))
    return int(outcome.end != "finished")


def say_data(options: RunOptions, answer: Struct) -> None:
    """Print an answer as data of the command's own schema."""
    schema = {"schema": options.schema}
    click.echo(data_text(schema | to_builtins(answer, enc_hook=str) | schema))
