"""Who a process is: program, words, user, container, Slurm job, processor time. What does not change is read once."""

import os
import re
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from rigup.knowledge.patterns import lazy_regex
from rigup.schemas.watch import InContainer
from rigup.watch.files import Files, Opened

_CONTAINERS = (
    (lazy_regex(r"/docker[-/]([0-9a-f]{64})"), "docker"),
    (lazy_regex(r"libpod-([0-9a-f]{64})"), "podman"),
    (lazy_regex(r"cri-containerd[-:]([0-9a-f]{64})"), "containerd"),
    (lazy_regex(r"crio-([0-9a-f]{64})"), "cri-o"),
    (lazy_regex(r"/kubepods[^\n]{0,200}/([0-9a-f]{64})"), "kubernetes"),
    (lazy_regex(r"/lxc(?:\.payload)?[./]([\w.-]{1,64})"), "lxc"),
    (lazy_regex(r"/machine\.slice/machine-([\w.\\-]{1,64})\.scope"), "nspawn"),
)
_JOB = lazy_regex(r"/job_(\d{1,12})(?:/|\Z)", re.MULTILINE)
_UID = lazy_regex(r"^Uid:\s+(\d{1,10})", re.MULTILINE)
_MOST_COMMAND = 1000  # characters of a command that are kept


class Stat(NamedTuple):
    """What /proc/PID/stat tells (proc_pid_stat(5)): `used` of processors and `began` since the boot in ticks, `rss` in pages."""

    parent: int
    used: int
    began: int
    rss: int
    name: bytes


def parse_stat(content: bytes) -> Stat:
    """The file's fields. Raises ValueError for any other text."""
    end = content.rindex(b")")
    words = content[end + 2 :].split(None, 22)
    if len(words) < 22:
        raise ValueError("fields are missing")
    return Stat(int(words[1]), int(words[11]) + int(words[12]), int(words[19]), int(words[21]), content[content.find(b"(") + 1 : end])


class Running(NamedTuple):
    """A process now.

    Attributes:
        words: what does not change, by the fields of WatchedProcess.
        cpu: cores that it used since the sample before; None at first.
        rss: bytes of main memory.

    """

    words: dict[str, Any]
    cpu: float | None
    rss: int


class _Known:
    """A process that was seen: the file that tells of it, what that held last, what does not change, and what it had used when."""

    __slots__ = ("at", "content", "file", "stat", "used", "words")

    def __init__(self, file: Opened, words: dict[str, Any]) -> None:
        self.file, self.words = file, words
        self.used, self.at = 0, -1.0
        self.content, self.stat = b"", Stat(0, 0, 0, 0, b"")


class Programs:
    """Processes by their number, each known as long as it runs and is asked for."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._known: dict[int, _Known] = {}
        self._tick = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
        self._page = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
        self._boot = self._boot_time()

    def _boot_time(self) -> float:
        try:
            content = self.files.read("/proc/stat").decode("ascii", "replace")
        except OSError:
            return 0.0
        hit = re.search(r"^btime (\d{1,12})", content, re.MULTILINE)
        return float(hit[1]) if hit else 0.0

    def now(self, pid: int, now: float) -> Running | None:
        """The process, None where it is none of those that we can see."""
        known = self._seen(pid) or self._seen(pid)  # twice: its number may be another's now
        if known is None:
            return None
        stat = known.stat
        passed = now - known.at
        cpu = (stat.used - known.used) / self._tick / passed if known.at >= 0 and passed > 0 else None
        known.used, known.at = stat.used, now
        return Running(known.words, cpu, stat.rss * self._page)

    def _seen(self, pid: int) -> _Known | None:
        """The process and its file as it is now; None where it cannot be read, and is forgotten."""
        known = self._known.get(pid)
        file = None if known is None else known.file
        try:
            file = file or self.files.opened(f"/proc/{pid}/stat")
            content = file.read(2048)
            if known is not None and known.content == content:
                return known  # it did nothing meanwhile
            stat = parse_stat(content)
        except (OSError, ValueError):
            if file is not None:
                file.close()
            self._known.pop(pid, None)
            return None
        if known is None or known.stat.began != stat.began:
            known = self._known[pid] = _Known(file, self._words(pid, stat))
        known.content, known.stat = content, stat
        return known

    def start_of(self, pid: int) -> float | None:
        """When a process began, in seconds of Unix time; None where it cannot be read."""
        try:
            return self._start(parse_stat(self.files.read(f"/proc/{pid}/stat", 2048)))
        except (OSError, ValueError):
            return None

    def _start(self, stat: Stat) -> float:
        return self._boot + stat.began / self._tick

    def _forget(self, pid: int) -> None:
        if (known := self._known.pop(pid, None)) is not None:
            known.file.close()

    def _words(self, pid: int, stat: Stat) -> dict[str, Any]:
        """What does not change of a process, as far as it is told."""
        command = self._text(pid, "cmdline", _MOST_COMMAND * 4).rstrip("\0").replace("\0", " ")[:_MOST_COMMAND]
        uid = _UID.search(self._text(pid, "status"))
        groups = self._text(pid, "cgroup")
        job = _JOB.search(groups)
        words = {
            "user": user_name(int(uid[1])) if uid else "",
            "container": container_of(groups),
            "slurm_job": job[1] if job else "",
            "command": command,
        }
        known = {name: value for name, value in words.items() if value}
        return {"start": self._start(stat), "name": stat.name.decode("utf-8", "replace"), **known}

    def _text(self, pid: int, name: str, most: int = 4096) -> str:
        try:
            return self.files.read(f"/proc/{pid}/{name}", most).decode("utf-8", "replace")
        except OSError:
            return ""

    def parents(self, pids: Iterable[int]) -> dict[int, int]:
        """The parent of each process and of its ancestors, as far as they are seen."""
        found: dict[int, int] = {}
        for first in pids:
            pid = first
            while pid > 1 and pid not in found:
                try:
                    found[pid] = parse_stat(self.files.read(f"/proc/{pid}/stat", 2048)).parent
                except (OSError, ValueError):
                    break
                pid = found[pid]
        return found

    def next(self, seen: Iterable[int]) -> None:
        """A sample is done: processes that were not in it are forgotten."""
        for pid in self._known.keys() - set(seen):
            self._forget(pid)


def container_of(groups: str) -> InContainer | None:
    """The container that a process's control groups name; None for none."""
    for pattern, engine in _CONTAINERS:
        if hit := pattern.search(groups):
            return InContainer(engine=engine, id=hit[1][:12])
    return None


@cache
def user_name(uid: int) -> str:
    """The name of an account, else its number."""
    try:
        import pwd

        return pwd.getpwuid(uid).pw_name
    except (ImportError, KeyError):
        return str(uid)
