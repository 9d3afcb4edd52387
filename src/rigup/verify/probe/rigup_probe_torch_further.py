"""What a case is asked beside its result: other numbers before, a NaN among its numbers, gradients of its gradients."""

from __future__ import annotations

import math
from typing import Any

import torch
from rigup_probe_grid import Grid
from rigup_probe_torch_cases import LAYOUTS, Case, Told, Wanted, failed, laid, plain_tensor, reckoned
from rigup_probe_torch_compare import unsupported
from rigup_probe_torch_deviation import deviation

_STIRS = 4
_TAPE, _LONG_TAPE = 500, 3000  # steps of a reference that may be reckoned anew: usually, and where all is to be tried
_MANY = 300  # numbers that a reference without a tape may be given anew
_STEP = 2.0**-12  # of the differences that stand for a second derivative
_ROOM = 50.0  # times that of the type: such a difference is no exact one
_EVERY = ("float64", "float32", "float16", "bfloat16")
# the largest, the least and the middle one: Python orders no NaN
_ORDERED = (
    "max",
    "min",
    "sort",
    "topk",
    "median",
    "kthvalue",
    "quantile",
    "mode",
    "unique",
    "clamp",
    "relu",
    "hard",
    "arg",
)


def stirred(told: Told, case: Case, dtype: str) -> None:
    """The same call with the numbers in another order: what is kept from then would be told again."""
    try:
        inputs = [
            plain_tensor(Grid(one.grid.shape, one.grid.flat[::-1]), one.kind, dtype, told.device["id"])
            for one in case.inputs
        ]
        with torch.no_grad():
            for _time in range(_STIRS):
                case.calls[0](*inputs)
    except Exception as why:
        del why


def further(told: Told, case: Case, wanted: Wanted, dtype: str, full: bool) -> None:
    """NaN in each type; gradients of gradients in one, or in two where all is to be tried."""
    most = _LONG_TAPE if full else _TAPE
    if case.spreads and dtype in _EVERY and wanted.steps <= most:
        _with_nan(told, case, dtype)
    if (
        case.backward
        and case.twice
        and wanted.steps <= most
        and dtype in (("float64", "float32") if full else ("float32",))
    ):
        _twice(told, case, dtype)


_SPOILT: dict[str, Any] = {}  # by the case's name: its inputs with a NaN, and what comes of them


def _with_nan(told: Told, case: Case, dtype: str) -> None:
    """One number of the first input is none: so are the results that it counts for, and no others."""
    if case.name not in _SPOILT:
        _SPOILT[case.name] = _spoilt(case)
    if _SPOILT[case.name] is None:
        return
    grids, right = _SPOILT[case.name]
    inputs = [plain_tensor(grid, one.kind, dtype, told.device["id"]) for grid, one in zip(grids, case.inputs)]
    try:
        with torch.no_grad():
            got = case.calls[0](*inputs)
    except Exception as why:
        failed(told, case, dtype, "with NaN", why)
        return
    for one, grid in zip(got if isinstance(got, (tuple, list)) else [got], right):
        told.add(case, dtype, "with NaN", deviation(one.detach().cpu().reshape(-1).tolist(), grid.flat), "")


def _spoilt(case: Case) -> Any:
    """None where a reference in Python says nothing of NaN."""
    place = next((at for at, one in enumerate(case.inputs) if one.kind in ("real", "given")), None)
    many = not case.backward and sum(len(one.grid.flat) for one in case.inputs) > _MANY
    if place is None or many or any(word in case.name for word in _ORDERED):
        return None
    first = case.inputs[place].grid
    at = len(first.flat) // 2
    spoilt = Grid(first.shape, [math.nan if here == at else one for here, one in enumerate(first.flat)])
    grids = [spoilt if here == place else one.grid for here, one in enumerate(case.inputs)]
    try:
        right = reckoned(case._replace(backward=False), grids).results
    except (ValueError, OverflowError, ArithmeticError):
        return None
    return (grids, right) if any(one != one for grid in right for one in grid.flat) else None


def _twice(told: Told, case: Case, dtype: str) -> None:
    """The gradient of the gradient along one direction, against differences of the reference's gradients."""
    ways = [[(at % 5 - 2) / 2 for at in range(len(one.grid.flat))] for one in case.inputs]
    ups = [_moved(case, ways, _STEP), _moved(case, ways, -_STEP)]
    rights = [[(a - b) / (2 * _STEP) for a, b in zip(up.flat, down.flat)] for up, down in zip(*ups)]
    try:
        got = _again(told, case, ways, dtype)
    except Exception as why:
        if not (unsupported(why) or "is not implemented" in str(why)):
            failed(told, case, dtype, "twice backward", why)
        return
    for number, (one, right) in enumerate(zip(got, rights), 1):
        none = one is None or one._is_zerotensor()
        there = [0.0] * len(right) if none else one.detach().cpu().reshape(-1).tolist()
        said = "gradient " + str(number)
        size = max(map(abs, right), default=0.0)
        off = max((abs(a - b) for a, b in zip(there, right)), default=0.0) / max(size, 1.0)
        told.add(
            case._replace(factor=_ROOM * case.factor), dtype, "twice backward", off if off == off else math.inf, said
        )


def _moved(case: Case, ways: list[list[float]], step: float) -> list[Grid]:
    grids = [
        Grid(one.grid.shape, [x + step * way for x, way in zip(one.grid.flat, several)])
        if one.kind == "real"
        else one.grid
        for one, several in zip(case.inputs, ways)
    ]
    return reckoned(case, grids).gradients


def _again(told: Told, case: Case, ways: list[list[float]], dtype: str) -> list[Any]:
    inputs = laid(told.device, case, dtype, LAYOUTS[0])
    leaves = [one.detach().requires_grad_() if kind.kind == "real" else one for one, kind in zip(inputs, case.inputs)]
    reals = [one for one, kind in zip(leaves, case.inputs) if kind.kind == "real"]
    with torch.enable_grad():
        got = case.calls[0](*leaves)
        results = list(got) if isinstance(got, (tuple, list)) else [got]
        weights = [plain_tensor(one, "real", dtype, told.device["id"]) for one in _weights(case)]
        pairs = [(one, weight.to(one.dtype)) for one, weight in zip(results, weights) if one.requires_grad]
        slopes = torch.autograd.grad([one for one, _ in pairs], reals, [one for _, one in pairs], create_graph=True, allow_unused=True)  # fmt: skip
        along = [
            plain_tensor(Grid(kind.grid.shape, way), "real", dtype, told.device["id"])
            for kind, way in zip(case.inputs, ways)
            if kind.kind == "real"
        ]
        pairs = [(one, way) for one, way in zip(slopes, along) if one is not None and one.requires_grad]
        if not pairs:
            return [None] * len(reals)
        return list(torch.autograd.grad([one for one, _ in pairs], reals, [one for _, one in pairs], allow_unused=True))


def _weights(case: Case) -> list[Grid]:
    from rigup_probe_torch_cases import expected

    return expected(case).weights
