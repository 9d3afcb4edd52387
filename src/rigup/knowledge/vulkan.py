"""Which GPUs are older than Vulkan."""

import msgspec

from rigup.knowledge import tables


class _Without(msgspec.Struct, frozen=True, kw_only=True):
    vendor: str
    isas: list[str] = []
    architectures: list[str] = []


def has_vulkan(vendor: str, isa: str | None, architecture: str) -> bool:
    """Whether a driver offers Vulkan for a GPU; one that the table does not name has it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = (row for row in tables.rows("vulkan", "without", _Without) if row.vendor == vendor)
    return not any(isa in row.isas or architecture in row.architectures for row in rows)
