"""Older compilers that distributions keep beside their own (data/host_compilers.toml)."""

from typing import NamedTuple

import msgspec

from rigup.knowledge import tables


class _Compiler(msgspec.Struct, frozen=True, kw_only=True):
    ids: list[str]
    releases: list[str] = []
    gcc: list[int]
    packages: list[str]
    program: str


class HostCompiler(NamedTuple):
    """One that is installed beside the system's own.

    Attributes:
        packages: names, for the distribution's package manager.
        program: the path of its g++.

    """

    packages: list[str]
    program: str


def older_compiler(distribution: str, release: str, most: int) -> HostCompiler | None:
    """The newest GCC up to a major release that the distribution's release has packages of; None where nobody knows one.

    Args:
        distribution: the ID of its os-release.
        release: its VERSION_ID; a later part counts for the row of its first ("9.4" for "9").
        most: the newest major release that serves.

    Raises:
        KnowledgeError: the table is malformed.

    """
    for row in tables.rows("host_compilers", "compiler", _Compiler):
        there = not row.releases or any(f"{release}.".startswith(f"{one}.") for one in row.releases)
        known = [number for number in row.gcc if number <= most]
        if distribution in row.ids and there and known:
            gcc = str(max(known))
            return HostCompiler([name.replace("{gcc}", gcc) for name in row.packages], row.program.replace("{gcc}", gcc))
    return None


def is_release_known(distribution: str, release: str) -> bool:
    """Whether the table tells which compilers a distribution's release has.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("host_compilers", "compiler", _Compiler)
    return any(distribution in row.ids and (not row.releases or release in row.releases) for row in rows)
