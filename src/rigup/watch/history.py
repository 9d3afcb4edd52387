"""What was sampled lately: the last sample whole, of those before it the numbers that graphs and findings need.

Memory is bounded: a series has a fixed length, and what went is forgotten with the time that is looked back on.
"""

import math
from array import array
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from rigup.schemas.watch import Watch, WatchedProcess
from rigup.schemas.watch_gpu import WatchedGpu
from rigup.schemas.watch_host import WatchedHost

LENGTH = 3600  # samples of a series
_EVERY = 10.0  # seconds between two points of a process
_POINTS = 180  # points of a process: half an hour
_GONE = 120.0  # seconds after which a process that went is forgotten
IDLE = 0.01  # share of time up to which a GPU does nothing
SERIES = ("gpu", "memory", "power", "temperature", "rx", "tx", "throttled")
HOST_SERIES = ("cpu", "ram", "network", "disk")


class Point(NamedTuple):
    """A process at one moment: seconds of the watch, bytes of GPU memory, the busiest of its GPUs, cores."""

    at: float
    memory: int
    busy: float | None
    cpu: float | None


class Ring:
    """The last values of a series, None where one was not known. Its memory is taken at once, so that a watch does not grow."""

    def __init__(self, length: int) -> None:
        self._values, self._next, self._count = array("d", [math.nan]) * length, 0, 0

    def append(self, value: float | None) -> None:
        """One more value; the oldest goes where there are as many as have room."""
        self._values[self._next] = math.nan if value is None else value
        self._next = (self._next + 1) % len(self._values)
        self._count = min(self._count + 1, len(self._values))

    def tail(self, count: int) -> "array[float]":
        """The last values, the oldest first; NaN where one was not known."""
        wanted = min(count, self._count)
        begin = self._next - wanted
        return self._values[begin : self._next] if begin >= 0 else self._values[begin:] + self._values[: self._next]

    def last(self, count: int) -> list[float | None]:
        """The last values, the oldest first."""
        return [None if value != value else value for value in self.tail(count)]  # only NaN differs from itself

    def __len__(self) -> int:
        """How many there are."""
        return self._count


class Life:
    """A process while it was watched.

    Attributes:
        points: the last half hour.
        seen: when it was last there.
        fell: when its memory was last less than at the point before; None for never.
        idle_since: since when its GPUs did nothing, as far as that is told; None where they work.

    """

    def __init__(self) -> None:
        self.points: deque[Point] = deque(maxlen=_POINTS)
        self.seen = 0.0
        self.fell: float | None = None
        self.idle_since: float | None = None

    def add(self, point: Point) -> None:
        """One more point."""
        if self.points and point.memory < self.points[-1].memory:
            self.fell = point.at
        if point.busy is None or point.busy > IDLE:
            self.idle_since = None
        elif self.idle_since is None:
            self.idle_since = point.at
        self.points.append(point)


class History:
    """Samples of one machine, one after another."""

    def __init__(self, length: int = LENGTH) -> None:
        self.last: Watch | None = None
        self.length = length
        self.series: dict[str, dict[str, Ring]] = {}
        self.host = {name: Ring(length) for name in HOST_SERIES}
        self.lives: dict[tuple[int, float], Life] = {}
        self._at = 0.0

    def add(self, sample: Watch) -> None:
        """Keep a sample. Its place in time is the sum of the intervals, which no change of the clock moves."""
        self._at += sample.interval if sample.interval is not UNSET else 0.0
        self.last = sample
        for gpu in sample.gpus:
            of_gpu = self.series.get(key_of(gpu))
            if of_gpu is None:
                of_gpu = self.series[key_of(gpu)] = {name: Ring(self.length) for name in SERIES}
            for name, value in zip(SERIES, numbers(gpu), strict=True):
                of_gpu[name].append(value)
        for name, number in zip(HOST_SERIES, host_numbers(sample.host), strict=True):
            self.host[name].append(number)
        busy = {gpu.index: _known(gpu.utilisation.gpu) for gpu in sample.gpus}
        for process in sample.processes:
            self._add_process(process, busy)
        for mark in [mark for mark, life in self.lives.items() if self._at - life.seen > _GONE]:
            del self.lives[mark]

    def _add_process(self, process: WatchedProcess, busy: dict[int, float | None]) -> None:
        mark = mark_of(process)
        life = self.lives.get(mark)
        if life is None:
            life = self.lives[mark] = Life()
        life.seen = self._at
        if life.points and self._at - life.points[-1].at < _EVERY:
            return
        own = [_known(part.utilisation.gpu) for part in process.gpus]
        shares = [share for share in (*own, *(busy.get(part.index) for part in process.gpus)) if share is not None]
        life.add(Point(self._at, memory_of(process), max(shares) if shares else None, _known(process.cpu)))

    def recent(self, gpu: WatchedGpu, name: str, count: int) -> list[float | None]:
        """The last values of one series, the oldest first."""
        ring = self.series.get(key_of(gpu), {}).get(name)
        return ring.last(count) if ring is not None else []

    def life(self, process: WatchedProcess) -> Life | None:
        """What was seen of a process."""
        return self.lives.get(mark_of(process))


