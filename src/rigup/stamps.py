"""Whether files are still those that something was made of: their sizes and times."""

import os
from collections.abc import Iterator

Stamp = tuple[int, int]
"""Size in bytes and time of the last change in nanoseconds; zeros where there is no such file."""
Stamps = dict[str, Stamp]


def stamp(path: str) -> Stamp:
    """The stamp of one file."""
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0)
    return status.st_size, status.st_mtime_ns


def python_files(folder: str) -> Iterator[str]:
    """All files of Python in a folder and those below it."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.endswith(".py"):
                yield entry.path
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from python_files(entry.path)
