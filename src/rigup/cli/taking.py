"""What apply and fix share: show, ask, take the steps, tell how they ended."""

import os
import shlex
import sys
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rigup.cli.data import data_text
from rigup.cli.ended import failure, restarts, well, what_now
from rigup.cli.failing import CannotBeDone
from rigup.cli.guard import style
from rigup.cli.layout import wrapped
from rigup.language import _, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rigup.plan.applying.elevation import Elevation
    from rigup.plan.applying.journal import Intent, Record
    from rigup.plan.applying.taking import Outcome

Answer = dict[str, Any]
_LONGEST = 200  # letters of what was asked for, until a plan has a title of its own


class Manner(NamedTuple):
    """How a person wants it."""

    yes: bool
    dry_run: bool
    quiet: bool
    as_json: bool
    schema: str
    record: "Record | None" = None  # of a run that was announced

    @property
    def silent(self) -> bool:
        """Nothing is said but what fails."""
        return self.quiet or self.as_json


def taken(intent: "Intent", plan: Answer, manner: Manner) -> int:
    """Show a plan, ask, and take its steps; the exit status."""
    from rigup.cli.plan_report import text

    if not manner.silent:
        click.echo(text(plan))
    if plan["verdict"] != "possible":
        return _nothing(plan, manner)
    if unresolved := _unresolved(plan):
        return _not_begun(unresolved, manner)
    if blocked := [step for step in plan["steps"] if step["state"] == "blocked"]:
        return _blocked(intent, blocked, manner)
    return go(intent, manner)


def go(intent: "Intent", manner: Manner) -> int:
    """Ask, and take the steps of an intent that was shown."""
    import msgspec

    from rigup.plan.applying.journal import begun, withdrawn
    from rigup.plan.applying.one import alone

    _free(intent.environment)
    reached = _reached(intent, manner)
    if not manner.silent:
        _warned_over_ssh(intent)
    if manner.dry_run:
        return _dry(reached, manner)
    _agreed(manner)
    with alone():
        record = begun(
            msgspec.structs.replace(intent, asked=reached.asked), manner.record
        )  # all places may answer later
        try:
            in_order(record, manner.silent)
            root = _root(intent, manner)
        except BaseException:
            withdrawn(record)
            raise
        return _ended(record, _run(record, reached, root, manner), manner)


@contextmanager
def on_record(manner: Manner, wishes: "Iterable[str]") -> "Iterator[Manner]":
    """Where nobody is going to be asked, a run is on record from now on."""
    if not manner.yes or manner.dry_run:
        yield manner
        return
    from rigup.plan.applying import one
    from rigup.plan.applying.journal import JournalError

    with ExitStack() as stack:
        record = None
        with suppress(JournalError):  # who has something to do is told then
            record = stack.enter_context(one.announced(" ".join(wishes)[:_LONGEST], os.getcwd()))
        yield manner._replace(record=record)


def resumed(manner: Manner) -> int:
    """Go on with the last run that did not come to its end."""
    from rigup.plan.applying.one import alone

    last = _to_go_on_with()
    intent = last.intent()
    if not manner.silent:
        click.echo(_("This goes on with run {number}: {title}.").format(number=last.number, title=intent.title))
    reached = _reached(intent, manner)
    if manner.dry_run:
        return _dry(reached, manner)
    if (changed := _not_as_foreseen(last, intent)) and not manner.dry_run:
        raise CannotBeDone(changed)
    _agreed(manner)
    with alone():
        root = _root(intent, manner)
        in_order(last, manner.silent)
        return _ended(last, _run(last, reached, root, manner), manner)


def _to_go_on_with() -> "Record":
    """The last run, if it did not come to its end. Raises CannotBeDone, JournalError."""
    from rigup.plan.applying.journal import BusyError, records
    from rigup.plan.applying.one import is_being_planned
    from rigup.plan.applying.state import unfinished

    there = (one for one in reversed(records()) if not (one.intent().announced and not unfinished(one)))
    last = next(there, None)
    if last is None or not unfinished(last):
        raise CannotBeDone(_("There is no run to go on with. `rigup history` shows those that there were."))
    if last.intent().announced:
        if is_being_planned(last):
            raise BusyError(_("Another rigup of yours is changing this machine. Wait until it has ended."))
        told = _("Run {number} was broken off before it had a plan: there is nothing to go on with. Give its command again.")  # fmt: skip
        raise CannotBeDone(told.format(number=last.number))
    return last


