"""A case again with many times as much: its inputs are repeated along a dimension over which it works piece by piece.

Whether it does is found out in Python: the reference is asked for twice the inputs, and its results and gradients must be
those of the case, repeated. Then they are so for any number of times, and large tensors have expected values that cost nothing.
"""

from __future__ import annotations

import math
import re
from typing import Any, Callable, Iterator, NamedTuple, Sequence

import torch
from rigup_probe_grid import Grid
from rigup_probe_torch_cases import Case, Report, Wanted, plain_tensor, referenced, several
from rigup_probe_torch_deviation import deviation
from rigup_probe_torch_pieces import worst

ENOUGH, _TOO_MANY = (33_019, 200_000)  # numbers that the smallest of what is repeated has at least, and the largest at most
_MOST = 1500  # numbers of inputs that are repeated
_CLOSE = 1e-9
_EXACT, _ADDED = ("float64", "float32"), 16.0  # times the room of a gradient that is a sum over all repetitions
# the number of examples stands in the reference; and what takes seconds of so many matrices
_NOT = re.compile(r"batchmean|by places|(?<![a-z])(?:qr|svd|eig|lstsq|index_fill)")


class Plan(NamedTuple):
    """The dimensions along which a case is repeated.

    Attributes:
        inputs: the dimension along which each input is repeated; None for those that are not.
        results: the same of each result.
        share: what the gradient of a repeated input is then, in units of what it was: a power of the times.

    """

    inputs: tuple[Any, ...]
    results: tuple[Any, ...]
    share: int = 0


_PLANS: dict[str, Any] = {}


