"""Who a driver's packages are from, and what tells that a machine has a screen."""

import re
from collections.abc import Iterable

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.driver_recipes import provider


class _Origin(msgspec.Struct, frozen=True, kw_only=True):
    manager: str
    name: str
    version: str
    provider: str


class _Screen(msgspec.Struct, frozen=True, kw_only=True):
    service: str


def driver_source(packages: Iterable[tuple[str, str, str]]) -> str:
    """The name of the provider that a driver came from; "" where its packages do not tell.

    Args:
        packages: the manager ("dpkg", "rpm", "pacman"), the name and the version of each.

    Raises:
        KnowledgeError: a table is malformed.

    """
    listed = list(packages)
    for row in tables.rows("driver_origins", "origin", _Origin):
        if any(_fits(row, *package) for package in listed):
            source = provider(row.provider)
            return (source.name or source.id) if source else row.provider
    return ""


def _fits(row: _Origin, manager: str, name: str, version: str) -> bool:
    return row.manager == manager and bool(re.search(row.name, name[:200]) and re.search(row.version, version[:200]))


def desktop_services() -> list[str]:
    """Services that put up a screen. Raises KnowledgeError for a malformed table."""
    return [row.service for row in tables.rows("driver_origins", "screen", _Screen)]
