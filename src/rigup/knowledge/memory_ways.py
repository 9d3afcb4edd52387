"""How work that is too large for a card is made to need less, in the words of its program (data/memory_ways.toml)."""

from collections.abc import Collection

import msgspec

from rigup.knowledge import tables


class _Way(msgspec.Struct, frozen=True, kw_only=True):
    program: str
    words: str
    signs: list[str] = []
    unless: list[str] = []
    beside: list[str] = []
    on: list[str] = []
    not_on: list[str] = []
    several: bool = False


def signs() -> tuple[str, ...]:
    """Ids of all messages that decide what is said. Raises KnowledgeError."""
    rows = tables.rows("memory_ways", "way", _Way)
    return tuple(dict.fromkeys(sign for row in rows for sign in (*row.signs, *row.unless, *row.beside)))


def ways_to_need_less(heard: Collection[str], system: str, several: bool) -> list[str]:
    """What is to be said, the best first, not yet translated.

    Args:
        heard: ids of messages.
        system: "linux", "windows" or "macos".
        several: whether there are several cards.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("memory_ways", "way", _Way)
    program = next(row.program for row in rows if not row.signs or set(row.signs) & set(heard))
    return [row.words for row in rows if row.program == program and _fits(row, set(heard), system, several)]


def _fits(way: _Way, heard: set[str], system: str, several: bool) -> bool:
    there = system not in way.not_on and (not way.on or system in way.on)
    return there and not heard & set(way.unless) and (not way.beside or bool(heard & set(way.beside))) and (several or not way.several)
