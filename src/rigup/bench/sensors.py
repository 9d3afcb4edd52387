"""Sample clocks, temperature, power and throttling reasons during a measurement."""

import contextlib
import importlib
import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from msgspec import UNSET

from rigup.machine.host import Host
from rigup.schemas.bench import Readings, Watched

Sample = dict[str, float | str]
_EVERY = 0.5  # seconds
_IDLE = (3, 4)  # places of the times in which a core has nothing to do
_MOST = 4000  # samples of a run
# Reasons of NVML for a lower clock that slow a device down against what it could do; idling is none.
_HELD_BACK = {0x4: "power", 0x8: "hardware", 0x20: "temperature", 0x40: "temperature", 0x80: "power-brake", 0x10: "sync"}


class Sensors:
    """Samples all devices periodically in a thread; unreadable sensors are left out."""

    def __init__(self, host: Host) -> None:
        self._host, self._done = host, threading.Event()
        self.samples: dict[str, list[Sample]] = {}
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Sensors":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._done.set()
        self._thread.join(5)

    def summary(self) -> dict[str, Watched]:
        """The summary of each device's samples, by PCI address, and of "cpu"."""
        return {where: summarize(samples) for where, samples in self.samples.items()}

    def _watch(self) -> None:
        nvml = _nvml()
        for _count in range(_MOST):
            for where, sample in (*_of_nvidia(nvml), *_of_amd(self._host), *_of_processor(self._host)):
                self.samples.setdefault(where, []).append(sample)
            if self._done.wait(_EVERY):
                break
        if nvml is not None:
            with contextlib.suppress(Exception):
                nvml.nvmlShutdown()


def summarize(samples: list[Sample]) -> Watched:
    """Summarise samples: minimum, median and maximum of each reading, and the share of each throttling reason."""
    readings = {}
    for name in ("clock_mhz", "memory_clock_mhz", "temperature_c", "power_w"):
        values = sorted(float(sample[name]) for sample in samples if name in sample)
        if values:
            readings[name] = Readings(least=values[0], median=values[len(values) // 2], most=values[-1])
    reasons = [str(sample["held_back"]) for sample in samples if sample.get("held_back")]
    held_back = {reason: round(reasons.count(reason) / len(samples), 2) for reason in sorted(set(reasons))}
    return Watched(samples=len(samples), **readings, held_back=held_back or UNSET)


# -- NVIDIA ------------------------------------------------------------------------------------------


def _nvml() -> Any:
    """The initialised NVML; None if it is missing."""
    with contextlib.suppress(Exception):
        nvml: Any = importlib.import_module("pynvml")
        nvml.nvmlInit()
        return nvml
    return None


def _of_nvidia(nvml: Any) -> Iterator[tuple[str, Sample]]:
    if nvml is None:
        return
    with contextlib.suppress(nvml.NVMLError):
        for index in range(nvml.nvmlDeviceGetCount()):
            device = nvml.nvmlDeviceGetHandleByIndex(index)
            address = nvml.nvmlDeviceGetPciInfo(device).busId
            text = address.decode() if isinstance(address, bytes) else str(address)
            yield text.lower()[-12:], dict(_readings(nvml, device))


def _readings(nvml: Any, device: Any) -> Iterator[tuple[str, float | str]]:
    asks: dict[str, Any] = {
        "clock_mhz": lambda: nvml.nvmlDeviceGetClockInfo(device, nvml.NVML_CLOCK_SM),
        "memory_clock_mhz": lambda: nvml.nvmlDeviceGetClockInfo(device, nvml.NVML_CLOCK_MEM),
        "temperature_c": lambda: nvml.nvmlDeviceGetTemperature(device, nvml.NVML_TEMPERATURE_GPU),
        "power_w": lambda: nvml.nvmlDeviceGetPowerUsage(device) / 1000,
    }
    for name, ask in asks.items():
        with contextlib.suppress(nvml.NVMLError):
            yield name, float(ask())
    with contextlib.suppress(nvml.NVMLError, AttributeError):
        mask = nvml.nvmlDeviceGetCurrentClocksThrottleReasons(device)
        held = next((word for bit, word in _HELD_BACK.items() if mask & bit), "")
        if held:
            yield "held_back", held


# -- AMD and the processor, by sysfs -----------------------------------------------------------------


def _of_amd(host: Host) -> Iterator[tuple[str, Sample]]:
    for folder in host.find("/sys/class/drm/card*/device/hwmon/hwmon*"):
        if (host.read(folder + "/name").body or "").strip() != "amdgpu":
            continue
        address = (host.link(folder.rpartition("/hwmon/")[0]).body or "").rpartition("/")[2]
        readings = {
            "clock_mhz": _number(host, folder + "/freq1_input", 1e-6),
            "power_w": _watts(host, folder),
            "temperature_c": _number(host, folder + "/temp1_input", 1e-3),
        }
        yield address, _known(readings)


def _watts(host: Host, folder: str) -> float | None:
    average = _number(host, folder + "/power1_average", 1e-6)
    return average if average is not None else _number(host, folder + "/power1_input", 1e-6)


def _of_processor(host: Host) -> Iterator[tuple[str, Sample]]:
    clocks = [_number(host, path, 1e-3) for path in host.find("/sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq")[:256]]
    known = [clock for clock in clocks if clock is not None]
    heats = [_number(host, path + "/temp", 1e-3) for path in host.find("/sys/class/thermal/thermal_zone*")[:32]]
    warm = [heat for heat in heats if heat is not None]
    readings = {"clock_mhz": sum(known) / len(known) if known else None, "temperature_c": max(warm) if warm else None}
    if sample := _known(readings):
        yield "cpu", sample


def busy_cores(host: Host, seconds: float = 0.3) -> dict[str, float]:
    """`busy_cores`: cores used by other processes now; empty where the system does not report it."""
    before = _times(host)
    time.sleep(seconds if before else 0.0)
    after = _times(host)
    spent = [new - old for old, new in zip(before, after, strict=False)]
    if len(spent) <= _IDLE[-1] or sum(spent) <= 0:
        return {}
    cores = (host.read("/proc/stat").body or "").count("\ncpu")
    idle = sum(spent[place] for place in _IDLE) / sum(spent)
    return {"busy_cores": round(cores * (1 - min(max(idle, 0.0), 1.0)), 1)}


def _times(host: Host) -> list[int]:
    """CPU time since boot, in ticks: user, nice, system, idle, iowait, interrupts."""
    line = (host.read("/proc/stat", 1000).body or "").partition("\n")[0].split()
    return [int(word) for word in line[1:9] if word.isdecimal()] if line[:1] == ["cpu"] else []


def _known(readings: dict[str, float | None]) -> Sample:
    return {name: value for name, value in readings.items() if value is not None}


def _number(host: Host, path: str, scale: float) -> float | None:
    with contextlib.suppress(ValueError):
        return float((host.read(path, 100).body or "").strip()) * scale
    return None
