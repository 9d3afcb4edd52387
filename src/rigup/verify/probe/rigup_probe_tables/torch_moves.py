"""Tables of operators that move numbers: taking, putting, joining, turning, sorting."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import torch
from rigup_probe_grid import Grid, along, always, fromfunction
from rigup_probe_tape import plain, total
from rigup_probe_torch_cases import Case, Input, distinct, given, literal, real

_ROWS = literal([3, 0, 3, 4, 1], kind="int64")
_PLACES = literal([1, 0, 2, 2, 1, 1, 0, 0, 2, 0, 1, 2], (4, 3), "int64")
_MASK = Input(Grid((5, 7), [at % 3 == 0 for at in range(35)]), "mask")


def indexing() -> Iterator[Case]:
    """Taken and put: exact; and the gradients, where equal places are added up."""
    table = real(5, 7)
    row = lambda x, at: Grid((5, 7), [x[int(place), column] for place in at.flat for column in range(7)])
    yield Case("index", (lambda x, at: x[at], lambda x, at: torch.index_select(x, 0, at)), row, (table, _ROWS))
    yield Case("index of columns", (lambda x, at: x[:, at], lambda x, at: x.index_select(1, at)), _columns, (table, _ROWS))
    yield Case("gather", (lambda x, at: torch.gather(x, 1, at),), lambda x, at: fromfunction((4, 3), lambda i: x[i[0], int(at[i])]), (real(4, 3), _PLACES))
    yield from _put()
    yield from _chosen()
    yield from _turned()
    yield from _joined()


def _put() -> Iterator[Case]:
    """Added or written, row by row and number by number; equal places are added up."""
    table, other = real(5, 7), real(5, 7, seed=2)
    yield Case("scatter_add", (lambda x, at, y: x.scatter_add(1, at, y), lambda x, at, y: x.clone().scatter_add_(1, at, y)), _scattered, (real(4, 3), _PLACES, real(4, 3, seed=2)), factor=2.0)
    yield Case("scatter", (lambda x, at, y: x.scatter(1, at, y),), _put_once, (real(4, 3), literal([2, 0, 1] * 4, (4, 3), "int64"), real(4, 3, seed=2)))
    yield Case("index_add", (lambda x, at, y: x.index_add(0, at, y), lambda x, at, y: x.clone().index_add_(0, at, y)), _added_rows, (table, _ROWS, other), factor=2.0)
    yield Case("index_put (accumulated)", (lambda x, at, y: x.index_put((at,), y, accumulate=True),), _added_rows, (table, _ROWS, other), factor=2.0)
    once = literal([4, 2, 0, 1, 3], kind="int64")
    yield Case("index_copy", (lambda x, at, y: x.index_copy(0, at, y), _assigned), _copied_rows, (table, once, other))


def _chosen() -> Iterator[Case]:
    """By a mask, and by places in the flat tensor."""
    table = real(5, 7)
    yield Case("masked_select", (lambda x, m: x[m], torch.masked_select), lambda x, m: _flat([v for v, true in zip(x.flat, m.flat) if true]), (table, _MASK))
    yield Case("take", (torch.take,), lambda x, at: _flat([x.flat[int(place)] for place in at.flat]), (table, literal([30, 2, 2, 17], kind="int64")))
    yield Case("nonzero", (lambda m: torch.nonzero(m)[:, 0],), lambda m: _flat([float(i[0]) for i in m.indices() if m[i]]), (_MASK,), ("bool",), backward=False)
    yield Case("bincount", (torch.bincount,), always(_flat([1, 1, 0, 2, 1])), (_ROWS,), ("int64",), backward=False)


def _flat(values: list[Any]) -> Grid:
    return Grid((len(values),), values)


def _columns(x: Grid, at: Grid) -> Grid:
    return fromfunction((5, 5), lambda i: x[i[0], int(at.flat[i[1]])])


def _scattered(x: Grid, at: Grid, y: Grid) -> Grid:
    return fromfunction(x.shape, lambda i: x[i] + total([y[i[0], c] for c in range(3) if at[i[0], c] == i[1]]))


def _put_once(_x: Grid, at: Grid, y: Grid) -> Grid:
    return fromfunction(y.shape, lambda i: next(y[i[0], c] for c in range(3) if at[i[0], c] == i[1]))


def _added_rows(x: Grid, at: Grid, y: Grid) -> Grid:
    return fromfunction(x.shape, lambda i: x[i] + total([y[n, i[1]] for n, place in enumerate(at.flat) if place == i[0]]))


def _copied_rows(_x: Grid, at: Grid, y: Grid) -> Grid:
    return fromfunction(y.shape, lambda i: y[at.flat.index(i[0]), i[1]])


def _assigned(x: Any, at: Any, y: Any) -> Any:
    copied = torch.clone(x)
    copied[at] = y
    return copied


def _turned() -> Iterator[Case]:
    x = real(4, 6)
    rows: tuple[tuple[str, Callable[..., Any], tuple[int, ...], Any], ...] = (
        ("t", lambda x: x.t().contiguous(), (6, 4), lambda i: (i[1], i[0])),
        ("flip", lambda x: x.flip(1), (4, 6), lambda i: (i[0], 5 - i[1])),
        ("roll", lambda x: x.roll(2, 1), (4, 6), lambda i: (i[0], (i[1] - 2) % 6)),
        ("slice", lambda x: x[1:, ::2].contiguous(), (3, 3), lambda i: (i[0] + 1, 2 * i[1])),
        ("repeat", lambda x: x.repeat(2, 1), (8, 6), lambda i: (i[0] % 4, i[1])),
        ("reshape", lambda x: x.reshape(8, 3), (8, 3), lambda i: divmod(i[0] * 3 + i[1], 6)),
        ("repeat_interleave", lambda x: x.repeat_interleave(2, 0), (8, 6), lambda i: (i[0] // 2, i[1])),
        ("expand", lambda x: x[:, :1].expand(4, 5).contiguous(), (4, 5), lambda i: (i[0], 0)),
        ("clone", torch.clone, (4, 6), lambda i: i),
        ("unbind", lambda x: x.unbind(1)[3], (4,), lambda i: (i[0], 3)),
        ("chunk", lambda x: x.chunk(2, 1)[1], (4, 3), lambda i: (i[0], 3 + i[1])),
        ("diagonal", lambda x: x.diagonal(1), (4,), lambda i: (i[0], i[0] + 1)),
        ("permute", lambda x: x.view(4, 3, 2).permute(2, 0, 1).contiguous(), (2, 4, 3), lambda i: (i[1], 2 * i[2] + i[0])),
    )
    for name, call, shape, source in rows:
        yield Case(name, (call,), lambda x, s=shape, f=source: fromfunction(s, lambda i: x[tuple(f(i))]), (x,))
    for name, kept in (("tril", lambda i: i[1] <= i[0]), ("triu", lambda i: i[1] >= i[0])):
        yield Case(name, (getattr(torch, name),), lambda x, k=kept: fromfunction((4, 6), lambda i: x[i] if k(i) else 0.0), (x,))


def _joined() -> Iterator[Case]:
    two = (real(3, 4), real(3, 4, seed=2))
    yield Case("cat", (lambda x, y: torch.cat([x, y]),), lambda x, y: Grid((6, 4), x.flat + y.flat), two)
    yield Case("cat of columns", (lambda x, y: torch.cat([x, y], 1),), lambda x, y: fromfunction((3, 8), lambda i: (x if i[1] < 4 else y)[i[0], i[1] % 4]), two)
    yield Case("stack", (lambda x, y: torch.stack([x, y], 1),), lambda x, y: fromfunction((3, 2, 4), lambda i: (y if i[1] else x)[i[0], i[2]]), two)
    counted: Callable[..., Any] = lambda low, step: always(fromfunction((37,), lambda i: low + step * i[0]))
    yield Case("arange", (lambda x: torch.arange(37, dtype=x.dtype, device=x.device),), counted(0, 1), (given(3),), backward=False)
    yield Case("linspace", (lambda x: torch.linspace(-1, 8, 37, dtype=x.dtype, device=x.device),), counted(-1, 0.25), (given(3),), backward=False)
    yield Case("full", (lambda x: torch.full((37,), 2.5, dtype=x.dtype, device=x.device), lambda x: torch.empty(37, dtype=x.dtype, device=x.device).fill_(2.5)), counted(2.5, 0), (given(3),), backward=False)
    yield Case("zeros and ones", (lambda x: torch.zeros_like(x) + 3 * torch.ones_like(x), lambda x: x.clone().zero_() + 3), lambda x: Grid(x.shape, [3.0] * 35), (given(5, 7),), backward=False)
    yield Case("eye", (lambda x: torch.eye(5, 7, dtype=x.dtype, device=x.device),), always(fromfunction((5, 7), lambda i: float(i[0] == i[1]))), (given(3),), backward=False)


def sorting() -> Iterator[Case]:
    """Values, places, and which of equal ones comes first where that is promised."""
    for shape in ((3, 17), (2, 125), (1, 250)):
        yield from _of_distinct(shape)
    for count in (40, 1031):
        yield from _of_equal(count)
    yield from _of_whole_numbers()


def _of_distinct(shape: tuple[int, int]) -> Iterator[Case]:
    """What has one order."""
    x, name = distinct(*shape), " of rows of " + str(shape[1])
    wide = shape[1]
    yield Case("sort" + name, (lambda x: torch.sort(x, 1)[0],), along(1, lambda row: sorted(row, key=plain)), (x,))
    yield Case("sort (descending)" + name, (lambda x: torch.sort(x, 1, descending=True)[0],), along(1, lambda row: sorted(row, key=plain, reverse=True)), (x,))
    order = along(1, lambda row: sorted(range(len(row)), key=row.__getitem__))
    yield Case("argsort" + name, (lambda x: torch.argsort(x, 1),), order, (x._replace(kind="given"),), backward=False)
    yield Case("topk" + name, (lambda x: torch.topk(x, 5, 1)[0],), _top, (x,))
    yield Case("topk's places" + name, (lambda x: torch.topk(x, 5, 1)[1],), _top_places, (x._replace(kind="given"),), backward=False)
    yield Case("kthvalue" + name, (lambda x: torch.kthvalue(x, 4, 1)[0],), lambda x, w=wide: _flat([sorted(x.flat[at : at + w], key=plain)[3] for at in range(0, len(x.flat), w)]), (x,))
    yield Case("median" + name, (lambda x: torch.median(x, 1)[0],), lambda x, w=wide: _flat([sorted(x.flat[at : at + w], key=plain)[(w - 1) // 2] for at in range(0, len(x.flat), w)]), (x,))


def _of_equal(count: int) -> Iterator[Case]:
    """Equal numbers: values always, places where stability is promised."""
    same = literal([float(at * 7 % 5) for at in range(count)], (1, count), "given")
    order = along(1, lambda row: sorted(range(len(row)), key=row.__getitem__))
    yield Case("stable sort of " + str(count), (lambda x: torch.sort(x, dim=1, stable=True)[1],), order, (same,), backward=False)
    down = along(1, _places_downwards)
    yield Case("stable sort (descending) of " + str(count), (lambda x: torch.sort(x, dim=1, stable=True, descending=True)[1],), down, (same,), backward=False)
    yield Case("sort with equal ones of " + str(count), (lambda x: torch.sort(x, dim=1)[0],), along(1, sorted), (same,), backward=False)


def _of_whole_numbers() -> Iterator[Case]:
    """In whole numbers, and what needs an order."""
    for kind in ("int32", "int64", "uint8"):
        whole = Input(Grid((1, 201), [at * 71 % 201 for at in range(201)]), kind)
        yield Case("sort in " + kind, (lambda x: torch.sort(x, 1)[0],), along(1, sorted), (whole,), (kind,), backward=False)
    yield Case("unique", (torch.unique,), lambda x: _flat(sorted(set(x.flat))), (literal([3.0, 1, 3, 2, 1], kind="given"),), backward=False)
    yield Case("searchsorted", (lambda x: torch.searchsorted(x, x + 0.25),), always(_flat([float(at + 1) for at in range(9)])), (literal([float(at) for at in range(9)], kind="given"),), backward=False)
    yield Case("flip of a long row", (lambda x: x.flip(0),), lambda x: _flat(x.flat[::-1]), (given(1031),), backward=False)


def _places_downwards(row: list[Any]) -> list[Any]:
    return sorted(range(len(row)), key=lambda at: -row[at])


def _top(x: Grid) -> Grid:
    wide = x.shape[1]
    return Grid((x.shape[0], 5), [v for at in range(0, len(x.flat), wide) for v in sorted(x.flat[at : at + wide], key=plain, reverse=True)[:5]])


def _top_places(x: Grid) -> Grid:
    wide = x.shape[1]
    rows = [x.flat[at : at + wide] for at in range(0, len(x.flat), wide)]
    return Grid((x.shape[0], 5), [float(row.index(number)) for row in rows for number in sorted(row, reverse=True)[:5]])
