"""Which driver a CUDA toolkit needs, and which CUDA a driver carries."""

import re
from functools import lru_cache

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
    isa_min: str = ""


class _Branch(msgspec.Struct, frozen=True):
    branch: str
    cuda: str


@lru_cache(maxsize=8192)
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


def first_branch_of(cuda: str) -> str:
    """Tell the oldest branch whose drivers show a CUDA ("12.8" -> "570"); "" where none does.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = [row for row in tables.rows("cuda_driver", "branch", _Branch) if version_key(row.cuda) >= version_key(cuda)[:2]]
    return min((row.branch for row in rows), key=version_key, default="")


def driver_carries(driver_version: str, cuda: str, system: str = "linux") -> bool | None:
    """Tell whether programs of a CUDA toolkit run on a driver; None where nobody knows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    minimum, have = driver_minimum(cuda, system), version_key(driver_version)
    return have >= version_key(minimum) if minimum and have else None


def reaches(driver_version: str, least: str) -> bool:
    """Whether a driver is at least another; a branch alone ("535") is taken for one of its later releases."""
    have, asked = version_key(driver_version), version_key(least)
    return have >= (asked[:1] if len(have) == 1 else asked)


def branch_of(driver_version: str) -> str | None:
    """Tell the branch of a driver ("581.57" of Windows is of "580"); None below the oldest of the table.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked = version_key(driver_version)[:1]
    names = [row.branch for row in tables.rows("cuda_driver", "branch", _Branch) if version_key(row.branch) <= asked]
    return max(names, key=version_key, default=None) if asked else None


def toolkit_knows(cuda: str, isa: str) -> bool | None:
    """Tell whether the libraries of a CUDA release hold code for a chip; None for a chip that no release knows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    if not any(isa in row.isas for row in tables.rows("cuda_driver", "toolkit_compile", _Compiler)):
        return None
    return isa in toolkit_isas(cuda)


def toolkit_isas(cuda: str) -> list[str]:
    """List the chips that a CUDA release knows, or the one before it where the table has a gap; none below the table.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("cuda_driver", "toolkit_compile", _Compiler)
    asked = version_key(cuda)[:2]
    older = [row for row in rows if version_key(row.cuda)[: len(asked)] <= asked]
    return [*max(older, key=lambda row: version_key(row.cuda)).isas] if older else []


def oldest_compiled(cuda: str) -> str:
    """Tell the oldest chip that a toolkit compiles for ("13" -> "sm_75"); "" below the table.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked = version_key(cuda)
    rows = tables.rows("cuda_driver", "toolkit_compile", _Compiler)
    older = [row for row in rows if version_key(row.cuda)[: len(asked)] <= asked[:2]]
    return max(older, key=lambda row: version_key(row.cuda)).isa_min if older else ""


def toolkits_knowing(isa: str) -> str:
    """Tell the first CUDA release that compiles for a chip ("sm_89" -> "11.8"); "" where the table has none.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("cuda_driver", "toolkit_compile", _Compiler)
    return min((row.cuda for row in rows if isa in row.isas), key=version_key, default="")


def toolkits_for(isa: str) -> list[str]:
    """The CUDA releases of the table that compile for a chip; all of them for "".

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("cuda_driver", "toolkit_compile", _Compiler)
    return [row.cuda for row in rows if not isa or isa in row.isas]
