"""What was typed in earlier chats: a file for its owner alone, of which the last part is read."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

_MOST_READ = 1_000_000  # bytes of its end
_MOST_KEPT = 4_000_000  # from which on its older half goes
_MOST_LINE = 100_000  # characters of one entry


def path() -> Path:
    """Where it lies."""
    from rigup.plan.applying.journal import state

    return state() / "chat" / "history"


def lines() -> Iterator[str]:
    """What was typed, the newest first; nothing where there is no file that is ours to read."""
    try:
        handle = os.open(path(), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return
    with os.fdopen(handle, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _MOST_READ))
        body = file.read(_MOST_READ)
    for line in reversed(body.splitlines()[1 if size > _MOST_READ else 0 :]):
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            continue  # a line that a full disk cut off
        if isinstance(document, str):
            yield document


def add(text: str) -> None:
    """Keep what was typed. Where it cannot be kept, nothing is said: the talk goes on."""
    if not text.strip() or len(text) > _MOST_LINE:
        return
    where = path()
    try:
        where.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _halve(where)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(where, flags, 0o600)
        with os.fdopen(handle, "ab") as file:
            if hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), 0o600)
            file.write(json.dumps(text).encode() + b"\n")
    except OSError:
        return


def _halve(where: Path) -> None:
    from rigup.machine.private_file import write

    if where.is_file() and not where.is_symlink() and where.stat().st_size > _MOST_KEPT:
        kept = where.read_bytes()[-_MOST_KEPT // 2 :].partition(b"\n")[2]
        write(str(where), lambda file: file.write(kept), replace=True)
