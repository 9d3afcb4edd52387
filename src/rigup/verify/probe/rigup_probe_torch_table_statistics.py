"""Tables of what is told of many numbers: means without NaN, quantiles, differences, areas, counts; with all arguments."""

from __future__ import annotations

import bisect
import math
from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, along, always, made, reduced
from rigup_probe_torch_cases import Case, Input, distinct, given, literal, real
from rigup_probe_torch_forms import forms

_NAN = math.nan
_TWO = ("float64", "float32")
Row = Callable[..., Any]


def kept(reference: Callable[[Grid], Grid], dim: int) -> Callable[[Grid], Grid]:
    """With the dimension that was reduced left, of size one."""

    def called(x: Grid) -> Grid:
        told = reference(x)
        at = dim % len(x.shape)
        return Grid((*told.shape[:at], 1, *told.shape[at:]), told.flat)

    return called


def _quantile(share: float, how: str = "linear") -> Row:
    def called(row: list[Any]) -> Any:
        ordered = sorted(row, key=tape.plain)
        place = share * (len(row) - 1)
        low = min(math.floor(place), len(row) - 1)
        high = min(low + 1, len(row) - 1)
        part = {
            "linear": place - low,
            "lower": 0.0,
            "higher": float(place > low),
            "midpoint": 0.5 if place > low else 0.0,
            "nearest": float(round(place) > low),
        }[how]
        return ordered[low] + (ordered[high] - ordered[low]) * part

    return called


