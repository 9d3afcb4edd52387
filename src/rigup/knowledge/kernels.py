"""Which Linux kernel a GPU wants for compute."""

import msgspec

from rigup.knowledge import tables


class KernelMinimum(msgspec.Struct, frozen=True, kw_only=True):
    """The first kernel whose own driver runs compute on some GPUs, by target or by architecture."""

    vendor: str
    isas: list[str] = []
    architectures: list[str] = []
    kernel: str
    source: str = ""


def kernel_minimum(vendor: str, isa: str | None, architecture: str) -> str | None:
    """Tell the first kernel for a GPU ("6.11"); None where the table does not tell.

    Raises:
        KnowledgeError: the table is malformed.

    """
    for row in tables.rows("kernels", "minimum", KernelMinimum):
        if row.vendor == vendor and (isa in row.isas or architecture in row.architectures):
            return row.kernel
    return None
