"""How long something takes on a device: warmed up, waited for, repeated until the spread is known."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict

import torch
from rigup_bench_time import left

Measured = Dict[str, Any]
_LEAST, _MOST = 5, 2000  # samples
_WARM = 0.2  # seconds
_PATIENCE = 4.0  # times the seconds that there are: what takes longer is called once
_SAMPLE, _SAMPLE_CPU = 0.02, 0.001  # seconds of one sample at least: launches of a GPU overlap, calls of a CPU do not


def wait(device: dict[str, Any]) -> None:
    """Until the device has done all that it was given."""
    kind = device["type"]
    if kind in ("cuda", "xpu", "mps"):
        getattr(torch, kind).synchronize()
    elif kind != "cpu":
        torch.zeros(1, device=device["id"]).cpu()


def timed(device: dict[str, Any], act: Callable[[], Any], seconds: float) -> Measured:
    """Seconds that one call takes: median, best, spread (half of the samples lie within it, as a share of the median)."""
    took = once(device, act)
    times = [took] if took > _PATIENCE * seconds else _times(device, act, seconds, _repeats(device, act, took))
    return {"median": middle(times), "best": times[0], "spread": spread(times), "samples": len(times)}


def once(device: dict[str, Any], act: Callable[[], Any]) -> float:
    """Seconds of one call, waited for."""
    wait(device)
    began = time.perf_counter()
    act()
    wait(device)
    return time.perf_counter() - began


def _repeats(device: dict[str, Any], act: Callable[[], Any], took: float) -> int:
    """Warm up, and find how many calls make a sample. `took`: seconds of the first one."""
    end = time.perf_counter() + _WARM
    while time.perf_counter() < end:
        took = min(took, once(device, act))
    sample = _SAMPLE_CPU if device["type"] == "cpu" else _SAMPLE
    return max(1, min(10000, int(sample / max(took, 1e-7))))


def _times(device: dict[str, Any], act: Callable[[], Any], seconds: float, repeats: int) -> list[float]:
    found, end = [], time.perf_counter() + seconds  # type: list[float], float
    while not found or (
        left() > 0 and (len(found) < _fewest(found) or (time.perf_counter() < end and len(found) < _MOST))
    ):
        wait(device)
        began = time.perf_counter()
        for _time in range(repeats):
            act()
        wait(device)
        found.append((time.perf_counter() - began) / repeats)
    return sorted(found)


def _fewest(found: list[float]) -> int:
    """How many samples there shall be, however long they take."""
    return _LEAST if found[0] < 1.0 else 3


def middle(times: list[float]) -> float:
    """The median of sorted times."""
    return (times[(len(times) - 1) // 2] + times[len(times) // 2]) / 2


def spread(times: list[float]) -> float:
    """How far the middle half of sorted times reaches, as a share of the median."""
    return (times[(len(times) * 3) // 4] - times[len(times) // 4]) / middle(times)


def rate(measured: Measured, amount: float) -> Measured:
    """Amount a second in place of seconds: the median, the best, and the same spread."""
    return dict(
        measured, median=amount / measured["median"], best=amount / measured["best"], seconds=measured["median"]
    )
