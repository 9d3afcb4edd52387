"""What starts containers, and how each is asked for a thing in its own words."""

import msgspec

from rigup.knowledge import tables


class _Ask(msgspec.Struct, frozen=True):
    wish: str
    starter: str
    words: str


def asked(wish: str, starter: str) -> str:
    """The words by which a starter ("docker", "compose", "kubernetes") is asked for a thing; "" where it has none.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("containers", "ask", _Ask)
    return next((row.words for row in rows if row.wish == wish and row.starter == starter), "")
