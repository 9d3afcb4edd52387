"""Convert many numbers to tensors and back without Python lists for each."""

from __future__ import annotations

import ctypes
import math
from array import array
from typing import Any, Iterator, Sequence

import torch
from rigup_probe_torch_deviation import deviation

_CODES = {
    torch.float32: "f",
    torch.float64: "d",
    torch.int64: "q",
    torch.int32: "i",
    torch.int16: "h",
    torch.int8: "b",
    torch.uint8: "B",
    torch.bool: "B",
}
_MADE = (torch.float32, torch.float64, torch.int64)
_FEW = 64


def tensor(flat: Sequence[Any], dtype: Any) -> Any:
    """A row of these numbers on the CPU."""
    if len(flat) < _FEW or dtype not in _MADE:
        return torch.tensor(flat, dtype=dtype)
    return torch.frombuffer(array(_CODES[dtype], flat if dtype != torch.int64 else map(int, flat)), dtype=dtype)


def worst(got: Any, right: Sequence[float], block: int, times: int) -> float:
    """The largest deviation of a result that ought to be `right`, each `block` of it `times` over, perhaps cut short."""
    on_cpu = got.detach().cpu()
    on_cpu = on_cpu.float() if on_cpu.dtype in (torch.float16, torch.bfloat16) else on_cpu
    on_cpu = on_cpu.reshape(-1).contiguous()
    if on_cpu.dtype not in _CODES:
        return max(deviation(values, right) for values in _lists(on_cpu.tolist(), block, times))
    size = on_cpu.element_size()
    raw = ctypes.string_at(on_cpu.data_ptr(), on_cpu.numel() * size)
    found = 0.0
    for block_bytes in _distinct(raw, block * size, times):
        numbers = array(_CODES[on_cpu.dtype])
        numbers.frombytes(block_bytes)
        found = max(found, deviation(numbers.tolist(), right))
    return found if not math.isnan(found) else math.inf


def _distinct(raw: bytes, block: int, times: int) -> set[bytes]:
    """The repetitions that differ from each other in a bit: mostly one, or few."""
    wide = block * times
    if len(raw) <= wide:
        return {raw[at : at + block] for at in range(0, len(raw), block)}
    rows = range(0, len(raw), wide)
    return {b"".join([raw[row + at : row + at + block] for row in rows]) for at in range(0, wide, block)}


def _lists(values: list[Any], block: int, times: int) -> Iterator[list[Any]]:
    wide = block * times
    for at in range(0, wide, block):
        yield [x for row in range(at, len(values), wide) for x in values[row : row + block]]
