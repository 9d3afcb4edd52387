"""Who a process is: program, words, user, container, Slurm job, processor time. What does not change is read once."""

import os
import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from rigup.schemas.watch import InContainer
from rigup.watch.files import Files
from rigup.watch.rates import Rates

_CONTAINERS = (
    (re.compile(r"/docker[-/]([0-9a-f]{64})"), "docker"),
    (re.compile(r"libpod-([0-9a-f]{64})"), "podman"),
    (re.compile(r"cri-containerd[-:]([0-9a-f]{64})"), "containerd"),
    (re.compile(r"crio-([0-9a-f]{64})"), "cri-o"),
    (re.compile(r"/kubepods[^\n]{0,200}/([0-9a-f]{64})"), "kubernetes"),
    (re.compile(r"/lxc(?:\.payload)?[./]([\w.-]{1,64})"), "lxc"),
    (re.compile(r"/machine\.slice/machine-([\w.\\-]{1,64})\.scope"), "nspawn"),
)
_JOB = re.compile(r"/job_(\d{1,12})(?:/|\Z)", re.MULTILINE)
_UID = re.compile(r"^Uid:\s+(\d{1,10})", re.MULTILINE)
_MOST_COMMAND = 1000  # characters of a command that are kept


class Program(NamedTuple):
    """What does not change of a process."""

    ticks: int
    start: float
    name: str
    command: str
    user: str
    container: InContainer | None
    slurm_job: str


class Running(NamedTuple):
    """A process now: `cpu` in cores, None at first; `rss` in bytes."""

    program: Program
    cpu: float | None
    rss: int


class Programs:
    """Processes by their number, each known as long as it runs."""

    def __init__(self, files: Files) -> None:
        self.files, self.rates = files, Rates()
        self._known: dict[int, Program] = {}
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
        try:
            stat = self.files.read(f"/proc/{pid}/stat", 2048)
            end = stat.rindex(b")")
            words = stat[end + 2 :].split()
            ticks, used, rss = int(words[19]), int(words[11]) + int(words[12]), int(words[21])
        except (OSError, ValueError, IndexError):
            self._known.pop(pid, None)
            return None
        known = self._known.get(pid)
        if known is None or known.ticks != ticks:
            name = stat[stat.find(b"(") + 1 : end].decode("utf-8", "replace")
            known = self._known[pid] = self._read(pid, ticks, name)
        return Running(known, self.rates.per_second((pid, ticks), used / self._tick, now), rss * self._page)

    def _read(self, pid: int, ticks: int, name: str) -> Program:
        command = self._text(pid, "cmdline", _MOST_COMMAND * 4).rstrip("\0").replace("\0", " ")[:_MOST_COMMAND]
        uid = _UID.search(self._text(pid, "status"))
        groups = self._text(pid, "cgroup")
        job = _JOB.search(groups)
        return Program(
            ticks, self._boot + ticks / self._tick, name, command, user_name(int(uid[1])) if uid else "",
            container_of(groups), job[1] if job else "",
        )  # fmt: skip

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
                    stat = self.files.read(f"/proc/{pid}/stat", 2048)
                    found[pid] = int(stat[stat.rindex(b")") + 2 :].split(maxsplit=2)[1])
                except (OSError, ValueError, IndexError):
                    break
                pid = found[pid]
        return found

    def next(self, seen: Iterable[int]) -> None:
        """A sample is done: processes that were not in it are forgotten."""
        self.rates.next()
        self._known = {pid: self._known[pid] for pid in seen if pid in self._known}


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
