"""Where conda has written an environment's path: texts, and libraries with room left for a longer one."""

import re
from pathlib import Path
from typing import Any

import msgspec

from rigup.language import _

_MOST = 50_000_000  # bytes of one package's record
_TEXT = 0


def listed(folder: Path) -> dict[Path, int]:
    """Files that conda's records name, with the bytes that a path may take in them; 0 for a text. Never raises."""
    lengths: dict[Path, int] = {}
    for record in sorted(folder.glob("conda-meta/*.json")):
        for row in _rows(record):
            name, held = row.get("_path"), row.get("prefix_placeholder")
            if isinstance(name, str) and isinstance(held, str) and ".." not in Path(name).parts and not Path(name).is_absolute():
                lengths[folder / name] = len(held.encode()) if row.get("file_mode") == "binary" else _TEXT
    return lengths


def _rows(record: Path) -> list[dict[str, Any]]:
    try:
        with open(record, "rb") as file:
            data = msgspec.json.decode(file.read(_MOST))
        rows = data["paths_data"]["paths"]
    except (OSError, msgspec.DecodeError, KeyError, TypeError, RecursionError):
        return []
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def in_library(data: bytes, old: bytes, new: bytes, room: int) -> bytes:
    """A binary file with the new path: every text that holds the old one keeps its place and its length.

    Raises:
        ValueError: the new path is longer than the room that the package's maker has left.

    """
    if old not in data:
        return data
    if len(new) > room:
        raise _too_long(new)
    pattern = re.compile(re.escape(old) + rb"[^\0]*\0+")
    return pattern.sub(lambda hit: _refilled(hit[0], old, new), data)


def _refilled(text: bytes, old: bytes, new: bytes) -> bytes:
    renamed = text.rstrip(b"\0").replace(old, new)
    if len(renamed) >= len(text):  # nobody has left room here
        raise _too_long(new)
    return renamed.ljust(len(text), b"\0")


def _too_long(path: bytes) -> ValueError:
    template = _("{path} is longer than the room that a library of conda leaves for it. Choose a shorter path.")
    return ValueError(template.format(path=path.decode("utf-8", "replace")))
