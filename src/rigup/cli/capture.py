"""`rigup capture`: a machine as an archive that can be sent to somebody, without what is private."""

import json
import os
import sys
from typing import TYPE_CHECKING

import click

from rigup.language import N_, _, sentences
from rigup.sizes import memory

if TYPE_CHECKING:
    from rigup.machine.capture import Capture
    from rigup.machine.redaction import Redactor
    from rigup.machine.redaction_doubts import Doubt

_MOST_ASKED = 20  # strings that a person is asked about one by one; the rest is left out
_HINT = 4  # letters of a doubtful string that a list shows
_MOST_SHOWN = 12  # names of variables that are shown
# Kinds of private things, which are translated where they are counted. Tokens are called as their makers call them.
_KINDS = (
    N_("user"),
    N_("group"),
    N_("host"),
    N_("domain"),
    N_("e-mail"),
    N_("login"),
    N_("uuid"),
    N_("serial number"),
    N_("unique id"),
    N_("hardware address"),
    N_("public address"),
    N_("private key"),
    N_("secret"),
    N_("variable"),
    N_("unknown string"),
    N_("telephone"),
)


@click.command("capture")
@click.option("-o", "--output", metavar="FILE", help="Where to write it; - is standard output; by default a name with today's date, here.")
@click.option("--list", "only_list", is_flag=True, help="Show what would be inside and what is taken out; write nothing.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing: what is doubtful is left out.")
@click.option("--wake", is_flag=True, help="Ask also cards that are asleep; this wakes them.")
@click.option("--from", "source", metavar="PATH", help="Take a captured tree, an archive or a report instead of this machine.")
@click.option(
    "--script",
    type=click.Choice(["posix", "powershell"]),
    is_flag=False,
    flag_value="posix",
    help="Print a script for a machine without Python.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as data (schema rigup.capture/1).")
def command(output: str | None, only_list: bool, yes: bool, wake: bool, source: str | None, script: str | None, as_json: bool) -> int:
    """Write an archive with all that the doctor reads here, to send to somebody else.

    Keys, names of people and machines, serial numbers and addresses are taken out. What is inside plays
    again: `rigup doctor --from FILE` comes to the same findings. Nothing is sent anywhere.
    """
    if script:
        from rigup.machine import collect

        click.echo(collect.script(script), nl=False)
        return 0
    if output == "-":
        _can_be_printed(as_json)
    capture, redactor = _make(source, wake, yes, ask=not (only_list or as_json) and _can_ask())
    if only_list:
        click.echo(_as_json(redactor, None, 0) if as_json else "\n".join(_content_lines(redactor)))
        return 0
    if output == "-":
        _print(capture, redactor)
        return 0
    path = output or _default_name()
    size = _write(path, capture, redactor)
    click.echo(_as_json(redactor, path, size) if as_json else _summary(path, size, redactor))
    return 0


def _make(source: str | None, wake: bool, yes: bool, ask: bool) -> "tuple[Capture, Redactor]":
    """What was kept, without what is private; a second time where somebody wants to keep what was doubtful."""
    from rigup.knowledge.tables import KnowledgeError
    from rigup.machine.capture import recorded, redacted
    from rigup.machine.redaction import Redactor
    from rigup.machine.sources import SourceError, close_sources

    try:
        _facts, snapshots = recorded(source, wake)
    except (SourceError, KnowledgeError) as error:
        raise click.ClickException(str(error)) from error
    finally:
        close_sources()
    redactor = Redactor()
    capture = redacted(snapshots, redactor)
    if not yes and ask and (wanted := _ask(list(redactor.doubtful.values()))):
        redactor = Redactor(lambda doubt: (doubt.what, doubt.value) in wanted)
        capture = redacted(snapshots, redactor)
    return capture, redactor


def _can_ask() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(doubtful: "list[Doubt]") -> set[tuple[str, str]]:
    """What a person wants to keep of what no rule knows."""
    strings = [doubt for doubt in doubtful if doubt.what == "string"]
    wanted = _about_variables([doubt for doubt in doubtful if doubt.what == "variable"])
    for doubt in strings[:_MOST_ASKED]:
        click.echo(doubt.source + ": " + doubt.shown, err=True)
        if click.confirm(_("No rule knows this string. Keep it in the archive?"), default=False, err=True):
            wanted.add((doubt.what, doubt.value))
    if len(strings) > _MOST_ASKED:
        sentence = _("{count} more such strings are left out; `--list` shows them.")
        click.echo(sentence.format(count=len(strings) - _MOST_ASKED), err=True)
    return wanted


