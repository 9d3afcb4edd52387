"""Which variables somebody else's file may set for a program: an allow list, by name and by the form of the value."""

import re

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.mirrors import places_of


class _Variable(msgspec.Struct, frozen=True, kw_only=True):
    """One variable of the table.

    Attributes:
        value: a pattern of all that it may be.
        numbered: it also comes with the number of a node behind a line.
        folders: it is a list of folders, each of which has that form.
        places: the kind of mirrors of which it names one; "" for no such.

    """

    name: str
    value: str
    numbered: bool = False
    folders: bool = False
    places: str = ""


def allowed(name: str, value: str) -> str | None:
    """What of a variable may be set: its value, of a list the folders that may; None where nothing of it may.

    Raises:
        KnowledgeError: the table is malformed.

    """
    row = _row(name)
    if row is None:
        return None
    if row.folders:
        parts = [part for part in value.split(":") if re.fullmatch(row.value, part, re.ASCII)]
        return ":".join(parts) or None
    fits = re.fullmatch(row.value, value, re.ASCII) and (not row.places or value in places_of(row.places))
    return value if fits else None


def _row(name: str) -> _Variable | None:
    rows = {row.name: row for row in tables.rows("lock_variables", "variable", _Variable)}
    numbered = rows.get(re.sub(r"_\d{1,3}\Z", "", name, flags=re.ASCII))
    return rows.get(name) or (numbered if numbered and numbered.numbered else None)
