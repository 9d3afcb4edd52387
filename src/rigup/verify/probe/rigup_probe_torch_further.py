"""Further checks of a case: other inputs before it, a NaN among its inputs, second derivatives."""

from __future__ import annotations

import functools
import math
import re
from typing import Any, Callable

import torch
from rigup_probe_grid import Grid
from rigup_probe_torch_cases import (
    LAYOUTS,
    Case,
    Report,
    Wanted,
    expected,
    failed,
    laid,
    one_variant,
    plain_tensor,
    referenced,
    several,
    weight,
)
from rigup_probe_torch_compare import unsupported
from rigup_probe_torch_deviation import deviation
from rigup_probe_torch_kinds import COMPLEX, WHOLE, in_complex, in_whole_numbers
from rigup_probe_torch_respelled import FORMS, respelled
from rigup_probe_torch_tiled import tiled

_STIRS = 4
_LARGE = 20_000  # numbers of a result: as they are, and no more
_TRIES = 3  # cases of an operator that are asked for what not every one has
_TAPE, _LONG_TAPE = 500, 3000  # steps of a reference that may be reckoned anew: usually, and where all is to be tried
_MANY = 300  # numbers that a reference without a tape may be given anew
# the size of second derivatives below which what rounding leaves of larger terms shows
_LEAST = {"float64": 0.0625, "float32": 0.0625, "float16": 0.5, "bfloat16": 0.5}
_STEP = 2.0**-12  # of the differences that stand for a second derivative
# times that of the type: such a difference is no exact one
_ROOM = {"float64": 1e8, "float32": 50.0, "float16": 8.0, "bfloat16": 8.0}
_OTHERS = ("float64", "float16", "bfloat16")
_NAME = re.compile(r"(?:complex |integer )?\S*")
_ONCE = ("is not implemented", "once_differentiable", "differentiate twice")  # operators whose gradient has none
_EVERY = ("float64", "float32", "float16", "bfloat16")
# the largest, the least and the middle one: Python orders no NaN
_ORDERED = ("max", "min", "sort", "topk", "median", "kthvalue", "quantile", "mode", "unique", "clamp", "relu", "hard", "arg")


def stirred(report: Report, case: Case, dtype: str) -> None:
    """The same calls with the numbers in another order: a stale result would be returned again.

    In float32 each way to call it, since a module keeps what its function does not.
    """
    for call in case.calls if dtype == "float32" else case.calls[:1]:
        try:
            inputs = [
                plain_tensor(Grid(input_.grid.shape, input_.grid.flat[::-1]), input_.kind, dtype, report.device["id"])
                for input_ in case.inputs
            ]
            with torch.no_grad():
                for _time in range(_STIRS):
                    call(*inputs)
        except Exception as why:  # noqa: PERF203  (it is asked again, where errors are told)
            del why


def further(report: Report, case: Case, wanted: Wanted, dtype: str, turn: int, full: bool) -> None:
    """All further checks of a case in one type; in quick mode a part of them, in one type or in turns."""
    most = _LONG_TAPE if full else _TAPE
    if wanted.steps > most or any(len(result.flat) > _LARGE for result in wanted.results):
        return
    if dtype not in _EVERY:
        _once(report.once, dtype, case, lambda: tiled(report, case, wanted, dtype))
        for form in _forms_of_whole_numbers(case, full):
            respelled(report, case, wanted, dtype, form)
        return
    if case.spreads:
        _with_nan(report, case, dtype, full)
    if case.backward and case.twice and (full or dtype in ("float32", _OTHERS[turn % len(_OTHERS)])):
        _once({} if full else report.once, "twice " + dtype, case, lambda: _twice(report, case, dtype))
    for form in FORMS if full else FORMS[:2] if dtype == "float32" else FORMS[turn % len(FORMS) :][:1]:
        respelled(report, case, wanted, dtype, form)
    if full and dtype != "float32":
        _once(report.once, dtype, case, lambda: tiled(report, case, wanted, dtype))
    if dtype == "float32":
        once = {} if full else report.once
        _once(once, dtype, case, lambda: tiled(report, case, wanted, dtype, case.calls if full else case.calls[:1]))
        for kind in (*COMPLEX, *WHOLE) if full else (COMPLEX[0], WHOLE[0]):
            _once(once, kind, case, functools.partial(in_complex if kind in COMPLEX else in_whole_numbers, report, case, kind))


