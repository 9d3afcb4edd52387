"""Tables of orders: single rows, columns and whole numbers both ways, borders from either side; NaN in a dimension."""

from __future__ import annotations

import bisect
import math
from typing import Any, Callable, Iterator

import torch
from rigup_probe_grid import Grid, along, always, fromfunction
from rigup_probe_torch_cases import Case, Input, literal
from torch.nn import functional

_INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
_NAN, _INF = math.nan, math.inf


def _places(row: list[Any], down: bool = False) -> list[int]:
    """Where each stood; equal ones as they came."""
    return sorted(range(len(row)), key=lambda at: -row[at] if down else row[at])


def sorting() -> Iterator[Case]:
    """Of one row, of columns, of whole numbers, with equal ones and without."""
    for count in (40, 129, 1031):
        row = literal([float(at * 7 % 5) for at in range(count)], kind="given")
        for down in (False, True):
            label = "stable sort" + " (descending)" * down + " of one row of " + str(count)
            calls = (lambda x, d=down: torch.sort(x, stable=True, descending=d)[1], lambda x, d=down: torch.argsort(x, stable=True, descending=d))
            yield Case(label, calls, along(0, lambda row_, d=down: _places(row_, d)), (row,), backward=False, few=True)
    columns = literal([float(at * 11 % 7) for at in range(90)], (30, 3), "given")
    for down in (False, True):
        call = (lambda x, d=down: torch.sort(x, dim=0, stable=True, descending=d),)
        yield Case("stable sort" + " (descending)" * down + " of columns", call, _by_column(down), (columns,), backward=False)
    for kind in _INTEGERS:
        yield from _whole(kind)
    yield from _borders()


def _by_column(down: bool) -> Callable[..., Any]:
    values, places = along(0, lambda row: sorted(row, reverse=down)), along(0, lambda row: _places(row, down))
    return lambda x: (values(x), places(x))


def _whole(kind: str) -> Iterator[Case]:
    """Whole numbers no two of which are equal, by value and place."""
    low = 0 if kind == "uint8" else -60
    flat = [low + at * 37 % 101 for at in range(100)]
    inputs = (Input(Grid((2, 50), flat), kind),)
    rows = (flat[:50], flat[50:])

    def several(down: bool, first: int, last: int) -> Callable[..., Any]:
        orders = [_places(row, down)[first:last] for row in rows]
        shape = (2, last - first)
        values = Grid(shape, [row[at] for row, order in zip(rows, orders) for at in order])
        return lambda *_grids: (values, Grid(shape, [at for order in orders for at in order]))

    ways: tuple[tuple[str, Any, Any], ...] = (
        ("sort", lambda x: torch.sort(x, 1), several(False, 0, 50)),
        ("sort (descending)", lambda x: torch.sort(x, 1, descending=True), several(True, 0, 50)),
        ("topk", lambda x: torch.topk(x, 4, 1), several(True, 0, 4)),
        ("topk (smallest)", lambda x: torch.topk(x, 4, 1, largest=False), several(False, 0, 4)),
        ("kthvalue", lambda x: torch.kthvalue(x, 7, 1, keepdim=True), several(False, 6, 7)),
        ("median", lambda x: torch.median(x, 1, keepdim=True), several(False, 24, 25)),
        ("max of a dimension", lambda x: torch.max(x, 1, keepdim=True), several(True, 0, 1)),
        ("min of a dimension", lambda x: torch.min(x, 1, keepdim=True), several(False, 0, 1)),
    )
    for name, call, reference in ways:
        yield Case(name + " with its places in " + kind, (call,), reference, inputs, (kind,), backward=False, optional=True)


