"""Words after which a text tells of another time: rows of `turning_points.toml`."""

import re
from typing import Literal

import msgspec

from rigup.knowledge import tables

Kind = Literal["now", "then"]


class _Phrase(msgspec.Struct, frozen=True, kw_only=True):
    """How people say something in one language.

    Attributes:
        regex: whatever the case of its letters.
        example: what it knows.
        near_miss: what it does not.

    """

    language: str
    regex: str
    example: str = ""
    near_miss: str = ""
    source: str = ""
    checked: str = ""
    how: str = ""


class Turn(_Phrase, frozen=True, kw_only=True):
    """That what follows is of another time: `kind` is "now" after a change, "then" before it or elsewhere. Tried on each line."""

    kind: Kind


class Removal(_Phrase, frozen=True, kw_only=True):
    """That something was tried in an environment of its own, which they removed again: from the words for the one to those for the other."""


@tables.remembered
def turns() -> tuple[Turn, ...]:
    """All rows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return tuple(tables.rows("turning_points", "turn", Turn))


@tables.remembered
def _forms() -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    return tuple((row.kind, re.compile(row.regex, re.IGNORECASE)) for row in turns())


def turn_of(line: str) -> Kind | None:
    """Of which time what follows a line is; None where the line does not say. The last word of a line counts.

    Raises:
        KnowledgeError: the table is malformed.

    """
    last = [(match.end(), kind) for kind, form in _forms() for match in form.finditer(line[:_LONGEST])]
    return max(last)[1] if last else None


_LONGEST = 600  # characters of a line that are read


@tables.remembered
def removals() -> tuple[Removal, ...]:
    """All rows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return tuple(tables.rows("turning_points", "removal", Removal))


@tables.remembered
def _trials() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{row.regex})" for row in removals()), re.IGNORECASE)


def without_trials(body: str) -> str:
    """The text with blanks in the place of what was tried in an environment that is removed: the fault left with it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return _trials().sub(lambda told: re.sub(r"[^\n]", " ", told[0]), body)
