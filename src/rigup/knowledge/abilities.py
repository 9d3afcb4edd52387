"""What a chip can do, and what one that cannot does instead."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.chips import gfx_base, isa_order


class Ability(msgspec.Struct, frozen=True, kw_only=True):
    """Something that chips can do or not.

    Attributes:
        oldest: the oldest NVIDIA chip that can.
        without: newer NVIDIA chips that cannot.
        amd: targets that can; "*" all.
        apple, intel: whether theirs can; None where it is not known.
        vendors: makers of whom it is asked at all; empty all.
        lack: what is said of a chip that cannot.

    """

    id: str
    lack: str
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
    return [row for row in tables.rows("abilities", "ability", Ability) if _has_ability(row, vendor, isa) is False]


def _has_ability(row: Ability, vendor: str, isa: str) -> bool | None:
    if row.vendors and vendor not in row.vendors:
        return None
    if vendor in ("apple", "intel"):
        return row.apple if vendor == "apple" else row.intel
    if not isa_order(isa):
        return None
    if vendor == "amd":
        return "*" in row.amd or gfx_base(isa) in row.amd
    return isa not in row.without and isa_order(isa) >= isa_order(row.oldest) if row.oldest else None
