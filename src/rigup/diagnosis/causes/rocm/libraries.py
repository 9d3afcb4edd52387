"""Of which release of ROCm a library is."""

import re

from rigup.machine.kinds import Symptom, Torch

HIP = "libamdhip64"  # its number is ROCm's own
_NUMBERED = (HIP, "librocblas", "libMIOpen", "libhipblas")


def missed_and_there(error: Symptom, present: Symptom | None) -> bool:
    """The environment has the library that is missed, by the number that is asked for."""
    return present is not None and error.get("lib") == present.get("lib") and error.get("want") == present.get("have")


def foreign(error: Symptom, torch: Torch | None) -> bool:
    """The files are those of a ROCm of another major release than torch was built for."""
    folder, mine = re.search(r"/rocm-(\d{1,2})\.", str(error.get("path"))), (torch and torch.get("hip")) or ""
    return bool(folder and mine) and folder[1] != mine.partition(".")[0]  # type: ignore[index]


def major(version: str | None) -> str:
    """The first number of a version; "" where there is none."""
    return str(version or "").partition(".")[0]


def numbered(error: Symptom) -> bool:
    """A library whose number tells the release of ROCm, so that another number means another release."""
    return error.get("lib") in _NUMBERED


def of_its_own_release(error: Symptom, torch: Torch | None) -> bool:
    """HIP's library is asked for by the number of the very ROCm that torch's own version names."""
    mine = re.search(r"\+rocm(\d{1,2})\.", str(torch.get("version") or "")) if torch else None
    return mine is not None and error.get("lib") == HIP and mine[1] == error.get("want")
