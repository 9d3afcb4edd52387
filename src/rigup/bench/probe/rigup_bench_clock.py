"""How long something takes on a device: warmed up, waited for, repeated until the spread is known."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict

from rigup_bench_spread import as_rate as rate  # noqa: F401  (whoever times asks this module for it)
from rigup_bench_spread import of_times
from rigup_bench_time import left
from rigup_bench_wait import wait_all

Device = Dict[str, Any]
Measured = Dict[str, Any]
Act = Callable[[], Any]
_LEAST, _MOST = 5, 2000  # samples
_WARM = 0.2  # seconds
_PATIENCE = 4.0  # times the seconds that there are: what takes longer is called once
_SAMPLE, _SAMPLE_CPU = 0.02, 0.001  # seconds of one sample at least: launches of a GPU overlap, calls of a CPU do not


def timed(device: Device, act: Act, seconds: float, *others: Device) -> Measured:
    """Seconds per call, as `of_times` summarises them.

    Args:
        device: what is measured, and waited for.
        act: what is called.
        seconds: how long samples are taken.
        others: further devices that the call keeps busy, which are waited for too.

    """
    devices = (device, *others)
    took = _once(devices, act)
    once_only = took > _PATIENCE * seconds
    times = [took] if once_only else _times(devices, act, seconds, _repeats(devices, act, took))
    measured: Measured = of_times(times)
    return measured


def once(device: Device, act: Act) -> float:
    """Seconds of one call, waited for."""
    return _once((device,), act)


def quickest(device: Device, act: Act, end: float) -> float:
    """Seconds of the shortest of some calls after the first: eight, fewer where they are long or it is past `end`.

    Where others use the machine too, a few calls tell more of what a size can do by the shortest than by the middle.
    """
    tries = [once(device, act)]
    while len(tries) < (4 if tries[-1] > 0.2 else 9) and (len(tries) == 1 or time.perf_counter() < end):
        tries.append(once(device, act))
    return min(tries[1:])


def _once(devices: tuple[Device, ...], act: Act, repeats: int = 1) -> float:
    """Seconds of each of some calls, that are waited for together."""
    wait_all(*devices)
    began = time.perf_counter()
    for _time in range(repeats):
        act()
    wait_all(*devices)
    return (time.perf_counter() - began) / repeats


def _repeats(devices: tuple[Device, ...], act: Act, took: float) -> int:
    """Warm up, and find how many calls make a sample. `took`: seconds of the first one."""
    end = time.perf_counter() + _WARM
    while time.perf_counter() < end:
        took = min(took, _once(devices, act))
    sample = _SAMPLE_CPU if devices[0]["type"] == "cpu" else _SAMPLE
    return max(1, min(10000, int(sample / max(took, 1e-7))))


def _times(devices: tuple[Device, ...], act: Act, seconds: float, repeats: int) -> list[float]:
    """Seconds of a call, sample by sample in the order in which they were taken."""
    found, end = [], time.perf_counter() + seconds  # type: list[float], float
    while not found or (left() > 0 and (len(found) < _fewest(found) or (time.perf_counter() < end and len(found) < _MOST))):
        found.append(_once(devices, act, repeats))
    return found


def _fewest(found: list[float]) -> int:
    """How many samples there shall be, however long they take."""
    return _LEAST if min(found) < 1.0 else 3
