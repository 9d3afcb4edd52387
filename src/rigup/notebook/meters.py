"""What a cell uses: memory of the process and of devices, and energy where somebody counts it."""

from __future__ import annotations

import glob
import os
import sys
import threading
from contextlib import suppress
from typing import Any, NamedTuple

_PAUSE = 0.01  # seconds between two looks at what counts no peak by itself
_RAPL = "/sys/class/powercap/intel-rapl:*/energy_uj"
_GPU_ENERGY = "/sys/class/drm/card[0-9]*/device/hwmon/hwmon*/energy1_input"  # Intel's cards: microjoules
_GPU_POWER = "/sys/class/drm/card[0-9]*/device/hwmon/hwmon*/power1_average"  # AMD's cards: microwatts
_MICRO = 1e-6
_MILLI = 1e-3


class Used(NamedTuple):
    """Bytes in use now, and the most since they were last asked for."""

    now: int
    peak: int


def text_of(path: str) -> str:
    """A small file of the kernel's; "" where it cannot be read."""
    with suppress(OSError), open(path, encoding="ascii", errors="replace") as file:
        return file.read(4096)
    return ""


def resident() -> int:
    """Bytes of main memory that this process holds; 0 where nothing tells."""
    parts = text_of("/proc/self/statm").split()
    if len(parts) > 1 and parts[1].isdigit():
        return int(parts[1]) * os.sysconf("SC_PAGE_SIZE")
    with suppress(ImportError):
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    return 0


def devices() -> list[Any]:
    """torch's devices beside the processor that this notebook uses; none where it has not imported torch."""
    if "torch" not in sys.modules:
        return []
    import torch

    import rigup.torch.backends as backends

    return [
        torch.device(backend.type, index)
        for backend in backends.BACKENDS[:-1]
        if backend.count() and backend.in_use()
        for index in range(backend.count())
    ]


class Meter:
    """Memory of the process and of its devices, by name; `cpu` is the process's own."""

    def __init__(self) -> None:
        self._peak = 0
        self._devices = devices()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True, name="rigup memory")

    def __enter__(self) -> Meter:
        self.take()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stopped.wait(_PAUSE):
            self._peak = max(self._peak, resident())

    def take(self) -> dict[str, Used]:
        """What is in use, and the most since the last time."""
        now = resident()
        used = {"cpu": Used(now, max(now, self._peak))}
        self._peak = now
        for device in self._devices:
            used[str(device)] = _taken(device)
        return used


def _taken(device: Any) -> Used:
    """Of the allocator's own counts, whose peak begins anew."""
    import torch

    module: Any = getattr(torch, device.type, None)
    allocated = getattr(module, "memory_allocated", None) or getattr(module, "current_allocated_memory", None)
    if allocated is None:
        return Used(0, 0)
    if device.type not in ("cuda", "xpu"):
        return Used(int(allocated()), int(allocated()))
    used = Used(int(allocated(device)), int(module.max_memory_allocated(device)))
    module.reset_peak_memory_stats(device)
    return used


def wait_for_devices() -> None:
    """Until all that was started on devices is done; what failed there is raised where it is looked for, not here."""
    if "torch" in sys.modules and devices():
        from rigup.torch import synchronize

        with suppress(RuntimeError):
            synchronize()


class Energy:
    """Joules by who used them: counters where there are any, else power times the time between two looks."""

    def __init__(self) -> None:
        self._before: dict[str, float] = {}
        self._integrated: dict[str, float] = {}
        self._last = 0.0

    def begin(self, now: float) -> None:
        """Begin to count at a time in seconds."""
        self._before, self._last = counters(), now

    def look(self, now: float) -> None:
        """Power since the last look, where there is no counter."""
        for path in glob.glob(_GPU_POWER):
            if (watts := text_of(path).strip()).isdigit():
                joules = int(watts) * _MICRO * (now - self._last)
                self._integrated[_card(path)] = self._integrated.get(_card(path), 0.0) + joules
        self._last = now

    def end(self, now: float) -> dict[str, float]:
        """What was used since the beginning; a counter that began anew is left out."""
        self.look(now)
        counted = {name: value - self._before.get(name, value) for name, value in counters().items()}
        return {name: joules for name, joules in {**self._integrated, **counted}.items() if joules > 0}


def counters() -> dict[str, float]:
    """Joules that were counted since some beginning."""
    readings = {_card(path): text_of(path) for path in glob.glob(_GPU_ENERGY)}
    readings |= {"processor " + path.split(":")[1].split("/")[0]: text_of(path) for path in glob.glob(_RAPL)}
    joules = {name: int(value) * _MICRO for name, value in readings.items() if value.strip().isdigit()}
    return {**joules, **_of_nvidia()}


def _of_nvidia() -> dict[str, float]:
    """By the driver's library, where torch computes with it already: then it answers."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized() or torch.version.hip:
        return {}
    try:
        import pynvml

        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        return {f"GPU {index}": pynvml.nvmlDeviceGetTotalEnergyConsumption(handle) * _MILLI for index, handle in enumerate(handles)}
    except Exception:  # a card that counts none, a library of another release: then nothing is told
        return {}


def _card(path: str) -> str:
    return path.split("/")[4]