def _forms_of_whole_numbers(case: Case, full: bool) -> tuple[str, ...]:
    """In place a result has the type of the first input, where another one may be wider."""
    alike = len({input_.kind for input_ in case.inputs}) == 1 and case.result in ("", case.inputs[0].kind)
    forms = FORMS if full else FORMS[:1]
    return tuple(form for form in forms if alike or not form.startswith("in place"))


def _once(done: dict[tuple[str, str], int], topic: str, case: Case, asked: Callable[[], Any]) -> None:
    """Run a check for the first case of an operator to which it applies; after three to which it does not, no more are tried."""
    key = topic, _NAME.match(case.name)[0]  # type: ignore[index]
    if done.get(key, 0) < _TRIES:
        done[key] = _TRIES if asked() else done.get(key, 0) + 1


_SPOILT: dict[str, Any] = {}  # by the case's name: its inputs with a NaN, and what comes of them


def _with_nan(report: Report, case: Case, dtype: str, full: bool) -> None:
    """One number of the first input is none: so are the results that it counts for, and no others."""
    if case.name not in _SPOILT:
        _SPOILT[case.name] = _spoilt(case)
    if _SPOILT[case.name] is None:
        return
    grids, right = _SPOILT[case.name]
    inputs = [plain_tensor(grid, input_.kind, dtype, report.device["id"]) for grid, input_ in zip(grids, case.inputs)]
    for call in case.calls if full or dtype == "float32" else case.calls[:1]:
        try:
            with torch.no_grad():
                got = several(call(*inputs))
        except Exception as why:
            failed(report, case, dtype, "with NaN", why)
            return
        for result, grid in zip(got, right):
            report.add(case, dtype, "with NaN", deviation(result.detach().cpu().reshape(-1).tolist(), grid.flat), "")
        report.called(case, dtype, "with NaN", call, inputs)


