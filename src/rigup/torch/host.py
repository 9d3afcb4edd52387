"""The host's processor and memory, by what the system tells without help."""

import functools
import os
import platform
import re
import sys

from rigup.torch.facts import Memory

_GROUP = "/sys/fs/cgroup/memory."


@functools.cache
def cpu_name() -> str:
    """The processor's name; what kind it is where the system tells no more."""
    found = re.search(r"^model name\s{0,8}: (.{1,200})$", _read("/proc/cpuinfo"), re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine()


def host_memory() -> Memory:
    """Bytes that this process may use: the machine's, or its control group's where that has fewer."""
    total, free = _machine()
    limit, used = _number("max"), _number("current")
    if limit is None or total is None or limit >= total:
        return Memory(total, free)
    left = limit - (used or 0)
    return Memory(limit, left if free is None else max(0, min(free, left)))


def _machine() -> tuple[int | None, int | None]:
    """All and free memory; on a Mac all of it alone is told."""
    told: dict[str, str] = dict(re.findall(r"^(\w{1,40}): {1,20}(\d{1,15}) kB$", _read("/proc/meminfo"), re.MULTILINE))
    if told:
        return int(told["MemTotal"]) * 1024, int(told.get("MemAvailable") or told["MemFree"]) * 1024
    return _of_windows() if sys.platform == "win32" else (_of_posix(), None)


def _of_posix() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _of_windows() -> tuple[int | None, int | None]:
    """By GlobalMemoryStatusEx: nine numbers, of which the third and the fourth are wanted."""
    import ctypes

    told = (ctypes.c_uint64 * 8)(64)  # its first four bytes are its own size
    if not ctypes.windll.kernel32.GlobalMemoryStatusEx(told):  # type: ignore[attr-defined,unused-ignore]
        return None, None
    return int(told[1]), int(told[2])


def _number(name: str) -> int | None:
    """A number of this process's control group; None where it has no limit or none is told."""
    told = _read(_GROUP + name).strip()
    return int(told) if told.isdigit() else None


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(200_000)
    except OSError:
        return ""
