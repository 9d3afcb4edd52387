"""Functions that move numbers and reckon nothing: turned, joined, cut, repeated, taken by places, made."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

from rigup_probe_grid import Grid, fromfunction, swapped, transposed
from rigup_probe_rows import ONE, Row

_SPAN = (-9, 9)
_TYPES = "fi"
_PAIR = (((3, 5),) * 2, ((23, 29),) * 2)
_CUBE = (((2, 3, 4),), ((7, 9, 11),))


def _row(name: str, wanted: Callable[..., Any], call: Any = None, shapes: Any = ONE[:2], **more: Any) -> Row:
    spans = more.pop("inputs", (_SPAN,) * len(shapes[0]))
    return Row(name, wanted, spans, shapes, call=call, **{"types": _TYPES, **more})


def _joined(dim: int) -> Callable[..., Grid]:
    def called(x: Grid, y: Grid) -> Grid:
        size = x.shape[dim]
        shape = [length + y.shape[dim] if at == dim else length for at, length in enumerate(x.shape)]
        return fromfunction(shape, lambda at: x[at] if at[dim] < size else y[(*at[:dim], at[dim] - size, *at[dim + 1 :])])

    return called


def _shaped(shape: Any) -> Callable[[Grid], Grid]:
    return lambda x: Grid(shape(x.shape), x.flat)


def _line(x: Grid) -> Grid:
    return Grid((len(x.flat),), x.flat)


def _from(shape: Callable[[Any], Any], place: Callable[..., Any]) -> Callable[[Grid], Grid]:
    """A grid whose number at an index stands in the input at another."""
    return lambda x: fromfunction(shape(x.shape), lambda at: x[place(at, x.shape)])


def _same(shape: Any) -> Any:
    return shape


def joins() -> Iterator[Row]:
    """Several arrays as one."""
    both = _PAIR
    for name, dim in (("concatenate|concat", 0), ("vstack|row_stack", 0), ("hstack", 1)):
        yield _row(name, _joined(dim), lambda f, x, y: f([x, y]), both)
    yield _row("concatenate|concat", _joined(1), lambda f, x, y: f([x, y], axis=1), both, label="of columns", rare=True)
    yield _row("append", lambda x, y: _joined(0)(_line(x), _line(y)), None, both)
    yield _row("stack", lambda x, y: Grid((2, *x.shape), x.flat + y.flat), lambda f, x, y: f([x, y]), both)
    yield _row("stack", lambda x, y: fromfunction((*x.shape, 2), lambda at: (x, y)[at[2]][at[:2]]), lambda f, x, y: f([x, y], axis=-1), both, label="within", rare=True)
    yield _row("dstack", lambda x, y: fromfunction((*x.shape, 2), lambda at: (x, y)[at[2]][at[:2]]), lambda f, x, y: f([x, y]), both)
    yield _row("column_stack", lambda x, y: fromfunction((x.shape[0], 2), lambda at: (x, y)[at[1]].flat[at[0]]), lambda f, x, y: f([x, y]), (((9,), (9,)), ((523,), (523,))))
    yield _row("bmat", _joined(1), lambda f, x, y: f([[x, y]]), both)
    yield _row("block", _joined(1), lambda f, x, y: f([[x, y]]), both)
    yield _row("broadcast_arrays", lambda x, y: (fromfunction((4, 5), lambda at: x[at[0], 0]), fromfunction((4, 5), lambda at: y[0, at[1]])), None, (((4, 1), (1, 5)),))
    yield _row("broadcast_arrays", lambda x, y: (fromfunction((40, 15), lambda at: x[at[0], 0]), fromfunction((40, 15), lambda at: y[0, at[1]])), None, (((40, 1), (1, 15)),), nan="", label="many", rare=True)
    yield _row("meshgrid", lambda x, y: (fromfunction((y.shape[0], x.shape[0]), lambda at: x.flat[at[1]]), fromfunction((y.shape[0], x.shape[0]), lambda at: y.flat[at[0]])), None, (((4,), (5,)), ((29,), (23,))))
    yield _row("insert", lambda x: fromfunction((x.shape[0] + 1, x.shape[1]), lambda at: 7 if at[0] == 1 else x[at[0] - (at[0] > 1), at[1]]), lambda f, x: f(x, 1, 7, axis=0))
    yield _row("delete", _from(lambda s: (s[0] - 1, s[1]), lambda at, _s: (at[0] + (at[0] >= 1), at[1])), lambda f, x: f(x, 1, axis=0))


def turns() -> Iterator[Row]:
    """One array in another order or shape."""
    yield _row("transpose", transposed)
    yield _row("permute_dims", transposed, lambda f, x: f(x, (1, 0)))
    yield _row("transpose", lambda x: fromfunction((x.shape[2], x.shape[0], x.shape[1]), lambda at: x[at[1], at[2], at[0]]), lambda f, x: f(x, (2, 0, 1)), _CUBE, label="of axes", rare=True)
    yield _row("matrix_transpose|linalg.matrix_transpose", swapped, None, _CUBE)
    yield _row("linalg.matrix_transpose", swapped, None, _CUBE)
    yield _row("swapaxes", swapped, lambda f, x: f(x, -1, -2), _CUBE)
    yield _row("moveaxis", swapped, lambda f, x: f(x, -1, -2), _CUBE)
    yield _row("rollaxis", lambda x: fromfunction((x.shape[2], x.shape[0], x.shape[1]), lambda at: x[at[1], at[2], at[0]]), lambda f, x: f(x, 2), _CUBE)
    yield _row("reshape", _shaped(lambda s: s[::-1]), lambda f, x: f(x, x.shape[::-1]))
    yield _row("ravel", _line)
    yield _row("expand_dims", _shaped(lambda s: (s[0], 1, s[1])), lambda f, x: f(x, 1))
    yield _row("squeeze", _line, None, (((1, 9, 1),), ((1, 523, 1),)), types="f", slope=False)
    for name, shape in (("atleast_1d", lambda s: s), ("atleast_2d", lambda s: (1, *s)), ("atleast_3d", lambda s: (1, *s, 1))):
        yield _row(name, _shaped(shape), None, (((9,),), ((523,),)))
    yield _row("flip", _from(_same, lambda at, s: (s[0] - 1 - at[0], s[1] - 1 - at[1])))
    yield _row("flipud", _from(_same, lambda at, s: (s[0] - 1 - at[0], at[1])))
    yield _row("fliplr", _from(_same, lambda at, s: (at[0], s[1] - 1 - at[1])))
    yield _row("rot90", _from(lambda s: s[::-1], lambda at, s: (at[1], s[1] - 1 - at[0])))
    yield _row("roll", _from(_same, lambda at, s: (at[0], (at[1] - 2) % s[1])), lambda f, x: f(x, 2, axis=1))
    yield _row("fft.fftshift", _from(_same, lambda at, s: ((at[0] - s[0] // 2) % s[0], (at[1] - s[1] // 2) % s[1])))
    yield _row("fft.ifftshift", _from(_same, lambda at, s: ((at[0] + s[0] // 2) % s[0], (at[1] + s[1] // 2) % s[1])))
    yield _row("repeat", _from(lambda s: (s[0], 2 * s[1]), lambda at, _s: (at[0], at[1] // 2)), lambda f, x: f(x, 2, axis=1))
    yield _row("tile", _from(lambda s: (2 * s[0], 3 * s[1]), lambda at, s: (at[0] % s[0], at[1] % s[1])), lambda f, x: f(x, (2, 3)))
    yield _row("broadcast_to", _from(lambda s: (4, *s), lambda at, _s: at[1:]), lambda f, x: f(x, (4, *x.shape)))
    yield _row("pad", lambda x: fromfunction((x.shape[0] + 1, x.shape[1] + 2), lambda at: x[at[0], at[1] - 1] if at[0] < x.shape[0] and 1 <= at[1] <= x.shape[1] else 0), lambda f, x: f(x, ((0, 1), (1, 1))))
    yield _row("tril", lambda x: fromfunction(x.shape, lambda at: x[at] if at[1] <= at[0] else 0), types="f")
    yield _row("triu", lambda x: fromfunction(x.shape, lambda at: x[at] if at[1] >= at[0] else 0), types="f")
    yield _row("unstack", lambda x: tuple(Grid(x.shape[1:], x.flat[at * x.shape[1] : (at + 1) * x.shape[1]]) for at in range(3)), None, (((3, 5),), ((3, 523),)))
    for name in ("split", "array_split", "vsplit"):
        yield _row(name, lambda x: (Grid((2, x.shape[1]), x.flat[: 2 * x.shape[1]]), Grid((2, x.shape[1]), x.flat[2 * x.shape[1] :])), lambda f, x: f(x, 2), (((4, 5),), ((4, 301),)))
    yield _row("hsplit", lambda x: (fromfunction((x.shape[0], 2), lambda at: x[at]), fromfunction((x.shape[0], 2), lambda at: x[at[0], at[1] + 2])), lambda f, x: f(x, 2), (((5, 4),), ((301, 4),)))
    yield _row("dsplit", lambda x: (fromfunction((*x.shape[:2], 2), lambda at: x[at]), fromfunction((*x.shape[:2], 2), lambda at: x[(*at[:2], at[2] + 2)])), lambda f, x: f(x, 2), (((2, 3, 4),), ((13, 23, 4),)))
    yield _row("astype", lambda x: Grid(x.shape, [math.trunc(number) for number in x.flat]), lambda f, x: f(x, "int32"), nan="", slope=False)


def places() -> Iterator[Row]:
    """Taken from and put to places."""
    spots = lambda s: Grid(s, [n * 5 % 7 for n in range(math.prod(s))])
    taken = (((7, 5), (4,)), ((7, 29), (23,)))
    yield _row("take", lambda x, n: fromfunction((n.shape[0], x.shape[1]), lambda at: x[int(n.flat[at[0]]), at[1]]), lambda f, x, n: f(x, n.astype("int32"), axis=0), taken, inputs=(_SPAN, spots))
    yield _row("take_along_axis", lambda x, n: fromfunction(n.shape, lambda at: x[int(n[at]), at[1]]), lambda f, x, n: f(x, n.astype("int32"), 0), (((7, 5), (4, 5)), ((7, 29), (23, 29))), inputs=(_SPAN, spots))
    yield _row("ix_", lambda x: Grid((len(x.flat), 1), x.flat), lambda f, x: f(x.astype("int32"), x.astype("int32"))[0], (((9,),), ((523,),)), inputs=(spots,), nan="", slope=False, types="f")
    yield _row("packbits", lambda x: Grid((len(x.flat) // 8,), [sum((x.flat[at + k] > 0) << (7 - k) for k in range(8)) for at in range(0, len(x.flat), 8)]), lambda f, x: f(x > 0), (((16,),), ((4400,),)), nan="", slope=False, types="f")
    yield _row("unravel_index", lambda x: (Grid(x.shape, [n // 7 for n in x.flat]), Grid(x.shape, [n % 7 for n in x.flat])), lambda f, x: f(x.astype("int32"), (9, 7)), (((9,),), ((523,),)), inputs=(lambda s: Grid(s, [n * 5 % 63 for n in range(math.prod(s))]),), nan="", slope=False, types="f")
    yield _row("choose", lambda x, y: fromfunction(x.shape, lambda at: (x, y)[(at[0] + at[1]) % 2][at]), _chosen, _PAIR, eager=True, slope=False)
    yield _row("select", lambda x, y: fromfunction(x.shape, lambda at: x[at] if x[at] > 1 else y[at] if y[at] > 1 else 0), lambda f, x, y: f([x > 1, y > 1], [x, y], 0), _PAIR)
    yield _row("piecewise", lambda x: fromfunction(x.shape, lambda at: x[at] if x[at] > 1 else -1), lambda f, x: f(x, [x > 1], [lambda v: v, -1]), slope=False, types="f", nan="")
    yield _row("diag|diagonal|linalg.diagonal", lambda x: fromfunction((min(x.shape),), lambda at: x[at[0], at[0]]), None, (((5, 7),), ((521, 523),)), types="f")
    for name in ("diagonal", "linalg.diagonal"):
        yield _row(name, lambda x: fromfunction((min(x.shape),), lambda at: x[at[0], at[0]]), None, (((5, 7),), ((521, 523),)), types="f", rare=True)
    for name in ("diag", "diagflat"):
        yield _row(name, lambda x: fromfunction((x.shape[0],) * 2, lambda at: x.flat[at[0]] if at[0] == at[1] else 0), None, (((5,),), ((29,),)), label="of a line")
    yield _row("apply_along_axis", lambda x: fromfunction(x.shape[:1], lambda at: x[at[0], 1]), lambda f, x: f(lambda row: row[1], 1, x), (((5, 3),), ((520, 3),)))
    yield _row("vander", lambda x: fromfunction((x.shape[0], 3), lambda at: x.flat[at[0]] ** (2 - at[1])), lambda f, x: f(x, 3), (((5,),), ((301,),)), inputs=((-3, 3),), types="f", slope=False)


def _chosen(function: Any, x: Any, y: Any) -> Any:
    import numpy as np

    rows, columns = x.shape
    return function((np.arange(rows)[:, None] + np.arange(columns)) % 2, [x, y])


def making() -> Iterator[Row]:
    """Arrays from sizes: the input tells the type alone."""
    few, many = 5, 29
    cases: dict[str, tuple[Any, Any]] = {
        "eye": (lambda f, n, d: f(n, n + 1, 1, dtype=d), lambda n: fromfunction((n, n + 1), lambda at: int(at[1] == at[0] + 1))),
        "identity": (lambda f, n, d: f(n, dtype=d), lambda n: fromfunction((n, n), lambda at: int(at[0] == at[1]))),
        "tri": (lambda f, n, d: f(n, dtype=d), lambda n: fromfunction((n, n), lambda at: int(at[1] <= at[0]))),
        "ones": (lambda f, n, d: f((n, n), dtype=d), lambda n: fromfunction((n, n), lambda _at: 1)),
        "zeros": (lambda f, n, d: f((n, n), dtype=d), lambda n: fromfunction((n, n), lambda _at: 0)),
        "full": (lambda f, n, d: f((n, n), 7, dtype=d), lambda n: fromfunction((n, n), lambda _at: 7)),
        "arange": (lambda f, n, d: f(n * n, dtype=d), lambda n: fromfunction((n * n,), lambda at: at[0])),
    }
    for name, (call, wanted) in cases.items():
        yield Row(name, lambda x, w=wanted: w(x.shape[0]), (_SPAN,), (((few,),), ((many,),)), call=lambda f, x, c=call: c(f, len(x), str(x.dtype)), types="fi", nan="", slope=False)
    spread: dict[str, Callable[[float], float]] = {"linspace": lambda x: x, "logspace": lambda x: 10.0**x, "geomspace": lambda x: x}
    for name, function in spread.items():
        yield Row(name, lambda x, y, f=function, g=name == "geomspace": _between(x, y, f, g), ((0.5, 1), (2, 3)), (((5,),) * 2, ((13,),) * 2), call=lambda f, x, y: f(x, y, 50, dtype=str(x.dtype)), nan="some", slope=False, factor=3.0)
        yield Row(name, lambda x, y, f=function, g=name == "geomspace": _between(x, y, f, g), ((0.5, 1), (2, 3)), (((), ()),), call=lambda f, x, y: f(x, y, 50, dtype=str(x.dtype)), nan="", slope=False, factor=3.0, label="between two")
    shares: dict[str, Callable[[float], float]] = {"hanning": lambda t: 0.5 - 0.5 * math.cos(2 * math.pi * t), "hamming": lambda t: 0.54 - 0.46 * math.cos(2 * math.pi * t), "bartlett": lambda t: 1 - abs(2 * t - 1), "blackman": lambda t: 0.42 - 0.5 * math.cos(2 * math.pi * t) + 0.08 * math.cos(4 * math.pi * t)}
    for name, share in shares.items():
        yield Row(name, lambda x, s=share: Grid((len(x.flat) + 3,), [s(at / (len(x.flat) + 2)) for at in range(len(x.flat) + 3)]), (_SPAN,), (((9,),), ((523,),)), call=lambda f, x: f(len(x) + 3), nan="", slope=False)
    yield Row("indices", lambda x: fromfunction((2, *x.shape), lambda at: at[1 + at[0]]), (_SPAN,), ONE[:2], call=lambda f, x: f(x.shape), nan="", slope=False)
    for name, inside in (("tril_indices", lambda r, c: c <= r), ("triu_indices", lambda r, c: c >= r)):
        yield Row(name, lambda x, i=inside: _pairs(len(x.flat), i), (_SPAN,), (((5,),), ((37,),)), call=lambda f, x: f(len(x)), nan="", slope=False)
    yield Row("diag_indices", lambda x: _pairs(len(x.flat), lambda r, c: r == c), (_SPAN,), (((5,),), ((523,),)), call=lambda f, x: f(len(x)), nan="", slope=False)


def _pairs(size: int, inside: Callable[[int, int], bool]) -> tuple[Grid, Grid]:
    pairs_inside = [(r, c) for r in range(size) for c in range(size) if inside(r, c)]
    return Grid((len(pairs_inside),), [r for r, _c in pairs_inside]), Grid((len(pairs_inside),), [c for _r, c in pairs_inside])


def _between(x: Grid, y: Grid, function: Callable[[float], float], by_ratio: bool) -> Grid:
    def element(at: Any) -> float:
        low, high, share = x[at[1:]], y[at[1:]], at[0] / 49
        return low * (high / low) ** share if by_ratio else function(low + (high - low) * share)

    return fromfunction((50, *x.shape), element)
