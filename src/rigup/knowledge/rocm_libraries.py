"""ROCm's libraries, as far as a missing one tells something."""

import msgspec

from rigup.knowledge import tables


class _Steady(msgspec.Struct, frozen=True, kw_only=True):
    stem: str
    source: str = ""
    checked: str = ""
    how: str = ""


class _Generation(msgspec.Struct, frozen=True, kw_only=True):
    stem: str
    number: str
    rocm: str


def rocm_of_library(soname: str, number: str = "") -> str:
    """Tell the first number of the ROCm releases that have a library under a number ("6" for libamdhip64.so.6); "" where it does not tell.

    Raises:
        KnowledgeError: the table is malformed.

    """
    stem, _, suffix = soname.partition(".so.")
    rows = tables.rows("rocm_libraries", "generation", _Generation)
    wanted = (stem, number or suffix.partition(".")[0])
    return next((row.rocm for row in rows if (row.stem, row.number) == wanted), "")


def keeps_its_number(soname: str) -> bool:
    """Whether every release of ROCm has this library under one number, so that no other release is there where it is missed.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return soname.startswith(tuple(row.stem for row in tables.rows("rocm_libraries", "steady", _Steady)))
