"""Memory and copies: freed memory is returned, copies are exact, and the device itself did the work."""

from __future__ import annotations

import gc
import os
import time
from typing import Any, Callable

import torch
from rigup_probe import Skip

MIB = 2**20
_ROUNDS, _SMALL = 48, 512  # products in the search for leaks, each of _SMALL² numbers
_SIDE = 1024  # rows of the matrices that are timed on the CPU
_LONG_ENOUGH = 0.25  # seconds
_BUILT_IN = ("cuda", "xpu", "mps")  # devices whose counters torch itself reads from the driver


def copy_host(device: dict[str, Any]) -> dict[str, Any]:
    """There and back, in all the ways in which memory lies; also from memory that is pinned."""
    draw = torch.Generator().manual_seed(6)
    bits = torch.randint(-(2**31), 2**31 - 1, (1_048_583,), generator=draw, dtype=torch.int64).to(torch.int32)
    ways = {
        "plain": bits,
        "strided": bits[::3],
        "turned": bits[: 1024 * 1023].view(1024, 1023).t(),
        "one": bits[:1],
        "none": bits[:0],
        "bytes": bits.view(torch.uint8)[5:77_777],
    }
    wrong = [name for name, tensor in ways.items() if not torch.equal(tensor.to(device["id"]).cpu(), tensor)]
    if device["type"] in ("cuda", "xpu"):
        pinned = bits.pin_memory(device["type"]) if device["type"] == "xpu" else bits.pin_memory()
        on_device = pinned.to(device["id"], non_blocking=True)
        synchronize(device)
        wrong += [] if torch.equal(on_device.cpu(), bits) else ["pinned"]
    return {"wrong": wrong}


