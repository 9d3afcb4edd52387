"""Who stands on whom: what a replaced package would be missed by."""

import msgspec

from rigup.knowledge import tables


class Dependent(msgspec.Struct, frozen=True, kw_only=True):
    """A package that stands on another.

    Attributes:
        compiled: its code fits one release of the other alone.

    """

    package: str
    on: str
    compiled: bool = False
    source: str = ""


def dependents(package: str) -> dict[str, Dependent]:
    """Packages that stand on a package, by name.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("torch_addons", "dependent", Dependent)
    return {row.package: row for row in rows if row.on == package}
