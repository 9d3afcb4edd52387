"""The machine that holds the GPUs: processors, memory, disks and network, from /proc.

Six small files cost 0.2 ms a sample; psutil reads the same ones at four times that and its import takes as long as twenty
samples. Where there is no /proc the host is left out.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

from rigup.knowledge.patterns import lazy_regex
from rigup.schemas.watch_host import Capacity, Cpu, Disk, DiskTraffic, HostMemory, Network, WatchedHost
from rigup.watch.files import Files, number_of, text_of
from rigup.watch.rates import Rates

_MEMORY = lazy_regex(r"^(\w+):\s+(\d{1,16}) kB", re.MULTILINE)
_DISK_EVERY = 30.0  # seconds
_MOST_MOUNTS, _MOST_CORES, _MOST_DISKS = 64, 4096, 4096
_SECTOR = 512  # bytes, whatever the disk's own are (Documentation/admin-guide/iostats.rst)
_WHOLE_DISK = lazy_regex(r"(?:[shv]d[a-z]{1,3}|xvd[a-z]{1,2}|nvme\d{1,3}n\d{1,3}|mmcblk\d{1,3}|vd[a-z]{1,3})")
_SENSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "x86_pkg_temp")  # drivers of processors' sensors
_OWN = lazy_regex(r"^(?:lo|veth|docker|br-|virbr|cni|flannel|cali)")


class HostSampler:
    """The host, sample after sample."""

    def __init__(self, files: Files, anonymous: bool = False) -> None:
        self.files, self.rates = files, Rates()
        self.name = "" if anonymous else (os.uname().nodename if hasattr(os, "uname") else "")
        self._disks: list[Disk] = []
        self._disks_at = -_DISK_EVERY
        self._sensors: list[str] | None = None

    def read(self, now: float) -> WatchedHost:
        """All that is known now."""
        parts = {
            "name": self.name,
            "load": self._load(),
            "cpu": self._cpu(now),
            "network": self._network(now),
            "disk_traffic": self._disk_traffic(now),
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
        lines = [line.split() for line in content.split("\n") if line.startswith("cpu")][:_MOST_CORES]
        shares = [self._share(line, now) for line in lines]
        parts: dict[str, Any] = {"cores": max(len(lines) - 1, 1)}
        if shares[0] is not None:
            parts["utilisation"] = shares[0]
        if len(shares) > 1 and all(share is not None for share in shares):
            parts["each"] = shares[1:]
        if (heat := self._heat()) is not None:
            parts["temperature"] = heat
        return Cpu(**parts)

    def _share(self, words: list[str], now: float) -> float | None:
        """How busy a line of /proc/stat is since the reading before; None at first, and where it holds no numbers."""
        if len(words) < 9 or not all(word.isdecimal() for word in words[1:9]):
            return None
        ticks = [int(word) for word in words[1:9]]
        passed = self.rates.per_second((words[0], "all"), sum(ticks), now)
        rested = self.rates.per_second((words[0], "idle"), ticks[3] + ticks[4], now)
        return min(max(1 - rested / passed, 0.0), 1.0) if passed and rested is not None else None

    def _heat(self) -> float | None:
        """The hottest sensor of the processors; which files tell it is looked up once."""
        if self._sensors is None:
            self._sensors = list(_processor_sensors(self.files))
        known = [number / 1000 for path in self._sensors if (number := number_of(self.files, path)) is not None]
        return max((heat for heat in known if -50 < heat < 200), default=None)

    def _disk_traffic(self, now: float) -> DiskTraffic | None:
        """Of whole disks: parts, and what is put together of disks, would be counted twice."""
        read = written = 0
        for line in self._text("/proc/diskstats").splitlines()[:_MOST_DISKS]:
            words = line.split()
            if len(words) >= 10 and _WHOLE_DISK.fullmatch(words[2]) and words[5].isdecimal() and words[9].isdecimal():
                read, written = read + int(words[5]), written + int(words[9])
        rates = [self.rates.per_second((way,), sectors * _SECTOR, now) for way, sectors in (("read", read), ("written", written))]
        return DiskTraffic(read=rates[0], written=rates[1]) if rates[0] is not None and rates[1] is not None else None

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
            if device.startswith("/dev/") and "/loop" not in device and device not in found and len(found) < _MOST_MOUNTS:
                try:
                    size = os.statvfs(mount)
                except OSError:
                    continue
                if os.path.isdir(mount):
                    total = size.f_blocks * size.f_frsize
                    found[device] = Disk(mount=mount, total=total, used=total - size.f_bfree * size.f_frsize)
        return list(found.values())


def _processor_sensors(files: Files) -> Iterator[str]:
    """Files of hwmon that tell how hot the processors are."""
    base = "/sys/class/hwmon"
    try:
        folders = files.names(base)[:64]
        for folder in folders:
            if text_of(files, f"{base}/{folder}/name") in _SENSORS:
                yield from (
                    f"{base}/{folder}/{name}" for name in files.names(f"{base}/{folder}") if re.fullmatch(r"temp\d{1,3}_input", name)
                )
    except OSError:
        return
