"""What this machine reached before: one file an environment, each run a line, readable by its owner alone."""

import contextlib
import os
from pathlib import Path
from typing import Any

import msgspec

from rigup.machine.baseline import file_name, state_folder

Answer = dict[str, Any]
_MOST_BYTES, _MOST_RUNS = 20_000_000, 200


def earlier(prefix: str) -> list[Answer]:
    """Earlier runs in this environment, oldest first; a line that cannot be read is left out. Never raises."""
    return _runs(_path(prefix))


def nodes() -> list[str]:
    """Machines whose runs lie in this state folder, which several may share; this one among them. Never raises."""
    with contextlib.suppress(OSError):
        return sorted(path.name for path in state_folder("bench").parent.iterdir() if any(path.glob("*.jsonl")))
    return []


def of_node(name: str = "") -> list[Answer]:
    """All runs of a machine, in whichever environment, oldest first; "" is this one. Never raises."""
    folder = state_folder("bench")
    with contextlib.suppress(OSError):
        paths = sorted((folder.parent / file_name(name) if name else folder).glob("*.jsonl"))
        return sorted((run for path in paths for run in _runs(path)), key=lambda run: str(run.get("recorded_at", "")))
    return []


def _runs(path: Path) -> list[Answer]:
    found: list[Answer] = []
    with contextlib.suppress(OSError), open(path, "rb") as file:
        for line in file.read(_MOST_BYTES).splitlines()[-_MOST_RUNS:]:
            with contextlib.suppress(msgspec.DecodeError):
                told = msgspec.json.decode(line)
                found += [told] if isinstance(told, dict) and isinstance(told.get("devices"), list) else []
    return found


def keep(prefix: str, run: Answer) -> str | None:
    """Add a run; its path, None where nothing could be written."""
    path = _path(prefix)
    with contextlib.suppress(OSError, TypeError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as file:
            file.write(msgspec.json.encode(run) + b"\n")
        return str(path)
    return None


def _path(prefix: str) -> Path:
    return state_folder("bench") / (file_name(prefix) + ".jsonl")
