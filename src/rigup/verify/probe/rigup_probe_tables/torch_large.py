"""Large results of operators that do not work piece by piece: their references are reckoned for as many numbers as that."""

from __future__ import annotations

import bisect
import math
from itertools import groupby, product
from typing import Any, Iterator

import torch
from rigup_probe_grid import Grid, fromfunction, transposed
from rigup_probe_torch_cases import Case, Input
from torch.nn import functional

_WIDE, _LONG = (131, 257), 33_019  # more than 2^15 numbers, and no multiple of any vector's length
_SHORT = ("float64", "float32")


def _numbers(shape: tuple[int, ...], turn: int = 37) -> Input:
    """Small multiples of 1 / 16, exact in every type; neighbours differ."""
    return Input(Grid(shape, [((at * turn) % 193 - 96) / 16 for at in range(math.prod(shape))]), "given")


def _places(count: int, below: int, turn: int = 7919) -> Input:
    return Input(Grid((count,), [at * turn % below for at in range(count)]), "int64")


def _columns(x: Grid, places: Grid) -> Grid:
    return fromfunction((x.shape[0], places.shape[0]), lambda i: x[i[0], places.flat[i[1]]])


def _rows(x: Grid, places: Grid) -> Grid:
    return Grid((places.shape[0], x.shape[1]), [number for at in places.flat for number in x.flat[at * x.shape[1] : (at + 1) * x.shape[1]]])


def _with_row(x: Grid, row: Grid) -> Grid:
    wide = x.shape[1]
    return Grid(x.shape, [*x.flat[: 2 * wide], *row.flat, *x.flat[3 * wide :]])


def _with_columns(x: Grid, two: Grid) -> Grid:
    return fromfunction(x.shape, lambda i: two[i[0], i[1] - 3] if 3 <= i[1] < 5 else x[i])


def _filled(x: Grid, places: Grid) -> Grid:
    at = set(places.flat)
    return fromfunction(x.shape, lambda i: 2.5 if i[1] in at else x[i])


def _put(x: Grid, places: Grid, values: Grid) -> Grid:
    flat = list(x.flat)
    for at, number in zip(places.flat, values.flat):
        flat[at] = number
    return Grid(x.shape, flat)


