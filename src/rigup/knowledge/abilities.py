"""What a chip can do, and what one that cannot does instead."""

import re

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.chips import gfx_base, isa_order


class Ability(msgspec.Struct, frozen=True, kw_only=True):
    """Something that chips can do or not.

    Attributes:
        name: as people write it.
        said: a pattern of how they name it, letters of either case; "" where nobody asks for it.
        oldest: the oldest NVIDIA chip that can.
        without: newer NVIDIA chips that cannot.
        amd: targets that can; "*" all.
        apple, intel: whether theirs can; None where it is not known.
        vendors: makers of whom it is asked at all; empty all.
        lack: what is said of a chip that cannot.

    """

    id: str
    lack: str
    name: str = ""
    said: str = ""
    oldest: str = msgspec.field(name="from", default="")
    without: list[str] = []
    amd: list[str] = []
    apple: bool | None = None
    intel: bool | None = None
    vendors: list[str] = []
    source: str = ""
    checked: str = ""
    how: str = ""


def lacking(vendor: str, isa: str = "") -> list[Ability]:
    """What a device cannot do, as far as the tables know.

    Args:
        vendor: "nvidia", "amd", "apple" or "intel".
        isa: what the chip is; without it only what holds for all of a maker's.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return [row for row in tables.rows("abilities", "ability", Ability) if has_ability(row, vendor, isa) is False]


def abilities_named(text: str) -> list[Ability]:
    """What a person writes of in a sentence.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("abilities", "ability", Ability)
    return [row for row in rows if row.said and re.search(row.said, text, re.IGNORECASE)]


def has_ability(row: Ability, vendor: str, isa: str) -> bool | None:
    """Whether a chip can do it; None where the table does not know."""
    if row.vendors and vendor not in row.vendors:
        return None
    if vendor in ("apple", "intel"):
        return row.apple if vendor == "apple" else row.intel
    if not isa_order(isa):
        return None
    if vendor == "amd":
        return "*" in row.amd or gfx_base(isa) in row.amd
    return isa not in row.without and isa_order(isa) >= isa_order(row.oldest) if row.oldest else None