def _not_as_foreseen(record: "Record", intent: "Intent") -> str:
    """After a restart the machine is read again: what the rest of the plan stands on must be there; "" if it is."""
    if not record.of("barrier") or "wishes" not in intent.asked:
        return ""
    from rigup.cli.plan import chosen_for
    from rigup.plan.answer import answer
    from rigup.stack.asked import kept_terms

    asked, terms = intent.asked, kept_terms(intent.asked.get("terms", {}))
    again = tuple(asked["wishes"]), (), None, str(asked["environment"]), dict(asked["options"])
    plan = answer(chosen_for(*again, terms=terms))
    if plan["packages"] == intent.told.get("packages") and not plan["system"]:
        return ""
    told = _("After the restart the machine is not what the plan counted on, so nothing more was done. `rigup doctor` tells what is wrong, `rigup apply` plans anew.")  # fmt: skip
    return sentences(told, *(f"{one['change']}: {one['why']}" for one in plan["system"]))


# -- before ------------------------------------------------------------------------------------------


def _nothing(plan: Answer, manner: Manner) -> int:
    if manner.as_json:
        say_data(manner, {"verdict": plan["verdict"], "plan": plan})
    return int(plan["verdict"] == "impossible")


def _unresolved(plan: Answer) -> str:
    """Why it is not known what would be installed, where somebody was asked; "" where it is, or installers decide it."""
    told = plan.get("resolution")
    if not told or told["whole"] or not told["by"]:
        return ""
    return (
        sentences(*told["because"])
        if any(step["kind"].startswith("install-") for step in plan["steps"] if step["state"] == "needed")
        else ""
    )


def _not_begun(because: str, manner: Manner) -> int:
    """What would be there is not known to the last package, so nothing is begun."""
    if manner.as_json:
        say_data(manner, {"verdict": "blocked", "because": because})
        return 1
    ways = _("Check the network and the proxy, name a mirror with --mirror, or a folder of wheels in PIP_FIND_LINKS.")
    click.echo("\n" + "\n".join(wrapped(sentences(_("Nothing was changed."), because, ways))), err=True)
    return 1


def _blocked(intent: "Intent", blocked: list[Answer], manner: Manner) -> int:
    """Nothing is done by halves: what only root can do is given as a script to whoever is root."""
    because = blocked[0]["because"]
    if manner.as_json:
        say_data(manner, {"verdict": "blocked", "because": because, "steps": intent.steps})
    else:
        told = _("Nothing was changed: {count} of the steps cannot be taken here. {because}")
        ways = _("`rigup plan --as script` writes them for an administrator, `--no-root` plans without them.")
        lines = wrapped(sentences(told.format(count=len(blocked), because=because), ways))
        click.echo("\n" + "\n".join(lines), err=True)
    return 1


def _free(path: str) -> None:
    """Raise ClickException where something else lies: an environment takes the place of an environment alone."""
    if not path or not os.path.lexists(path):
        return
    if os.path.isdir(path) and (
        not os.listdir(path) or any(os.path.exists(os.path.join(path, mark)) for mark in ("pyvenv.cfg", "conda-meta"))
    ):
        return
    told = _("{path} is there already and is no environment, so nothing was changed. Move it away, or name another place with --env.")  # fmt: skip
    raise click.ClickException(told.format(path=path))


def _reached(intent: "Intent", manner: Manner) -> "Intent":
    """The same without places of packages that nobody answers at, where there are others; it is said."""
    import msgspec

    from rigup.plan.applying.reach import without_dead_places
    from rigup.stack.asked import kept_terms

    steps, dead, only = without_dead_places(intent.steps, os.environ, kept_terms(intent.asked.get("terms", {})).places)
    if dead and not manner.silent:
        told = _("Not reached from here, so only the other places are asked: {places}.")
        click.echo("\n" + "\n".join(wrapped(told.format(places=", ".join(dead)))))
    if only and not manner.silent:
        told = _("Nobody answers at {places}, and the packages are looked for nowhere else.")
        click.echo("\n" + "\n".join(wrapped(told.format(places=", ".join(only)))))
    asked = {**intent.asked, "not_reached": [*dead, *only], "only_silent": bool(only)} if dead or only else intent.asked
    return msgspec.structs.replace(intent, steps=steps, asked=asked)


def _warned_over_ssh(intent: "Intent") -> None:
    """A driver that fails at the next start can cost the way in; the way back is told before it is needed."""
    if os.environ.get("SSH_CONNECTION") and restarts(intent):
        told = _("You reach this machine over ssh, and these steps change what it starts with. If it does not come back: choose the kernel before in the boot menu, at its console or by its management controller, and then run `rigup undo`.")  # fmt: skip
        click.echo("\n" + "\n".join(wrapped(told)))