def reductions() -> Iterator[Case]:
    """Over a dimension, several and all; the dimension kept; as functions and as methods; with each argument."""
    told = real(4, 5, 3)
    rows: tuple[tuple[str, Row, Input, dict[str, Any]], ...] = (
        ("sum", tape.total, told, {}), ("mean", right.mean, told, {}), ("nansum", tape.total, told, {}), ("nanmean", right.mean, told, {}),
        ("amax", right.largest, distinct(4, 5, 3), {}), ("amin", right.smallest, distinct(4, 5, 3), {}), ("logsumexp", right.logsumexp, told, {}),
        ("var", right.variance, told, {}), ("std", right.deviation, told, {}), ("prod", right.product, real(4, 5, 3, low=0.5, high=1.5), {}),
        ("norm", right.length, told, {}), ("median", lambda row: sorted(row, key=tape.plain)[(len(row) - 1) // 2], distinct(4, 5, 3), {}),
        ("nanmedian", lambda row: sorted(row, key=tape.plain)[(len(row) - 1) // 2], distinct(4, 5, 3), {}), ("max", right.largest, distinct(4, 5, 3), {}), ("min", right.smallest, distinct(4, 5, 3), {}),
        ("argmax", lambda row: row.index(max(row)), distinct(4, 5, 3)._replace(kind="given"), {}), ("argmin", lambda row: row.index(min(row)), distinct(4, 5, 3)._replace(kind="given"), {}),
        ("all", lambda row: all(row), literal([at % 7 for at in range(60)], (4, 5, 3), "given"), {}), ("any", lambda row: any(row), literal([at % 9 == 4 for at in range(60)], (4, 5, 3), "given"), {}),
    )  # fmt: skip
    for name, reference, one, _more in rows:
        back = one.kind == "real"
        for dim in (1, -1):
            calls = tuple(
                lambda x, c=c, d=dim: _first(c(x, dim=d, keepdim=True))
                for c in (getattr(torch, name), getattr(torch.Tensor, name))
            )
            yield Case(
                name + " (keepdim) over " + str(dim),
                calls,
                kept(reduced((dim,), reference), dim),
                (one,),
                backward=back,
                factor=6.0,
                few=True,
                spreads=name[:3] != "nan",
            )
        if name in ("sum", "mean", "amax", "amin", "logsumexp", "var", "std", "nansum", "norm"):
            yield Case(
                name + " over two dimensions",
                (lambda x, n=name: getattr(torch, n)(x, dim=(0, 2)), lambda x, n=name: getattr(x, n)(dim=(0, 2))),
                reduced((0, 2), reference),
                (one,),
                backward=back,
                factor=6.0,
                few=True,
                spreads=name[:3] != "nan",
            )
        if name not in ("logsumexp", "amax", "amin"):
            yield Case(
                name + " as a method, over all",
                (getattr(torch.Tensor, name),),
                reduced((), reference),
                (one,),
                backward=back,
                factor=6.0,
                few=True,
                spreads=name[:3] != "nan",
            )
    yield from _typed()
    yield from _two_at_once()
    yield from _norms()
    yield from _without_nan()


def _first(told: Any) -> Any:
    return told[0] if isinstance(told, tuple) else told


def _typed() -> Iterator[Case]:
    """Added up in another type than the numbers have."""
    whole = Input(Grid((3, 4), [100 + at for at in range(12)]), "int8")
    for name, reference in (("sum", sum), ("prod", lambda row: math.prod(row))):
        small = whole if name == "sum" else whole._replace(grid=Grid((3, 4), [at + 2 for at in range(12)]))
        yield Case(
            name + " of int8 (dtype)",
            (
                lambda x, n=name: getattr(torch, n)(x, 1, dtype=torch.float64),
                lambda x, n=name: getattr(x, n)(1, dtype=torch.float64),
            ),
            reduced((1,), reference),
            (small,),
            ("int8",),
            backward=False,
            result="float64",
        )
        yield Case(
            name + " of int8",
            (lambda x, n=name: getattr(torch, n)(x, 1),),
            reduced((1,), reference),
            (small,),
            ("int8",),
            backward=False,
        )
    yield Case(
        "mean of int8 (dtype)",
        (lambda x: torch.mean(x, 1, dtype=torch.float32),),
        reduced((1,), lambda row: sum(row) / 4),
        (whole,),
        ("int8",),
        backward=False,
        result="float32",
    )
    for name in ("cumsum", "cumprod"):
        small = Input(Grid((3, 4), [at % 5 + 1 for at in range(12)]), "int8")
        run = right.running_sum if name == "cumsum" else right.running_product
        yield Case(
            name + " of int8",
            (*forms(name, 1)[:2], lambda x, n=name: getattr(torch, n)(x, 1, dtype=torch.int64)),
            along(1, run),
            (small,),
            ("int8",),
            backward=False,
        )
    told = real(3, 5)
    for name, low in (("softmax", right.softmax), ("log_softmax", right.log_softmax)):
        yield Case(
            name + " (dtype)",
            (
                lambda x, n=name: getattr(torch, n)(x, 1, dtype=torch.float64),
                lambda x, n=name: getattr(torch.nn.functional, n)(x, 1, dtype=torch.float64),
                lambda x, n=name: getattr(torch.special, n)(x, 1, dtype=torch.float64),
            ),
            along(1, low),
            (told,),
            ("float32", "bfloat16"),
            factor=4.0,
            result="float64",
            twice=False,
        )
    for name in ("sum", "mean", "nansum"):
        yield Case(
            name + " (dtype)",
            (lambda x, n=name: getattr(torch, n)(x, 1, dtype=torch.float64),),
            reduced((1,), tape.total if name != "mean" else right.mean),
            (told,),
            ("float32", "bfloat16"),
            factor=4.0,
            result="float64",
            spreads=name[:3] != "nan",
        )


def _two_at_once() -> Iterator[Case]:
    told = (real(4, 7),)
    for less in (0, 1, 2):
        spread: Row = lambda row, n=less: right.variance(row, n)
        root: Row = lambda row, n=less: tape.sqrt(right.variance(row, n))
        for name, wanted in (("var_mean", spread), ("std_mean", root)):
            pair: Any = lambda x, w=wanted: (reduced((1,), w)(x), reduced((1,), right.mean)(x))
            yield Case(
                name + " with a correction of " + str(less),
                (lambda x, n=name, c=less: getattr(torch, n)(x, dim=1, correction=c),),
                pair,
                told,
                factor=8.0,
            )
    for name in ("var", "std", "var_mean", "std_mean"):
        one: Row = lambda row: right.variance(row, 0)
        two: Row = lambda row: tape.sqrt(right.variance(row, 0))
        own = one if name[:3] == "var" else two
        both: Any = lambda x, o=own, n=name: (
            (reduced((1,), o)(x), reduced((1,), right.mean)(x)) if "mean" in n else reduced((1,), o)(x)
        )
        yield Case(
            name + " (unbiased False)",
            (
                lambda x, n=name: getattr(torch, n)(x, 1, False),
                lambda x, n=name: getattr(torch, n)(x, 1, unbiased=False),
            ),
            both,
            told,
            factor=8.0,
        )
    yield Case(
        "aminmax",
        (lambda x: tuple(torch.aminmax(x, dim=1)), lambda x: tuple(x.aminmax(dim=1))),
        lambda x: (reduced((1,), right.smallest)(x), reduced((1,), right.largest)(x)),
        (distinct(4, 7),),
    )
    yield Case(
        "aminmax (keepdim)",
        (lambda x: tuple(torch.aminmax(x, dim=1, keepdim=True)),),
        lambda x: (kept(reduced((1,), right.smallest), 1)(x), kept(reduced((1,), right.largest), 1)(x)),
        (distinct(4, 7),),
    )
    yield Case(
        "aminmax of all",
        (lambda x: tuple(torch.aminmax(x)),),
        lambda x: (reduced((), right.smallest)(x), reduced((), right.largest)(x)),
        (distinct(4, 7),),
    )
    for name, top in (("max", True), ("min", False)):
        pick = lambda row, t=top: (max if t else min)(row, key=tape.plain)
        place = lambda row, t=top: [tape.plain(one) for one in row].index((max if t else min)(map(tape.plain, row)))
        yield Case(
            name + " with its place, both",
            (lambda x, n=name: tuple(getattr(torch, n)(x, 0)), lambda x, n=name: tuple(getattr(x, n)(0))),
            lambda x, p=pick, q=place: (reduced((0,), p)(x), reduced((0,), q)(x)),
            (distinct(6, 5)._replace(kind="given"),),
            backward=False,
        )


def _norms() -> Iterator[Case]:
    told = (real(4, 6),)
    size: Row = lambda x: tape.absolute(x)
    kinds: tuple[tuple[Any, Row, bool], ...] = (
        (1, lambda row: tape.total(map(size, row)), True), (2, right.length, True), (3, lambda row: _root(tape.total([size(x) ** 3 for x in row]), 3), True),
        (0.5, lambda row: _root(tape.total([tape.sqrt(size(x)) for x in row]), 0.5), True), (math.inf, lambda row: max(map(size, row), key=tape.plain), False),
        (-math.inf, lambda row: min(map(size, row), key=tape.plain), False), (0, lambda row: float(sum(tape.plain(x) != 0 for x in row)), False),
    )  # fmt: skip
    for order, reference, back in kinds:
        one = told if back else (told[0]._replace(kind="given"),)
        calls = (
            lambda x, o=order: torch.linalg.vector_norm(x, o, dim=1),
            lambda x, o=order: torch.norm(x, o, dim=1),
            lambda x, o=order: torch.linalg.norm(x, o, dim=1),
            lambda x, o=order: x.norm(o, 1),
        )
        yield Case(
            "norm (" + str(order) + ", all names)", calls, reduced((1,), reference), one, backward=back, factor=8.0
        )
        yield Case(
            "norm (" + str(order) + ", keepdim)",
            (
                lambda x, o=order: torch.linalg.vector_norm(x, o, dim=1, keepdim=True),
                lambda x, o=order: torch.norm(x, o, 1, True),
                lambda x, o=order: torch.linalg.norm(x, o, dim=1, keepdim=True),
            ),
            kept(reduced((1,), reference), 1),
            one,
            backward=back,
            factor=8.0,
            few=True,
        )
    yield Case(
        "vector_norm (dtype)",
        (
            lambda x: torch.linalg.vector_norm(x, dim=1, dtype=torch.float64),
            lambda x: torch.linalg.norm(x, dim=1, dtype=torch.float64),
        ),
        reduced((1,), right.length),
        told,
        ("float32", "bfloat16"),
        factor=8.0,
        result="float64",
    )
    yield Case(
        "norm over dimensions 0 and 2",
        (
            lambda x: torch.linalg.norm(x, dim=(0, 2)),
            lambda x: torch.norm(x, dim=(0, 2)),
            lambda x: torch.linalg.vector_norm(x, 2, (0, 2)),
        ),
        reduced((0, 2), right.length),
        (real(3, 2, 4),),
        factor=8.0,
    )
    yield Case(
        "norm of all",
        (torch.linalg.norm, torch.linalg.vector_norm, torch.norm, lambda x: torch.norm(x, "fro")),
        reduced((), right.length),
        told,
        factor=8.0,
    )
    other = (real(4, 6), real(4, 6, seed=2))
    for order, reference, _back in kinds[:3]:
        yield Case(
            "dist (" + str(order) + ")",
            (lambda x, y, o=order: torch.dist(x, y, o), lambda x, y, o=order: x.dist(y, o)),
            lambda x, y, r=reference: Grid((), [r([a - b for a, b in zip(x.flat, y.flat)])]),
            other,
            factor=8.0,
        )
    for order in (1, 2):
        yield Case(
            "renorm (" + str(order) + ")",
            forms("renorm", order, 0, 4.0),
            along(1, lambda row, o=order: _renormed(row, o)),
            told,
            factor=20.0,
        )


def _root(x: Any, order: float) -> Any:
    return tape.exp(tape.log(x) * (1 / order))


def _renormed(row: list[Any], order: int) -> list[Any]:
    size = right.length(row) if order == 2 else tape.total(map(tape.absolute, row))
    return [one * (4.0 / (size + 1e-7)) for one in row] if size > 4 else row


def _without_nan() -> Iterator[Case]:
    row = [1.0, _NAN, 3.0, -2.0, _NAN, 4.0]
    told = literal([*row, *row[::-1]], (2, 6), "given")
    for name, value in (("nansum", 6.0), ("nanmean", 1.5), ("nanmedian", 1.0)):
        yield Case(
            name + " of rows with NaN",
            (lambda x, n=name: _first(getattr(torch, n)(x, 1)), lambda x, n=name: _first(getattr(x, n)(1))),
            always(Grid((2,), [value] * 2)),
            (told,),
            backward=False,
            spreads=False,
        )
        one = literal(row, kind="given")
        yield Case(
            name + " of NaN over all",
            (getattr(torch, name),),
            always(Grid((), [value])),
            (one,),
            backward=False,
            spreads=False,
        )
    yield Case(
        "nanquantile",
        (
            lambda x: torch.nanquantile(x, 0.5, 1),
            lambda x: x.nanquantile(torch.tensor(0.5, dtype=x.dtype, device=x.device), dim=1),
        ),
        always(Grid((2,), [2.0] * 2)),
        (told,),
        _TWO,
        backward=False,
        spreads=False,
    )
    yield Case(
        "nanquantile (keepdim, lower)",
        (lambda x: torch.nanquantile(x, 0.5, 1, keepdim=True, interpolation="lower"),),
        always(Grid((2, 1), [1.0] * 2)),
        (told,),
        _TWO,
        backward=False,
        spreads=False,
    )
    yield Case(
        "quantile of NaN",
        (lambda x: torch.quantile(x, 0.5, 1),),
        always(Grid((2,), [_NAN] * 2)),
        (told,),
        _TWO,
        backward=False,
        spreads=False,
    )
    for name in (
        "median",
        "max",
        "min",
        "amax",
        "amin",
        "sum",
        "mean",
        "prod",
        "var",
        "std",
        "logsumexp",
        "cumsum",
        "cummax",
        "cummin",
        "cumprod",
        "logcumsumexp",
        "argmax",
        "argmin",
    ):
        where = lambda x, n=name: _first(getattr(torch, n)(x, 1))
        last = name.startswith(("cum", "logcum"))
        wanted = (
            Grid((2, 6), [1.0, *[_NAN] * 5] * 2) if last else Grid((2,), [1.0] * 2 if name[:3] == "arg" else [_NAN] * 2)
        )
        yield Case(
            name + " of rows with NaN inside",
            (where,),
            always(wanted),
            (literal(row * 2, (2, 6), "given"),),
            backward=False,
            spreads=False,
        )


def quantiles() -> Iterator[Case]:
    """Quantiles, modes, running largest and least, running sums of exponentials."""
    told = (distinct(4, 9),)
    for share in (0.25, 0.6):
        for how in ("linear", "lower", "higher", "midpoint", "nearest"):
            calls = (
                lambda x, s=share, h=how: torch.quantile(x, s, dim=1, interpolation=h),
                lambda x, s=share, h=how: x.quantile(s, dim=1, interpolation=h),
                lambda x, s=share, h=how: torch.nanquantile(x, s, dim=1, interpolation=h),
            )
            yield Case(
                "quantile " + str(share) + " (" + how + "), nanquantile",
                calls,
                reduced((1,), _quantile(share, how)),
                told,
                _TWO,
                factor=10.0,
                few=True,
            )
    yield Case(
        "quantile of all",
        (lambda x: torch.quantile(x, 0.25), lambda x: torch.nanquantile(x, 0.25)),
        reduced((), _quantile(0.25)),
        told,
        _TWO,
        factor=10.0,
    )
    yield Case(
        "quantile (keepdim)",
        (lambda x: torch.quantile(x, 0.25, 1, True), lambda x: torch.nanquantile(x, 0.25, 1, True)),
        kept(reduced((1,), _quantile(0.25)), 1),
        told,
        _TWO,
        factor=10.0,
    )
    pair = (lambda x: torch.quantile(x, torch.tensor([0.25, 0.75], dtype=x.dtype, device=x.device), dim=1),)
    yield Case(
        "two quantiles",
        pair,
        lambda x: Grid((2, 4), [*reduced((1,), _quantile(0.25))(x).flat, *reduced((1,), _quantile(0.75))(x).flat]),
        told,
        _TWO,
        factor=10.0,
    )
    often = literal([1.0, 3, 3, 2, 3, 2, 2, 2, 5, 5, 4, 5], (3, 4), "given")
    yield Case(
        "mode",
        (lambda x: torch.mode(x, 1)[0], lambda x: x.mode()[0], lambda x: torch.mode(x, 1, True)[0].squeeze(1)),
        always(Grid((3,), [3.0, 2.0, 5.0])),
        (often,),
        backward=False,
    )
    yield Case(
        "mode over dimension 0",
        (lambda x: torch.mode(x, 0)[0],),
        always(Grid((2,), [1.0, 4.0])),
        (literal([1.0, 4, 1, 4, 2, 0], (3, 2), "given"),),
        backward=False,
    )
    for dim in (0, 1):
        for name, run in (
            ("cummax", lambda b, x: max(x, b, key=tape.plain)),
            ("cummin", lambda b, x: min(x, b, key=tape.plain)),
        ):
            running = along(dim, lambda row, r=run: right._running(row, r))
            yield Case(
                name + " over dimension " + str(dim) + " (all)",
                (lambda x, n=name, d=dim: getattr(torch, n)(x, d)[0], lambda x, n=name, d=dim: getattr(x, n)(d)[0]),
                running,
                (distinct(6, 9),),
            )
            places = along(
                dim,
                lambda row, b=name == "cummax": [
                    row.index((max if b else min)(row[: at + 1])) for at in range(len(row))
                ],
            )
            yield Case(
                name + "'s places over dimension " + str(dim),
                (lambda x, n=name, d=dim: getattr(torch, n)(x, d)[1],),
                places,
                (distinct(6, 9)._replace(kind="given"),),
                backward=False,
            )
        for name, run in (
            ("cumsum", right.running_sum),
            ("cumprod", right.running_product),
            ("logcumsumexp", lambda row: [right.logsumexp(row[: at + 1]) for at in range(len(row))]),
        ):
            yield Case(
                name + " over dimension " + str(dim) + " (all)",
                forms(name, dim),
                along(dim, run),
                (real(4, 6, low=0.5, high=1.5),),
                factor=10.0,
            )


def differences() -> Iterator[Case]:
    """Differences, slopes and areas along a dimension; how numbers vary together."""
    told = (real(3, 7),)
    for times in (1, 2):

        def less(row: list[Any], times: int = times) -> list[Any]:
            for _time in range(times):
                row = [b - a for a, b in zip(row, row[1:])]
            return row

        wanted = lambda x, f=less, t=times: Grid(
            (3, 7 - t), [one for at in range(3) for one in f(x.flat[at * 7 : at * 7 + 7])]
        )
        yield Case(
            "diff " + str(times),
            (lambda x, t=times: torch.diff(x, t), lambda x, t=times: x.diff(n=t, dim=1)),
            wanted,
            told,
        )
    both = (real(3, 7), real(3, 2, seed=2), real(3, 1, seed=3))

    def ended(x: Grid, before: Grid, after: Grid) -> Grid:
        rows = [[*before.flat[at * 2 : at * 2 + 2], *x.flat[at * 7 : at * 7 + 7], after.flat[at]] for at in range(3)]
        return Grid((3, 9), [b - a for row in rows for a, b in zip(row, row[1:])])

    yield Case("diff (prepend, append)", (lambda x, a, b: torch.diff(x, prepend=a, append=b),), ended, both)
    yield Case(
        "diff over dimension 0",
        (lambda x: torch.diff(x, dim=0),),
        lambda x: made((2, 7), lambda i: x[i[0] + 1, i[1]] - x[i]),
        told,
    )
    area: Row = lambda row, dx=0.5: tape.total([(a + b) * (0.5 * dx) for a, b in zip(row, row[1:])])
    yield Case(
        "trapezoid (dx)",
        (
            lambda x: torch.trapezoid(x, dx=0.5),
            lambda x: torch.trapz(x, dx=0.5),
            lambda x: torch.trapezoid(x, dx=0.5, dim=1),
        ),
        reduced((1,), area),
        told,
        factor=4.0,
    )
    yield Case(
        "trapezoid over dimension 0",
        (lambda x: torch.trapezoid(x, dx=0.5, dim=0),),
        reduced((0,), area),
        told,
        factor=4.0,
    )
    places = literal([0.0, 0.5, 1.5, 2, 4, 4.5, 6], kind="given")
    yield Case(
        "trapezoid (x)",
        (torch.trapezoid, torch.trapz),
        lambda y, x: reduced(
            (1,),
            lambda row: tape.total([(a + b) * ((q - p) / 2) for a, b, p, q in zip(row, row[1:], x.flat, x.flat[1:])]),
        )(y),
        (*told, places),
        factor=4.0,
    )
    yield Case(
        "cumulative_trapezoid",
        (lambda x: torch.cumulative_trapezoid(x, dx=0.5),),
        lambda x: Grid(
            (3, 6),
            [
                one
                for at in range(3)
                for one in right.running_sum(
                    [(a + b) * 0.25 for a, b in zip(x.flat[at * 7 : at * 7 + 6], x.flat[at * 7 + 1 : at * 7 + 7])]
                )
            ],
        ),
        told,
        factor=8.0,
    )

    def slope(row: list[Any]) -> list[Any]:
        return [(row[1] - row[0]) * 2.0, *((c - a) * 1.0 for a, c in zip(row, row[2:])), (row[-1] - row[-2]) * 2.0]

    yield Case(
        "gradient (spacing)",
        (lambda x: torch.gradient(x, spacing=0.5, dim=1)[0], lambda x: torch.gradient(x, spacing=0.5)[1]),
        along(1, slope),
        told,
        factor=4.0,
    )

    def slope_two(row: list[Any]) -> list[Any]:
        return [
            row[0] * -1.5 + row[1] * 2.0 - row[2] * 0.5,
            *((c - a) * 0.5 for a, c in zip(row, row[2:])),
            row[-1] * 1.5 - row[-2] * 2.0 + row[-3] * 0.5,
        ]

    yield Case(
        "gradient (edge_order)",
        (lambda x: torch.gradient(x, dim=1, edge_order=2)[0],),
        along(1, slope_two),
        told,
        factor=4.0,
    )
    yield Case("cov", (torch.cov, torch.Tensor.cov), lambda x: _together(x, 1), told, factor=8.0)
    yield Case(
        "cov (correction 0)", (lambda x: torch.cov(x, correction=0),), lambda x: _together(x, 0), told, factor=8.0
    )
    weights = Input(Grid((7,), [1, 2, 1, 3, 1, 1, 2]), "int64")
    yield Case(
        "cov (fweights)",
        (lambda x, w: torch.cov(x, fweights=w),),
        lambda x, w: _together(x, 1, w.flat),
        (*told, weights),
        factor=8.0,
        few=True,
    )
    shares = given(7, seed=4, low=0.25, high=2)
    yield Case(
        "cov (aweights)",
        (lambda x, w: torch.cov(x, aweights=w),),
        lambda x, w: _together(x, None, w.flat),
        (*told, shares),
        factor=8.0,
        few=True,
    )

    def near(x: Grid) -> Grid:
        told = _together(x, 1)
        return made((3, 3), lambda i: told[i] / tape.sqrt(told[i[0], i[0]] * told[i[1], i[1]]))

    yield Case("corrcoef", (torch.corrcoef, torch.Tensor.corrcoef), near, told, factor=10.0)


def _together(x: Grid, less: Any, weights: Any = None) -> Grid:
    weights = weights or [1.0] * 7
    whole = sum(weights)
    below = whole - less if less is not None else whole - sum(one * one for one in weights) / whole
    rows = [x.flat[at * 7 : at * 7 + 7] for at in range(3)]
    middles = [tape.dot(row, weights) * (1 / whole) for row in rows]
    off = [[one - middle for one in row] for row, middle in zip(rows, middles)]
    return made((3, 3), lambda i: tape.dot([a * w for a, w in zip(off[i[0]], weights)], off[i[1]]) * (1 / below))


def counts() -> Iterator[Case]:
    """What is counted: in bins, of a kind, in what order."""
    told = literal([0.5, 1.5, 1.25, 3.75, -0.5, 2.0, 4.0, 1.0, 0.0, 3.0], kind="given")
    yield Case(
        "histc",
        (lambda x: torch.histc(x, 4, 0, 4), lambda x: x.histc(bins=4, min=0, max=4)),
        always(Grid((4,), [2.0, 3, 1, 3])),
        (told,),
        _TWO,
        backward=False,
        spreads=False,
    )
    yield Case(
        "histc (own bounds)",
        (lambda x: torch.histc(x, 3),),
        always(Grid((3,), [3.0, 4, 3])),
        (told,),
        _TWO,
        backward=False,
        spreads=False,
    )
    yield Case(
        "histogram",
        (
            lambda x: torch.histogram(x, 4, range=(0.0, 4.0))[0],
            lambda x: torch.histogram(x, torch.tensor([0.0, 1, 2, 3, 4], dtype=x.dtype))[0],
        ),
        always(Grid((4,), [2.0, 3, 1, 3])),
        (told,),
        _TWO,
        backward=False,
        optional=True,
        spreads=False,
    )
    yield Case(
        "histogram (weight, density)",
        (lambda x: torch.histogram(x, 2, range=(0.0, 4.0), weight=torch.arange(10, dtype=x.dtype), density=True)[0],),
        always(Grid((2,), [18 / 82, 23 / 82])),
        (told,),
        _TWO,
        backward=False,
        optional=True,
        factor=4.0,
        spreads=False,
    )
    whole = Input(Grid((8,), [3, 1, 1, 0, 5, 3, 3, 1]), "int64")
    weights = given(8, seed=3)
    yield Case(
        "bincount (minlength)",
        (lambda x: torch.bincount(x, minlength=8), lambda x: x.bincount(minlength=8)),
        always(Grid((8,), [1, 3, 0, 3, 0, 1, 0, 0])),
        (whole,),
        ("int64",),
        backward=False,
    )
    yield Case(
        "bincount (weights)",
        (torch.bincount, lambda x, w: x.bincount(w)),
        lambda x, w: Grid((6,), [math.fsum(b for a, b in zip(x.flat, w.flat) if a == at) for at in range(6)]),
        (whole, weights),
        _TWO,
        backward=False,
        spreads=False,
    )
    some = literal([at % 3 - 1.0 for at in range(20)], (4, 5), "given")
    zero = lambda row: float(sum(one != 0 for one in row))
    yield Case(
        "count_nonzero over dimensions",
        (lambda x: torch.count_nonzero(x, 1), lambda x: x.count_nonzero(dim=1)),
        reduced((1,), zero),
        (some,),
        backward=False,
        spreads=False,
    )
    yield Case(
        "isin",
        (lambda x: torch.isin(x, torch.tensor([1.0, 5.0], dtype=x.dtype, device=x.device)),),
        lambda x: Grid(x.shape, [one == 1 for one in x.flat]),
        (some,),
        backward=False,
        spreads=False,
    )
    yield Case(
        "isin (invert)",
        (
            lambda x: torch.isin(
                x, torch.tensor([1.0, 5.0], dtype=x.dtype, device=x.device), invert=True, assume_unique=False
            ),
        ),
        lambda x: Grid(x.shape, [one != 1 for one in x.flat]),
        (some,),
        backward=False,
        spreads=False,
    )
    yield from _searched()
    yield from _unequal()
    ordered = distinct(5, 8)
    for dim in (0, 1):
        for down in (False, True):
            said = " over dimension " + str(dim) + (" (descending)" if down else "")
            by = along(dim, lambda row, d=down: sorted(row, key=tape.plain, reverse=d))
            at = along(dim, lambda row, d=down: sorted(range(len(row)), key=row.__getitem__, reverse=d))
            yield Case(
                "sort" + said,
                (
                    lambda x, d=dim, u=down: torch.sort(x, dim=d, descending=u)[0],
                    lambda x, d=dim, u=down: x.sort(d, u)[0],
                ),
                by,
                (ordered,),
            )
            yield Case(
                "argsort" + said,
                (
                    lambda x, d=dim, u=down: torch.argsort(x, dim=d, descending=u),
                    lambda x, d=dim, u=down: x.argsort(d, u),
                    lambda x, d=dim, u=down: torch.sort(x, dim=d, descending=u)[1],
                ),
                at,
                (ordered._replace(kind="given"),),
                backward=False,
            )
            top = lambda x, d=dim, u=down: _cut(along(d, lambda row: sorted(row, key=tape.plain, reverse=u))(x), d, 3)
            yield Case(
                "topk" + said,
                (
                    lambda x, d=dim, u=down: torch.topk(x, 3, dim=d, largest=u)[0],
                    lambda x, d=dim, u=down: x.topk(3, d, u, True)[0],
                ),
                top,
                (ordered,),
            )
        keep = lambda x, d=dim: kept(reduced((d,), lambda row: sorted(row, key=tape.plain)[1]), d)(x)
        yield Case(
            "kthvalue (keepdim) over dimension " + str(dim),
            (lambda x, d=dim: torch.kthvalue(x, 2, d, True)[0], lambda x, d=dim: x.kthvalue(2, d, True)[0]),
            keep,
            (ordered,),
        )
    yield Case(
        "topk (unsorted)",
        (lambda x: torch.topk(x, 3, 1, sorted=False)[0].sum(1),),
        reduced((1,), lambda row: tape.total(sorted(row, key=tape.plain)[-3:])),
        (ordered,),
        factor=4.0,
    )
    yield Case(
        "msort", (torch.msort, torch.Tensor.msort), along(0, lambda row: sorted(row, key=tape.plain)), (ordered,)
    )


def _cut(x: Grid, dim: int, count: int) -> Grid:
    shape = (count, x.shape[1]) if dim == 0 else (x.shape[0], count)
    return made(shape, lambda i: x[i])


def _searched() -> Iterator[Case]:
    borders, told = [1.0, 2.0, 2.0, 5.0], literal([0.0, 1.0, 2.0, 3.0, 5.0, 6.0], (2, 3), "given")
    for later in (False, True):
        cut = bisect.bisect_right if later else bisect.bisect_left
        wanted = Grid((2, 3), [cut(borders, one) for one in told.grid.flat])
        side = "right" if later else "left"
        known: Any = lambda x: torch.tensor(borders, dtype=x.dtype, device=x.device)
        calls = (
            lambda x, r=later: torch.bucketize(x, known(x), right=r),
            lambda x, r=later: torch.bucketize(x, known(x), right=r, out_int32=True),
        )
        yield Case("bucketize (" + side + ")", calls, always(wanted), (told,), backward=False, spreads=False)
        calls = (
            lambda x, r=later: torch.searchsorted(known(x), x, right=r),
            lambda x, s=side: torch.searchsorted(known(x), x, side=s),
            lambda x, r=later: torch.searchsorted(known(x), x, right=r, out_int32=True),
            lambda x, r=later: torch.searchsorted(
                known(x).flip(0).contiguous(), x, right=r, sorter=torch.tensor([3, 2, 1, 0], device=x.device)
            ),
        )
        yield Case("searchsorted (" + side + ")", calls, always(wanted), (told,), backward=False, spreads=False)


def _unequal() -> Iterator[Case]:
    told = literal([2.0, 2, 1, 1, 1, 3, 2, 2], kind="given")
    runs, sizes, back = Grid((4,), [2.0, 1, 3, 2]), Grid((4,), [2, 3, 1, 2]), Grid((8,), [0, 0, 1, 1, 1, 2, 3, 3])
    yield Case(
        "unique_consecutive",
        (
            lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True),
            lambda x: x.unique_consecutive(return_inverse=True, return_counts=True),
        ),
        lambda _x: (runs, back, sizes),
        (told,),
        backward=False,
        spreads=False,
    )
    known, where, often = Grid((3,), [1.0, 2, 3]), Grid((8,), [1, 1, 0, 0, 0, 2, 1, 1]), Grid((3,), [3, 4, 1])
    yield Case(
        "unique (inverse, counts)",
        (
            lambda x: torch.unique(x, return_inverse=True, return_counts=True),
            lambda x: x.unique(sorted=True, return_inverse=True, return_counts=True),
        ),
        lambda _x: (known, where, often),
        (told,),
        backward=False,
        spreads=False,
    )
    rows = literal([3.0, 4, 1, 2, 3, 4], (3, 2), "given")
    yield Case(
        "unique of rows (dim)",
        (lambda x: torch.unique(x, dim=0),),
        always(Grid((2, 2), [1.0, 2, 3, 4])),
        (rows,),
        backward=False,
        spreads=False,
    )
    near = literal([3.0, 4, 3, 4, 1, 2], (3, 2), "given")
    yield Case(
        "unique_consecutive of rows (dim)",
        (lambda x: torch.unique_consecutive(x, dim=0),),
        always(Grid((2, 2), [3.0, 4, 1, 2])),
        (near,),
        backward=False,
        spreads=False,
    )
