"""The processes of the machine that use most of its processors, whether they use a GPU or not.

A look reads one small file of each process; the words of a command, its user and its container are read for those alone that are shown.
"""

import os
from typing import NamedTuple

from rigup.schemas.watch import WatchedProcess
from rigup.watch.files import Files
from rigup.watch.processes import Programs, parse_stat
from rigup.watch.rates import Rates

MOST = 40  # that are told of
_MOST_LOOKED_AT = 20_000
_KERNEL = 2  # the parent of the kernel's own threads


class _Seen(NamedTuple):
    """A process in one look: `cpu` in cores since the look before, 0 for one that was not there then."""

    pid: int
    cpu: float
    rss: int


class HostProcesses:
    """Look after look."""

    def __init__(self, files: Files) -> None:
        self.files, self.rates, self.programs = files, Rates(), Programs(files)
        self.count = 0
        self._tick = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100

    def look(self, now: float) -> list[_Seen]:
        """All of them; begins anew what rates are counted from."""
        try:
            pids = [int(name) for name in self.files.names("/proc") if name.isdecimal()][:_MOST_LOOKED_AT]
        except OSError:
            pids = []
        found = [seen for pid in pids if (seen := self._look_at(pid, now)) is not None]
        self.rates.next()
        self.count = len(pids)
        return found

    def _look_at(self, pid: int, now: float) -> _Seen | None:
        try:
            stat = parse_stat(self.files.read(f"/proc/{pid}/stat", 2048))
        except (OSError, ValueError):
            return None
        if _KERNEL in (pid, stat.parent):
            return None
        return _Seen(pid, self.rates.per_second((pid, stat.began), stat.used / self._tick, now) or 0.0, stat.rss)

    def most(self, now: float, users: dict[int, WatchedProcess]) -> list[WatchedProcess]:
        """Those that use most of the processors, then of the memory. `users` are those that use a GPU, by their numbers."""
        shown = sorted(self.look(now), key=lambda seen: (-round(seen.cpu, 3), -seen.rss))[:MOST]
        answer = []
        for seen in shown:
            running = self.programs.now(seen.pid, now)
            if seen.pid in users:
                answer.append(users[seen.pid])
            elif running is not None:
                answer.append(WatchedProcess(pid=seen.pid, cpu=seen.cpu, rss=running.rss, gpus=[], **running.words))
        self.programs.next(seen.pid for seen in shown)
        return answer