def _kron(x: Grid, y: Grid) -> Grid:
    shape = tuple(a * b for a, b in zip(x.shape, y.shape))
    return fromfunction(shape, lambda i: x[tuple(a // b for a, b in zip(i, y.shape))] * y[tuple(a % b for a, b in zip(i, y.shape))])


def _shuffled(x: Grid, out: bool) -> Grid:
    """Channels into pixels, two by two, or back."""
    _, channels, high, wide = x.shape
    if out:
        return fromfunction((1, channels // 4, high * 2, wide * 2), lambda i: x[0, i[1] * 4 + i[2] % 2 * 2 + i[3] % 2, i[2] // 2, i[3] // 2])
    return fromfunction((1, channels * 4, high // 2, wide // 2), lambda i: x[0, i[1] // 4, i[2] * 2 + i[1] % 4 // 2, i[3] * 2 + i[1] % 2])


def _moves() -> Iterator[tuple[str, Any, Any, tuple[Input, ...]]]:
    """Numbers that are moved, and not changed."""
    x, row, line = _numbers(_WIDE), _numbers((_WIDE[1],), 53), _numbers((190,))
    many = _places(300, _WIDE[1])
    picture = _numbers((1, 8, 66, 70))
    yield "t", torch.t, transposed, (x,)
    yield "reshape", lambda x: torch.reshape(x, (_WIDE[1], -1)), lambda x: Grid(_WIDE[::-1], x.flat), (x,)
    yield "view", lambda x: x.view(-1), lambda x: Grid((len(x.flat),), x.flat), (x,)
    yield "expand", lambda x: x.expand(*_WIDE), lambda x: Grid(_WIDE, x.flat * _WIDE[0]), (row,)
    yield ("diag", torch.diag, lambda x: fromfunction((190, 190), lambda i: x.flat[i[0]] if i[0] == i[1] else 0.0), (line,))
    yield "index_select", lambda x, at: torch.index_select(x, 1, at), _columns, (x, many)
    yield "index (rows of a list)", lambda x, at: x[at], _rows, (x, _places(300, _WIDE[0]))
    yield "index_fill", lambda x, at: torch.index_fill(x, 1, at, 2.5), _filled, (x, _places(9, _WIDE[1]))
    yield "index_copy", lambda x, at, y: torch.index_copy(x, 0, at, y), lambda x, at, y: _with_row(x, y), (x, Input(Grid((1,), [2]), "int64"), _numbers((1, _WIDE[1]), 53))
    yield "put", lambda x, at, y: torch.Tensor.put(x, at, y), _put, (x, _places(500, _LONG), _numbers((500,), 53))
    yield "index_put", lambda x, at, y: torch.index_put(x.view(-1), (at,), y).view_as(x), _put, (x, _places(500, _LONG), _numbers((500,), 53))
    yield "slice_scatter", lambda x, y: torch.slice_scatter(x, y, 1, 3, 5), _with_columns, (x, _numbers((_WIDE[0], 2), 53))
    yield "select_scatter", lambda x, y: torch.select_scatter(x, y, 0, 2), _with_row, (x, row)
    yield "meshgrid", lambda x, y: torch.meshgrid(x, y, indexing="ij"), lambda x, y: (fromfunction((190, 257), lambda i: x.flat[i[0]]), fromfunction((190, 257), lambda i: y.flat[i[1]])), (line, row)
    yield "cartesian_prod", torch.cartesian_prod, lambda x, y: Grid((190 * 257, 2), [number for pair in product(x.flat, y.flat) for number in pair]), (line, row)
    yield "pixel_shuffle", lambda x: functional.pixel_shuffle(x, 2), lambda x: _shuffled(x, True), (picture,)
    yield "pixel_unshuffle", lambda x: functional.pixel_unshuffle(x, 2), lambda x: _shuffled(x, False), (picture,)
    yield "channel_shuffle", lambda x: functional.channel_shuffle(x, 2), lambda x: fromfunction(x.shape, lambda i: x[0, i[1] % 2 * 4 + i[1] // 2, i[2], i[3]]), (picture,)
    yield "fold", lambda x: functional.fold(x, (66, 70), 1), lambda x: Grid((1, 8, 66, 70), x.flat), (_numbers((1, 8, 66 * 70)),)
    yield "vsplit", lambda x: torch.vsplit(x, (65,)), lambda x: (Grid((65, _WIDE[1]), x.flat[: 65 * _WIDE[1]]), Grid((66, _WIDE[1]), x.flat[65 * _WIDE[1] :])), (x,)


def _computed() -> Iterator[tuple[str, Any, Any, tuple[Input, ...]]]:
    """Numbers that are reckoned, in few steps."""
    x, some = _numbers(_WIDE), _numbers((11, 17), 53)
    yield "kron", torch.kron, _kron, (_numbers((13, 17)), some)
    yield "diff", lambda x: torch.diff(x, dim=1), lambda x: fromfunction((x.shape[0], x.shape[1] - 1), lambda i: x[i[0], i[1] + 1] - x[i]), (x,)
    yield ("tensordot", lambda x, y: torch.tensordot(x, y, dims=([1], [1])), lambda x, y: fromfunction((x.shape[0], y.shape[0]), lambda i: sum(x[i[0], k] * y[i[1], k] for k in range(2))), (_numbers((190, 2)), _numbers((181, 2), 53)))
    yield ("mode", lambda x: torch.mode(x, 1)[0], lambda x: Grid(x.shape[:1], x.flat[:: x.shape[1]]), (Input(Grid((9001, 3), [number for at in range(9001) for number in (at % 97, at % 97, 98)]), "given"),))


def _of_one_type() -> Iterator[tuple[str, Any, Any, tuple[Input, ...], str]]:
    """What half a type does not hold, or what comes in another type than the input's."""
    line = _numbers((_LONG,))
    edges = Input(Grid((190,), [(at - 95) / 16 for at in range(190)]), "given")
    found = lambda x, edges: Grid(x.shape, [bisect.bisect_left(edges.flat, number) for number in x.flat])
    whole = Input(Grid((_LONG,), [at * 7919 % _LONG for at in range(_LONG)]), "int64")
    unit = Input(Grid((1,), [1.0]), "given")
    yield "arange", lambda x: torch.arange(_LONG, dtype=x.dtype, device=x.device), lambda _x: Grid((_LONG,), range(_LONG)), (unit,), ""
    yield "linspace", lambda x: torch.linspace(0, 8192, 32769, dtype=x.dtype, device=x.device), lambda _x: Grid((32769,), [at / 4 for at in range(32769)]), (unit,), ""
    yield "logspace", lambda x: torch.logspace(0, 8, 32769, base=2, dtype=x.dtype, device=x.device), lambda _x: Grid((32769,), [2 ** (at / 4096) for at in range(32769)]), (unit,), ""
    yield "eye", lambda x: torch.eye(190, dtype=x.dtype, device=x.device), lambda _x: fromfunction((190, 190), lambda i: float(i[0] == i[1])), (unit,), ""
    yield "unique", lambda x: torch.unique(x), lambda x: Grid((_LONG,), sorted(x.flat)), (whole,), "int64"
    yield ("unique_consecutive", torch.unique_consecutive, lambda x: Grid((_LONG // 2 + 1,), [key for key, _ in groupby(x.flat)]), (Input(Grid((_LONG,), [at // 2 for at in range(_LONG)]), "int64"),), "int64")
    yield "searchsorted", lambda x, edges: torch.searchsorted(edges, x), found, (line, edges), "int64"
    yield "bucketize", torch.bucketize, found, (line, edges), "int64"
    yield ("nonzero", lambda x: torch.nonzero(x)[:, 0], lambda x: Grid((_LONG - len(x.flat[96::193]),), [at for at, number in enumerate(x.flat) if number]), (Input(Grid((_LONG,), [at % 193 - 96 for at in range(_LONG)]), "given"),), "int64")
    yield "one_hot", lambda x: functional.one_hot(x, 101), lambda x: fromfunction((331, 101), lambda i: int(x.flat[i[0]] == i[1])), (_places(331, 101),), "int64"
    yield "bincount", lambda x: torch.bincount(x), lambda x: Grid((_LONG,), [1] * (_LONG - 1) + [3]), (Input(Grid((_LONG + 2,), [*whole.grid.flat, _LONG - 1, _LONG - 1]), "int64"),), "int64"
    yield "tril_indices", lambda _x: torch.tril_indices(190, 180)[1], lambda _x: Grid((180 * 181 // 2 + 1800,), [b for a in range(190) for b in range(min(a + 1, 180))]), (unit,), "int64"
    yield ("polar", lambda x, y: torch.view_as_real(torch.polar(x, y)), lambda x, y: Grid((_LONG, 2), [part for a, b in zip(x.flat, y.flat) for part in (a * math.cos(b), a * math.sin(b))]), (line, _numbers((_LONG,), 53)), "")
    yield "complex", lambda x, y: torch.view_as_real(torch.complex(x, y)), lambda x, y: Grid((_LONG, 2), [part for pair in zip(x.flat, y.flat) for part in pair]), (line, _numbers((_LONG,), 53)), ""


def large() -> Iterator[Case]:
    """All of them, once each, as they lie."""
    for name, call, reference, inputs in (*_moves(), *_computed()):
        yield Case(name + " of many numbers, large", (call,), reference, inputs, backward=False, few=True, spreads=False, factor=2.0)
    for name, call, reference, inputs, result in _of_one_type():
        dtypes = _SHORT if any(input_.kind == "given" for input_ in inputs) else ("int64",)
        yield Case(name + " of many numbers, large", (call,), reference, inputs, dtypes, backward=False, few=True, spreads=False, factor=4.0, result=result)
