"""Who stands on whom: what a replaced package would be missed by."""

import msgspec

from rigup.knowledge import tables


class Dependent(msgspec.Struct, frozen=True, kw_only=True):
    """A package that stands on another.

    Attributes:
        compiled: its code fits one release of the other alone.
        files: what PyPI has of its newest release: "any" for a wheel that fits everywhere, platforms that have one
            ("linux-x86_64"), "source" where it is built, "none" where the name is not there; empty where nobody looked.

    """

    package: str
    on: str
    compiled: bool = False
    files: list[str] = []
    source: str = ""


def dependents(package: str) -> dict[str, Dependent]:
    """Packages that stand on a package, by name.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("torch_addons", "dependent", Dependent)
    return {row.package: row for row in rows if row.on == package}


def without_wheels() -> frozenset[str]:
    """Packages whose newest release comes as source alone, while an older one may have a wheel. Raises KnowledgeError."""
    return frozenset(row.package for row in tables.rows("torch_addons", "dependent", Dependent) if row.files == ["source"])
