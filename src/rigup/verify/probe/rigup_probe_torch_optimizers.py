"""Steps of optimizers, number by number, against their formulas in Python."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import torch
from rigup_probe_reference_steps import BETAS, DECAY, EPS, OPTIMIZERS, RATE
from rigup_probe_torch_cases import deviation
from rigup_probe_torch_compare import unsupported
from torch import nn


def optimizers(device: dict[str, Any]) -> dict[str, Any]:
    """Some steps of each, in each way that they are made."""
    summary: dict[str, Any] = {"cases": [], "raised": [], "without": [], "elsewhere": []}
    for kind in ("float64", "float32", "bfloat16") if device["type"] != "mps" else ("float32",):
        for name, class_, options, reference in OPTIMIZERS:
            for way in ({}, {"foreach": False}, {"foreach": True}, {"fused": True}):
                label = name + "".join(" " + key + "=" + str(value) for key, value in way.items())
                _try_optimizer(summary, device, kind, label, {**options, **way}, class_, _steps(reference), bool(way))
    summary["cases"] += [*_clipped(device)]
    for further in (_sparse, _factored, _second_order):
        try:
            summary["cases"] += [*further(device)]
        except (AttributeError, NotImplementedError, TypeError) as why:  # noqa: PERF203
            summary["without"].append(further.__name__.strip("_") + " optimizer: " + str(why)[:100])
    return summary


def _try_optimizer(
    summary: dict[str, Any],
    device: dict[str, Any],
    kind: str,
    label: str,
    options: dict[str, Any],
    class_: str,
    wanted: list[float],
    chosen: bool,
) -> None:
    """One optimizer in one way; a way that was chosen may not be there."""
    try:
        got = _stepped(device, kind, lambda p: getattr(torch.optim, class_)(p, lr=RATE, **options))
    except (RuntimeError, TypeError, NotImplementedError, ValueError) as why:
        if not chosen and not unsupported(why):
            summary["raised"].append([label, kind, "forward", str(why)[:200]])
        return
    summary["cases"].append([label, kind, "forward", deviation(got, wanted), "after " + str(_COUNT) + " steps", _room(kind, class_)])


_COUNT = 7  # steps: RAdam begins with its second part after the fifth
_ROOM = {"bfloat16": 5.0}
_SINGLE = ("NAdam", "ASGD")  # keep their rates in float32, whatever the parameters are


def _room(kind: str, class_: str) -> float:
    return 1e6 if kind == "float64" and class_ in _SINGLE else _ROOM.get(kind, 16.0)


_START = [(2 * at - 11) / 16 for at in range(13)]  # near zero, so that bfloat16 holds what a step adds


def _slope(step: int, at: int) -> float:
    return ((at * 5 + step * 3) % 11 - 5) / 4


def _stepped(device: dict[str, Any], kind: str, make: Callable[..., Any]) -> list[float]:
    dtype = getattr(torch, kind)
    parameters = [nn.Parameter(tensor) for tensor in _parts(_START, dtype, device)]
    optimizer = make(parameters)
    for step in range(_COUNT):
        optimizer.zero_grad()
        for parameter, slope in zip(parameters, _parts([_slope(step, at) for at in range(13)], dtype, device)):
            parameter.grad = slope
        optimizer.step()
    return [number for parameter in parameters for number in parameter.detach().reshape(-1).cpu().tolist()]


def _parts(values: list[float], dtype: Any, device: dict[str, Any]) -> list[Any]:
    """Several tensors of several shapes, as a network has."""
    shapes = ((5,), (2, 3), (1, 1), (1,))
    tensors, at = [], 0
    for shape in shapes:
        count = math.prod(shape)
        tensors.append(torch.tensor(values[at : at + count], dtype=dtype).to(device["id"]).view(shape))
        at += count
    return tensors


def _steps(reference: Callable[..., float]) -> list[float]:
    """Each parameter by itself, through four steps."""
    values = []
    for at, start in enumerate(_START):
        state: dict[str, float] = {}
        value = start
        for step in range(_COUNT):
            value = reference(value, _slope(step, at), step + 1, state)
        values.append(value)
    return values


def _clipped(device: dict[str, Any]) -> Iterator[list[Any]]:
    """Gradients that are made as short as is allowed, and those that are short enough."""
    for most in (2.0, 100.0):
        parameter = nn.Parameter(torch.tensor(_START, dtype=torch.float32).to(device["id"]))
        slopes = [_slope(0, at) for at in range(13)]
        parameter.grad = torch.tensor(slopes, dtype=torch.float32).to(device["id"])
        size = math.sqrt(math.fsum(slope * slope for slope in slopes))
        norm = float(torch.nn.utils.clip_grad_norm_([parameter], most))
        wanted = [slope * min(1.0, most / (size + 1e-6)) for slope in slopes]
        error = max(deviation(parameter.grad.cpu().tolist(), wanted), abs(norm - size) / size)
        yield ["clip_grad_norm_ to " + str(most), "float32", "forward", error, "", 16.0]
    torch.nn.utils.clip_grad_value_([parameter], 0.5)
    wanted = [max(-0.5, min(0.5, slope)) for slope in slopes]
    yield ["clip_grad_value_", "float32", "forward", deviation(parameter.grad.cpu().tolist(), wanted), "", 16.0]


def _sparse(device: dict[str, Any]) -> Iterator[list[Any]]:
    """SparseAdam: only rows that have a slope are moved, by the same rule as all."""
    for up in (False, True):
        for kind in ("float64", "float32"):
            dtype = getattr(torch, kind)
            parameter = nn.Parameter(torch.tensor(_START[:6], dtype=dtype).to(device["id"]).view(3, 2))
            optimizer = torch.optim.SparseAdam([parameter], lr=RATE, betas=BETAS, eps=EPS, **({"maximize": True} if up else {}))
            values, states = _START[:6], [(0.0, 0.0)] * 6
            for step in range(1, 4):
                slopes = [_slope(step, at) for at in range(4)]
                rows = torch.tensor([[0, 2]]).to(device["id"])
                parameter.grad = torch.sparse_coo_tensor(rows, torch.tensor(slopes, dtype=dtype).to(device["id"]).view(2, 2), (3, 2))
                optimizer.step()
                for place, slope in zip((0, 1, 4, 5), slopes):
                    values = list(values)
                    m, v = states[place]
                    signed = -slope if up else slope
                    m, v = BETAS[0] * m + (1 - BETAS[0]) * signed, BETAS[1] * v + (1 - BETAS[1]) * signed**2
                    states[place] = m, v
                    size = RATE * math.sqrt(1 - BETAS[1] ** step) / (1 - BETAS[0] ** step)
                    values[place] -= size * m / (math.sqrt(v) + EPS)
            got = parameter.detach().reshape(-1).cpu().tolist()
            yield ["SparseAdam" + (" (maximize)" if up else ""), kind, "forward", deviation(got, values), "", 16.0]


_FACTORED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("", {}),
    (" with all arguments", {"beta2_decay": -0.5, "eps": (0.5, 0.25), "d": 1.25, "weight_decay": DECAY, "maximize": True}),
)
_ROOM_FACTORED = {"float64": 1e4, "float32": 16.0, "bfloat16": 5.0}  # its rate is kept in float32


def _factored(device: dict[str, Any]) -> Iterator[list[Any]]:
    """Adafactor (arXiv:1804.04235), of a row, whose squares are not factored; off the default in every argument."""
    for label, options in _FACTORED:
        wanted = _factored_steps(**options)
        for kind, foreach in ((kind, foreach) for kind in _ROOM_FACTORED for foreach in (False, True)):
            if kind == "float64" and device["type"] == "mps":
                continue
            parameter = nn.Parameter(_numbers(tuple(_START[:5]), kind, device))
            optimizer = torch.optim.Adafactor([parameter], lr=RATE, foreach=foreach, **options)
            for step in range(1, 5):
                parameter.grad = _numbers(tuple(_slope(step, at) for at in range(5)), kind, device)
                optimizer.step()
            error = deviation(parameter.detach().cpu().tolist(), wanted)
            yield ["Adafactor" + label + " foreach=" + str(foreach), kind, "forward", error, "", _ROOM_FACTORED[kind]]


def _factored_steps(
    beta2_decay: float = -0.8,
    eps: tuple[float, float] = (2.0**-52, 1e-3),
    d: float = 1.0,
    weight_decay: float = 0.0,
    maximize: bool = False,
) -> list[float]:
    values, squares = _START[:5], [0.0] * 5
    for step in range(1, 5):
        slopes = [-_slope(step, at) if maximize else _slope(step, at) for at in range(5)]
        rate = max(eps[1], math.sqrt(sum(value * value for value in values) / 5)) * min(RATE, 1 / math.sqrt(step))
        values = [value * (1 - RATE * weight_decay) for value in values]
        squares = [old + (slope * slope - old) * step**beta2_decay for old, slope in zip(squares, slopes)]
        moves = [slope / math.sqrt(max(square, eps[0] * eps[0])) for slope, square in zip(slopes, squares)]
        below = max(1.0, math.sqrt(sum(move * move for move in moves) / 5) / d)
        values = [value - rate / below * move for value, move in zip(values, moves)]
    return values


def _second_order(device: dict[str, Any]) -> Iterator[list[Any]]:
    """LBFGS: its first step goes down the slope, at most as far as the slope is long; then it finds where a bowl is deepest."""
    for kind, label, search in (
        ("float64", "", None),
        ("float64", " (strong_wolfe)", "strong_wolfe"),
        ("float32", "", None),
        ("bfloat16", "", None),
    ):
        parameter = nn.Parameter(_numbers((1.0, -2.0, 0.5), kind, device))
        weights = _numbers((1.0, 2.0, 0.5), kind, device)

        def closure(parameter: Any = parameter, weights: Any = weights) -> Any:
            parameter.grad = None
            loss = (weights * (parameter - 1.5) ** 2).sum()
            loss.backward()
            return loss

        single_step = torch.optim.LBFGS([parameter], lr=0.25, max_iter=1)
        single_step.step(closure)
        slopes = [2 * w * (x - 1.5) for w, x in ((1.0, 1.0), (2.0, -2.0), (0.5, 0.5))]
        share = min(1.0, 1 / sum(map(abs, slopes))) * 0.25
        wanted = [x - share * slope for x, slope in zip((1.0, -2.0, 0.5), slopes)]
        error = deviation(parameter.detach().cpu().tolist(), wanted)
        yield ["LBFGS, one step" + label, kind, "forward", error, "", 16.0 if kind == "float64" else 1.0]
        if kind != "float64":
            continue
        all_ = torch.optim.LBFGS([parameter], lr=1.0, max_iter=60, history_size=5, line_search_fn=search)
        all_.step(closure)
        yield ["LBFGS" + label, "float64", "forward", deviation(parameter.detach().cpu().tolist(), [1.5] * 3), "", 1e8]


def _numbers(values: tuple[float, ...], kind: str, device: dict[str, Any]) -> Any:
    return torch.tensor(values, dtype=getattr(torch, kind)).to(device["id"])
