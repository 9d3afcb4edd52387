"""`rigup explain`: what a cause means. The texts are tables; an error message finds its cause by signature."""

import json
from typing import TYPE_CHECKING

import click

from rigup.cli.guard import style
from rigup.cli.layout import padded, wrapped
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.schemas.explain import Cause, Explain


@click.command("explain")
@click.argument("words", nargs=-1, metavar="[CAUSE | ERROR TEXT]")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.explain/1).")
def command(words: tuple[str, ...], as_json: bool) -> int:
    """Tell what a cause means, how to recognise it, what mends it, and what is tried in vain.

    Without an argument all causes are listed. Given an error message, the causes that it may mean are named.
    """
    if as_json:
        choose("en")  # data is the same in every language
    from rigup.workflows.explaining import explained

    query = " ".join(words)
    answer = explained(query)
    if as_json:
        click.echo(_data(answer))
    elif not answer.causes and not answer.near:
        click.echo("\n".join(wrapped(_unknown_text())), err=True)
    elif answer.near:
        click.echo(_nearest(answer.near))
    else:
        click.echo(_describe(answer.causes[0]) if len(answer.causes) == 1 else _choice_text(query, answer.causes))
    return 0 if answer.causes or answer.near else 1


def _data(answer: "Explain") -> str:
    import msgspec

    from rigup.machine.outward import outward_text

    outward = msgspec.structs.replace(answer, asked=outward_text(answer.asked))
    return json.dumps(msgspec.to_builtins(outward), ensure_ascii=False, indent=1)


def _unknown_text() -> str:
    return _(
        "No cause is named so, and no known message reads like this. `rigup explain` lists all causes; `rigup doctor --from FILE` reads a whole report."
    )


def _choice_text(query: str, causes: "list[Cause]") -> str:
    return _several(causes) if query else _listing(causes)


def _describe(entry: "Cause") -> str:
    lines = [*wrapped(style(entry.cause, bold=True) + ": " + (entry.title or "")), ""]
    parts = (
        (entry.meaning, _("What it means")),
        (entry.recognise, _("How to recognise it")),
        (entry.mends, _("What mends it")),
        (entry.in_vain, _("Tried in vain")),
    )
    for paragraph, label in parts:
        if paragraph:
            lines += [style(label, bold=True), *wrapped(paragraph, "  ", "  "), ""]
    if entry.sources:
        lines += [style(_("Sources"), bold=True), *("  " + source for source in entry.sources)]
    return "\n".join(lines).rstrip()


def _nearest(entries: "list[Cause]") -> str:
    """A guess, and said to be one."""
    lines = wrapped(_("No cause is named so, and no known message reads like this. Nearest to it:"))
    return "\n".join([*lines, *_titles(entries), "", *wrapped(_hint())])


def _hint() -> str:
    return _("`rigup explain CAUSE` tells one of them; `rigup doctor --from FILE`, given the whole report, tells which it is.")


def _titles(entries: "list[Cause]") -> list[str]:
    rows = ((entry.title or "", "  " + padded(entry.cause, 40) + " ") for entry in entries)
    return [line for title, label in rows for line in wrapped(title, label)]


def _several(entries: "list[Cause]") -> str:
    """What a message may come of; which of them it is, only the machine can tell."""
    lines = wrapped(_("This message may come of {count} causes:").format(count=len(entries)))
    return "\n".join([*lines, *_titles(entries), "", *wrapped(_hint())])


def _listing(entries: "list[Cause]") -> str:
    lines: list[str] = []
    for family in dict.fromkeys(entry.family for entry in entries):
        lines += ["", style(family, bold=True)] if lines else [style(family, bold=True)]
        lines += _titles([entry for entry in entries if entry.family == family])
    return "\n".join(lines)
