"""Samples in Prometheus' text format, names and labels as its conventions have them: base units, `_total` for counters.

A GPU's identity is its PCI address; what else it is stands once in `rigup_gpu_info`. What is not known has no series. A
library that writes this format takes 0.2 s to load and more time a scrape than all of this.
"""

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec import UNSET

from rigup.schemas.watch import Watch
from rigup.schemas.watch_gpu import Clock, Utilisation, WatchedGpu
from rigup.version import __version__
from rigup.watch.history import key_of
from rigup.watch.prometheus_labels import labelled

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_MOST_COMMAND = 120
_UNTIL_NOW = 60.0  # seconds that one sample adds at most to the time slowed down


class Metric(NamedTuple):
    """A family of series: gauge or counter, and what it is."""

    kind: str
    help: str


FAMILIES = {
    "rigup_watch_build_info": Metric("gauge", "Version of rigup."),
    "rigup_watch_scrape_seconds": Metric("gauge", "Time that the last sample took."),
    "rigup_watch_read_errors_total": Metric("counter", "What could not be read, by source."),
    "rigup_gpu_info": Metric("gauge", "What a GPU is."),
    "rigup_gpu_up": Metric("gauge", "Whether a GPU answered."),
    "rigup_gpu_state": Metric("gauge", "State of a GPU that is not up: asleep, lost or error."),
    "rigup_gpu_utilization_ratio": Metric("gauge", "Share of time that an engine was busy."),
    "rigup_gpu_memory_used_bytes": Metric("gauge", "Memory in use, without what is reserved."),
    "rigup_gpu_memory_size_bytes": Metric("gauge", "Memory in all."),
    "rigup_gpu_memory_reserved_bytes": Metric("gauge", "Memory of driver and firmware."),
    "rigup_gpu_temperature_celsius": Metric("gauge", "Temperature of a sensor."),
    "rigup_gpu_power_watts": Metric("gauge", "Power draw."),
    "rigup_gpu_power_limit_watts": Metric("gauge", "Power limit in force."),
    "rigup_gpu_energy_joules_total": Metric("counter", "Energy since the driver was loaded."),
    "rigup_gpu_clock_hertz": Metric("gauge", "Clock now."),
    "rigup_gpu_fan_speed_ratio": Metric("gauge", "Fan speed as a share of its most."),
    "rigup_gpu_fan_speed_rpm": Metric("gauge", "Turns of the fan a minute."),
    "rigup_gpu_pcie_bytes_per_second": Metric("gauge", "Traffic on PCIe, as the GPU sends (tx) and receives (rx)."),
    "rigup_gpu_pcie_link_width": Metric("gauge", "PCIe lanes in use."),
    "rigup_gpu_pcie_link_width_max": Metric("gauge", "PCIe lanes that the card has."),
    "rigup_gpu_pcie_link_transfers_per_second": Metric("gauge", "Transfers a second of a PCIe lane."),
    "rigup_gpu_pcie_link_transfers_per_second_max": Metric("gauge", "The most that the card can."),
    "rigup_gpu_pcie_replays_total": Metric("counter", "PCIe packets that were sent again."),
    "rigup_gpu_link_bytes_total": Metric("counter", "Traffic on links between GPUs."),
    "rigup_gpu_throttled": Metric("gauge", "Whether a GPU is slowed down, by reason."),
    "rigup_gpu_throttled_seconds_total": Metric("counter", "Time slowed down since the exporter began, by reason."),
    "rigup_gpu_memory_errors_total": Metric("counter", "Errors of memory since the driver was loaded."),
    "rigup_gpu_xid_errors_total": Metric("counter", "Xid errors since the exporter began."),
    "rigup_gpu_user_memory_bytes": Metric("gauge", "GPU memory that a user's processes hold, by Slurm job."),
    "rigup_gpu_process_memory_bytes": Metric("gauge", "GPU memory that a process holds."),
}
_SERIES: tuple[tuple[str, str, dict[str, str]], ...] = (
    *((f"utilisation.{engine}", "rigup_gpu_utilization_ratio", {"engine": engine}) for engine in Utilisation.__struct_fields__),
    *((f"clock.{clock}", "rigup_gpu_clock_hertz", {"clock": clock}) for clock in Clock.__struct_fields__),
    *((f"temperature.{sensor}", "rigup_gpu_temperature_celsius", {"sensor": sensor}) for sensor in ("edge", "junction", "memory")),
    *((f"pcie.{way}", "rigup_gpu_pcie_bytes_per_second", {"direction": way}) for way in ("rx", "tx")),
    *((f"memory.{kind}.used", "rigup_gpu_memory_used_bytes", {"kind": kind}) for kind in ("vram", "gtt", "unified")),
    *((f"memory.{kind}.total", "rigup_gpu_memory_size_bytes", {"kind": kind}) for kind in ("vram", "gtt", "unified")),
    *((f"memory.{kind}.reserved", "rigup_gpu_memory_reserved_bytes", {"kind": kind}) for kind in ("vram", "gtt", "unified")),
    *((f"errors.ecc_{kind}", "rigup_gpu_memory_errors_total", {"type": kind}) for kind in ("corrected", "uncorrected")),
    ("power.draw", "rigup_gpu_power_watts", {}),
    ("power.limit", "rigup_gpu_power_limit_watts", {}),
    ("energy", "rigup_gpu_energy_joules_total", {}),
    ("fan.speed", "rigup_gpu_fan_speed_ratio", {}),
    ("fan.rpm", "rigup_gpu_fan_speed_rpm", {}),
    ("pcie.width", "rigup_gpu_pcie_link_width", {}),
    ("pcie.width_max", "rigup_gpu_pcie_link_width_max", {}),
    ("pcie.speed", "rigup_gpu_pcie_link_transfers_per_second", {}),
    ("pcie.speed_max", "rigup_gpu_pcie_link_transfers_per_second_max", {}),
    ("pcie.replays", "rigup_gpu_pcie_replays_total", {}),
)
_REASONS = ("power", "temperature", "current", "hardware", "external", "reliability", "sync", "other")
_LINK = ("gpu", "kind", "link", "direction")
Row = tuple[str, str, float]  # the name of a series, its labels as text, and its value


