"""What Linux' control groups, of either version, leave this process of the machine's memory.

A group's limit holds for all groups below it, so that the smallest on the way up counts: a job's step, the job, the
container. Sources: https://docs.kernel.org/admin-guide/cgroup-v2.html (memory.max, memory.current, memory.stat) and
https://docs.kernel.org/admin-guide/cgroup-v1/memory.html; for the two files of /proc the manual pages cgroups(7) and
proc_pid_mountinfo(5).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Callable, NamedTuple

_UNLIMITED = 1 << 60  # version 1 says "no limit" by the largest number of whole pages
_MOST_LEVELS = 64


class _Version(NamedTuple):
    """Names of files: the limit, what is used, and the row of memory.stat for pages that go when others need them."""

    limit: str
    used: str
    dropped: str


_FIRST = _Version("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_SECOND = _Version("memory.max", "memory.current", "inactive_file")


def limits(read: Callable[[str], str]) -> list[tuple[int, int]]:
    """Limit and use, in bytes, of each control group on the way up that has a limit; the nearest first.

    Args:
        read: the text of a file, "" for one that cannot be read.

    """
    found = []
    for folder, version in _folders(read("/proc/self/cgroup"), read("/proc/self/mountinfo")):
        limit = read(f"{folder}/{version.limit}").strip()
        if limit.isdecimal() and int(limit) < _UNLIMITED:
            found.append((int(limit), _used(folder, version, read)))
    return found


def _used(folder: str, version: _Version, read: Callable[[str], str]) -> int:
    """What the group's processes hold, without files that are kept in memory only as long as nobody needs it."""
    used = read(f"{folder}/{version.used}").strip()
    row = re.search(rf"^{version.dropped} (\d{{1,20}})$", read(f"{folder}/memory.stat"), re.MULTILINE)
    return max(0, int(used if used.isdecimal() else 0) - int(row[1] if row else 0))


def _folders(groups: str, mounts: str) -> Iterator[tuple[str, _Version]]:
    """The folder of this process's group, then of those above it, in each tree of groups that counts memory."""
    for version, mount, root in _trees(mounts):
        path = _group(groups, version)
        if path is None:
            continue
        below = posixpath.relpath(path, root) if _lies_under(path, root) else "."
        folder = posixpath.normpath(posixpath.join(mount, below))
        for _level in range(_MOST_LEVELS):
            yield folder, version
            if folder == mount or not _lies_under(folder, mount):
                break
            folder = posixpath.dirname(folder)


def _trees(mounts: str) -> Iterator[tuple[_Version, str, str]]:
    """Where trees of groups are mounted, and which group stands there at the top."""
    for line in mounts.splitlines():
        before, _dash, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) < 5 or not kind:
            continue
        root, mount = map(_plain, fields[3:5])
        if kind[0] == "cgroup2":
            yield _SECOND, mount, root
        elif kind[0] == "cgroup" and "memory" in kind[-1].split(","):
            yield _FIRST, mount, root


def _plain(word: str) -> str:
    """A path of mountinfo, in which a space is written in octal."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), word)


def _group(groups: str, version: _Version) -> str | None:
    """The group of this process, as /proc/self/cgroup names it: `0::/a/b`, or `4:cpu,memory:/a/b`."""
    for line in groups.splitlines():
        number, controllers, path = (*line.split(":", 2), "", "")[:3]
        if (number == "0" and not controllers) if version is _SECOND else "memory" in controllers.split(","):
            return path
    return None


def _lies_under(path: str, root: str) -> bool:
    """Whether a group is the one that is mounted, or below it; from a namespace others are seen as `/../other`."""
    return ".." not in path.split("/") and (path == root or path.startswith(root.rstrip("/") + "/"))