def _spoilt(case: Case) -> Any:
    """Inputs with a NaN and the reference's results; None if the reference has none."""
    place = next((at for at, input_ in enumerate(case.inputs) if input_.kind in ("real", "given")), None)
    many = not case.backward and sum(len(input_.grid.flat) for input_ in case.inputs) > _MANY
    if place is None or many or any(word in case.name for word in _ORDERED):
        return None
    first = case.inputs[place].grid
    for at in dict.fromkeys((len(first.flat) // 2, 0, len(first.flat) // 2 + 1)):
        spoilt = Grid(first.shape, [math.nan if here == at else number for here, number in enumerate(first.flat)])
        grids = [spoilt if here == place else input_.grid for here, input_ in enumerate(case.inputs)]
        try:
            right = referenced(case._replace(backward=False), grids).results
        except (ValueError, OverflowError, ArithmeticError):
            return None
        if any(number != number for grid in right for number in grid.flat):
            return grids, right
    return None


_SECOND: dict[str, Any] = {}  # by the case's name: a direction for each input, and how gradients and results change along it


def _twice(report: Report, case: Case, dtype: str) -> None:
    """The gradients of a step along one direction: by the inputs, and by the weights of the results.

    Expected are differences of the reference's gradients and results. Those by the weights are there of a linear operator, too.
    """
    if case.name not in _SECOND:
        _SECOND[case.name] = _differences(case)
    if _SECOND[case.name] is None:
        return
    ways, rights = _SECOND[case.name]
    try:
        got = _again(report, case, ways, dtype)
    except Exception as why:
        if not (unsupported(why) or any(words in str(why) for words in _ONCE)):
            failed(report, case, dtype, "twice backward", why)
        return
    factor = case.factor * _ROOM[dtype]
    for number, (gradient, right) in enumerate(zip(got, rights), 1):
        values = [0.0] * len(right) if gradient is None or gradient._is_zerotensor() else gradient.detach().cpu().reshape(-1).tolist()
        size = max(max(map(abs, right), default=0.0), _LEAST[dtype])
        off = max((abs(a - b) for a, b in zip(values, right)), default=0.0) / size
        report.add(case._replace(factor=factor), dtype, "twice backward", off if off == off else math.inf, "gradient " + str(number))


def _differences(case: Case) -> Any:
    """None where the reference has no answer a step away."""
    ways = [  # another one for each input: along the same one the difference of two does not change
        [((at + v) * (1 + v % 4) % 5 - 2) / 2 for at in range(len(input_.grid.flat))] for v, input_ in enumerate(case.inputs)
    ]
    try:
        up, down = (_moved(case, ways, step) for step in (_STEP, -_STEP))
    except (ValueError, ArithmeticError):
        return None
    pairs = zip([*up.gradients, *up.results], [*down.gradients, *down.results])
    return ways, [[(a - b) / (2 * _STEP) for a, b in zip(above.flat, other.flat)] for above, other in pairs]


def _moved(case: Case, ways: list[list[float]], step: float) -> Wanted:
    pairs = zip(case.inputs, ways)
    return referenced(
        case,
        [
            Grid(input_.grid.shape, [x + step * part for x, part in zip(input_.grid.flat, way)]) if input_.kind == "real" else input_.grid
            for input_, way in pairs
        ],
    )


def _again(report: Report, case: Case, ways: list[list[float]], dtype: str) -> list[Any]:
    """Gradients by each input and each weight; None where there is none."""
    inputs, place = laid(report.device, case, dtype, LAYOUTS[0]), report.device["id"]
    leaves = [tensor.detach().requires_grad_() if kind.kind == "real" else tensor for tensor, kind in zip(inputs, case.inputs)]
    reals = [leaf for leaf, kind in zip(leaves, case.inputs) if kind.kind == "real"]
    with torch.enable_grad():
        results = several(case.calls[0](*leaves))
        weights = [weight(grid, result).detach().requires_grad_() for grid, result in zip(expected(case).weights, results)]
        pairs = [(result, weight) for result, weight in zip(results, weights) if result.requires_grad]
        slopes = torch.autograd.grad(
            [result for result, _ in pairs], reals, [weight_ for _, weight_ in pairs], create_graph=True, allow_unused=True
        )
        along = [
            plain_tensor(Grid(kind.grid.shape, way), "real", dtype, place) for kind, way in zip(case.inputs, ways) if kind.kind == "real"
        ]
        pairs = [(slope, way) for slope, way in zip(slopes, along) if slope is not None and slope.requires_grad]
        if not pairs:
            return []
        return list(torch.autograd.grad([slope for slope, _ in pairs], [*reals, *weights], [way for _, way in pairs], allow_unused=True))


_TWO, _HALF, _COARSE = ("float64", "float32"), ("float16", "bfloat16"), 40.0
# what half a type does not hold, or what tells numbers in a type of their own
_EXACT = ("matrix_exp", "freq", "bincount", "bicubic", "conversion", "small numbers", "TransformerEncoder", "argsort")


def coarsely(report: Report, case: Case, wanted: Wanted) -> None:
    """Run single and double precision cases in half types too, with a wide tolerance.

    What raises there is not told: few of these operators exist in every type.
    """
    if set(case.dtypes) != set(_TWO) or not case.optional or case.result or any(word in case.name for word in _EXACT):
        return
    asked = case._replace(factor=max(case.factor, _COARSE))
    for dtype in _HALF:
        trial = Report(report.device)
        trial.raised.append([])  # it is not printed
        stirred(trial, asked, dtype)
        one_variant(trial, asked, wanted, dtype, LAYOUTS[0])
        for key, (error, where, _factor) in trial.worst.items():
            report.add(asked, *key[1:], error, where)
