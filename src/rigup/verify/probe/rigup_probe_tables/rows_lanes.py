"""Functions of rows of numbers: sums and their like, orders, running values, quantiles; by the names that NumPy and JAX have."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator, Sequence

import rigup_probe_reference as reference
import rigup_probe_tape as tape
from rigup_probe_grid import Grid, along, each_row, fromfunction, reduced
from rigup_probe_rows import ALL, FIRST, LAST, ONE, Row
from rigup_probe_tape import Traced, plain

_NAN = math.nan
_WIDE = (((5, 7),), ((41, 13),))


def odd_in(row: Sequence[Any]) -> bool:
    """Whether a number of the row is NaN."""
    return any(number != number for number in row if not isinstance(number, Traced))


def odd(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """NaN where one in the row is none."""
    return lambda row: _NAN if odd_in(row) else function(row)


def _kept(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Of those that are numbers."""
    return lambda row: function([number for number in row if isinstance(number, Traced) or number == number])


def median(row: Any) -> Any:
    """The middle one, or the mean of two."""
    up = sorted(row, key=plain)
    return (up[(len(up) - 1) // 2] + up[len(up) // 2]) * 0.5


def quantile(share: float) -> Callable[[Any], Any]:
    """By straight lines between neighbours."""

    def called(row: Any) -> Any:
        up, at = sorted(row, key=plain), share * (len(row) - 1)
        low = int(at)
        return up[low] + (up[min(low + 1, len(up) - 1)] - up[low]) * (at - low)

    return called


def place(best: Callable[..., Any]) -> Callable[[Any], int]:
    """Where the best is, the first of several; the first NaN before all."""

    def called(row: Any) -> int:
        bad = [at for at, number in enumerate(row) if number != number]
        return bad[0] if bad else best(range(len(row)), key=lambda at: (row[at], -at if best is max else at))

    return called


def place_kept(best: Callable[..., Any]) -> Callable[[Any], int]:
    """Where the best of those is that are numbers."""
    return lambda row: best([at for at in range(len(row)) if row[at] == row[at]], key=lambda at: row[at])


def ordered(row: Any) -> Any:
    """Upwards, NaN last."""
    return sorted(row, key=lambda number: (plain(number) != plain(number), plain(number)))


def order(row: Any) -> list[int]:
    """Where those that stand in order were."""
    return sorted(range(len(row)), key=lambda at: (row[at] != row[at], row[at]))


def whole_or(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A sum without rounding, where all are whole numbers."""
    return lambda row: sum(row) if all(type(number) is int for number in row) else function(row)


def _spread(row: Any) -> Any:
    return reference.variance(row, 0)


_SUMS: dict[str, tuple[Any, Any, str]] = {  # what it is of a row, from where to where, in which types
    "sum": (whole_or(tape.total), (-4, 4), "fic"),
    "mean": (lambda row: tape.total(row) * (1 / len(row)), (-4, 4), "fc"),
    "prod": (reference.product, (0.5, 1.5), "f"),
    "max|amax": (odd(reference.largest), (-9, 9), "fi"),
    "min|amin": (odd(reference.smallest), (-9, 9), "fi"),
    "var": (_spread, (-4, 4), "f"),
    "std": (lambda row: tape.sqrt(_spread(row)), (-4, 4), "f"),
    "median": (odd(median), (-9, 9), "f"),
    "ptp": (odd(lambda row: reference.largest(row) - reference.smallest(row)), (-9, 9), "fi"),
    "average": (lambda row: tape.total(row) * (1 / len(row)), (-4, 4), "f"),
    "nansum": (_kept(tape.total), (-4, 4), "f"),
    "nanprod": (_kept(reference.product), (0.5, 1.5), "f"),
    "nanmax": (_kept(reference.largest), (-9, 9), "f"),
    "nanmin": (_kept(reference.smallest), (-9, 9), "f"),
    "nanmean": (_kept(reference.mean), (-4, 4), "f"),
    "nanvar": (_kept(_spread), (-4, 4), "f"),
    "nanstd": (_kept(lambda row: tape.sqrt(_spread(row))), (-4, 4), "f"),
    "nanmedian": (_kept(median), (-9, 9), "f"),
}
_LONGER = {LAST: (((5, 7),), ((520, 9),)), FIRST: (((7, 5),), ((9, 521),))}
_EQUAL = (-0.125, 0.125)  # of numbers so few some are equal
_PLACES: dict[str, tuple[Any, Any, str]] = {
    "argmax": (place(max), _EQUAL, "fi"),
    "argmin": (place(min), _EQUAL, "fi"),
    "nanargmax": (place_kept(max), _EQUAL, "f"),
    "nanargmin": (place_kept(min), _EQUAL, "f"),
    "any": (lambda row: any(map(bool, row)), (-0.125, 0.125), "fib"),
    "all": (lambda row: all(map(bool, row)), (-4, 4), "fib"),
    "count_nonzero": (lambda row: sum(map(bool, row)), (-0.25, 0.25), "fib"),
}
_RUNNING: dict[str, tuple[Any, Any, str]] = {
    "cumsum": (whole_or(reference.running_sum), (-2, 2), "fi"),
    "cumprod": (reference.running_product, (0.5, 1.5), "f"),
    "sort": (ordered, (-9, 9), "fi"),
    "nancumsum": (lambda row: reference.running_sum([0.0 if v != v else v for v in row]), (-2, 2), "f"),
    "nancumprod": (lambda row: reference.running_product([1.0 if v != v else v for v in row]), (0.5, 1.5), "f"),
}
_RUNNING["cumsum"] = (lambda row: [sum(row[: at + 1]) for at in range(len(row))] if all(type(v) is int for v in row) else reference.running_sum(row), (-2, 2), "fi")
_QUANTILES = {"quantile": (0.25, 1), "percentile": (0.75, 100), "nanquantile": (0.25, 1), "nanpercentile": (0.75, 100)}


def reductions() -> Iterator[Row]:
    """From a row to a number: over the last dimension, the first, and all."""
    for name, (function, span, types) in {**_SUMS, **_PLACES}.items():
        smooth = name in _SUMS and not name.startswith("nan")
        for label, dims, named, shapes in (("", (-1,), {"axis": -1}, LAST), ("down", (0,), {"axis": 0}, FIRST), ("of all", (), {}, ALL[:1] if "prod" in name else ALL)):
            yield Row(name, reduced(dims, function), (span,), _LONGER.get(shapes, shapes) if span == _EQUAL else shapes, named, types=types, nan="all" if dims else "small", slope=smooth, label=label, rare=label != "", factor=3.0)
    for name, (share, times) in _QUANTILES.items():
        held = _kept(quantile(share)) if name.startswith("nan") else odd(quantile(share))
        yield Row(name, reduced((-1,), held), ((-9, 9),), LAST, {"axis": -1}, call=lambda f, x, q=share * times, **k: f(x, q, **k), slope=False)


def orders() -> Iterator[Row]:
    """From a row to a row."""
    for name, (function, span, types) in _RUNNING.items():
        for label, dim, shapes in (("", -1, _WIDE), ("down", 0, (((7, 5),), ((13, 41),)))):
            yield Row(name, along(dim, function), (span,), shapes, {"axis": dim}, types=types, label=label, rare=dim == 0, factor=5.0)
    for name in ("cumulative_sum", "cumulative_prod"):
        yield Row(name, along(-1, _RUNNING["cum" + name.partition("_")[2]][0]), (_RUNNING["cum" + name.partition("_")[2]][1],), _WIDE, {"axis": -1}, factor=5.0)
    yield Row("argsort", along(-1, order), ((-9, 9),), _WIDE, {"axis": -1}, slope=False)
    yield Row("argsort", along(0, order), ((-9, 9),), (((7, 5),), ((13, 41),)), {"axis": 0}, slope=False, label="down", rare=True)
    yield Row("sort_complex", along(-1, ordered), ((-9, 9),), _WIDE, slope=False)
    yield Row("lexsort", along(-1, order), ((-9, 9),), _WIDE, call=lambda f, x: f((x * 0, x), axis=-1), types="fi", slope=False)
    yield Row("partition", along(-1, ordered), ((-9, 9),), _WIDE, call=lambda f, x: _ordered_about(f(x, 3, axis=-1), x), types="fi", slope=False, eager=True)
    yield Row("argpartition", reduced((-1,), lambda row: ordered(row)[3]), ((-9, 9),), (((5, 7),), ((520, 5),)), call=_third, types="fi", slope=False, nan="", eager=True)
    for name in ("searchsorted", "digitize"):
        yield Row(name, lambda v: fromfunction(v.shape, lambda at: sum(edge <= v[at] for edge in _BINS)), ((-3, 3),), (((15,),), ((667,),)), call=_sought, types="f", slope=False, nan="")
    yield Row("histogram", lambda x: Grid((6,), [sum(low <= number < low + 1 for number in x.flat) for low in range(-3, 3)]), ((-2.96875, 2.9375),), ONE[:2], call=lambda f, x: f(x, 6, (-3, 3))[0], slope=False, nan="", eager=True)
    yield Row("histogram2d|histogramdd", lambda x: Grid((30, 30), [sum(at == (math.floor(number * 5 + 15), math.floor(number * 5 + 15)) for number in x.flat) for at in ((r, c) for r in range(30) for c in range(30))]), ((-2.96875, 2.9375),), (((15,),), ((60,),)), call=_in_squares, slope=False, nan="", eager=True)
    yield Row("histogram_bin_edges", lambda _x: Grid((601,), [-3 + at / 100 for at in range(601)]), ((-3, 3),), ONE[:2], call=lambda f, x: f(x, 600, (-3, 3)), slope=False, nan="", eager=True)
    yield Row("bincount", lambda x: Grid((600,), [x.flat.count(at) for at in range(600)]), (lambda s: Grid(s, [n * 7 % 61 for n in range(math.prod(s))]),), (((15,),), ((667,),)), call=lambda f, x: f(x.astype("int32"), minlength=600), slope=False, nan="", eager=True)
    yield from _differences()
    yield from _sets()


_BINS = (-2.0, -0.5, 0.0, 1.5)


def _sought(function: Any, x: Any) -> Any:
    bins = x[: len(_BINS)] * 0 + _like(x, _BINS)
    return function(x, bins) if function.__name__ == "digitize" else function(bins, x, side="right")


def _like(x: Any, numbers: Sequence[float]) -> Any:
    import numpy as np

    return np.array(numbers, str(x.dtype))


def _ordered_about(got: Any, _x: Any) -> Any:
    """What stands before and behind the place has no order: it is brought into one by the array's own means."""
    import numpy as np

    array = np.asarray(got)
    if not (np.sort(array[..., :3])[..., -1] <= array[..., 3]).all():
        return array
    return np.concatenate([np.sort(array[..., :3]), array[..., 3:4], np.sort(array[..., 4:])], axis=-1)


def _third(function: Any, x: Any) -> Any:
    import numpy as np

    return np.take_along_axis(np.asarray(x), np.asarray(function(x, 3, axis=-1)), -1)[..., 3]


def _differences() -> Iterator[Row]:
    def between(row: Any) -> Any:
        return [later - before for before, later in zip(row, row[1:])]

    def slopes(row: Any) -> Any:
        return [row[1] - row[0], *((b - a) * 0.5 for a, b in zip(row, row[2:])), row[-1] - row[-2]]

    yield Row("diff", each_row(between), ((-9, 9),), _WIDE, {"axis": -1}, types="f")
    yield Row("ediff1d", lambda x: Grid((len(x.flat) - 1,), between(x.flat)), ((-9, 9),), ONE[:2])
    yield Row("gradient", each_row(slopes), ((-9, 9),), _WIDE, {"axis": -1})
    yield Row("trapezoid|trapz", reduced((-1,), lambda row: tape.total([*row[1:-1], row[0] * 0.5, row[-1] * 0.5])), ((-4, 4),), (((5, 7),), ((520, 4),)), {"axis": -1})
    yield Row("cov", lambda x: _cov(x, False), ((-2, 2),), (((3, 9),), ((25, 5),)), nan="some", slope=False, factor=5.0)
    yield Row("corrcoef", lambda x: _cov(x, True), ((-2, 2),), (((3, 9),), ((25, 5),)), nan="some", slope=False, factor=5.0)


def _cov(x: Grid, unit: bool) -> Grid:
    wide = x.shape[1]
    rows = [x.flat[at : at + wide] for at in range(0, len(x.flat), wide)]
    off = [[number - math.fsum(row) / wide for number in row] for row in rows]
    size = [math.sqrt(tape.dot(row, row) / (wide - 1)) if unit else 1.0 for row in off]
    return fromfunction((len(rows),) * 2, lambda at: tape.dot(off[at[0]], off[at[1]]) / (wide - 1) / size[at[0]] / size[at[1]])


def _sets() -> Iterator[Row]:
    """What is found in arrays: the shape of the result hangs on their numbers."""

    def found(function: Callable[..., Any]) -> Callable[..., Grid]:
        def called(*grids: Grid) -> Grid:
            result = function(*(grid.flat for grid in grids))
            return Grid((len(result),), result)

        return called

    def distinct(flat: Any) -> Any:
        up = sorted({number for number in flat if number == number})
        return up + [_NAN] * any(number != number for number in flat)

    line, two = (((15,),), ((900,),)), (((15,), (11,)), ((900,), (700,)))
    many, other = ((-30, 30), (-10, 45))
    functions: dict[str, Callable[..., Any]] = {"union1d": lambda a, b: sorted({*a, *b}), "intersect1d": lambda a, b: sorted({*a} & {*b}), "setdiff1d": lambda a, b: sorted({*a} - {*b}), "setxor1d": lambda a, b: sorted({*a} ^ {*b})}
    for name, function in functions.items():
        yield Row(name, found(function), (many, other), two, types="fi", slope=False, nan="", eager=True)
    yield Row("unique", found(distinct), (many,), line, types="fi", slope=False, eager=True)
    yield Row("unique_values", found(distinct), (many,), line, call=_in_order, types="fi", slope=False, nan="small", eager=True)
    yield Row("unique_all", lambda x: Grid((len(set(x.flat)),), sorted(set(x.flat))), (many,), line, call=lambda f, x: f(x)[0], slope=False, nan="", eager=True)
    yield Row("unique_counts", lambda x: (Grid((len(set(x.flat)),), sorted(set(x.flat))), Grid((len(set(x.flat)),), [x.flat.count(number) for number in sorted(set(x.flat))])), (many,), line, types="fi", slope=False, nan="", eager=True)
    yield Row("unique_inverse", lambda x: (Grid((len(set(x.flat)),), sorted(set(x.flat))), Grid(x.shape, [sorted(set(x.flat)).index(number) for number in x.flat])), (many,), (((15,),), ((520,),)), slope=False, nan="", eager=True)
    yield Row("isin|in1d", lambda a, b: Grid(a.shape, [number in b.flat for number in a.flat]), ((-3, 3), (-2, 2)), (((15,), (11,)), ((667,), (30,))), types="fi", slope=False, nan="")
    spots = ((-0.25, 0.25),)
    yield Row("flatnonzero", found(lambda x: [at for at, number in enumerate(x) if number]), spots, line, types="fi", slope=False, eager=True)
    yield Row("nonzero", found(lambda v: [at for at, number in enumerate(v) if number]), spots, line, types="fi", slope=False, eager=True)
    yield Row("argwhere", _where, spots, (((3, 5),), ((23, 37),)), types="fi", slope=False, eager=True)
    yield Row("extract", found(lambda v: [number for number in v if number != 0]), spots, line, call=lambda f, x: f(x != 0, x), slope=False, eager=True)
    yield Row("compress", found(lambda v: v[::2]), ((-9, 9),), (((15,),), ((1201,),)), call=_every_other, slope=False, eager=True)
    yield Row("trim_zeros", found(lambda v: v[1:]), ((1, 50),), line, call=lambda f, x: f(_begun_with_zero(x)), slope=False, nan="", eager=True)


def _where(x: Grid) -> Grid:
    spots = [index for index, number in zip(x.indices(), x.flat) if number]
    return Grid((len(spots), 2), [at for index in spots for at in index])


def _every_other(function: Any, x: Any) -> Any:
    import numpy as np

    return function(np.arange(len(x)) % 2 == 0, x)


def _in_squares(function: Any, x: Any) -> Any:
    import numpy as np

    squares, limits = [30, 30], [(-3, 3), (-3, 3)]
    if function.__name__ == "histogram2d":
        return function(x, x, squares, limits)[0]
    return function(np.stack([np.asarray(x)] * 2, axis=1), squares, limits)[0]


def _in_order(function: Any, x: Any) -> Any:
    """Some releases promise none."""
    import numpy as np

    return np.sort(np.asarray(function(x)))


def _begun_with_zero(x: Any) -> Any:
    import numpy as np

    array = np.array(x)
    array[0] = 0
    return array
