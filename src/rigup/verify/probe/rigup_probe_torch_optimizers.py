"""Steps of optimizers, number by number, against their formulas in Python."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import torch
from rigup_probe_reference_steps import OPTIMIZERS, RATE
from rigup_probe_torch_cases import deviation
from rigup_probe_torch_compare import unsupported
from torch import nn


def optimizers(device: dict[str, Any]) -> dict[str, Any]:
    """Four steps of each, in each way that they are made."""
    told: dict[str, Any] = {"cases": [], "raised": [], "without": [], "elsewhere": []}
    for kind in ("float64", "float32") if device["type"] != "mps" else ("float32",):
        for name, class_, options, reference in OPTIMIZERS:
            for way in ({}, {"foreach": False}, {"foreach": True}, {"fused": True}):
                said = name + "".join(" " + key + "=" + str(value) for key, value in way.items())
                _tried(told, device, kind, said, {**options, **way}, class_, _steps(reference), bool(way))
    told["cases"] += [*_clipped(device)]
    return told


def _tried(
    told: dict[str, Any], device: dict[str, Any], kind: str, said: str, options: dict[str, Any], class_: str,
    wanted: list[float], chosen: bool,
) -> None:  # fmt: skip
    """One optimizer in one way; a way that was chosen may not be there."""
    try:
        got = _stepped(device, kind, lambda p: getattr(torch.optim, class_)(p, lr=RATE, **options))
    except (RuntimeError, TypeError, NotImplementedError, ValueError) as why:
        if not chosen and not unsupported(why):
            told["raised"].append([said, kind, "forward", str(why)[:200]])
        return
    told["cases"].append([said, kind, "forward", deviation(got, wanted), "after 4 steps", 16.0])


_START = [0.5 * at - 3 + 0.25 for at in range(13)]


def _slope(step: int, at: int) -> float:
    return ((at * 5 + step * 3) % 11 - 5) / 4


def _stepped(device: dict[str, Any], kind: str, make: Callable[..., Any]) -> list[float]:
    dtype = getattr(torch, kind)
    parameters = [nn.Parameter(one) for one in _parts(_START, dtype, device)]
    optimizer = make(parameters)
    for step in range(4):
        optimizer.zero_grad()
        for parameter, slope in zip(parameters, _parts([_slope(step, at) for at in range(13)], dtype, device)):
            parameter.grad = slope
        optimizer.step()
    return [one for parameter in parameters for one in parameter.detach().reshape(-1).cpu().tolist()]


def _parts(values: list[float], dtype: Any, device: dict[str, Any]) -> list[Any]:
    """Several tensors of several shapes, as a network has."""
    shapes = ((5,), (2, 3), (1, 1), (1,))
    made, at = [], 0
    for shape in shapes:
        count = math.prod(shape)
        made.append(torch.tensor(values[at : at + count], dtype=dtype).to(device["id"]).view(shape))
        at += count
    return made


def _steps(reference: Callable[..., float]) -> list[float]:
    """Each parameter by itself, through four steps."""
    values = []
    for at, start in enumerate(_START):
        state: dict[str, float] = {}
        value = start
        for step in range(4):
            value = reference(value, _slope(step, at), step + 1, state)
        values.append(value)
    return values


def _clipped(device: dict[str, Any]) -> Iterator[list[Any]]:
    """Gradients that are made as short as is allowed, and those that are short enough."""
    for most in (2.0, 100.0):
        parameter = nn.Parameter(torch.tensor(_START, dtype=torch.float32).to(device["id"]))
        slopes = [_slope(0, at) for at in range(13)]
        parameter.grad = torch.tensor(slopes, dtype=torch.float32).to(device["id"])
        size = math.sqrt(math.fsum(one * one for one in slopes))
        told = float(torch.nn.utils.clip_grad_norm_([parameter], most))
        wanted = [one * min(1.0, most / (size + 1e-6)) for one in slopes]
        error = max(deviation(parameter.grad.cpu().tolist(), wanted), abs(told - size) / size)
        yield ["clip_grad_norm_ to " + str(most), "float32", "forward", error, "", 16.0]
    torch.nn.utils.clip_grad_value_([parameter], 0.5)
    wanted = [max(-0.5, min(0.5, one)) for one in slopes]
    yield ["clip_grad_value_", "float32", "forward", deviation(parameter.grad.cpu().tolist(), wanted), "", 16.0]
