"""Which cuDNN a chip still has, where packages ask for any."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key


class CudnnPin(msgspec.Struct, frozen=True, kw_only=True):
    """The last release of a package for chips older than `below`."""

    cuda: str
    below: str
    package: str
    version: str


def cudnn_pin(cuda: str) -> CudnnPin | None:
    """What has to be named beside a package of that CUDA which takes any cuDNN; None where nothing has to be.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("cuda_driver", "cudnn_pin", CudnnPin)
    return next((row for row in rows if version_key(cuda)[:1] == version_key(row.cuda)), None)
