"""Pythons that distributions keep in their own repositories, and what brings one that they have not."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.knowledge.package_managers import package_manager


class _Family(msgspec.Struct, frozen=True, kw_only=True):
    family: str
    brings: list[str]
    makes: list[str] = []
    headers: list[str] = []


class _Further(msgspec.Struct, frozen=True, kw_only=True):
    ids: list[str]
    release: str
    python: list[str]


class _Uv(msgspec.Struct, frozen=True, kw_only=True):
    least: str


class Installer(msgspec.Struct, frozen=True, kw_only=True):
    """uv's own installer, which needs no Python.

    Attributes:
        command: the folder follows it as its last argument.
        program: what uv is called in that folder.

    """

    system: str
    command: list[str]
    program: str


def further_pythons(distribution: str, release: str) -> tuple[str, ...]:
    """Pythons beside its own one that a release of a distribution has in its repositories ("3.12"); () if none is known.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked = version_key(release)
    rows = (row for row in tables.rows("system_pythons", "further", _Further) if distribution in row.ids and asked)
    return next((tuple(row.python) for row in rows if version_key(row.release) == asked[: len(version_key(row.release))]), ())


def bringing(distribution: str, python: str) -> tuple[str, ...]:
    """The packages of a Python beside the distribution's own one; () where it is not known. Raises KnowledgeError."""
    row = _family(distribution)
    return _fill(row.brings, python) if row else ()


def making_environments(distribution: str, python: str) -> tuple[str, ...]:
    """The packages without which a distribution's Python cannot make environments; () where it just can.

    Raises:
        KnowledgeError: the table is malformed.

    """
    row = _family(distribution)
    return _fill(row.makes, python) if row else ()


def headers_of(distribution: str, python: str) -> tuple[str, ...]:
    """What modules of a Python are compiled against; () where it is not known. Raises KnowledgeError."""
    row = _family(distribution)
    return _fill(row.headers, python) if row else ()


def takes_uv(python: str) -> bool:
    """Whether pip of a Python can install uv. Raises KnowledgeError for a malformed table."""
    least = next((row.least for row in tables.rows("system_pythons", "uv", _Uv)), "")
    return version_key(python) >= version_key(least)


def uv_installer(system: str) -> Installer | None:
    """uv's own installer on a system ("linux", "macos", "windows"). Raises KnowledgeError for a malformed table."""
    wanted = system if system == "windows" else "posix"
    return next((row for row in tables.rows("system_pythons", "installer", Installer) if row.system == wanted), None)


def _family(distribution: str) -> _Family | None:
    manager = package_manager(distribution)
    rows = tables.rows("system_pythons", "family", _Family)
    return next((row for row in rows if manager and row.family == manager.family), None)


def _fill(packages: list[str], python: str) -> tuple[str, ...]:
    return tuple(package.format(python=python, digits=python.replace(".", "")) for package in packages)
