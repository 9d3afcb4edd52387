"""ROCm's libraries, as far as a missing one tells something."""

import msgspec

from rigup.knowledge import tables


class _Steady(msgspec.Struct, frozen=True, kw_only=True):
    stem: str
    source: str = ""
    checked: str = ""
    how: str = ""


def keeps_its_number(soname: str) -> bool:
    """Whether every release of ROCm has this library under one number, so that no other release is there where it is missed.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return soname.startswith(tuple(row.stem for row in tables.rows("rocm_libraries", "steady", _Steady)))
