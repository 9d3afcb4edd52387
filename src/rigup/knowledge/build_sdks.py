"""What a program for GPUs is compiled with, as distributions pack it, and where it lies else."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key


class _Sdk(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    ids: list[str]
    packages: list[str]
    least: str = ""
    source: str = ""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Where the makers of a kit keep it, for systems that do not pack it.

    Attributes:
        name: of the kit ("Vulkan", "HIP").
        address, address_of_windows: pages for a person; the second is empty where both are one.
        winget: its name for Windows's package manager; empty where it has none.

    """

    name: str
    address: str
    address_of_windows: str = ""
    winget: str = ""
    source: str = ""


def sdk_packages(name: str, distribution: str, release: str) -> tuple[str, ...]:
    """A kit as a release of a distribution packs it; () where it does not, or where that is not known.

    Args:
        name: "Vulkan" or "HIP".
        distribution: ID of the os-release.
        release: its VERSION_ID; "" where it is not known.

    Raises:
        KnowledgeError: the table is malformed.

    """
    for row in tables.rows("build_sdks", "sdk", _Sdk):
        if row.name == name and distribution in row.ids:
            known = not row.least or version_key(release) >= version_key(row.least)
            return tuple(row.packages) if known else ()
    return ()


def sdk_page(name: str) -> Page | None:
    """The makers' own page of a kit. Raises KnowledgeError for a malformed table."""
    return next((row for row in tables.rows("build_sdks", "page", Page) if row.name == name), None)
