"""NVIDIA's libraries and the Python packages that bring them."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.knowledge.patterns import late

_FILE = late(
    r"(?:lib)?(?P<stem>[A-Za-z]{3,12}?)(?:_\w{2,30}?)?(?:64)?(?:_(?P<dll>\d{1,4})(?:_\d{1,2})?\.dll|\.so(?:\.(?P<so>\d{1,3}))?[\d.]{0,12})"
)
_PACKAGE = late(r"(?P<base>nvidia-[a-z-]{3,30}?)-cu(?P<major>\d{2})")


class CudaLibrary(msgspec.Struct, frozen=True, kw_only=True):
    """A library of NVIDIA's.

    Attributes:
        stem: of its file: "cudnn" in libcudnn.so.9 and cudnn64_9.dll.
        package: what brings it, without the -cu12.
        folder: under site-packages/nvidia.
        shares: "always", "same-version" or "": whether packages for two CUDA majors
            write one and the same file.
        suffix_from: "cuda" where the file's number is not CUDA's own.

    """

    stem: str
    package: str
    folder: str
    shares: str = ""
    suffix_from: str = ""
    source: str = ""
    checked: str = ""
    how: str = ""


def libraries() -> tuple[CudaLibrary, ...]:
    """List all libraries of the table.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return tuple(tables.rows("cuda_libraries", "library", CudaLibrary))


def library_of(file: str) -> tuple[CudaLibrary, str] | None:
    """Find the library behind a file's name, and the number in the name.

    Args:
        file: "libcublas.so.12", "cudnn_ops64_9.dll", "cudart64_101.dll".

    Returns:
        The row and "12", "9", "101" ("" where the name has none); None for other files.

    Raises:
        KnowledgeError: the table is malformed.

    """
    found = _FILE.fullmatch(file.strip())
    if not found:
        return None
    row = next((row for row in libraries() if row.stem == found["stem"]), None)
    return (row, found["so"] or found["dll"] or "") if row else None


def overwrite(one: str, its_version: str, other: str, other_version: str) -> bool:
    """Whether two packages for different CUDA majors write the same file.

    Args:
        one: "nvidia-nccl-cu11".
        its_version: "2.21.5".
        other: "nvidia-nccl-cu12".
        other_version: "2.27.3".

    Raises:
        KnowledgeError: the table is malformed.

    """
    mine, theirs = _PACKAGE.fullmatch(one), _PACKAGE.fullmatch(other)
    if not mine or not theirs or mine["base"] != theirs["base"] or mine["major"] == theirs["major"]:
        return False
    shares = {row.shares for row in libraries() if row.package == mine["base"]}
    same = version_key(its_version)[:1] == version_key(other_version)[:1]
    return "always" in shares or ("same-version" in shares and same)