def copy_peer(other: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """From one device to another and back, by way of the host or directly."""

    def copied(device: dict[str, Any]) -> dict[str, Any]:
        bits = torch.arange(3 * MIB, dtype=torch.int32, device=device["id"])
        moved = bits.to(other["id"])
        back = moved.to(device["id"])
        right = torch.arange(3 * MIB, dtype=torch.int32)
        wrong = [name for name, tensor in (("there", moved), ("back", back)) if not torch.equal(tensor.cpu(), right)]
        direct = device["type"] == "cuda" and torch.cuda.can_device_access_peer(device["index"], other["index"])
        return {"wrong": wrong, "direct": direct}

    return copied


def memory(full: bool) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Allocate memory, write and read all of it, free it; and look for leaks."""

    def memory(device: dict[str, Any]) -> dict[str, Any]:
        asked = _amount(device, full)
        before = _counters(device)
        wrong = _filled(device, asked)
        return {"asked": asked, "wrong": wrong, "before": before, "after": _counters(device), "leak": _leak(device)}

    return memory


def _amount(device: dict[str, Any], full: bool) -> int:
    """Bytes to allocate: on a GPU a part of the free memory, little elsewhere."""
    if device["type"] != "cuda":
        return 128 * MIB
    free = torch.cuda.mem_get_info(device["id"])[0]
    return int(free * 0.8) if full else min(int(free * 0.3), 1024 * MIB)


def _filled(device: dict[str, Any], asked: int) -> list[Any]:
    """Indices of blocks that do not hold what was written."""
    size = 64 * MIB
    blocks = [torch.full((size // 8,), v, dtype=torch.int64, device=device["id"]) for v in range(asked // size)]
    return [number for number, block in enumerate(blocks) if int(block.sum().item()) != number * (size // 8)]


def _counters(device: dict[str, Any]) -> dict[str, Any]:
    """Memory counters of this process in bytes, as far as the backend has them."""
    synchronize(device)
    gc.collect()
    module: Any = getattr(torch, device["type"], None)
    if hasattr(module, "empty_cache"):
        module.empty_cache()
    counters = {}
    for name in ("memory_allocated", "memory_reserved", "current_allocated_memory", "driver_allocated_memory"):
        if device["type"] != "cpu" and hasattr(module, name):
            counters[name] = int(getattr(module, name)() if device["type"] == "mps" else getattr(module, name)(device["id"]))
    if device["type"] == "cuda":
        counters["used"] = -int(torch.cuda.mem_get_info(device["id"])[0])
    if device["type"] == "cpu" and (resident := _resident()) is not None:
        counters["resident"] = resident
    return counters


def _resident() -> Any:
    """Bytes of main memory that this process takes."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def _leak(device: dict[str, Any]) -> dict[str, Any]:
    """How much more is held after many products than before, and how much all of them took."""
    left, right = (torch.ones(_SMALL, _SMALL, device=device["id"]) for _ in range(2))
    left.requires_grad_()
    for _ in range(4):
        _there_and_back(left, right)
    before = _counters(device)
    for _ in range(_ROUNDS):
        _there_and_back(left, right)
    after = _counters(device)
    grown = {name: after[name] - before[name] for name in before}
    return {"made": 2 * _ROUNDS * _SMALL * _SMALL * 4, "grown": grown}


def _there_and_back(left: Any, right: Any) -> None:
    """A product and its gradient, both dropped."""
    with torch.enable_grad():
        (left @ right).sum().backward()
    left.grad = None


def evidence(device: dict[str, Any]) -> dict[str, Any]:
    """Signs that the device did the work: its memory, its clock, the CPU's share of the time, the last bits of results."""
    values = torch.ones(2 * _SIDE, 2 * _SIDE, dtype=torch.float32)
    cpu_rate, cpu_time = _rate(values[:_SIDE, :_SIDE].contiguous(), {"id": "cpu", "type": "cpu"})
    signs: dict[str, Any] = {"cpu_rate": cpu_rate, "same_bits": _same_bits(device)}
    before, resident = _counters(device), _resident()
    on_device = values.to(device["id"])
    kept = torch.zeros(16, 2 * _SIDE, 2 * _SIDE, device=device["id"], dtype=torch.float32)
    kept.fill_(1.0)  # main memory is not taken before something is written there
    held, grown = _counters(device), _resident()
    signs["rate"], time_ = _rate(on_device, device)
    signs["asked"] = (kept.numel() + on_device.numel()) * 4
    signs["taken"] = {name: held[name] - before[name] for name in before}
    signs["by_the_build"] = device["type"] in _BUILT_IN
    signs["host_grown"] = None if resident is None or grown is None else grown - resident
    signs["cpu_share"] = time_ / cpu_time if cpu_time > 0 else None
    if device["type"] in ("cuda", "xpu"):
        signs["events"] = _by_its_own_clock(on_device, device)
    return signs


def _same_bits(device: dict[str, Any]) -> bool:
    """Whether a product is the CPU's to the last bit: other hardware adds up in another order."""
    left, right = (torch.randn(shape, generator=torch.Generator().manual_seed(8)) for shape in ((384, 1021), (1021, 257)))
    return bool(torch.equal((left.to(device["id"]) @ right.to(device["id"])).cpu(), left @ right))


def _rate(values: Any, device: dict[str, Any]) -> tuple[float, float]:
    """Operations a second of the product, over a quarter of a second or one product; and the CPU's seconds for each."""
    (values @ values)[0, 0].item()  # warm
    synchronize(device)
    began, busy, rounds = time.perf_counter(), time.process_time(), 0
    while not rounds or time.perf_counter() - began < _LONG_ENOUGH:
        last = values @ values
        rounds += 1
        synchronize(device)
    last[0, 0].item()
    done = 2.0 * float(values.shape[0]) ** 3 * rounds
    return done / (time.perf_counter() - began), (time.process_time() - busy) / done


def _by_its_own_clock(values: Any, device: dict[str, Any]) -> Any:
    """Seconds of one product as the device counted them, and as the host did."""
    module = getattr(torch, device["type"])
    try:
        with module.device(device["index"]):
            start, end = (module.Event(enable_timing=True) for _ in range(2))
            synchronize(device)
            began = time.perf_counter()
            start.record()
            values @ values
            end.record()
            synchronize(device)
            return {"device": start.elapsed_time(end) / 1000, "host": time.perf_counter() - began}
    except (RuntimeError, TypeError, AttributeError):
        return None


def synchronize(device: dict[str, Any]) -> None:
    """Wait for a device."""
    module: Any = getattr(torch, device["type"], None)
    if device["type"] == "cuda" or device["type"] == "xpu":
        module.synchronize(device["id"])
    elif device["type"] != "cpu" and hasattr(module, "synchronize"):
        module.synchronize()
    elif device["type"] != "cpu":
        torch.zeros(1, device=device["id"]).cpu()


__all__ = ["Skip", "copy_host", "copy_peer", "evidence", "memory", "synchronize"]
