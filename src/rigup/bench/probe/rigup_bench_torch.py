"""Benchmarks of torch on each device: products, memory, copies, launches, training steps."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator

import torch
from rigup_bench_clock import rate, timed
from rigup_bench_product import product
from rigup_bench_steps import convolution_step, transformer_step
from rigup_bench_time import Check, Wish, names, planned
from rigup_probe import Skip
from rigup_probe_torch import about  # noqa: F401  (whoever loads this module asks it for it)
from rigup_probe_torch import devices as listed
from rigup_probe_torch_numbers import types_of

Device = Dict[str, Any]
_OF_MEMORY = 1 / 16  # of a device's memory, that one buffer takes
_MOST_BUFFER = 2**30  # bytes
_CPU_BUFFER = 2**28
_LATER = ("float64",)  # types that few ask for


def devices() -> list[Device]:
    """All devices of torch, the CPU last, each with its planned measurements."""
    return [dict(device, planned=names([*_wishes(device, False)])) for device in listed()]


def checks(device: Device, full: bool) -> Iterator[tuple[str, Check]]:
    """The measurements of a device. `full`: longer and larger ones."""
    planned_checks: Iterator[tuple[str, Check]] = planned(len(listed()), [*_wishes(device, full)])
    return planned_checks


def _wishes(device: Device, full: bool) -> Iterator[Wish]:
    """Each measurement with its usual seconds, the least important last."""
    seconds = 2.0 if full else 0.5
    later = _LATER + (("float16",) if device["type"] == "cpu" else ())
    yield "launch", 1.0, launch
    yield from (("matmul-" + name, 9.0, product(name, full)) for name in types_of(device) if name not in later)
    yield "memory", 2.5, memory(seconds)
    if device["type"] != "cpu":
        yield "copy-host", 4.0, copy_host(seconds)
    yield "convolution-step", 3.0, convolution_step(seconds * 2)
    yield "transformer-step", 3.0, transformer_step(seconds * 2)
    yield from (("copy-" + other["id"], 1.0, copy_peer(other, seconds)) for other in _others(device))
    yield from (("matmul-" + name, 9.0, product(name, full)) for name in types_of(device) if name in later)


def _others(device: Device) -> Iterator[Device]:
    yield from (other for other in listed() if other["type"] == device["type"] and other["id"] != device["id"])


def launch(device: Device, part: float = 1.0) -> Any:
    """Seconds from one small operation to the next."""
    scalar = torch.zeros(1, device=device["id"])
    return {"results": [dict(timed(device, lambda: scalar.add_(1), 0.5 * part), name="launch", unit="s")]}


def buffer_bytes(device: Device) -> int:
    """How large a buffer may be: beyond any cache, and a small part of the memory."""
    if device["type"] == "cpu":
        return _CPU_BUFFER
    total = device.get("properties", {}).get("total_memory") or 2**32
    return int(min(_MOST_BUFFER, total * _OF_MEMORY))


def memory(seconds: float) -> Callable[..., Any]:
    """Bytes a second that the device's own memory moves: a copy, and a sum of two into a third."""

    def measured(device: Device, part: float = 1.0) -> Any:
        count = buffer_bytes(device) // 4
        a, b, c = (torch.ones(count, dtype=torch.float32, device=device["id"]) for _time in range(3))
        operations = [
            ("memory-copy", 2, lambda: b.copy_(a)),
            ("memory-triad", 3, lambda: torch.add(a, b, alpha=2.0, out=c)),
            ("memory-read", 1, a.sum),
        ]
        return {"results": [_moved(device, name, act, parts * count * 4, seconds * part) for name, parts, act in operations]}

    return measured


def _moved(device: Device, name: str, act: Callable[[], Any], size: int, seconds: float, *others: Device) -> Any:
    return dict(rate(timed(device, act, seconds, *others), size), name=name, unit="B/s", size=size)


def copy_host(seconds: float) -> Callable[..., Any]:
    """Bytes a second between main memory and the device, from pages that stay and from ordinary ones."""

    def measured(device: Device, part: float = 1.0) -> Any:
        count = buffer_bytes(device) // 4 // 4
        on_device, results = torch.empty(count, device=device["id"]), []
        for kind in ("pinned", "pageable"):
            here = _host(count, kind)
            if here is not None:
                to, back = (lambda h=here: on_device.copy_(h)), (lambda h=here: h.copy_(on_device))
                results += [_moved(device, "copy-to-device-" + kind, to, count * 4, seconds * part)]
                results += [_moved(device, "copy-to-host-" + kind, back, count * 4, seconds * part)]
        return {"results": results}

    return measured


def _host(count: int, kind: str) -> Any:
    """A buffer in main memory; None where pages cannot be kept in place."""
    plain = torch.ones(count)
    if kind == "pageable":
        return plain
    try:
        return plain.pin_memory()
    except (RuntimeError, AssertionError):
        return None


def copy_peer(other: Device, seconds: float) -> Callable[..., Any]:
    """Bytes a second to another device of the same kind."""

    def measured(device: Device, part: float = 1.0) -> Any:
        count = min(buffer_bytes(device), buffer_bytes(other)) // 4 // 2
        here, target = torch.ones(count, device=device["id"]), torch.empty(count, device=other["id"])
        if target.device == here.device:
            raise Skip("both are one device")
        named, act = "copy-to-" + other["id"], (lambda: target.copy_(here))
        return {"results": [_moved(device, named, act, count * 4, seconds * part, other)]}

    return measured
