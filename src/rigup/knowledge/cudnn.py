"""Which cuDNN a chip still has, where packages ask for any; and which of NVIDIA's images has which."""

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


class _Image(msgspec.Struct, frozen=True, kw_only=True):
    cuda: str
    os: list[str]
    cudnn: str
    cudnn_major: int


def image_with_cudnn(major: str, cuda: str, flavour: str, system: str) -> str:
    """The image of NVIDIA's nearest above one, of the same CUDA's major number, that has a cuDNN; "" where the table knows none.

    Args:
        major: of cuDNN ("9").
        cuda: of the image that is there ("12.3.2").
        flavour: "runtime" or "devel".
        system: "ubuntu22.04".

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = [row for row in tables.rows("containers", "nvidia_cuda", _Image) if str(row.cudnn_major) == major and system in row.os]
    held = sorted((version_key(one), one, row.cudnn) for row in rows for one in row.cuda.partition(" (")[0].split(", "))
    near = (
        f"nvidia/cuda:{one}-{name}-{flavour}-{system}"
        for key, one, name in held
        if key[:1] == version_key(cuda)[:1] and key >= version_key(cuda)
    )
    return next(near, "")
