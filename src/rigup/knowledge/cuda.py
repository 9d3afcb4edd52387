"""Which driver a CUDA toolkit needs, and which CUDA a driver carries."""

import re

import msgspec

from rigup.knowledge import tables

_MAJOR_WIDE = 11
"""From this major on any toolkit of a major runs on the driver of its first release."""


class _Minimum(msgspec.Struct, frozen=True):
    cuda: str
    linux: str
    windows: str


class _Compiler(msgspec.Struct, frozen=True):
    cuda: str
    isas: list[str]


class _Branch(msgspec.Struct, frozen=True):
    branch: str
    cuda: str


def version_key(version: str) -> tuple[int, ...]:
    """Order versions by their numbers: "535.104.05" -> (535, 104, 5); () where there are none.

    What follows "+" is left out, and a "v" before it; ten numbers at most are read.
    """
    plain = version.split("+", 1)[0]
    return tuple(int(number) for number in re.findall(r"[0-9]{1,9}", plain[:100])[:10])


def driver_minimum(cuda: str, system: str = "linux") -> str | None:
    """Tell the lowest driver on which programs of a CUDA toolkit run.

    Args:
        cuda: "12.4", "12.8.1", "13".
        system: "linux" (also WSL's Linux side: the Windows driver counts there) or "windows".

    Returns:
        A driver version; None for a toolkit that the table does not reach.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked = version_key(cuda)
    if not asked:
        return None
    by_version = {version_key(row.cuda): row for row in tables.rows("cuda_driver", "minimum", _Minimum)}
    row = by_version.get(asked[:1] if asked[0] >= _MAJOR_WIDE else (*asked, 0)[:2])
    return None if row is None else row.windows if system == "windows" else row.linux


def cuda_of_driver(driver_version: str) -> str | None:
    """Tell the highest CUDA that a driver carries ("535.129.03" -> "12.2").

    A branch that the table does not list, between or above those it does, counts as the
    nearest older one; None below the oldest.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked = version_key(driver_version)[:1]
    rows = tables.rows("cuda_driver", "branch", _Branch)
    older = [row for row in rows if asked and version_key(row.branch) <= asked]
    return max(older, key=lambda row: version_key(row.branch)).cuda if older else None


def driver_carries(driver_version: str, cuda: str, system: str = "linux") -> bool | None:
    """Tell whether programs of a CUDA toolkit run on a driver; None where nobody knows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    minimum, have = driver_minimum(cuda, system), version_key(driver_version)
    return have >= version_key(minimum) if minimum and have else None


def toolkit_knows(cuda: str, isa: str) -> bool | None:
    """Tell whether the libraries of a CUDA release hold code for a chip; None for a chip that no release knows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("cuda_driver", "toolkit_compile", _Compiler)
    if not any(isa in row.isas for row in rows):
        return None
    asked = version_key(cuda)[:2]
    older = [row for row in rows if version_key(row.cuda)[:2] <= asked]
    return bool(older) and isa in max(older, key=lambda row: version_key(row.cuda)).isas