def _agreed(manner: Manner) -> None:
    """The person's word. Where nobody can be asked, nothing is done."""
    if manner.yes:
        return
    if manner.as_json or not sys.stdin.isatty():
        raise click.UsageError(
            _("Nobody can be asked here, so nothing was changed. With --yes it is done without asking.")
        )
    click.echo()
    confirmed(_("Make it so?"))


def confirmed(question: str) -> None:
    """Ask; raise click.Abort for a no and for Ctrl-C, which leaves the line of the question first."""
    try:
        if click.confirm(question, default=False):
            return
    except click.Abort:
        click.echo(err=True)
        raise
    raise click.Abort


def in_order(but: "Record", silent: bool) -> None:
    """Runs that were killed leave an environment half made beside, or half taken back: before another begins that is ended.

    Args:
        but: the run that begins, which orders its own things.
        silent: nothing is said of it.

    Raises:
        Failed: a command of one of them still runs.
        JournalError: the journal cannot be read or written.

    """
    from rigup.machine.local import Local
    from rigup.plan.applying.journal import records
    from rigup.plan.applying.state import unsettled
    from rigup.plan.applying.undoing import left_in_order

    for one in records():
        if one.number == but.number or not unsettled(one):
            continue
        left_in_order(one, Local())
        if not silent:
            told = _(
                "Run {number} was broken off. What it had half made is gone; `rigup undo {number}` takes back what it had done."
            )
            click.echo("\n".join(wrapped(told.format(number=one.number))))


def _root(intent: "Intent", manner: Manner) -> "Elevation":
    """Root is asked for once, before the first step; without it nothing is begun."""
    from rigup.plan.applying.elevation import elevation

    way = elevation(os.environ)
    needing = [
        step for step in intent.steps if step["root"] and step["where"] == "here" and step.get("state") == "needed"
    ]
    if needing and not way.granted(sys.stdin.isatty() and not manner.as_json):
        told = _("{count} of the steps need root, and it was not given. Nothing was changed.")
        ways = _("`rigup plan --as script` writes the steps for an administrator.")
        raise CannotBeDone(sentences(told.format(count=len(needing)), ways))
    return way


def _dry(intent: "Intent", manner: Manner) -> int:
    """What would be run, word by word, where it stands now."""
    from rigup.machine.outward import outward
    from rigup.plan.applying.foreseen import foreseen

    found = foreseen(intent, os.environ)
    if manner.as_json:
        say_data(manner, {"verdict": "possible", "steps": found})
        return 0
    click.echo("\n" + style(_("It would run"), bold=True))
    for one in found:
        click.echo("\n".join(wrapped(one["title"], f"{one['number']:>3}. ", "     ")))
        for argv in one["commands"]:
            click.echo("     " + shlex.join(outward({"argv": argv})["argv"]))
        for path in one["writes"]:
            click.echo("     " + _("writes {path}").format(path=path))
    click.echo(_("Nothing was changed."))
    return 0


# -- while -------------------------------------------------------------------------------------------


def _run(record: "Record", intent: "Intent", root: "Elevation", manner: Manner) -> "Outcome":
    from rigup.cli.stopping import stopped, stopping
    from rigup.cli.watching import Watching
    from rigup.machine.local import Local
    from rigup.plan.applying.taking import Run, take

    with stopping() as signals:
        try:
            with root, Watching(len(intent.steps), manner.silent, intent.told.get("sizes")) as told:
                return take(Run(record, intent, Local(), root, _variables(intent), told))
        except KeyboardInterrupt:
            raise stopped(sentences(_("Stopped."), what_now(record)), signals) from None


def _variables(intent: "Intent") -> "Mapping[str, str]":
    """What commands inherit. At a place that does not answer an installer tries once more, not five times for each package."""
    if not intent.asked.get("only_silent"):
        return os.environ
    return {"PIP_RETRIES": "1", "UV_HTTP_RETRIES": "1", **os.environ}


def _ended(record: "Record", outcome: "Outcome", manner: Manner) -> int:
    if manner.as_json:
        say_data(manner, {"verdict": outcome.end, "because": outcome.because or None, "number": record.number,
                       "log": str(record.log(outcome.step)) if outcome.step >= 0 else None})  # fmt: skip
    elif outcome.end == "failed":
        failure(record, outcome)
    elif not manner.quiet:
        click.echo("\n" + "\n".join(well(record, outcome)))
    return int(outcome.end != "finished")


def say_data(manner: Manner, told: Answer) -> None:
    """Print an answer as data."""
    click.echo(data_text({"schema": manner.schema, **told}))