def _about_variables(doubtful: "list[Doubt]") -> set[tuple[str, str]]:
    if not doubtful:
        return set()
    for doubt in doubtful[:_MOST_SHOWN]:
        click.echo(doubt.source + ": " + doubt.shown, err=True)
    if len(doubtful) > _MOST_SHOWN:
        click.echo(_("… and {count} more").format(count=len(doubtful) - _MOST_SHOWN), err=True)
    question = _("rigup does not need the values of these variables. Keep them in the archive?")
    wanted = click.confirm(question, default=False, err=True)
    return {(doubt.what, doubt.value) for doubt in doubtful} if wanted else set()


def _default_name() -> str:
    import datetime as dt

    return "rigup-capture-" + dt.datetime.now(dt.UTC).strftime("%Y%m%d-%H%M%S") + ".tar.gz"


def _can_be_printed(as_json: bool) -> None:
    """Raise UsageError where nobody could take the archive."""
    if as_json:
        raise click.UsageError(_("With -o - the archive itself is printed: leave --json away, or name a file."))
    if sys.stdout.isatty():
        text = _("An archive is no text for a terminal: name a file with -o, or send it on: rigup capture -o - > FILE.")
        raise click.UsageError(text)


def _print(capture: "Capture", redactor: "Redactor") -> None:
    """Print the archive as it is; what was taken out goes to standard error."""
    from rigup.cli.guard import unguarded
    from rigup.machine.capture import pack

    out = unguarded(sys.stdout)
    out.flush()
    pack(out.buffer, capture, redactor.counts)
    out.buffer.flush()
    if redactor.counts:
        click.echo(_("Taken out: {kinds}.").format(kinds=kinds(redactor.counts)), err=True)


def _write(path: str, capture: "Capture", redactor: "Redactor") -> int:
    """The archive's size. What stands there already is replaced only when somebody says so."""
    from rigup.machine.capture import write

    replace = (
        os.path.lexists(path) and _can_ask() and click.confirm(_("{path} exists. Replace it?").format(path=path), default=False, err=True)
    )
    try:
        return write(path, capture, redactor.counts, replace)
    except FileExistsError as error:
        sentence = _("{path} exists and is left as it is. Give another name with -o.")
        raise click.ClickException(sentence.format(path=path)) from error
    except OSError as error:
        sentence = _("{path} cannot be written: {error}. Give another place with -o.")
        raise click.ClickException(sentence.format(path=path, error=error.strerror or str(error))) from error


def _summary(path: str, size: int, redactor: "Redactor") -> str:
    """One paragraph: where, how large, what was taken out, how to look inside, what to do with it."""
    from rigup.cli.layout import wrapped

    parts = [
        _("Wrote {path} ({size}), readable by you alone.").format(path=path, size=memory(size)),
        _("Taken out: {kinds}.").format(kinds=kinds(redactor.counts)) if redactor.counts else _("Nothing private was found."),
        _("Look inside with `tar -tzf {path}` or `rigup capture --list`.").format(path=path),
        _("Whoever has it can run `rigup doctor --from {path}`.").format(path=path),
    ]
    return "\n".join(wrapped(sentences(*parts)))


def kinds(counts: dict[str, int]) -> str:
    """What was taken out, by kind, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return _(", ").join(_("{kind} ({count})").format(kind=_(kind), count=count) for kind, count in ordered)


def _content_lines(redactor: "Redactor") -> list[str]:
    """Every text that would be inside, with its size and what was taken out of it."""
    lines = [_("This would be inside; nothing is written."), ""]
    for name, size, taken in sorted(redactor.contents):
        first_line = name.split("\n")[0]
        lines.append(f"{memory(size):>10}  " + first_line[:200] + ("  - " + kinds(taken) if taken else ""))
    if redactor.counts:
        lines += ["", _("Taken out of all: {kinds}.").format(kinds=kinds(redactor.counts))]
    doubtful = list(redactor.doubtful.values())
    if doubtful:
        lines += ["", _("Doubtful, and left out unless you say otherwise:")]
        lines += ["  " + redactor.text(doubt.source) + ": " + _hint(doubt) for doubt in doubtful]
    return lines


def _hint(doubt: "Doubt") -> str:
    """A variable's name; of a string as much as finds it again."""
    return doubt.value if doubt.what == "variable" else doubt.value[:_HINT] + "…"


def _as_json(redactor: "Redactor", path: str | None, size: int) -> str:
    import msgspec

    from rigup.schemas.capture import Capture, Content, Doubtful

    answer = Capture(
        archive=path,
        bytes=size,
        taken_out=redactor.counts,
        contents=[Content(**content._asdict()) for content in sorted(redactor.contents)],
        doubtful=[Doubtful(what=doubt.what, source=redactor.text(doubt.source)) for doubt in redactor.doubtful.values()],
    )
    return json.dumps(msgspec.to_builtins(answer), ensure_ascii=False, indent=1)
