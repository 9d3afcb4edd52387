"""Mirrors of package indexes: an address in place of another, where the person names one."""

import re

import msgspec

from rigup.knowledge import tables


class _Mirror(msgspec.Struct, frozen=True):
    kind: str
    name: str
    url: str = ""
    note: str = ""


_INDEXES = ("pypi", "pytorch")
_VARIANT = re.compile(r"\{[^{}]{1,60}\}")


def mirror_names() -> list[str]:
    """The mirrors of package indexes that the table knows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return sorted({row.name for row in _usable()}, key=str.lower)


def mirrored(name: str, kind: str, variant: str = "") -> str:
    """The address of a mirror's index; "" where it has none of that kind.

    Args:
        name: as the table has it, in any case.
        kind: "pypi" (the default index) or "pytorch" (torch's own, one a variant).
        variant: "cu126", "cpu".

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = [row for row in _usable() if row.kind == kind and row.name.lower() == name.lower()]
    return _VARIANT.sub(variant, rows[0].url) if rows else ""


def _usable() -> list[_Mirror]:
    rows = tables.rows("mirrors", "mirror", _Mirror)
    return [row for row in rows if row.kind in _INDEXES and row.url and "do not use" not in row.note]
