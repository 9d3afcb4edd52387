"""Words that a regex needs: where they do not stand it is not tried, nor compiled."""

import re
from collections.abc import Iterable
from typing import Any

Need = str | list[Any] | None
"""A word, ``["all", …]`` or ``["any", …]`` of such, or None where no word can be named."""


def with_needs(table: dict[str, Any]) -> dict[str, Any]:
    """The same table; signatures and places say which words their regex needs beside the literal.

    Compiling a regex takes longer than all else that is done with it. A regex that is none is left to whoever tries it.
    """
    arrays = [table.get(array) for array in ("signature", "place")]
    for row in (row for rows in arrays if isinstance(rows, list) for row in rows):
        literal = row.get("literal") if isinstance(row, dict) else None
        if isinstance(literal, str) and (needs := _beyond(needed(str(row.get("regex", ""))), literal)):
            row["needs"] = needs
    return table


def _beyond(needs: Need, literal: str) -> Need:
    """What is needed beside the literal, which stands where the regex is tried."""
    if needs is None or isinstance(needs, str):
        return None if needs is None or needs in literal.lower() else needs
    kind, *parts = needs
    left = [_beyond(part, literal) for part in parts]
    if kind == "any":
        return None if None in left else ["any", *left]
    left = [part for part in left if part]
    return left[0] if len(left) == 1 else ["all", *left] if left else None


def needed(regex: str) -> Need:
    """Words without which a regex matches nowhere, in small letters.

    Returns:
        A word, ``["all", …]`` or ``["any", …]`` of such, or None where no word can be named.

    """
    try:
        from re import _parser  # type: ignore[attr-defined]  # the one parser of Python's own regexes

        return _needed_by(_parser.parse(regex, re.MULTILINE))
    except (ImportError, AttributeError, re.error, RecursionError):
        return None


def _needed_by(parts: Iterable[tuple[Any, Any]]) -> Need:
    """What a sequence needs is what all of its parts need; letters that follow each other are a word."""
    needs: list[Need] = []
    word = ""
    for kind, value in parts:
        if str(kind) == "LITERAL" and value < 128:  # a letter without ASCII may have two small forms
            word += chr(value).lower()
            continue
        needs += [word, _needed_by_part(str(kind), value)]
        word = ""
    needs = [need for need in (*needs, word) if need and (not isinstance(need, str) or len(need) > 1)]
    return needs[0] if len(needs) == 1 else ["all", *needs] if needs else None


def _needed_by_part(kind: str, value: Any) -> Need:
    if kind in ("SUBPATTERN", "ATOMIC_GROUP"):
        return _needed_by(value[-1] if kind == "SUBPATTERN" else value)
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return _needed_by(value[2]) if value[0] else None
    if kind == "ASSERT" and value[0] > 0:  # what stands before may lie outside the stretch that is searched
        return _needed_by(value[1])
    if kind == "BRANCH":
        choices = [_needed_by(choice) for choice in value[1]]
        return None if None in choices else ["any", *choices]
    return None