def _borders() -> Iterator[Case]:
    """Of equal borders the first or the one after the last."""
    borders, asked = [float(at // 3) for at in range(30)], [float(at % 12) - 1 for at in range(37)]
    inputs = (literal(borders, kind="given"), literal(asked, kind="given"))
    for name, function, after in (("left", bisect.bisect_left, False), ("right", bisect.bisect_right, True)):
        wanted = always(Grid((37,), [function(borders, number) for number in asked]))
        calls = (lambda b, x, r=after: torch.searchsorted(b, x, right=r), lambda b, x, r=after: torch.bucketize(x, b, right=r), lambda b, x, n=name: torch.searchsorted(b, x, side=n))
        yield Case("searchsorted and bucketize (" + name + ")", calls, wanted, inputs, backward=False, few=True)


def special_values() -> Iterator[Case]:
    """NaN in one row of three: there it is kept, and nowhere else; in orders it comes last."""
    inputs = (literal([1.0, 2, -3, 2.5, 1, _NAN, -3, 0.5, 4, 5, 6, 7], (3, 4), "given"),)
    nan_last = literal([2.0, _NAN, -1.0, _INF, 0.0, _NAN, -_INF], kind="given")
    rows: tuple[tuple[str, Any, tuple[float, ...]], ...] = (
        ("max", lambda x: torch.max(x, 1)[0], (2.5, _NAN, 7)),
        ("max's place", lambda x: torch.max(x, 1)[1], (3, 1, 3)),
        ("min", lambda x: torch.min(x, 1)[0], (-3, _NAN, 4)),
        ("min's place", lambda x: torch.min(x, 1)[1], (2, 1, 0)),
        ("amax", lambda x: torch.amax(x, 1), (2.5, _NAN, 7)),
        ("amin", lambda x: torch.amin(x, 1), (-3, _NAN, 4)),
        ("aminmax", lambda x: torch.aminmax(x, dim=1)[1], (2.5, _NAN, 7)),
        ("sum", lambda x: torch.sum(x, 1), (2.5, _NAN, 22)),
        ("mean", lambda x: torch.mean(x, 1), (0.625, _NAN, 5.5)),
        ("prod", lambda x: torch.prod(x, 1), (-15, _NAN, 840)),
        ("argmax", lambda x: torch.argmax(x, 1), (3, 1, 3)),
        ("argmin", lambda x: torch.argmin(x, 1), (2, 1, 0)),
        ("cummax", lambda x: torch.cummax(x, 1)[0][:, 3], (2.5, _NAN, 7)),
        ("cummin", lambda x: torch.cummin(x, 1)[0][:, 3], (-3, _NAN, 4)),
        ("median", lambda x: torch.median(x, 1)[0], (1, _NAN, 5)),
        ("nanmedian", lambda x: torch.nanmedian(x, 1)[0], (1, 0.5, 5)),
        ("nansum", lambda x: torch.nansum(x, 1), (2.5, -1.5, 22)),
        ("var", lambda x: torch.var(x[:, :2], 1), (0.5, _NAN, 0.5)),
        ("logsumexp", lambda x: torch.logsumexp(x, 1).isnan().to(x.dtype), (0, 1, 0)),
        ("vector_norm", lambda x: torch.linalg.vector_norm(x, dim=1).isnan().to(x.dtype), (0, 1, 0)),
        ("max_pool1d", lambda x: functional.max_pool1d(x[None], 4)[0, :, 0], (2.5, _NAN, 7)),
        ("avg_pool1d", lambda x: functional.avg_pool1d(x[None], 4)[0, :, 0], (0.625, _NAN, 5.5)),
    )
    for name, call, wanted in rows:
        yield Case(name + " of a dimension with NaN", (call,), always(Grid((3,), wanted)), inputs, backward=False)
    order = (-_INF, -1.0, 0.0, 2.0, _INF, _NAN, _NAN)
    for name, call, right in (("sort", lambda x: torch.sort(x)[0], order), ("sort (descending)", lambda x: torch.sort(x, descending=True)[0], order[::-1]), ("topk", lambda x: torch.topk(x, 3)[0], (_NAN, _NAN, _INF)), ("topk (smallest)", lambda x: torch.topk(x, 3, largest=False)[0], order[:3])):
        yield Case(name + " of a row with NaN", (call,), always(Grid((len(right),), right)), (nan_last,), backward=False)
    yield from _activations()


def _activations() -> Iterator[Case]:
    """What is no number stays none through each; infinities go where the function goes."""
    odd = (literal([_NAN, 1.0, _NAN, -1.0, _NAN], kind="given"),)
    names = ("relu6", "gelu", "silu", "mish", "elu", "selu", "celu", "leaky_relu", "softplus", "hardswish", "hardsigmoid", "hardtanh", "softsign", "logsigmoid", "tanhshrink", "softshrink")
    for name in names:
        call = lambda x, n=name: getattr(functional, n)(x).isnan().to(x.dtype)
        yield Case(name + " of NaN", (call,), always(fromfunction((5,), lambda at: float(not at[0] % 2))), odd, backward=False, elementwise=True)


def places() -> Iterator[Case]:
    """Triangles off the middle; how often each number occurs, and where it went."""
    inputs = (Input(Grid((4, 5), [float(at + 1) for at in range(20)])),)
    for name, inside in (("triu", lambda row, column, off: column - row >= off), ("tril", lambda row, column, off: column - row <= off)):
        for off in (-2, -1, 1, 2):
            call = lambda x, n=name, o=off: getattr(torch, n)(x, o)
            part = lambda x, i=inside, o=off: fromfunction((4, 5), lambda at: x[at] if i(*at, o) else 0.0)
            yield Case(name + " from diagonal " + str(off), (call,), part, inputs, few=True)
    numbers = [float(at * 7 % 5) for at in range(23)]
    known = sorted(set(numbers))
    wanted = (Grid((5,), known), Grid((23,), list(map(known.index, numbers))), Grid((5,), list(map(numbers.count, known))))
    counted = lambda x: torch.unique(x, return_inverse=True, return_counts=True)
    yield Case("unique with places and counts", (counted,), lambda *_given: wanted, (literal(numbers, kind="given"),), backward=False, few=True)
