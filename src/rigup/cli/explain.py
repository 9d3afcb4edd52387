"""`rigup explain`: what a cause means. The texts are tables; an error message finds its cause by signature."""

import json
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.guard import style
from rigup.cli.layout import padded, wrapped
from rigup.language import _, choose, current

if TYPE_CHECKING:
    from rigup.schemas.explain import Cause

_SPELT = 0.75  # of 1: how alike a word and the name of a cause are to be


@click.command("explain")
@click.argument("words", nargs=-1, metavar="[CAUSE | ERROR TEXT]")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.explain/1).")
def command(words: tuple[str, ...], as_json: bool) -> int:
    """Tell what a cause means, how to recognise it, what mends it, and what is tried in vain.

    Without an argument all causes are listed. Given an error message, the causes that it may mean are named.
    """
    if as_json:
        choose("en")  # data is the same in every language
    asked = " ".join(words)
    found = _all() if not asked else _found(asked)
    near = [] if found else _near(asked)
    if as_json:
        from rigup.machine.outward import outward_text

        click.echo(_data(outward_text(asked), found, near))
    elif not found and not near:
        click.echo("\n".join(wrapped(_unknown())), err=True)
    else:
        click.echo(_nearest(near) if near else _told(found[0]) if len(found) == 1 else _chosen(asked, found))
    return 0 if found or near else 1


def _data(asked: str, found: "list[Cause]", near: "list[Cause]") -> str:
    import msgspec

    from rigup.schemas.explain import Explain

    told = msgspec.to_builtins(Explain(asked=asked, causes=found, near=near))
    return json.dumps(told, ensure_ascii=False, indent=1)


def _unknown() -> str:
    return _(
        "No cause is named so, and no known message reads like this. `rigup explain` lists all causes; `rigup doctor --from FILE` reads a whole report."
    )


def _chosen(asked: str, found: "list[Cause]") -> str:
    return _several(found) if asked else _listing(found)


def _all() -> "list[Cause]":
    from rigup.knowledge.doctor_tables import causes

    return [_entry(cause) for cause in causes()]


def _found(asked: str) -> "list[Cause]":
    """The cause of that name; else causes that the message decides, that are mostly behind it, or that account for it."""
    from rigup.knowledge.doctor_tables import causes

    if asked.strip() in causes():
        return [_entry(asked.strip())]
    heard = _heard(asked)
    meant = [row.means for row in heard if row.means] + [row.usually for row in heard if row.usually]
    families = {row.family for row in heard}
    explaining = [cause for cause, row in causes().items() if {said.id for said in heard} & set(row.explains)]
    nearest = sorted(explaining, key=lambda cause: causes()[cause].family not in families)
    return [_entry(cause) for cause in dict.fromkeys([*meant, *nearest]) if cause in causes()]


def _near(asked: str) -> "list[Cause]":
    """Where nothing fits: causes named almost so, else those that people report in such words."""
    from difflib import get_close_matches

    from rigup.knowledge.doctor_tables import causes
    from rigup.knowledge.likeness import nearest

    named = get_close_matches(asked.strip(), causes(), n=3, cutoff=_SPELT)
    return [_entry(cause) for cause in named or [like.cause for like in nearest(asked)]]


def _heard(asked: str) -> list[Any]:
    from rigup.knowledge.doctor_tables import signatures_of
    from rigup.machine.matcher import match
    from rigup.machine.texts import Text

    ids = {symptom.values()["id"] for symptom, _told in match(Text("asked", asked))}
    return list(signatures_of(ids))


def _entry(cause: str) -> "Cause":
    import msgspec

    from rigup.knowledge.doctor_tables import causes, texts
    from rigup.schemas.explain import Cause

    row, text = causes()[cause], texts(current()).get(cause)
    entry = Cause(cause=cause, family=row.family, severity=row.severity, layer=row.layer)
    if text is None:
        return entry
    return msgspec.structs.replace(
        entry, title=text.title[-1] if text.title else "", meaning=text.meaning, recognise=text.recognise,
        mends=text.mends, in_vain=text.in_vain, sources=list(text.sources),
    )  # fmt: skip


def _told(entry: "Cause") -> str:
    lines = [*wrapped(style(entry.cause, bold=True) + ": " + (entry.title or "")), ""]
    parts = ((entry.meaning, _("What it means")), (entry.recognise, _("How to recognise it")),
             (entry.mends, _("What mends it")), (entry.in_vain, _("Tried in vain")))  # fmt: skip
    for said, label in parts:
        if said:
            lines += [style(label, bold=True), *wrapped(said, "  ", "  "), ""]
    if entry.sources:
        lines += [style(_("Sources"), bold=True), *("  " + source for source in entry.sources)]
    return "\n".join(lines).rstrip()


def _nearest(entries: "list[Cause]") -> str:
    """A guess, and said to be one."""
    lines = wrapped(_("No cause is named so, and no known message reads like this. Nearest to it:"))
    return "\n".join([*lines, *_titles(entries), "", *wrapped(_hint())])


def _hint() -> str:
    return _(
        "`rigup explain CAUSE` tells one of them; `rigup doctor --from FILE`, given the whole report, tells which it is."
    )


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
