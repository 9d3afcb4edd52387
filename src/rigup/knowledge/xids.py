"""What NVIDIA's driver means by the number of an Xid."""

from typing import Literal

import msgspec

from rigup.knowledge import tables

Severity = Literal["error", "warning", "note"]


class _Xid(msgspec.Struct, frozen=True, kw_only=True):
    cause: str
    severity: Severity
    codes: list[int]


def meaning_of_xid(code: int) -> tuple[str, Severity]:
    """The cause that is behind it, and how much it weighs; "xid" where the number alone does not tell.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("xids", "xid", _Xid)
    return next(((row.cause, row.severity) for row in rows if code in row.codes), ("xid", "warning"))
