"""The machine that holds the GPUs: processors, memory, disks and network, from /proc.

Six small files cost 0.2 ms a sample; psutil reads the same ones at four times that and its import takes as long as twenty
samples. Where there is no /proc the host is left out.
"""

import os
import re

from rigup.schemas.watch import Capacity, Cpu, Disk, HostMemory, Network, WatchedHost
from rigup.watch.files import Files
from rigup.watch.rates import Rates

_MEMORY = re.compile(r"^(\w+):\s+(\d{1,16}) kB", re.MULTILINE)
_DISK_EVERY = 30.0  # seconds
_MOST_MOUNTS = 64
_OWN = re.compile(r"^(?:lo|veth|docker|br-|virbr|cni|flannel|cali)")


class HostSampler:
    """The host, sample after sample."""

    def __init__(self, files: Files, anonymous: bool = False) -> None:
        self.files, self.rates = files, Rates()
        self.name = "" if anonymous else (os.uname().nodename if hasattr(os, "uname") else "")
        self._disks: list[Disk] = []
        self._disks_at = -_DISK_EVERY

    def read(self, now: float) -> WatchedHost:
        """All that is known now."""
        parts = {
            "name": self.name,
            "load": self._load(),
            "cpu": self._cpu(now),
            "network": self._network(now),
            **self._memory(),
        }
        if now - self._disks_at >= _DISK_EVERY:
            self._disks, self._disks_at = self._mounted(), now
        parts["disk"] = self._disks
        self.rates.next()
        return WatchedHost(**{name: part for name, part in parts.items() if part})  # type: ignore[arg-type]

    def _text(self, path: str) -> str:
        try:
            return self.files.read(path).decode("utf-8", "replace")
        except OSError:
            return ""

    def _load(self) -> list[float]:
        words = self._text("/proc/loadavg").split()[:3]
        try:
            return [float(word) for word in words]
        except ValueError:
            return []

    def _cpu(self, now: float) -> Cpu | None:
        content = self._text("/proc/stat")
        words = content.partition("\n")[0].split()[1:9]
        if len(words) < 8 or not all(word.isdecimal() for word in words):
            return None
        ticks = [int(word) for word in words]
        cores = max(len(re.findall(r"^cpu\d+ ", content, re.MULTILINE)), 1)
        idle, whole = ticks[3] + ticks[4], sum(ticks)
        passed, rested = self.rates.per_second(("all",), whole, now), self.rates.per_second(("idle",), idle, now)
        if not passed or rested is None:
            return Cpu(cores=cores)
        return Cpu(cores=cores, utilisation=min(max(1 - rested / passed, 0.0), 1.0))

    def _memory(self) -> dict[str, object]:
        content = {name: int(number) * 1024 for name, number in _MEMORY.findall(self._text("/proc/meminfo"))}
        total, available = content.get("MemTotal"), content.get("MemAvailable")
        if total is None or available is None:
            return {}
        swap = content.get("SwapTotal", 0)
        memory = HostMemory(total=total, available=available, used=total - available)
        return {"memory": memory, "swap": Capacity(total=swap, used=swap - content.get("SwapFree", 0))}

    def _network(self, now: float) -> Network | None:
        received = sent = 0
        for line in self._text("/proc/net/dev").splitlines()[2:]:
            name, _, numbers = line.partition(":")
            words = numbers.split()
            if len(words) >= 9 and not _OWN.match(name.strip()) and words[0].isdecimal() and words[8].isdecimal():
                received, sent = received + int(words[0]), sent + int(words[8])
        rx, tx = self.rates.per_second(("rx",), received, now), self.rates.per_second(("tx",), sent, now)
        return Network(rx=rx, tx=tx) if rx is not None and tx is not None else None

    def _mounted(self) -> list[Disk]:
        """File systems on disks, each device once."""
        found: dict[str, Disk] = {}
        for line in self._text("/proc/self/mounts").splitlines()[:2000]:
            device, mount, *_rest = [*line.split(" "), "", ""]
            mount = mount.replace("\\040", " ")
            if (
                device.startswith("/dev/")
                and "/loop" not in device
                and device not in found
                and len(found) < _MOST_MOUNTS
            ):
                try:
                    size = os.statvfs(mount)
                except OSError:
                    continue
                if os.path.isdir(mount):
                    total = size.f_blocks * size.f_frsize
                    found[device] = Disk(mount=mount, total=total, used=total - size.f_bfree * size.f_frsize)
        return list(found.values())
