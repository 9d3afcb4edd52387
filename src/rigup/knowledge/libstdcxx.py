"""Versions of libstdc++'s symbols, and the GCC that brought them (data/libstdcxx.toml)."""

import msgspec

from rigup.knowledge import tables


class _Symbols(msgspec.Struct, frozen=True):
    version: str
    gcc: str


def gcc_of(version: str) -> str:
    """The first major release of GCC whose libstdc++ has symbols of that version ("GLIBCXX_3.4.30"); "" where nobody knows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return next((row.gcc for row in tables.rows("libstdcxx", "symbols", _Symbols) if row.version == version), "")
