"""Packages that an index does not offer to every system, or to every Python, for they hold compiled code."""

import msgspec

from rigup.knowledge.patterns import compiled
from rigup.knowledge.tables import rows


class _Package(msgspec.Struct, frozen=True, kw_only=True):
    regex: str
    systems: list[str] = []


def is_of_other_systems(name: str, system: str) -> bool:
    """Whether a package has wheels for other systems alone.

    Args:
        name: as an index writes it.
        system: "linux", "windows" or "macos"; of others nothing is known.

    Raises:
        KnowledgeError: the table is malformed.

    """
    known = rows("package_systems", "package", _Package)
    return any(system in row.systems for row in known) and any(
        system not in row.systems and compiled(row.regex).fullmatch(name) for row in known
    )


def is_compiled(name: str) -> bool:
    """Whether a package, as an index writes its name, holds compiled code, so that it has a wheel for each Python. Raises KnowledgeError."""
    return any(compiled(row.regex).fullmatch(name) for row in rows("package_systems", "compiled", _Package))
