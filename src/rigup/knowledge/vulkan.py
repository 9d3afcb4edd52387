"""Which GPUs are older than Vulkan, whose cards its drivers serve, and which packages bring them."""

import msgspec

from rigup.knowledge import tables


class _Without(msgspec.Struct, frozen=True, kw_only=True):
    vendor: str
    isas: list[str] = []
    architectures: list[str] = []


class _Driver(msgspec.Struct, frozen=True):
    manifest: list[str]
    packages: list[str]
    vendors: list[str]


class _Packages(msgspec.Struct, frozen=True):
    vendors: list[str]
    ids: list[str]
    packages: list[str]
    beside: list[str] = []


def has_vulkan(vendor: str, isa: str | None, architecture: str) -> bool:
    """Whether a driver offers Vulkan for a GPU; one that the table does not name has it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = (row for row in tables.rows("vulkan", "without", _Without) if row.vendor == vendor)
    return not any(isa in row.isas or architecture in row.architectures for row in rows)


def served(name: str) -> tuple[str, ...]:
    """Whose cards a driver of Vulkan serves, by its manifest's name up to `_icd` or its package's; () for what is none that is known.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("vulkan", "driver", _Driver)
    return next((tuple(row.vendors) for row in rows if name in row.manifest or name in row.packages), ())


def driver_packages(vendor: str, distribution: str) -> tuple[str, ...]:
    """What brings the driver of a maker's cards in a distribution, by its ID; () where that is not known.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("vulkan", "package", _Packages)
    return next((tuple(row.packages) for row in rows if vendor in row.vendors and distribution in row.ids), ())


def distribution_of(packages: frozenset[str]) -> str:
    """The first distribution that packs a driver under one of these names alone; "" where several families do.

    Raises:
        KnowledgeError: the table is malformed.

    """
    found = {row.ids[0] for row in tables.rows("vulkan", "package", _Packages) if packages.intersection(row.beside)}
    return "".join(found) if len(found) == 1 else ""
