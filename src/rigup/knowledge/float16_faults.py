"""Chips that are known to give wrong results in float16."""

import msgspec

from rigup.knowledge import tables


class _Fault(msgspec.Struct, frozen=True, kw_only=True):
    vendor: str
    isa: str
    names: list[str]
    source: str = ""


def is_wrong_in_float16(vendor: str, isa: str, name: str) -> bool:
    """Whether a card is known to give not-a-number in float16 where others give numbers.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("float16_faults", "fault", _Fault)
    return any(row.vendor == vendor and row.isa == isa and any(part in name for part in row.names) for row in rows)
