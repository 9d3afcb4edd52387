"""Whether compiled code runs on a chip: by the lists that a build of torch gives of itself."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SM = r"(sm|compute)_(\d{1,3})(\d)([af]?)"


def runs_on(isa: str, code: Iterable[str]) -> bool | None:
    """Whether any of this code runs on that chip; None where the list tells nothing.

    Machine code runs on chips of its own major at an equal or higher minor, PTX (`compute_`) on anything newer. A
    suffix binds it: `a` to its chip, `f` to its major.
    """
    listed = [entry for entry in code if entry]
    if not listed or not isa:
        return None
    chip = re.fullmatch(_SM, isa)
    if chip is None:
        return any(entry.split(":")[0] in (isa, _generic(isa)) for entry in listed)
    major, minor = int(chip[2]), int(chip[3])
    return any(_sm_runs(major, minor, match) for entry in listed if (match := re.fullmatch(_SM, entry)))


def _sm_runs(major: int, minor: int, match: re.Match[str]) -> bool:
    theirs = (int(match[2]), int(match[3]))
    if match[4] == "a":
        return theirs == (major, minor)
    same = theirs[0] == major and theirs[1] <= minor
    return same or (match[1] == "compute" and not match[4] and theirs <= (major, minor))


def _generic(isa: str) -> str:
    """`gfx1103` → `gfx11-generic`: code for a whole family of chips."""
    return isa[:-2] + "-generic"
