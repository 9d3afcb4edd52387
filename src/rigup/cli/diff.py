"""`rigup diff`: what two machines, or two states of one, do not have in common."""

import os
import sys

import click

from rigup.cli.data import data_text
from rigup.language import _, choose
from rigup.machine.store import Facts
from rigup.schemas.diff import Diff

HERE = "here"


@click.command("diff")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="Print the differences as data (schema rigup.diff/1).")
@click.option("-v", "--verbose", count=True, help="Show also what goes with a difference that is shown.")
@click.option("--wake", is_flag=True, help="Ask also cards that are asleep; this wakes them.")
def command(before: str, after: str, as_json: bool, verbose: int, wake: bool) -> int:
    """Tell what differs between two machines, the likeliest suspects first.

    A and B are each: `here` for this machine; the path of a capture, a report or a captured tree; or
    USER@NODE, which is asked by your own ssh. What changes by itself, as used memory, does not count, and
    what only one of them tells neither. Exit status: 0 equal, 1 different, 2 one could not be read.
    """
    if as_json:
        choose("en")  # data is the same in every language
    answer = compared(before, after, wake)
    from rigup.machine.outward import outward

    click.echo(data_text(answer) if as_json else _text(outward(answer), verbose))
    return int(not answer.equal)


def compared(before: str, after: str, wake: bool = False) -> Diff:
    """What differs. Raises click.ClickException where one of the two cannot be read."""
    from rigup.machine.difference import differences
    from rigup.machine.fingerprint import fingerprint
    from rigup.workflows.differences import difference_rows

    mine, theirs = (fingerprint(_facts(name, wake)) for name in (before, after))
    common = sorted(mine.facts.keys() & theirs.facts.keys())
    if not common:
        sentence = _("{before} and {after} tell of nothing in common, so there is nothing to compare.")
        raise click.ClickException(sentence.format(before=before, after=after))
    changes = differences(mine, theirs)
    return Diff(before=before, after=after, equal=not changes, compared=common, differences=difference_rows(changes))


def _text(answer: Diff, verbose: int) -> str:
    from rigup.cli.difference import shown
    from rigup.cli.layout import wrapped

    names = {"before": answer.before, "after": answer.after}
    if answer.equal:
        return "\n".join(wrapped(_("{before} and {after} are equal in all that both tell.").format(**names)))
    head = wrapped(_("From {before} to {after}, likeliest suspects first:").format(**names))
    return "\n".join([*head, *shown(answer.differences, verbose)])


# -- where the facts come from -----------------------------------------------------------------------


def _facts(name: str, wake: bool) -> Facts:
    """The facts of one side. Raises click.ClickException."""
    from rigup.machine import readers  # noqa: F401  (registers them)

    if name != HERE and name != "-" and not os.path.lexists(name):
        if "@" in name or name.startswith("ssh://"):
            return _ask_host(name, wake)
        sentence = _("{name} does not exist. A machine is given as USER@NODE or ssh://NODE, this one as `here`.")
        raise click.ClickException(sentence.format(name=name))
    return _open(None if name == HERE else name, wake)


def _open(path: str | None, wake: bool) -> Facts:
    from rigup.machine.look import look
    from rigup.machine.sources import SourceError, close_sources, open_source

    try:
        return look(open_source(path), wake)
    except SourceError as error:
        raise click.ClickException(str(error)) from error
    finally:
        close_sources()


def _ask_host(host: str, wake: bool) -> Facts:
    """A machine at the other end of the person's own ssh."""
    from rigup.cli.hosts import error
    from rigup.machine.collect import tree
    from rigup.machine.collect.ssh import Failure
    from rigup.workflows.diagnosing import facts_of_host

    if sys.stderr.isatty():
        click.echo(_("Asking {host} …").format(host=host), err=True)
    try:
        return facts_of_host(host, wake)
    except Failure as failure:
        reason = error(failure)
        raise click.ClickException(" ".join(filter(None, (host + ":", reason.because, reason.next)))) from failure
    finally:
        tree.discard()
