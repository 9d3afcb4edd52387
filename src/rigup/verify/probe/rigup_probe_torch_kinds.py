"""A case again with complex and with whole numbers, where its reference in Python has an answer for them.

A reference is arithmetic of Python, which knows both: what is expected comes from the same lines.
"""

from __future__ import annotations

import math
from typing import Any, Callable

import torch
from rigup_probe_grid import Grid
from rigup_probe_torch_cases import LAYOUTS, Case, Report, Variant, expected, referenced, several, weight
from rigup_probe_torch_deviation import deviation

COMPLEX, WHOLE = ("complex64", "complex128"), ("int64", "int32")
_STEPS = 16  # the inputs are multiples of 1 / _STEPS
_MOST = 2**31
_LONGEST = 1500  # numbers of inputs
_FARTHEST = 20.0  # from zero: exponentials of complex numbers farther away have parts that no type holds
# of a complex number something else than the same arithmetic: its length, its conjugate, an order
_OTHER = (
    "norm",
    "var",
    "std",
    "vdot",
    "vecdot",
    "cov",
    "corr",
    "dist",
    "angle",
    "sgn",
    "sign",
    "similarity",
    "cholesky",
    "eig",
    "lstsq",
    "pinv",
    "adjoint",
    "qr",
    "svd",
    "isreal",
    "RNN",
)

_HELD: dict[tuple[str, str], Any] = {}


def in_complex(report: Report, case: Case, dtype: str) -> bool:
    """Forward and backward; whether torch has it of complex numbers."""
    return not any(word in case.name for word in _OTHER) and _measured(report, case, dtype, _turned, _complex)


def in_whole_numbers(report: Report, case: Case, dtype: str) -> bool:
    """Forward: an answer of whole numbers has no rounding. Whether there is one."""
    return _measured(report, case._replace(backward=False), dtype, _larger, _whole)


def _turned(grid: Grid) -> Grid:
    """With an imaginary part, of the same numbers in another order."""
    return Grid(grid.shape, [complex(x, y / 2) for x, y in zip(grid.flat, grid.flat[::-1])])


def _larger(grid: Grid) -> Grid:
    return Grid(grid.shape, [int(x * _STEPS) for x in grid.flat])


def _complex(grids: list[Grid], plain: list[Grid]) -> bool:
    same = all(grid.flat == other.flat for grid, other in zip(grids, plain))
    return not same and all(abs(x) < _FARTHEST**3 for grid in grids for x in grid.flat)


def _whole(grids: list[Grid], plain: list[Grid]) -> bool:
    """Those that are no others than before may come from numbers that the reference holds itself."""
    same = all(grid.flat == other.flat for grid, other in zip(grids, plain))
    return not same and all(abs(x) < _MOST and x == int(x) for grid in grids for x in grid.flat)


def _measured(
    report: Report, case: Case, dtype: str, convert: Callable[[Grid], Grid], fits: Callable[[list[Grid], list[Grid]], bool]
) -> bool:
    key = case.name, convert.__name__
    if key not in _HELD:
        _HELD[key] = _prepared(case, convert, fits)
    if _HELD[key] is None:
        return False
    grids, wanted = _HELD[key]
    try:
        for variant in (LAYOUTS[0], LAYOUTS[-1]):
            _compared(report, case, dtype, variant, grids, wanted)
    except (RuntimeError, TypeError, ValueError, IndexError):
        return False  # no operator of torch's own has all of them
    return True


def _prepared(case: Case, convert: Callable[[Grid], Grid], fits: Callable[[list[Grid], list[Grid]], bool]) -> Any:
    """Converted inputs and their expected results; None if the reference fails for them."""
    if sum(len(input_.grid.flat) for input_ in case.inputs) > _LONGEST or case.result:
        return None
    try:
        if convert is _turned and any(abs(x) > _FARTHEST for input_ in case.inputs for x in input_.grid.flat):
            return None
        grids = [convert(input_.grid) if input_.kind in ("real", "given") else input_.grid for input_ in case.inputs]
        wanted = referenced(case, grids)
        return (grids, wanted) if fits(wanted.results, expected(case).results) else None
    except (TypeError, ValueError, ArithmeticError, AttributeError, LookupError):
        return None


def _compared(report: Report, case: Case, dtype: str, variant: Variant, grids: list[Grid], wanted: Any) -> None:
    kinds = [dtype if input_.kind in ("real", "given") else input_.kind for input_ in case.inputs]
    if variant is LAYOUTS[0]:
        _stirred(report, case, grids, kinds)
    inputs = [
        variant.lay(grid, getattr(torch, "bool" if kind == "mask" else kind), report.device["id"]) for grid, kind in zip(grids, kinds)
    ]
    reals = [tensor.requires_grad_() for tensor, kind in zip(inputs, case.inputs) if case.backward and kind.kind == "real"]
    with torch.set_grad_enabled(bool(reals)):
        results = several(case.calls[0](*inputs))
    if any(result.is_floating_point() and _has_complex(right.flat) for result, right in zip(results, wanted.results)):
        return  # the case itself looks at a part of it
    where = variant.name
    for result, right in zip(results, wanted.results):
        kind, place = (str(result.dtype).partition(".")[2], "of " + dtype) if result.is_floating_point() else (dtype, where)
        report.add(case, kind, "forward", _off(result.detach(), right), place)
    if not reals:
        return
    weights = [weight(grid, result) for grid, result in zip(wanted.weights, results)]
    slopes = torch.autograd.grad(results, reals, weights, allow_unused=True)
    for slope, right in zip(slopes, wanted.gradients):
        if slope is not None:
            report.add(case, dtype, "backward", _off(slope, right), where)


def _stirred(report: Report, case: Case, grids: list[Grid], kinds: list[str]) -> None:
    """Call with the numbers in another order: a stale result would be returned again."""
    other = [
        LAYOUTS[0].lay(Grid(grid.shape, grid.flat[::-1]), getattr(torch, "bool" if kind == "mask" else kind), report.device["id"])
        for grid, kind in zip(grids, kinds)
    ]
    with torch.no_grad():
        for _time in range(4):
            case.calls[0](*other)


def _has_complex(numbers: list[Any]) -> bool:
    return any(type(number) is complex for number in numbers)


def _off(got: Any, right: Grid) -> float:
    """Complex numbers are compared by their two parts."""
    if tuple(got.shape) != right.shape:
        return math.inf
    values = got.cpu().reshape(-1).tolist()
    if not got.is_complex():
        return deviation(values, right.flat)
    return deviation(
        *([part for number in numbers for part in (complex(number).real, complex(number).imag)] for numbers in (values, right.flat))
    )
