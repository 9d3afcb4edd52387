"""Find rows of any table by words: what `rigup knowledge QUERY` shows."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.compile import Table

_HIDDEN = ("source", "checked", "how", "note", "confidence", "evidence", tables.OVERLAY)
_PROSE = ("texts/",)


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One row that answers a query.

    Attributes:
        table, array: where it stands.
        key: what tells it apart from the array's other rows.
        row: all its fields.
        rank: 0 the key is the query, 1 the key holds all words, 2 the row does.
        overlay: the file that it was laid over from, "" for a shipped row.

    """

    table: str
    array: str
    key: str
    row: dict[str, Any]
    rank: int
    overlay: str = ""


def search(query: str | Iterable[str], table: str = "") -> list[Hit]:
    """Find the rows whose key or text holds all words of a query, exact keys first.

    Tables that cannot be read are passed over: `tables.problems()` names them.

    Args:
        query: words, as one text or several.
        table: name of the only table to look in ("causes" also means "causes/driver"); "" all.

    """
    words = (query if isinstance(query, str) else " ".join(query)).casefold().split()
    names = [name for name in tables.names() if _is_chosen(name, table)]
    hits = [hit for name in names for hit in _in_table(name, words)] if words else []
    return sorted(hits, key=lambda hit: (hit.rank, hit.table.startswith(_PROSE), len(hit.key)))


def row_key(row: dict[str, Any], fields: Iterable[str]) -> str:
    """Tell a row's key as text; the first plain text of the row where the table names no key."""
    values = [_plain(row[field]) for field in fields if row.get(field) not in (None, "")]
    texts = (str(value) for name, value in row.items() if name not in _HIDDEN and isinstance(value, str))
    return " ".join(values) or next(texts, "")


def arrays(table: Table) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """List the arrays of rows of a table; single tables count as arrays of one row."""
    for name, value in table.items():
        if name == "meta":
            continue
        if isinstance(value, dict):
            yield name, [value]
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield name, value


def _is_chosen(name: str, table: str) -> bool:
    """Texts are searched in English: the other languages say the same."""
    if name.startswith(_PROSE) and not name.startswith("texts/en/") and not table:
        return False
    return not table or name == table or name.startswith(table.rstrip("/") + "/")


def _in_table(name: str, words: list[str]) -> Iterator[Hit]:
    try:
        table = tables.table(name)
    except tables.KnowledgeError:
        return
    keys = table["meta"].get("keys", {})
    for array, rows in arrays(table):
        single = isinstance(table[array], dict)
        for row in rows:
            key = array if single else row_key(row, keys.get(array, ()))
            rank = _rank(words, key, row)
            if rank is not None:
                overlay = str(row.get(tables.OVERLAY, ""))
                yield Hit(table=name, array=array, key=key, row=row, rank=rank, overlay=overlay)


def _rank(words: list[str], key: str, row: dict[str, Any]) -> int | None:
    plain = key.casefold()
    if plain == " ".join(words) or plain.split() == words:
        return 0
    if all(word in plain for word in words):
        return 1
    text = "\n".join(_texts(row)).casefold()
    return 2 if all(word in text for word in words) else None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    else:
        yield str(value)


def _plain(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