class Exposition:
    """Writes samples; counts over samples what is a counter."""

    def __init__(self, per_process: bool = False, dcgm_host: str | None = None) -> None:
        """`dcgm_host` adds the series that DCGM's exporter has, with this name of the host ("" for none); None adds none."""
        self.per_process, self.dcgm_host = per_process, dcgm_host
        self._throttled: dict[tuple[str, str], float] = {}
        self._read_errors: dict[str, int] = {}
        self._xids: dict[tuple[str, int], tuple[int, float]] = {}

    def text(self, sample: Watch) -> str:
        """All series of a sample, one family after another."""
        self._count(sample)
        known = FAMILIES if self.dcgm_host is None else FAMILIES | _dcgm_families()
        families: dict[str, list[str]] = {name: [] for name in known}
        for name, labels, value in self._rows(sample):
            families[name].append(f"{name}{labels} {_number(value)}")
        lines = []
        for name, series in families.items():
            if series:
                lines += [f"# HELP {name} {known[name].help}", f"# TYPE {name} {known[name].kind}", *series]
        return "\n".join(lines) + "\n"

    def _count(self, sample: Watch) -> None:
        interval = min(sample.interval, _UNTIL_NOW) if sample.interval is not UNSET else 0.0
        for gpu in sample.gpus:
            key = key_of(gpu)
            for reason in _REASONS if gpu.throttle is not UNSET else ():
                grown = interval if gpu.throttle is not UNSET and reason in gpu.throttle else 0.0
                if grown or (key, reason) in self._throttled:
                    self._throttled[key, reason] = self._throttled.get((key, reason), 0.0) + grown
            for xid in gpu.errors.xid if gpu.errors.xid is not UNSET else ():
                count, last = self._xids.get((key, xid.code), (0, 0.0))
                if xid.time > last:
                    self._xids[key, xid.code] = (count + 1, xid.time)
        for error in sample.errors:
            source = error.what.rpartition("/")[2][:60]
            self._read_errors[source] = self._read_errors.get(source, 0) + 1

    def _rows(self, sample: Watch) -> Iterator[Row]:
        yield "rigup_watch_build_info", labelled(("version",), __version__), 1
        yield "rigup_watch_scrape_seconds", "", sample.took.wall
        for source, count in self._read_errors.items():
            yield "rigup_watch_read_errors_total", labelled(("source",), source), count
        for gpu in sample.gpus:
            key, info = key_of(gpu), _info(gpu)
            yield "rigup_gpu_info", labelled(("gpu", *info), key, *info.values()), 1
            yield "rigup_gpu_up", labelled(("gpu",), key), float(gpu.state == "active")
            if gpu.state != "active":
                yield "rigup_gpu_state", labelled(("gpu", "state"), key, gpu.state), 1
                continue
            yield from _values(gpu, key)
            yield from self._counted(gpu, key)
        yield from self._processes(sample)
        if self.dcgm_host is not None:
            from rigup.watch.dcgm_names import dcgm_rows

            yield from dcgm_rows(sample, self.dcgm_host)

    def _counted(self, gpu: WatchedGpu, key: str) -> Iterator[Row]:
        if gpu.throttle is not UNSET:
            for reason in _REASONS:
                yield "rigup_gpu_throttled", labelled(("gpu", "reason"), key, reason), float(reason in gpu.throttle)
        for (of_gpu, word), seconds in self._throttled.items():
            if of_gpu == key:
                yield "rigup_gpu_throttled_seconds_total", labelled(("gpu", "reason"), key, word), seconds
        for (of_gpu, code), (count, _last) in self._xids.items():
            if of_gpu == key:
                yield "rigup_gpu_xid_errors_total", labelled(("gpu", "xid"), key, str(code)), count

    def _processes(self, sample: Watch) -> Iterator[Row]:
        keys = {gpu.index: key_of(gpu) for gpu in sample.gpus}
        held: dict[tuple[str, str, str], int] = {}
        for process in sample.processes:
            user = process.user if process.user is not UNSET else ""
            job = process.slurm_job if process.slurm_job is not UNSET else ""
            for part in process.gpus:
                vram, gtt = part.memory.vram, part.memory.gtt
                count = (vram if vram is not UNSET else 0) + (gtt if gtt is not UNSET else 0)
                mark = (keys.get(part.index, ""), user, job)
                held[mark] = held.get(mark, 0) + count
                if self.per_process:
                    labels = {"gpu": mark[0], "pid": str(process.pid), "user": user, "command": _command(process)}
                    labels |= {"partition": part.partition} if part.partition is not UNSET else {}
                    yield "rigup_gpu_process_memory_bytes", labelled(tuple(labels), *labels.values()), count
        for mark, count in held.items():
            yield "rigup_gpu_user_memory_bytes", labelled(("gpu", "user", "job"), *mark), count


