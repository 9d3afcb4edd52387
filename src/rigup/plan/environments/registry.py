"""Environments that rigup made, remembered under the state folder: one small file each, so that nobody waits for anybody.

What is remembered is only where to look: whether an environment is there, and rigup's, its own record says.
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from rigup.plan.applying.journal import state

_MOST = 10_000
_LONGEST = 8_192


def _folder() -> Path:
    return state() / "environments"


def _entry(path: Path) -> Path:
    return _folder() / hashlib.sha256(os.fsencode(path)).hexdigest()[:24]


def add(path: Path) -> None:
    """Remember an environment; to be called when it lies at its path. Raises OSError."""
    where = Path(os.path.realpath(path))
    _folder().mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = _entry(where).with_suffix(".new")
    temporary.write_bytes(os.fsencode(where))
    os.replace(temporary, _entry(where))


def forget(path: Path) -> None:
    """Remember it no more. Raises OSError."""
    _entry(Path(os.path.realpath(path))).unlink(missing_ok=True)


def remembered() -> list[Path]:
    """All that were added, sorted, whether they are there or not. Never raises."""
    paths = set()
    with suppress(OSError):
        for name in sorted(os.listdir(_folder()))[:_MOST]:
            with suppress(OSError), open(_folder() / name, "rb") as file:
                raw = file.read(_LONGEST)
                if os.path.isabs(raw) and b"\0" not in raw and not name.endswith(".new"):
                    paths.add(Path(os.fsdecode(raw)))
    return sorted(paths)


def forget_those_gone() -> list[Path]:
    """Forget environments whose folder's own folder is there and they are not: a disk that is away keeps its own."""
    gone = [path for path in remembered() if path.parent.is_dir() and not os.path.lexists(path)]
    for path in gone:
        forget(path)
    return gone
