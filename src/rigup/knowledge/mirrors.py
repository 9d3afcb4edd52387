"""Mirrors that a person may ask for by name. None is ever taken silently."""

import msgspec

from rigup.knowledge import tables


class _Mirror(msgspec.Struct, frozen=True, kw_only=True):
    """One place that holds a copy.

    Attributes:
        group: the name by which it is asked for; the places of one operator share it.
        template: its address; {variant} stands for the build variant of torch.
        variants: how the build variants begin that it is known to have; empty for all.

    """

    kind: str
    group: str = ""
    template: str = ""
    variants: list[str] = []


def mirror_names() -> list[str]:
    """The mirrors that the table knows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return sorted({row.group for row in tables.rows("mirrors", "mirror", _Mirror) if row.group}, key=str.lower)


def mirrored(name: str, kind: str, variant: str = "") -> str:
    """The address of a mirror; "" where it has none of that kind, or nobody has seen the variant there.

    Args:
        name: as the table has it, in any case.
        kind: "pypi" (the default index), "pytorch" (torch's own, one a variant), "conda" or "hub".
        variant: "cu126", "cpu".

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("mirrors", "mirror", _Mirror)
    found = [row for row in rows if row.kind == kind and row.group and row.group.lower() == name.lower()]
    if not found or (found[0].variants and not variant.startswith(tuple(found[0].variants))):
        return ""
    return found[0].template.replace("{variant}", variant)


def places_of(kind: str) -> frozenset[str]:
    """The addresses of all mirrors of a kind.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return frozenset(row.template for row in tables.rows("mirrors", "mirror", _Mirror) if row.kind == kind and row.group)
