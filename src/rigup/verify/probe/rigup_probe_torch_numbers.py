"""Small tensors, and the matrix product in each type, against sums that Python itself makes."""

from __future__ import annotations

import math
import random
from typing import Any, Callable, Iterator

import torch
from rigup_probe import Skip
from rigup_probe_torch_compare import elsewhere, error, pseudo, to

_TYPES = {"float64": torch.float64, "float32": torch.float32, "tf32": torch.float32, "float16": torch.float16,
          "bfloat16": torch.bfloat16, "float8": torch.float32}  # fmt: skip
_SHAPES = ((256, 512, 384), (61, 1021, 129))  # one that suits tiles, one that does not
_SAMPLES = 48


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
    """Make some, reckon, convert, look; whole numbers have one right answer."""
    there = device["id"]
    count = torch.arange(1, 11, device=there)
    made = {
        "sum": (count.sum(), 55), "product": ((count * count).sum(), 385), "shifted": ((count - 3).abs().sum(), 31),
        "zeros": (torch.zeros(7, device=there).sum(), 0), "full": (torch.full((3, 3), 2, device=there).sum(), 18),
        "float": (count.float().mul(0.5).sum(), 27.5), "half": (count.half().sum(), 55),
        "compared": ((count > 4).sum(), 6), "masked": (count[count % 2 == 0].sum(), 30),
        "turned": (count.reshape(2, 5).t().contiguous().view(-1)[1], 6), "joined": (torch.cat([count, count]).sum(), 110),
        "copied": (torch.tensor([3, 1, 4]).to(there).max(), 4),
    }  # fmt: skip
    wrong = {name: one.item() for name, (one, right) in made.items() if one.item() != right}
    return {"wrong": wrong, "elsewhere": elsewhere(device, **{name: one for name, (one, _right) in made.items()})}


def product(name: str, full: bool) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The product in one type. `full`: also of large matrices."""

    def measured(device: dict[str, Any]) -> dict[str, Any]:
        large = full and (device["type"] != "cpu" or name == "float32")  # in half precision a CPU takes minutes
        shapes = (*_SHAPES, (2048, 2048, 2048)) if large else _SHAPES
        told = [_product(name, device, shape) for shape in shapes]
        return {
            "errors": {str(shape): one[0] for shape, one in zip(shapes, told)},
            "samples": max(one[1] for one in told),
            "elsewhere": [place for one in told for place in one[2]],
        }

    return measured


def _product(name: str, device: dict[str, Any], shape: tuple[int, int, int]) -> tuple[float, float, list[Any]]:
    """Its error against float64, and that of some entries against sums that Python makes."""
    rows, inner, columns = shape
    left, right = (one.to(_TYPES[name]) for one in (pseudo(1, rows, inner), pseudo(2, inner, columns)))
    try:
        got, left, right = _multiplied(name, device, left, right)
    except (NotImplementedError, TypeError) as why:
        raise Skip(str(why).splitlines()[0][:200]) from why
    except RuntimeError as why:
        if "not implemented for" in str(why) or "not supported" in str(why) or "doesn't support" in str(why):
            raise Skip(str(why).splitlines()[0][:200]) from why
        raise
    wanted = left.double() @ right.double()
    return error(got, wanted), _sampled(got, left, right), elsewhere(device, product=got)


def _multiplied(name: str, device: dict[str, Any], left: Any, right: Any) -> tuple[Any, Any, Any]:
    """The product on the device, and what was really multiplied."""
    if name == "float8":
        return _in_float8(device, left, right)
    held = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if name == "tf32" else "highest")
    try:
        return torch.matmul(left.to(device["id"]), right.to(device["id"])), left, right
    finally:
        torch.set_float32_matmul_precision(held)


def _in_float8(device: dict[str, Any], left: Any, right: Any) -> tuple[Any, Any, Any]:
    """By the one operator that takes it; it wants sizes that are multiples of 16, and columns behind one another."""
    kind = _float8(device)
    left, right = left[: left.shape[0] // 16 * 16, : left.shape[1] // 16 * 16].to(kind), right.to(kind)
    right = right[: left.shape[1], : right.shape[1] // 16 * 16]
    one = torch.ones((), device=device["id"])
    there = right.to(device["id"]).t().contiguous().t()
    got = torch._scaled_mm(left.to(device["id"]), there, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    return (got[0] if isinstance(got, tuple) else got), left.float(), right.float()


def _float8(device: dict[str, Any]) -> Any:
    """The kind of float8 that the chip has."""
    told = device.get("properties", {})
    if device.get("vendor") == "nvidia" and (told.get("major", 0), told.get("minor", 0)) < (8, 9):
        raise Skip("the chip has no float8")
    if device.get("vendor") == "amd" and device.get("isa", "").startswith("gfx94"):
        return torch.float8_e4m3fnuz
    if device.get("vendor") == "amd" and not device.get("isa", "").startswith(("gfx95", "gfx12")):
        raise Skip("the chip has no float8")
    return torch.float8_e4m3fn


def _sampled(got: Any, left: Any, right: Any) -> float:
    """Some entries against sums in Python: torch's own float64 could be wrong in the same way."""
    draw = random.Random(5)  # noqa: S311  (which entries are looked at)
    there, rows, columns = got.detach().cpu().double(), left.tolist(), right.t().tolist()
    spots = [(draw.randrange(there.shape[0]), draw.randrange(there.shape[1])) for _ in range(_SAMPLES)]
    size = math.sqrt(left.shape[1])
    told = [abs(there[i, j].item() - math.fsum(a * b for a, b in zip(rows[i], columns[j]))) for i, j in spots]
    return max(told) / size if all(map(math.isfinite, told)) else math.inf


__all__ = ["product", "small_tensors", "to", "types_of"]
