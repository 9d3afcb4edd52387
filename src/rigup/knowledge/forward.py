"""Forward compatibility: a newer CUDA in user space above an older kernel driver, on data-centre cards."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import branch_of, version_key


class _Forward(msgspec.Struct, frozen=True, kw_only=True):
    cuda: str
    package: str
    branches: list[str]


def forward_package(cuda: str, driver: str) -> str:
    """The release of cuda-compat by which a build runs above a driver ("13.0"); "" where NVIDIA names none.

    Raises:
        KnowledgeError: the table is malformed.

    """
    major, branch = version_key(cuda)[:1], branch_of(driver)
    rows = tables.rows("cuda_driver", "forward", _Forward)
    return next((row.package for row in rows if version_key(row.cuda) == major and branch in row.branches), "")