def _dcgm_families() -> dict[str, Metric]:
    from rigup.watch.dcgm_names import NAMES

    return {name: Metric(series.kind, series.help) for name, series in NAMES.items()}


def _command(process: Any) -> str:
    from rigup.machine.outward import outward_text

    words = process.command if process.command is not UNSET else process.name if process.name is not UNSET else ""
    return outward_text(words[:_MOST_COMMAND])


def _info(gpu: WatchedGpu) -> dict[str, str]:
    driver = gpu.driver if gpu.driver is not UNSET else None
    words = {
        "index": str(gpu.index),
        "uuid": gpu.uuid,
        "vendor": gpu.vendor,
        "name": gpu.name,
        "isa": gpu.isa,
        "driver": driver.name if driver else UNSET,
        "driver_version": driver.version if driver else UNSET,
    }
    return {label: word for label, word in words.items() if word is not UNSET and word}


def _values(gpu: WatchedGpu, key: str) -> Iterator[Row]:
    for parts, name, labels in _series_of(key):
        value: Any = gpu
        for part in parts:
            value = getattr(value, part, UNSET)
        if value is not UNSET:
            yield name, labels, value
    for link in gpu.links if gpu.links is not UNSET else ():
        name, kind, number = "rigup_gpu_link_bytes_total", link.kind, str(link.index)
        if link.rx is not UNSET:
            yield name, labelled(_LINK, key, kind, number, "rx"), link.rx
        if link.tx is not UNSET:
            yield name, labelled(_LINK, key, kind, number, "tx"), link.tx


@functools.lru_cache(maxsize=256)
def _series_of(key: str) -> list[tuple[tuple[str, ...], str, str]]:
    """The attributes that lead to each value, the name of its series, and its labels, which do not change of a GPU."""
    return [(tuple(path.split(".")), name, labelled(("gpu", *labels), key, *labels.values())) for path, name, labels in _SERIES]


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 2**53 else repr(float(value))
