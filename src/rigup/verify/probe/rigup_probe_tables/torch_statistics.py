"""Tables of what is told of many numbers: means without NaN, quantiles, differences, areas, counts; with all arguments."""

from __future__ import annotations

import math
from typing import Any, Iterator

import rigup_probe_reference as right
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, along, reduced
from rigup_probe_torch_cases import Case, Input, distinct, literal, real
from rigup_probe_torch_forms import forms

from rigup_probe_tables.torch_ranked import Row, _first, _without_nan, kept


def reductions() -> Iterator[Case]:
    """Over a dimension, several and all; the dimension kept; as functions and as methods; with each argument."""
    values = real(4, 5, 3)
    rows: tuple[tuple[str, Row, Input, dict[str, Any]], ...] = (
        ("sum", tape.total, values, {}),
        ("mean", right.mean, values, {}),
        ("nansum", tape.total, values, {}),
        ("nanmean", right.mean, values, {}),
        ("amax", right.largest, distinct(4, 5, 3), {}),
        ("amin", right.smallest, distinct(4, 5, 3), {}),
        ("logsumexp", right.logsumexp, values, {}),
        ("var", right.variance, values, {}),
        ("std", right.deviation, values, {}),
        ("prod", right.product, real(4, 5, 3, low=0.5, high=1.5), {}),
        ("norm", right.length, values, {}),
        ("median", lambda row: sorted(row, key=tape.plain)[(len(row) - 1) // 2], distinct(4, 5, 3), {}),
        ("nanmedian", lambda row: sorted(row, key=tape.plain)[(len(row) - 1) // 2], distinct(4, 5, 3), {}),
        ("max", right.largest, distinct(4, 5, 3), {}),
        ("min", right.smallest, distinct(4, 5, 3), {}),
        ("argmax", lambda row: row.index(max(row)), distinct(4, 5, 3)._replace(kind="given"), {}),
        ("argmin", lambda row: row.index(min(row)), distinct(4, 5, 3)._replace(kind="given"), {}),
        ("all", lambda row: all(row), literal([at % 7 for at in range(60)], (4, 5, 3), "given"), {}),
        ("any", lambda row: any(row), literal([at % 9 == 4 for at in range(60)], (4, 5, 3), "given"), {}),
    )
    for name, reference, input_, _more in rows:
        back = input_.kind == "real"
        for dim in (1, -1):
            calls = tuple(lambda x, c=c, d=dim: _first(c(x, dim=d, keepdim=True)) for c in (getattr(torch, name), getattr(torch.Tensor, name)))
            yield Case(name + " (keepdim) over " + str(dim), calls, kept(reduced((dim,), reference), dim), (input_,), backward=back, factor=6.0, few=True, spreads=name[:3] != "nan")
        if name in ("sum", "mean", "amax", "amin", "logsumexp", "var", "std", "nansum", "norm"):
            yield Case(name + " over two dimensions", (lambda x, n=name: getattr(torch, n)(x, dim=(0, 2)), lambda x, n=name: getattr(x, n)(dim=(0, 2))), reduced((0, 2), reference), (input_,), backward=back, factor=6.0, few=True, spreads=name[:3] != "nan")
        if name not in ("logsumexp", "amax", "amin"):
            yield Case(name + " as a method, over all", (getattr(torch.Tensor, name),), reduced((), reference), (input_,), backward=back, factor=6.0, few=True, spreads=name[:3] != "nan")
    yield from _typed()
    yield from _two_at_once()
    yield from _norms()
    yield from _without_nan()


def _typed() -> Iterator[Case]:
    """Added up in another type than the numbers have."""
    whole = Input(Grid((3, 4), [100 + at for at in range(12)]), "int8")
    for name, reference in (("sum", sum), ("prod", lambda row: math.prod(row))):
        small = whole if name == "sum" else whole._replace(grid=Grid((3, 4), [at + 2 for at in range(12)]))
        yield Case(name + " of int8 (dtype)", (lambda x, n=name: getattr(torch, n)(x, 1, dtype=torch.float64), lambda x, n=name: getattr(x, n)(1, dtype=torch.float64)), reduced((1,), reference), (small,), ("int8",), backward=False, result="float64")
        yield Case(name + " of int8", (lambda x, n=name: getattr(torch, n)(x, 1),), reduced((1,), reference), (small,), ("int8",), backward=False)
    yield Case("mean of int8 (dtype)", (lambda x: torch.mean(x, 1, dtype=torch.float32),), reduced((1,), lambda row: sum(row) / 4), (whole,), ("int8",), backward=False, result="float32")
    for name in ("cumsum", "cumprod"):
        small = Input(Grid((3, 4), [at % 5 + 1 for at in range(12)]), "int8")
        run = right.running_sum if name == "cumsum" else right.running_product
        yield Case(name + " of int8", (*forms(name, 1)[:2], lambda x, n=name: getattr(torch, n)(x, 1, dtype=torch.int64)), along(1, run), (small,), ("int8",), backward=False)
    values = real(3, 5)
    for name, low in (("softmax", right.softmax), ("log_softmax", right.log_softmax)):
        yield Case(
            name + " (dtype)",
            (lambda x, n=name: getattr(torch, n)(x, 1, dtype=torch.float64), lambda x, n=name: getattr(torch.nn.functional, n)(x, 1, dtype=torch.float64), lambda x, n=name: getattr(torch.special, n)(x, 1, dtype=torch.float64)),
            along(1, low),
            (values,),
            ("float32", "bfloat16"),
            factor=4.0,
            result="float64",
        )
    for name in ("sum", "mean", "nansum"):
        yield Case(name + " (dtype)", (lambda x, n=name: getattr(torch, n)(x, 1, dtype=torch.float64),), reduced((1,), tape.total if name != "mean" else right.mean), (values,), ("float32", "bfloat16"), factor=4.0, result="float64", spreads=name[:3] != "nan")


def _two_at_once() -> Iterator[Case]:
    inputs = (real(4, 7),)
    for less in (0, 1, 2):
        spread: Row = lambda row, n=less: right.variance(row, n)
        root: Row = lambda row, n=less: tape.sqrt(right.variance(row, n))
        for name, wanted in (("var_mean", spread), ("std_mean", root)):
            pair: Any = lambda x, w=wanted: (reduced((1,), w)(x), reduced((1,), right.mean)(x))
            yield Case(name + " with a correction of " + str(less), (lambda x, n=name, c=less: getattr(torch, n)(x, dim=1, correction=c),), pair, inputs, factor=8.0)
    for name in ("var", "std", "var_mean", "std_mean"):
        population_variance: Row = lambda row: right.variance(row, 0)
        two: Row = lambda row: tape.sqrt(right.variance(row, 0))
        own = population_variance if name[:3] == "var" else two
        both: Any = lambda x, o=own, n=name: (reduced((1,), o)(x), reduced((1,), right.mean)(x)) if "mean" in n else reduced((1,), o)(x)
        yield Case(name + " (unbiased False)", (lambda x, n=name: getattr(torch, n)(x, 1, False), lambda x, n=name: getattr(torch, n)(x, 1, unbiased=False)), both, inputs, factor=8.0)
    yield Case("aminmax", (lambda x: tuple(torch.aminmax(x, dim=1)), lambda x: tuple(x.aminmax(dim=1))), lambda x: (reduced((1,), right.smallest)(x), reduced((1,), right.largest)(x)), (distinct(4, 7),))
    yield Case("aminmax (keepdim)", (lambda x: tuple(torch.aminmax(x, dim=1, keepdim=True)),), lambda x: (kept(reduced((1,), right.smallest), 1)(x), kept(reduced((1,), right.largest), 1)(x)), (distinct(4, 7),))
    yield Case("aminmax of all", (lambda x: tuple(torch.aminmax(x)),), lambda x: (reduced((), right.smallest)(x), reduced((), right.largest)(x)), (distinct(4, 7),))
    for name, top in (("max", True), ("min", False)):
        pick = lambda row, t=top: (max if t else min)(row, key=tape.plain)
        place = lambda row, t=top: [tape.plain(v) for v in row].index((max if t else min)(map(tape.plain, row)))
        yield Case(name + " with its place, both", (lambda x, n=name: tuple(getattr(torch, n)(x, 0)), lambda x, n=name: tuple(getattr(x, n)(0))), lambda x, p=pick, q=place: (reduced((0,), p)(x), reduced((0,), q)(x)), (distinct(6, 5)._replace(kind="given"),), backward=False)


def _norms() -> Iterator[Case]:
    inputs = (real(4, 6),)
    size: Row = lambda x: tape.absolute(x)
    kinds: tuple[tuple[Any, Row, bool], ...] = (
        (1, lambda row: tape.total(map(size, row)), True),
        (2, right.length, True),
        (3, lambda row: _root(tape.total([size(x) ** 3 for x in row]), 3), True),
        (0.5, lambda row: _root(tape.total([tape.sqrt(size(x)) for x in row]), 0.5), True),
        (math.inf, lambda row: max(map(size, row), key=tape.plain), False),
        (-math.inf, lambda row: min(map(size, row), key=tape.plain), False),
        (0, lambda row: float(sum(tape.plain(x) != 0 for x in row)), False),
    )
    for order, reference, back in kinds:
        own = inputs if back else (inputs[0]._replace(kind="given"),)
        calls = (lambda x, o=order: torch.linalg.vector_norm(x, o, dim=1), lambda x, o=order: torch.norm(x, o, dim=1), lambda x, o=order: torch.linalg.norm(x, o, dim=1), lambda x, o=order: x.norm(o, 1))
        yield Case("norm (" + str(order) + ", all names)", calls, reduced((1,), reference), own, backward=back, factor=8.0)
        yield Case("norm (" + str(order) + ", keepdim)", (lambda x, o=order: torch.linalg.vector_norm(x, o, dim=1, keepdim=True), lambda x, o=order: torch.norm(x, o, 1, True), lambda x, o=order: torch.linalg.norm(x, o, dim=1, keepdim=True)), kept(reduced((1,), reference), 1), own, backward=back, factor=8.0, few=True)
    yield Case("vector_norm (dtype)", (lambda x: torch.linalg.vector_norm(x, dim=1, dtype=torch.float64), lambda x: torch.linalg.norm(x, dim=1, dtype=torch.float64)), reduced((1,), right.length), inputs, ("float32", "bfloat16"), factor=8.0, result="float64")
    yield Case("norm over dimensions 0 and 2", (lambda x: torch.linalg.norm(x, dim=(0, 2)), lambda x: torch.norm(x, dim=(0, 2)), lambda x: torch.linalg.vector_norm(x, 2, (0, 2))), reduced((0, 2), right.length), (real(3, 2, 4),), factor=8.0)
    yield Case("norm of all", (torch.linalg.norm, torch.linalg.vector_norm, torch.norm, lambda x: torch.norm(x, "fro")), reduced((), right.length), inputs, factor=8.0)
    other = (real(4, 6), real(4, 6, seed=2))
    for order, reference, _back in kinds[:3]:
        yield Case("dist (" + str(order) + ")", (lambda x, y, o=order: torch.dist(x, y, o), lambda x, y, o=order: x.dist(y, o)), lambda x, y, r=reference: Grid((), [r([a - b for a, b in zip(x.flat, y.flat)])]), other, factor=8.0)
    for order in (1, 2):
        yield Case("renorm (" + str(order) + ")", forms("renorm", order, 0, 4.0), along(1, lambda row, o=order: _renormed(row, o)), inputs, factor=20.0)


def _root(x: Any, order: float) -> Any:
    return tape.exp(tape.log(x) * (1 / order))


def _renormed(row: list[Any], order: int) -> list[Any]:
    size = right.length(row) if order == 2 else tape.total(map(tape.absolute, row))
    return [number * (4.0 / (size + 1e-7)) for number in row] if size > 4 else row
