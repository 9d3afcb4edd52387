"""The memory that a machine has for a model: each card's own, an integrated GPU's part of the system's, and the system's."""

from collections.abc import Iterable
from typing import Any

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.speeds import data_sheet

BACKENDS = {"nvidia": "cuda", "amd": "rocm", "apple": "metal", "intel": "sycl"}
HOST, CARD = "ram", "vram"
_GTT_BY_DEFAULT = 2  # the kernel lets a GPU map half of the system's memory
_SMALL_CARVE_OUT = 2 << 30  # below it, what counts on an integrated GPU is what it may map


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """A memory.

    Attributes:
        kind: "vram", "shared" (an integrated GPU's part of the system's memory), "unified" or "ram".
        total, free: bytes; None where nobody knows.
        within: it is a part of the system's memory, and what it holds the system has not.
        bandwidth: bytes a second by the data sheet; None if unknown.
        rate: operations a second in half precision.
        assumed: `free` was not read but reckoned.
        measured: the bandwidth is not the data sheet's, but what was measured on this machine.

    """

    name: str
    kind: str
    backend: str
    total: int | None = None
    free: int | None = None
    within: bool = False
    bandwidth: float | None = None
    rate: float | None = None
    assumed: bool = False
    measured: bool = False


class _Reserve(msgspec.Struct, frozen=True):
    kind: str
    share: float
    least: int


def reserve(kind: str, total: int) -> int:
    """What of a memory is never ours, where nobody measured what is taken."""
    row = next((row for row in tables.rows("engine_memory", "reserve", _Reserve) if row.kind == kind), None)
    return 0 if row is None else max(row.least, int(total * row.share))


def left(kind: str, total: int) -> int:
    """What is free of a memory of which only the size is known."""
    return max(0, total - reserve(kind, total))


def host_pool(total: int | None, available: int | None) -> Pool:
    """The system's memory."""
    if available is None and total is not None:
        return Pool(name="RAM", kind=HOST, backend="cpu", total=total, free=left(HOST, total), assumed=True)
    return Pool(name="RAM", kind=HOST, backend="cpu", total=total, free=available)


def device_pool(device: dict[str, Any], host: Pool) -> Pool | None:
    """The memory of a GPU; None where nobody knows of any.

    Args:
        device: vendor, name, integrated, memory by kind, used, as facts or a profile tell it.
        host: the system's memory.

    """
    memory = dict(device.get("memory") or {})
    vendor, name = str(device.get("vendor") or ""), str(device.get("name") or device.get("vendor") or "")
    unified = memory.get("unified") or (host.total if vendor == "apple" else None)
    if unified:
        kind, total, within = "unified", int(unified), True
    elif device.get("integrated") and vendor == "amd":
        kind, (total, within) = "shared", _shared(memory, host)
    else:
        kind, total, within = "vram", int(memory.get("vram") or 0), bool(device.get("integrated"))
    if not total:
        return None
    used = device.get("used")
    free = left(kind, total) if used is None else max(0, total - int(used))
    if within and host.free is not None:
        free = min(free, host.free + int(memory.get("vram") or 0))
    sheet = data_sheet(name, total)
    return Pool(
        name=name,
        kind=kind,
        backend=BACKENDS.get(vendor, "vulkan"),
        total=total,
        free=free,
        within=within,
        bandwidth=sheet.bandwidth if sheet else None,
        rate=_half(sheet.rates) if sheet else None,
        assumed=used is None,
    )


def _half(rates: dict[str, float]) -> float | None:
    return next((rates[kind] for kind in ("float16", "bfloat16", "float32") if kind in rates), None)


def _shared(memory: dict[str, int], host: Pool) -> tuple[int, bool]:
    """An AMD APU uses its carve-out or what it may map, the larger one, and never their sum."""
    carved = int(memory.get("vram") or 0)
    mapped = int(memory.get("gtt") or (host.total or 0) // _GTT_BY_DEFAULT)
    return (mapped, True) if carved < max(_SMALL_CARVE_OUT, mapped) else (carved, False)


def pools_of(devices: Iterable[dict[str, Any]], host: Pool) -> tuple[Pool, ...]:
    """The GPUs' memories, and the system's last."""
    pools = (device_pool(device, host) for device in devices)
    return (*(pool for pool in pools if pool is not None), host)
