"""`rigup knowledge --json`: rows of the tables of what is known."""

from typing import Any

from msgspec import Struct


class Table(Struct, frozen=True, kw_only=True):
    """A table in the list.

    Attributes:
        table: its name.
        as_of: the date of its newest row, as YYYY-MM-DD; None where its rows have none.
        rows: how many it has.
        overlaid: how many of them come from somebody's own tables.

    """

    table: str
    as_of: str | None
    rows: int
    overlaid: int


class Tables(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.knowledge/1"):
    """All tables, where nothing was looked for.

    Attributes:
        tables: by name.
        problems: what cannot be read, and why, as sentences.

    """

    tables: list[Table]
    problems: list[str]


class Hit(Struct, frozen=True, kw_only=True):
    """A row that was found.

    Attributes:
        table: in which it stands.
        array: in which array of that.
        key: what tells it from the others.
        row: its fields, with `source`, `checked` and `how`.

    """

    table: str
    array: str
    key: str
    row: dict[str, Any]


class Found(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.knowledge/1"):
    """Rows that were looked for.

    Attributes:
        query: the words.
        found: how many rows there are.
        hits: as many of them as `--limit` allows.
        problems: what cannot be read, and why, as sentences.

    """

    query: str
    found: int
    hits: list[Hit]
    problems: list[str]
