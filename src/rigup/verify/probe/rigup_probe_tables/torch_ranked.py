"""Quantiles, sums without NaN, and differences."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, along, always, fromfunction, reduced
from rigup_probe_torch_cases import Case, Input, distinct, given, literal, real
from rigup_probe_torch_forms import forms

_NAN = math.nan


_TWO = ("float64", "float32")


Row = Callable[..., Any]


def kept(reference: Callable[[Grid], Grid], dim: int) -> Callable[[Grid], Grid]:
    """With the dimension that was reduced left, of size one."""

    def called(x: Grid) -> Grid:
        output = reference(x)
        at = dim % len(x.shape)
        return Grid((*output.shape[:at], 1, *output.shape[at:]), output.flat)

    return called


def _quantile(share: float, how: str = "linear") -> Row:
    def called(row: list[Any]) -> Any:
        ordered = sorted(row, key=tape.plain)
        place = share * (len(row) - 1)
        low = min(math.floor(place), len(row) - 1)
        high = min(low + 1, len(row) - 1)
        part = {"linear": place - low, "lower": 0.0, "higher": float(place > low), "midpoint": 0.5 if place > low else 0.0, "nearest": float(round(place) > low)}[how]
        return ordered[low] + (ordered[high] - ordered[low]) * part

    return called


def _first(output: Any) -> Any:
    return output[0] if isinstance(output, tuple) else output


def _without_nan() -> Iterator[Case]:
    row = [1.0, _NAN, 3.0, -2.0, _NAN, 4.0]
    values = literal([*row, *row[::-1]], (2, 6), "given")
    for name, value in (("nansum", 6.0), ("nanmean", 1.5), ("nanmedian", 1.0)):
        yield Case(name + " of rows with NaN", (lambda x, n=name: _first(getattr(torch, n)(x, 1)), lambda x, n=name: _first(getattr(x, n)(1))), always(Grid((2,), [value] * 2)), (values,), backward=False)
        row_input = literal(row, kind="given")
        yield Case(name + " of NaN over all", (getattr(torch, name),), always(Grid((), [value])), (row_input,), backward=False)
    yield Case("nanquantile", (lambda x: torch.nanquantile(x, 0.5, 1), lambda x: x.nanquantile(torch.tensor(0.5, dtype=x.dtype, device=x.device), dim=1)), always(Grid((2,), [2.0] * 2)), (values,), _TWO, backward=False)
    yield Case("nanquantile (keepdim, lower)", (lambda x: torch.nanquantile(x, 0.5, 1, keepdim=True, interpolation="lower"),), always(Grid((2, 1), [1.0] * 2)), (values,), _TWO, backward=False)
    yield Case("quantile of NaN", (lambda x: torch.quantile(x, 0.5, 1),), always(Grid((2,), [_NAN] * 2)), (values,), _TWO, backward=False)
    for name in ("median", "max", "min", "amax", "amin", "sum", "mean", "prod", "var", "std", "logsumexp", "cumsum", "cummax", "cummin", "cumprod", "logcumsumexp", "argmax", "argmin"):
        where = lambda x, n=name: _first(getattr(torch, n)(x, 1))
        last = name.startswith(("cum", "logcum"))
        wanted = Grid((2, 6), [1.0, *[_NAN] * 5] * 2) if last else Grid((2,), [1.0] * 2 if name[:3] == "arg" else [_NAN] * 2)
        yield Case(name + " of rows with NaN inside", (where,), always(wanted), (literal(row * 2, (2, 6), "given"),), backward=False, spreads=False)


def quantiles() -> Iterator[Case]:
    """Quantiles, modes, running largest and least, running sums of exponentials."""
    inputs = (distinct(4, 9),)
    for share in (0.25, 0.6):
        for how in ("linear", "lower", "higher", "midpoint", "nearest"):
            calls = (lambda x, s=share, h=how: torch.quantile(x, s, dim=1, interpolation=h), lambda x, s=share, h=how: x.quantile(s, dim=1, interpolation=h), lambda x, s=share, h=how: torch.nanquantile(x, s, dim=1, interpolation=h))
            yield Case("quantile " + str(share) + " (" + how + "), nanquantile", calls, reduced((1,), _quantile(share, how)), inputs, _TWO, factor=10.0, few=True)
    yield Case("quantile of all", (lambda x: torch.quantile(x, 0.25), lambda x: torch.nanquantile(x, 0.25)), reduced((), _quantile(0.25)), inputs, _TWO, factor=10.0)
    yield Case("quantile (keepdim)", (lambda x: torch.quantile(x, 0.25, 1, True), lambda x: torch.nanquantile(x, 0.25, 1, True)), kept(reduced((1,), _quantile(0.25)), 1), inputs, _TWO, factor=10.0)
    pair = (lambda x: torch.quantile(x, torch.tensor([0.25, 0.75], dtype=x.dtype, device=x.device), dim=1),)
    yield Case("two quantiles", pair, lambda x: Grid((2, 4), [*reduced((1,), _quantile(0.25))(x).flat, *reduced((1,), _quantile(0.75))(x).flat]), inputs, _TWO, factor=10.0)
    often = literal([1.0, 3, 3, 2, 3, 2, 2, 2, 5, 5, 4, 5], (3, 4), "given")
    yield Case("mode", (lambda x: torch.mode(x, 1)[0], lambda x: x.mode()[0], lambda x: torch.mode(x, 1, True)[0].squeeze(1)), always(Grid((3,), [3.0, 2.0, 5.0])), (often,), backward=False)
    yield Case("mode over dimension 0", (lambda x: torch.mode(x, 0)[0],), always(Grid((2,), [1.0, 4.0])), (literal([1.0, 4, 1, 4, 2, 0], (3, 2), "given"),), backward=False)
    for dim in (0, 1):
        for name, run in (("cummax", lambda b, x: max(x, b, key=tape.plain)), ("cummin", lambda b, x: min(x, b, key=tape.plain))):
            running = along(dim, lambda row, r=run: right._running(row, r))
            yield Case(name + " over dimension " + str(dim) + " (all)", (lambda x, n=name, d=dim: getattr(torch, n)(x, d)[0], lambda x, n=name, d=dim: getattr(x, n)(d)[0]), running, (distinct(6, 9),))
            places = along(dim, lambda row, b=name == "cummax": [row.index((max if b else min)(row[: at + 1])) for at in range(len(row))])
            yield Case(name + "'s places over dimension " + str(dim), (lambda x, n=name, d=dim: getattr(torch, n)(x, d)[1],), places, (distinct(6, 9)._replace(kind="given"),), backward=False)
        for name, run in (("cumsum", right.running_sum), ("cumprod", right.running_product), ("logcumsumexp", lambda row: [right.logsumexp(row[: at + 1]) for at in range(len(row))])):
            yield Case(name + " over dimension " + str(dim) + " (all)", forms(name, dim), along(dim, run), (real(4, 6, low=0.5, high=1.5),), factor=10.0)


def differences() -> Iterator[Case]:
    """Differences, slopes and areas along a dimension; how numbers vary together."""
    inputs = (real(3, 7),)
    for times in (1, 2):

        def less(row: list[Any], times: int = times) -> list[Any]:
            for _time in range(times):
                row = [b - a for a, b in zip(row, row[1:])]
            return row

        wanted = lambda x, f=less, t=times: Grid((3, 7 - t), [v for at in range(3) for v in f(x.flat[at * 7 : at * 7 + 7])])
        yield Case("diff " + str(times), (lambda x, t=times: torch.diff(x, t), lambda x, t=times: x.diff(n=t, dim=1)), wanted, inputs)
    both = (real(3, 7), real(3, 2, seed=2), real(3, 1, seed=3))

    def ended(x: Grid, before: Grid, after: Grid) -> Grid:
        rows = [[*before.flat[at * 2 : at * 2 + 2], *x.flat[at * 7 : at * 7 + 7], after.flat[at]] for at in range(3)]
        return Grid((3, 9), [b - a for row in rows for a, b in zip(row, row[1:])])

    yield Case("diff (prepend, append)", (lambda x, a, b: torch.diff(x, prepend=a, append=b),), ended, both)
    yield Case("diff over dimension 0", (lambda x: torch.diff(x, dim=0),), lambda x: fromfunction((2, 7), lambda i: x[i[0] + 1, i[1]] - x[i]), inputs)
    area: Row = lambda row, dx=0.5: tape.total([(a + b) * (0.5 * dx) for a, b in zip(row, row[1:])])
    yield Case("trapezoid (dx)", (lambda x: torch.trapezoid(x, dx=0.5), lambda x: torch.trapz(x, dx=0.5), lambda x: torch.trapezoid(x, dx=0.5, dim=1)), reduced((1,), area), inputs, factor=4.0)
    yield Case("trapezoid over dimension 0", (lambda x: torch.trapezoid(x, dx=0.5, dim=0),), reduced((0,), area), inputs, factor=4.0)
    places = literal([0.0, 0.5, 1.5, 2, 4, 4.5, 6], kind="given")
    yield Case("trapezoid (x)", (torch.trapezoid, torch.trapz), lambda y, x: reduced((1,), lambda row: tape.total([(a + b) * ((q - p) / 2) for a, b, p, q in zip(row, row[1:], x.flat, x.flat[1:])]))(y), (*inputs, places), factor=4.0)
    yield Case("cumulative_trapezoid", (lambda x: torch.cumulative_trapezoid(x, dx=0.5),), lambda x: Grid((3, 6), [v for at in range(3) for v in right.running_sum([(a + b) * 0.25 for a, b in zip(x.flat[at * 7 : at * 7 + 6], x.flat[at * 7 + 1 : at * 7 + 7])])]), inputs, factor=8.0)

    def slope(row: list[Any]) -> list[Any]:
        return [(row[1] - row[0]) * 2.0, *((c - a) * 1.0 for a, c in zip(row, row[2:])), (row[-1] - row[-2]) * 2.0]

    yield Case("gradient (spacing)", (lambda x: torch.gradient(x, spacing=0.5, dim=1)[0], lambda x: torch.gradient(x, spacing=0.5)[1]), along(1, slope), inputs, factor=4.0)

    def slope_two(row: list[Any]) -> list[Any]:
        return [row[0] * -1.5 + row[1] * 2.0 - row[2] * 0.5, *((c - a) * 0.5 for a, c in zip(row, row[2:])), row[-1] * 1.5 - row[-2] * 2.0 + row[-3] * 0.5]

    yield Case("gradient (edge_order)", (lambda x: torch.gradient(x, dim=1, edge_order=2)[0],), along(1, slope_two), inputs, factor=4.0)
    yield Case("cov", (torch.cov, torch.Tensor.cov), lambda x: _together(x, 1), inputs, factor=8.0)
    yield Case("cov (correction 0)", (lambda x: torch.cov(x, correction=0),), lambda x: _together(x, 0), inputs, factor=8.0)
    weights = Input(Grid((7,), [1, 2, 1, 3, 1, 1, 2]), "int64")
    yield Case("cov (fweights)", (lambda x, w: torch.cov(x, fweights=w),), lambda x, w: _together(x, 1, w.flat), (*inputs, weights), factor=8.0, few=True)
    shares = given(7, seed=4, low=0.25, high=2)
    yield Case("cov (aweights)", (lambda x, w: torch.cov(x, aweights=w),), lambda x, w: _together(x, None, w.flat), (*inputs, shares), factor=8.0, few=True)

    def near(x: Grid) -> Grid:
        covariance = _together(x, 1)
        return fromfunction((3, 3), lambda i: covariance[i] / tape.sqrt(covariance[i[0], i[0]] * covariance[i[1], i[1]]))

    yield Case("corrcoef", (torch.corrcoef, torch.Tensor.corrcoef), near, inputs, factor=10.0)


def _together(x: Grid, less: Any, weights: Any = None) -> Grid:
    weights = weights or [1.0] * 7
    whole = sum(weights)
    below = whole - less if less is not None else whole - sum(weight * weight for weight in weights) / whole
    rows = [x.flat[at * 7 : at * 7 + 7] for at in range(3)]
    middles = [tape.dot(row, weights) * (1 / whole) for row in rows]
    off = [[number - middle for number in row] for row, middle in zip(rows, middles)]
    return fromfunction((3, 3), lambda i: tape.dot([a * w for a, w in zip(off[i[0]], weights)], off[i[1]]) * (1 / below))
