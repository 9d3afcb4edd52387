"""Which driver branch carries a CUDA."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import cuda_of_driver, version_key


class _Branch(msgspec.Struct, frozen=True):
    branch: str


def branch_carrying(cuda: str) -> str | None:
    """Tell the oldest driver branch that shows at least that CUDA ("12.8" -> "570"); None beyond the table.

    Raises:
        KnowledgeError: the table is malformed.

    """
    wanted = version_key(cuda)[:2]
    names = sorted({row.branch for row in tables.rows("cuda_driver", "branch", _Branch)}, key=version_key)
    return next((name for name in names if version_key(cuda_of_driver(name) or "")[:2] >= wanted), None)
