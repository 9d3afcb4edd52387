"""Which AMD targets ROCm once had and has left."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.chips import gfx_base


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """The last releases that carried a target.

    Attributes:
        official_last: the last ROCm whose list had it.
        rocblas_last: the last whose rocBLAS had kernels for it.
        torch_wheel_last: the last variant of torch's wheels.

    """

    isas: list[str]
    official_last: str = ""
    rocblas_last: str = ""
    torch_wheel_last: str = ""
    note: str = ""
    source: str = ""


class _Atomics(msgspec.Struct, frozen=True, kw_only=True):
    generation: str
    source: str = ""
    how: str = ""


def wants_atomics(gfx: str) -> bool:
    """Whether amdkfd takes a chip only behind bridges that complete PCIe's atomics.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("gfx_targets", "atomics", _Atomics)
    return any(gfx_base(gfx)[:-2] == row.generation for row in rows)


def ended(gfx: str) -> Ended | None:
    """Tell of a target that an older ROCm carried and newer ones do not; None for all others.

    Raises:
        KnowledgeError: the table is malformed.

    """
    base = gfx_base(gfx)
    rows = tables.rows("gfx_targets", "lifecycle", Ended)
    return next((row for row in rows if base and base in row.isas and row.official_last), None)
