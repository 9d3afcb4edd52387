"""How far a result is from what it should be, and whether it lies where it should."""

from __future__ import annotations

from typing import Any

import torch


def error(got: Any, wanted: Any) -> float:
    """The largest deviation, in units of the root mean square of what is wanted; `inf` where a number is none."""
    values, right = got.detach().cpu().double(), wanted.detach().cpu().double()
    if values.shape != right.shape or not bool(torch.isfinite(values).all()):
        return float("inf")
    size = float(right.square().mean().sqrt()) or 1.0
    return float((values - right).abs().max()) / size


_LACKS = (
    "not implemented for", "not implemented on", "not supported", "doesn't support", "does not support", "unsupported",
    "Could not run 'aten::", "No available kernel", "is not currently implemented", "requires compiling", "not compiled with",
    "has no attribute", "unexpected keyword", "only supported",
)  # fmt: skip


def unsupported(why: Exception) -> bool:
    """Whether an error says that this build or device has no such operator, or not in this type."""
    return isinstance(why, NotImplementedError) or any(words in str(why) for words in _LACKS)


def elsewhere(device: dict[str, Any], **results: Any) -> list[Any]:
    """Results that do not lie on the device on which they were computed, with where they lie."""
    wanted = torch.device(device["id"])
    return [name + " on " + str(tensor.device) for name, tensor in results.items() if not _same(tensor.device, wanted)]


def _same(device: Any, wanted: Any) -> bool:
    return device.type == wanted.type and (wanted.type == "cpu" or (device.index or 0) == (wanted.index or 0))


def pseudo(seed: int, *shape: int) -> Any:
    """Numbers of a normal distribution on the CPU, the same each time, in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def to(device: dict[str, Any], *tensors: Any, **kinds: Any) -> Any:
    """Tensors on the device, as float32 unless told otherwise."""
    moved = [tensor.to(kinds.get("dtype", torch.float32)).to(device["id"]) for tensor in tensors]
    return moved[0] if len(moved) == 1 else moved


def gradients(function: Any, *inputs: Any) -> list[Any]:
    """The result of a function and its gradients, for weights that make every part of the result count."""
    leaves = [tensor.detach().requires_grad_() for tensor in inputs]
    result = function(*leaves)
    weights = pseudo(99, *result.shape).to(result.dtype).to(result.device)
    (result * weights).sum().backward()
    return [result.detach(), *(leaf.grad for leaf in leaves)]


def forth_and_back(function: Any, device: dict[str, Any], *inputs: Any) -> dict[str, Any]:
    """A function with its gradients on the device, against the same in float64 on the CPU."""
    wanted = gradients(function, *inputs)
    moved = to(device, *inputs)
    got = gradients(function, *(moved if isinstance(moved, list) else [moved]))
    names = ["result", *("gradient " + str(number) for number in range(1, len(got)))]
    return {
        "errors": {name: error(result, right) for name, result, right in zip(names, got, wanted)},
        "elsewhere": elsewhere(device, **dict(zip(names, got))),
    }