def tiled(report: Report, case: Case, wanted: Wanted, dtype: str, calls: Sequence[Callable[..., Any]] = ()) -> bool:
    """Run an enlarged case by its first call, or by these: forward and backward; False if the call fixes the sizes."""
    if case.name not in _PLANS:
        _PLANS[case.name] = _planned(case, wanted)
    plan = _PLANS[case.name]
    short = dtype not in _EXACT
    if plan is None or (short and None in plan.results):
        return False
    held = [len(input_.grid.flat) for input_, dim in zip(case.inputs, plan.inputs) if dim is not None]
    held += [len(grid.flat) for grid, dim in zip(wanted.results, plan.results) if dim is not None]
    times = min(-(-ENOUGH // min(held)), -(-_TOO_MANY // max(held)))
    found = False
    for call in calls or case.calls[:1]:
        try:
            _run(report, case._replace(calls=(call,)), wanted, dtype, plan, times, call is case.calls[0])
            found = True
        except (RuntimeError, IndexError, ValueError, TypeError):  # noqa: PERF203  (it names sizes)
            continue
    return found


def _run(report: Report, case: Case, wanted: Wanted, dtype: str, plan: Plan, times: int, sure: bool = True) -> None:
    """`sure`: another shape than expected is a fault; else the call may name one of its sizes."""
    where = str(times) + " times as much"
    place = report.device["id"]
    inputs = [plain_tensor(repeated(input_.grid, dim, times), input_.kind, dtype, place) for input_, dim in zip(case.inputs, plan.inputs)]
    reals = [tensor.requires_grad_() for tensor, kind in zip(inputs, case.inputs) if case.backward and kind.kind == "real"]
    with torch.set_grad_enabled(case.backward):
        results = several(case.calls[0](*inputs))
    if not sure and any(
        len(result.shape) != len(right.shape)
        or result.numel() not in (len(right.flat), len(right.flat) * times)
        or (dim is not None and result.shape[dim] != right.shape[dim] * times)
        for result, right, dim in zip(results, wanted.results, plan.results)
    ):
        raise ValueError("another shape")
    for result, right, dim in zip(results, wanted.results, plan.results):
        report.add(
            case, dtype, "forward", _off(result.detach(), _scaled(right, times, plan.share + 1 if dim is None else 0), dim, times), where
        )
    if not reals:
        return
    weights = [
        plain_tensor(repeated(grid, dim, times), "real", dtype, place).to(result.dtype)
        for grid, dim, result in zip(wanted.weights, plan.results, results)
    ]
    pairs = [(result, weight) for result, weight in zip(results, weights) if result.requires_grad]
    slopes = torch.autograd.grad([result for result, _ in pairs], reals, [weight_ for _, weight_ in pairs], allow_unused=True)
    dims = [dim for dim, kind in zip(plan.inputs, case.inputs) if kind.kind == "real"]
    for slope, right, dim in zip(slopes, wanted.gradients, dims):
        if slope is None or (dim is None and dtype not in _EXACT):
            continue  # a short type does not hold a sum of so many
        room = case._replace(factor=case.factor * (_ADDED if dim is None else 1))
        report.add(room, dtype, "backward", _off(slope, _scaled(right, times, plan.share + (dim is None)), dim, times), where)


def _scaled(grid: Grid, times: int, power: int) -> Grid:
    return Grid(grid.shape, [x * float(times) ** power for x in grid.flat]) if power else grid


def repeated(grid: Grid, dim: Any, times: int) -> Grid:
    """The grid, again and again along one dimension; itself where that is None."""
    if dim is None:
        return grid
    at = dim % len(grid.shape)
    block = math.prod(grid.shape[at:])
    flat = [x for start in range(0, len(grid.flat), block) for x in grid.flat[start : start + block] * times]
    return Grid((*grid.shape[:at], grid.shape[at] * times, *grid.shape[at + 1 :]), flat)


def _off(got: Any, right: Grid, dim: Any, times: int) -> float:
    """The worst of all repetitions."""
    shape = right.shape if dim is None else (*right.shape[:dim], right.shape[dim] * times, *right.shape[dim + 1 :])
    if tuple(got.shape) != tuple(shape):
        return math.inf
    if dim is None:
        return deviation(got.cpu().reshape(-1).tolist(), right.flat)
    return worst(got, right.flat, math.prod(right.shape[dim:]), times)


def _planned(case: Case, wanted: Wanted) -> Any:
    """The first way that the reference agrees to; None where there is none."""
    if sum(len(input_.grid.flat) for input_ in case.inputs) > _MOST or _NOT.search(case.name):
        return None
    for dims in _ways(case):
        try:
            plan = _agreed(case, wanted, dims)
        except (ValueError, LookupError, TypeError, ArithmeticError):
            continue
        if plan is not None:
            return plan
    return None


def _ways(case: Case) -> Iterator[tuple[Any, ...]]:
    """Along the first dimension all, those of the first one's length, the first alone; along the last, the second; places alone."""
    shapes = [input_.grid.shape for input_ in case.inputs]
    found = [
        tuple(0 if shape else None for shape in shapes),
        tuple(0 if shape and shapes[0] and shape[0] == shapes[0][0] else None for shape in shapes),
        tuple(0 if not at and shape else None for at, shape in enumerate(shapes)),
        tuple(len(shape) - 1 if shape else None for shape in shapes),
        tuple(1 if len(shape) > 1 else None for shape in shapes),
    ]
    if [input_.kind for input_ in case.inputs] == ["real", "int64"] and shapes[1]:
        found.append((None, 0))  # more places in the same numbers
    yield from (plan_dims for plan_dims in dict.fromkeys(found) if any(dim is not None for dim in plan_dims))


def _agreed(case: Case, wanted: Wanted, dims: tuple[Any, ...]) -> Any:
    grids = [repeated(input_.grid, dim, 2) for input_, dim in zip(case.inputs, dims)]
    alone = referenced(case._replace(backward=False), grids).results
    places = tuple(_place(result, right) for result, right in zip(alone, wanted.results))
    share = 0
    if (None in places and len(set(places)) > 1) or -1 in places:
        return None
    if places[0] is None:  # one result of all that there is: the sum or the mean of the pieces
        share = _power(alone, wanted.results)
        if share is None or not case.backward:
            return None
        share -= 1
        slopes = zip(wanted.gradients, [dim for dim, input_ in zip(dims, case.inputs) if input_.kind == "real"])
        if not any(dim is not None and any(grid.flat) for grid, dim in slopes):
            return None  # the size of the result stands in the reference
    plan = Plan(dims, places, share)
    return plan if not case.backward or _slopes_agree(case, wanted, plan, grids) else None


def _place(twice: Grid, once: Grid) -> Any:
    """The dimension along which the one is the other repeated; None where it has the same shape; -1 for neither."""
    if twice.shape == once.shape:
        return None
    for dim, (size, other) in enumerate(zip(twice.shape, once.shape)):
        if size == 2 * other and _near(twice.flat, repeated(once, dim, 2).flat):
            return dim
    return -1


def _power(twice: list[Grid], once: list[Grid]) -> Any:
    """0 where the results are the same, 1 where they are twice as much, None for neither."""
    pairs = list(zip(twice, once))
    for power in (0, 1):
        if all(_near(a.flat, [x * 2.0**power for x in b.flat]) for a, b in pairs):
            return power
    return None


def _near(some: Sequence[float], others: Sequence[float]) -> bool:
    return len(some) == len(others) and deviation(some, others) < _CLOSE


def _slopes_agree(case: Case, wanted: Wanted, plan: Plan, grids: list[Grid]) -> bool:
    weights = [repeated(grid, dim, 2) for grid, dim in zip(wanted.weights, plan.results)]
    slopes = referenced(case, grids, weights).gradients
    dims = [dim for dim, input_ in zip(plan.inputs, case.inputs) if input_.kind == "real"]
    rights = [repeated(grid, dim, 2) for grid, dim in zip(wanted.gradients, dims)]
    shares = [2.0 ** (plan.share + (dim is None)) for dim in dims]
    return all(_near(a.flat, [x * share for x in b.flat]) for a, b, share in zip(slopes, rights, shares))
