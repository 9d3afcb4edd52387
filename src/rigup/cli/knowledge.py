"""`rigup knowledge`: look into the tables, and see where each row comes from."""

import sys
from typing import TYPE_CHECKING, Any

import click
import msgspec

from rigup.knowledge import lookup, tables
from rigup.knowledge.lookup import Hit
from rigup.language import _

if TYPE_CHECKING:
    from rigup.schemas.knowledge import Found, Table, Tables

SCHEMA = "rigup.knowledge/1"
_PROVENANCE = ("source", "checked", "how", "confidence", tables.OVERLAY)


@click.command(name="knowledge")
@click.argument("query", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help=_("Print JSON (schema {schema}).").format(schema=SCHEMA))
@click.option("--table", default="", metavar="NAME", help=_("Look in this table only."))
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1), help=_("Rows to show at most."))
def command(query: tuple[str, ...], as_json: bool, table: str, limit: int) -> None:
    """Search what rigup knows: GPUs, drivers, builds, causes; without a QUERY list the tables."""
    known = tables.names()
    if table and not any(name == table or name.startswith(table.rstrip("/") + "/") for name in known):
        text = _("There is no table {name}. `rigup knowledge` lists them all.").format(name=table)
        raise click.UsageError(text)
    faults = tables.problems()
    for fault in faults:
        click.echo(tables.explain(fault), err=True)
    if not query:
        _list(table, as_json, faults)
        return
    hits = lookup.search(query, table)
    if as_json:
        _print_json(query, hits, limit, faults)
    else:
        _print_text(query, hits, limit)
    sys.exit(0 if hits else 1)


def _list(table: str, as_json: bool, faults: list[tables.KnowledgeError]) -> None:
    listed = [_summary(name) for name in tables.names(table) if _readable(name)]
    if as_json:
        from rigup.schemas.knowledge import Tables

        _echo_json(Tables(tables=listed, problems=[tables.explain(fault) for fault in faults]))
        return
    width = max((len(row.table) for row in listed), default=0)
    for row in listed:
        template = _("{table}  {as_of}  {rows} rows")
        click.echo(template.format(table=row.table.ljust(width), as_of=row.as_of or "----------", rows=row.rows))


def _readable(name: str) -> bool:
    try:
        tables.table(name)
    except tables.KnowledgeError:
        return False
    return True


def _summary(name: str) -> "Table":
    """Tell what a table holds: its date, its rows, and how many an overlay brought."""
    from rigup.schemas.knowledge import Table

    rows = [row for _array, rows in lookup.arrays(tables.table(name)) for row in rows]
    overlaid = sum(tables.OVERLAY in row for row in rows)
    return Table(table=name, as_of=tables.table_date(name) or None, rows=len(rows), overlaid=overlaid)


def _print_json(query: tuple[str, ...], hits: list[Hit], limit: int, faults: list[tables.KnowledgeError]) -> None:
    from rigup.schemas import knowledge as schema

    rows = [schema.Hit(table=hit.table, array=hit.array, key=hit.key, row=hit.row) for hit in hits[:limit]]
    problems = [tables.explain(fault) for fault in faults]
    _echo_json(schema.Found(query=_query_text(query), found=len(hits), hits=rows, problems=problems))


def _query_text(query: tuple[str, ...]) -> str:
    """What was asked for, without secrets: somebody may have pasted a whole message."""
    from rigup.machine.outward import outward_text

    return outward_text(" ".join(query))


def _echo_json(answer: "Tables | Found") -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(answer)).decode())


def _print_text(query: tuple[str, ...], hits: list[Hit], limit: int) -> None:
    if not hits:
        text = _("Nothing is known of {query}. Fewer words find more.").format(query=_query_text(query))
        click.echo(text)
        return
    click.echo("\n\n".join(_block(hit) for hit in hits[:limit]))
    if len(hits) > limit:
        click.echo()
        text = _("{shown} of {found} rows are shown: --limit shows more, --table NAME and more words fewer.")
        click.echo(text.format(shown=limit, found=len(hits)))


def _block(hit: Hit) -> str:
    """Write one row: its key, its fields, and where it comes from."""
    lines = [_("{key}   (table {table}, {array})").format(key=hit.key, table=hit.table, array=hit.array)]
    lines += [f"    {name}: {_plain(value)}" for name, value in hit.row.items() if name not in _PROVENANCE]
    lines.append("    " + _origin(hit.row))
    if hit.overlay:
        lines.append("    " + _("from your own table {path}").format(path=hit.overlay))
    return "\n".join(lines)


def _origin(row: dict[str, Any]) -> str:
    texts = {"measured": _("measured"), "documented": _("documented"), "reported": _("reported")}
    how = texts.get(str(row.get("how")), str(row.get("how", "?")))
    text = _("source: {source} ({how}, checked {checked})")
    line = text.format(source=row.get("source", "?"), how=how, checked=row.get("checked", "?"))
    sure = row.get("confidence")
    return line if not sure else line + " " + _("confidence: {confidence}").format(confidence=sure)


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_plain, value)) if value else "-"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_plain(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return str(value)
