"""Errors of results, and whether they are on the expected device."""

from __future__ import annotations

from typing import Any

import torch


def error(got: Any, wanted: Any) -> float:
    """The largest deviation relative to the root mean square of the expected values; `inf` if a number is not finite."""
    values, right = got.detach().cpu().double(), wanted.detach().cpu().double()
    if values.shape != right.shape or not bool(torch.isfinite(values).all()):
        return float("inf")
    size = float(right.square().mean().sqrt()) or 1.0
    return float((values - right).abs().max()) / size


_LACKS = (
    "not implemented for",
    "not implemented on",
    "not supported",
    "doesn't support",
    "does not support",
    "unsupported",
    "Could not run 'aten::",
    "No available kernel",
    "is not currently implemented",
    "requires compiling",
    "not compiled with",
    "has no attribute",
    "unexpected keyword",
    "only supported",
)


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
