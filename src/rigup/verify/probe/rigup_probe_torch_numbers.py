"""Small tensors, and the matrix product in each type, against sums that Python itself makes."""

from __future__ import annotations

import math
import operator
import random
import struct
from typing import Any, Callable, Iterator

import torch
from rigup_probe import Skip
from rigup_probe_torch_compare import elsewhere, unsupported

_TYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "tf32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float8": torch.float32,
}
_SHAPES = ((256, 512, 384), (61, 1021, 129), (1, 1021, 129))  # one that suits tiles, one that does not, one row
_EVEN = ((256, 512, 384), (16, 32, 16))  # multiples of 16
_ROWS, _COLUMNS = 13, 11  # rows and columns that differ; no tile has such a side
_DRAW = random.Random(5)  # noqa: S311  (numbers to reckon with)


def types_of(device: dict[str, Any]) -> Iterator[str]:
    """Types in which this kind of device may multiply."""
    if device["type"] != "mps":
        yield "float64"
    yield "float32"
    if device["type"] == "cuda" and device.get("vendor") == "nvidia":
        yield "tf32"
    yield from ("float16", "bfloat16")
    if device["type"] in ("cuda", "xpu"):
        yield "float8"


def small_tensors(device: dict[str, Any]) -> dict[str, Any]:
    """Create, compute, convert and index small tensors; integer results are exact."""
    device_id = device["id"]
    count = torch.arange(1, 11, device=device_id)
    cases = {
        "sum": (count.sum(), 55),
        "product": ((count * count).sum(), 385),
        "shifted": ((count - 3).abs().sum(), 31),
        "zeros": (torch.zeros(7, device=device_id).sum(), 0),
        "full": (torch.full((3, 3), 2, device=device_id).sum(), 18),
        "float": (count.float().mul(0.5).sum(), 27.5),
        "half": (count.half().sum(), 55),
        "compared": ((count > 4).sum(), 6),
        "masked": (count[count % 2 == 0].sum(), 30),
        "turned": (count.reshape(2, 5).t().contiguous().view(-1)[1], 6),
        "joined": (torch.cat([count, count]).sum(), 110),
        "copied": (torch.tensor([3, 1, 4]).to(device_id).max(), 4),
    }
    wrong = {name: result.item() for name, (result, right) in cases.items() if result.item() != right}
    return {"wrong": wrong, "elsewhere": elsewhere(device, **{name: result for name, (result, _right) in cases.items()})}


def product(name: str, full: bool) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The product in one type. `full`: also of large matrices."""

    def measured(device: dict[str, Any]) -> dict[str, Any]:
        large = full and (device["type"] != "cpu" or name == "float32")  # in half precision a CPU takes minutes
        shapes = [*(_EVEN if name == "float8" else _SHAPES), *([(2048, 2048, 2048)] if large else [])]
        ways = [(shape, turned) for shape in shapes for turned in (False, True)[: 1 if name == "float8" else 2]]
        products = [_product(name, device, *way) for way in ways]
        return {
            "errors": {str(way[0]) + (" transposed" if way[1] else ""): outcome[0] for way, outcome in zip(ways, products)},
            "elsewhere": [place for outcome in products for place in outcome[1]],
        }

    return measured


def _product(name: str, device: dict[str, Any], shape: tuple[int, int, int], turned: bool) -> tuple[float, list[Any]]:
    """Its error against sums that Python makes.

    Rows of the left and columns of the right are few, over and over, so that few sums are all entries there are.
    """
    rows, inner, columns = shape
    few = [[_number(name) for _ in range(inner)] for _ in range(_ROWS + _COLUMNS)]
    left, right = few[:_ROWS], few[_ROWS:]
    wanted = [[math.fsum(map(operator.mul, row, other)) for other in right] for row in left]
    try:
        got = _multiplied(name, device, _repeated(left, rows), _repeated(right, columns), turned)
    except (NotImplementedError, TypeError, RuntimeError) as why:
        if unsupported(why):
            raise Skip(str(why).splitlines()[0][:200]) from why
        raise
    return _error(got, wanted, (rows, columns)), elsewhere(device, product=got)


def _number(name: str) -> float:
    """A random number that the type represents exactly, with all its digits in the wide types."""
    if name in ("float64", "float32", "tf32"):
        value = _DRAW.gauss(0, 1)
        return value if name == "float64" else float(struct.unpack("f", struct.pack("f", value))[0])
    return _DRAW.randint(-8, 8) / 4


def _repeated(rows: list[list[float]], count: int) -> Any:
    """So many rows, as a tensor of float64 on the CPU."""
    flat = [number for at in range(count) for number in rows[at % len(rows)]]
    return torch.tensor(flat, dtype=torch.float64).view(count, -1)


def _multiplied(name: str, device: dict[str, Any], left: Any, right: Any, turned: bool) -> Any:
    """The product on the device of the left and the transposed right. `turned`: both lie column by column."""
    held = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if name == "tf32" else "highest")
    try:
        if name == "float8":
            return _in_float8(device, left, right)
        first, other = (x.to(_TYPES[name]).to(device["id"]) for x in (left, right))
        return torch.matmul(first.t().contiguous().t() if turned else first, other.t() if turned else other.t().contiguous())
    finally:
        torch.set_float32_matmul_precision(held)


def _in_float8(device: dict[str, Any], left: Any, right: Any) -> Any:
    """By the one operator that takes it; it wants columns behind one another."""
    kind = _float8(device)
    half, four = (torch.tensor(number, dtype=torch.float32).to(device["id"]) for number in (0.5, 4.0))
    matrix, other = left.to(kind).to(device["id"]), right.to(kind).to(device["id"])
    got = torch._scaled_mm(matrix, other.t(), scale_a=half, scale_b=four, out_dtype=torch.bfloat16)
    return (got[0] if isinstance(got, tuple) else got) * 0.5


def _error(got: Any, wanted: list[list[float]], shape: tuple[int, int]) -> float:
    """The largest deviation of all entries, relative to the root mean square of the expected ones."""
    if tuple(got.shape) != shape:
        return math.inf
    size = math.sqrt(math.fsum(number * number for row in wanted for number in row) / (_ROWS * _COLUMNS))
    worst = 0.0
    for at, row in enumerate(got.detach().cpu().tolist()):
        if not math.isfinite(sum(row)):
            return math.inf
        for place, right in enumerate(wanted[at % _ROWS][: len(row)]):
            mine = row[place::_COLUMNS]
            worst = max(worst, abs(max(mine) - right), abs(min(mine) - right))
    return worst / size


def _float8(device: dict[str, Any]) -> Any:
    """The kind of float8 that the chip has."""
    properties = device.get("properties", {})
    if device.get("vendor") == "nvidia" and (properties.get("major", 0), properties.get("minor", 0)) < (8, 9):
        raise Skip("the chip has no float8")
    if device.get("vendor") == "amd" and device.get("isa", "").startswith("gfx94"):
        return torch.float8_e4m3fnuz
    if device.get("vendor") == "amd" and not device.get("isa", "").startswith(("gfx95", "gfx12")):
        raise Skip("the chip has no float8")
    return torch.float8_e4m3fn


__all__ = ["product", "small_tensors", "types_of"]
