"""The host's processor and memory, by what the system tells without help."""

from __future__ import annotations

import functools
import os
import platform
import re
import sys
from typing import Callable

from .facts import Memory

Read = Callable[[str], str]


@functools.cache
def cpu_name() -> str:
    """The processor's name; what kind it is where the system tells no more."""
    found = re.search(r"^model name\s{0,8}: (.{1,200})$", text_of("/proc/cpuinfo"), re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine()


def host_memory(read: Read | None = None) -> Memory:
    """Bytes that this process may use: the machine's, or those that its control groups leave where that is fewer.

    Args:
        read: how a file's text is got, "" for one that cannot be read; by default from this machine.

    """
    from .groups import limits

    read = read or text_of
    total, free = _machine(read)
    for limit, used in [pair for pair in limits(read) if total is None or pair[0] < total]:
        left = max(0, limit - used)
        total = limit if total is None else min(total, limit)
        free = left if free is None else min(free, left)
    return Memory(total, free)


def _machine(read: Read) -> tuple[int | None, int | None]:
    """All and free memory; on a Mac all of it alone is told."""
    fields: dict[str, str] = dict(re.findall(r"^(\w{1,40}): {1,20}(\d{1,15}) kB$", read("/proc/meminfo"), re.MULTILINE))
    if "MemTotal" in fields:
        free = fields.get("MemAvailable") or fields.get("MemFree")
        return int(fields["MemTotal"]) * 1024, None if free is None else int(free) * 1024
    return _of_windows() if sys.platform == "win32" else (_of_posix(), None)


def _of_posix() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _of_windows() -> tuple[int | None, int | None]:
    """By GlobalMemoryStatusEx: nine numbers, of which the third and the fourth are wanted."""
    import ctypes

    status = (ctypes.c_uint64 * 8)(64)  # its first four bytes are its own size
    if not ctypes.windll.kernel32.GlobalMemoryStatusEx(status):  # type: ignore[attr-defined,unused-ignore]
        return None, None
    return int(status[1]), int(status[2])


def text_of(path: str) -> str:
    """The text of a file; "" for one that cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1_000_000)
    except OSError:
        return ""
