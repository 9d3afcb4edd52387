"""The matrix product in each type: a sweep over sizes, and the best of them measured again for longer."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict

import torch
from rigup_bench_clock import quickest, rate, timed
from rigup_bench_time import left
from rigup_probe import Skip

Device = Dict[str, Any]
Act = Callable[[], Any]
_TYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "tf32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float8": getattr(torch, "float8_e4m3fn", torch.float16),
}
_SIZES = (256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 10240, 12288, 16384)
_BY_HAND = 20000  # the size that people time by hand
_OF_MEMORY = 0.4  # of what is free
_SWEEP, _LAST = 4.0, 2.0  # seconds for a sweep and for the best size, in quick mode
_FULL = 4.0  # times as long, where there is time
_NEAR = (0.75, 0.875, 1.125, 1.25)  # of the best size, tried after the sweep
_TILE = 64


def product(name: str, full: bool) -> Callable[..., Any]:
    """Operations a second of one type: for each size, and for the best one."""

    def measured(device: Device, part: float = 1.0) -> Any:
        before = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        try:
            return _swept(name, device, _FULL if full else part, full)
        finally:
            torch.backends.cuda.matmul.allow_tf32 = before

    return measured


def _swept(name: str, device: Device, longer: float, full: bool) -> Any:
    sweep, most = _sweep(name, device, _SWEEP * longer), _largest(name, device)
    if not sweep:
        raise Skip("no product of this type could be made")
    rates = dict(sweep)
    for part in _NEAR:
        size = int(max(rates, key=lambda candidate: rates[candidate]) * part) // _TILE * _TILE
        if 0 < size <= most and size not in rates:
            rates.update(_sweep(name, device, 1.0 * longer, (size,)))
    best, measured = _best(name, device, rates, _LAST * longer)
    results = [dict(measured, name="matmul", type=name, unit="FLOP/s", size=best)]
    if full and most >= _BY_HAND and 2.0 * _BY_HAND**3 / rates[best] < 60:
        hand = timed(device, _prepared(name, device, _BY_HAND), 1.0)
        results.append(dict(rate(hand, 2.0 * _BY_HAND**3), name="matmul-by-hand", type=name, unit="FLOP/s", size=_BY_HAND))
    return {
        "results": results,
        "sweep": [{"size": size, "rate": rates[size]} for size in sorted(rates)],
        "threads": torch.get_num_threads(),
    }


def _best(name: str, device: Device, rates: dict[int, float], seconds: float) -> tuple[int, Any]:
    """The best of the likeliest sizes, each measured again for longer, since a single short measurement is noisy."""
    likeliest = sorted(rates, key=lambda candidate: -rates[candidate])[:3]
    found = [(size, rate(timed(device, _prepared(name, device, size), seconds / 3), 2.0 * size**3)) for size in likeliest]
    return max(found, key=lambda pair: pair[1]["best"])


def _sweep(name: str, device: Device, seconds: float, sizes: tuple[int, ...] = _SIZES) -> list[tuple[int, float]]:
    """Sizes with their rates, as many as the time and the memory allow; a size that would take too long ends it."""
    found, most, end = [], _largest(name, device), time.perf_counter() + seconds  # type: list[tuple[int, float]], int, float
    for size in sizes:
        expected = 2.0 * size**3 / found[-1][1] if found else 0.0
        if size > most or (found and time.perf_counter() + 3 * expected > min(end, time.perf_counter() + left())):
            break
        found.append((size, 2.0 * size**3 / quickest(device, _prepared(name, device, size), end)))
    return found


def _largest(name: str, device: Device) -> int:
    """The largest size whose three matrices fit into a part of the free memory."""
    free = _free(device)
    width = torch.empty(0, dtype=_TYPES[name]).element_size()
    return int((free * _OF_MEMORY / 3 / max(width, 2)) ** 0.5) if free else 4096


def _free(device: Device) -> float | None:
    if device["type"] == "cuda":
        return float(torch.cuda.mem_get_info(device["id"])[0])
    if device["type"] == "cpu":
        try:
            with open("/proc/meminfo", encoding="ascii") as file:
                lines = dict(line.split(":", 1) for line in file)
            return float(lines["MemAvailable"].split()[0]) * 1024 / 2
        except (OSError, KeyError, ValueError):
            return 2.0**31
    return float(device.get("properties", {}).get("total_memory", 0)) / 2 or None


def _prepared(name: str, device: Device, size: int) -> Act:
    """The product of two matrices of numbers that are spread as weights are: predictable ones take less power."""
    kind, device_id = _TYPES[name], device["id"]
    if name == "float8":
        return _of_float8(device_id, size)
    a, b = (torch.randn(size, size, device=device_id, dtype=torch.float32).to(kind) for _time in range(2))
    c = torch.empty(size, size, device=device_id, dtype=kind)
    return lambda: torch.mm(a, b, out=c)


def _of_float8(device_id: str, size: int) -> Act:
    if not hasattr(torch, "_scaled_mm"):
        raise Skip("this torch has no product of float8")
    a = torch.randn(size, size, device=device_id).to(_TYPES["float8"])
    b = torch.randn(size, size, device=device_id).to(_TYPES["float8"]).t()
    unit_scale: Any = torch.ones((), device=device_id)
    scaled: Any = torch._scaled_mm

    def act() -> Any:
        return scaled(a, b, scale_a=unit_scale, scale_b=unit_scale, out_dtype=torch.bfloat16)

    try:
        act()
    except (RuntimeError, TypeError, ValueError) as error:
        raise Skip("no product of float8 here: " + str(error)[:200])  # noqa: B904
    return act