def key_of(gpu: WatchedGpu) -> str:
    """A GPU's identity: its address, else its number."""
    return gpu.pci_address if gpu.pci_address is not UNSET else str(gpu.index)


def mark_of(process: WatchedProcess) -> tuple[int, float]:
    """A process's identity: numbers are given again, numbers with their start are not."""
    return process.pid, process.start if process.start is not UNSET else 0.0


def _known(value: object) -> float | None:
    return value if isinstance(value, int | float) else None


def numbers(gpu: WatchedGpu) -> Iterator[float | None]:
    """A GPU's values in the order of SERIES; None where it gives none."""
    yield _known(gpu.utilisation.gpu)
    yield memory_share(gpu)
    yield _known(gpu.power.draw)
    heat = gpu.temperature
    hottest = [value for value in map(_known, (heat.edge, heat.junction, heat.memory)) if value is not None]
    yield max(hottest) if hottest else None
    yield _known(gpu.pcie.rx)
    yield _known(gpu.pcie.tx)
    yield None if gpu.throttle is UNSET else float(bool(gpu.throttle))


def host_numbers(host: WatchedHost | UnsetType) -> Iterator[float | None]:
    """The machine's values in the order of HOST_SERIES: shares, and bytes a second both ways; None where it gives none."""
    if host is UNSET:
        yield from [None] * len(HOST_SERIES)
        return
    yield _known(host.cpu.utilisation) if host.cpu is not UNSET else None
    yield host.memory.used / max(host.memory.total, 1) if host.memory is not UNSET else None
    yield host.network.rx + host.network.tx if host.network is not UNSET else None
    yield host.disk_traffic.read + host.disk_traffic.written if host.disk_traffic is not UNSET else None


def memory_share(gpu: WatchedGpu) -> float | None:
    """How full the memory is that programs run out of: what is reserved counts as taken."""
    used, total = memory_used(gpu)
    return used / total if used is not None and total else None


def memory_used(gpu: WatchedGpu) -> tuple[int | None, int | None]:
    """Bytes used and in all: of its own memory, and of one that shares the system's of all that it may take."""
    kinds = [gpu.memory.unified] if gpu.memory.unified is not UNSET else [gpu.memory.vram]
    if gpu.integrated is True and gpu.memory.gtt is not UNSET:
        kinds.append(gpu.memory.gtt)
    known = [kind for kind in kinds if kind is not UNSET and kind.total is not UNSET and kind.used is not UNSET]
    if not known:
        return None, None
    used = sum(kind.used + (kind.reserved if kind.reserved is not UNSET else 0) for kind in known if kind.used is not UNSET)
    return used, sum(kind.total for kind in known if kind.total is not UNSET)


def memory_of(process: WatchedProcess) -> int:
    """Bytes of GPU memory that a process holds on all GPUs."""
    counts = (part.memory for part in process.gpus)
    return sum(amount for memory in counts for amount in (memory.vram, memory.gtt) if amount is not UNSET)
