"""Tables of what moves numbers and does not change them: shapes, joins, cuts, places; by each name and in place."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, fromfunction
from rigup_probe_torch_cases import Case, Input, distinct, literal, real
from rigup_probe_torch_forms import forms

from rigup_probe_tables.torch_moves import _assigned

_AT = literal([1, 0, 2, 2, 1, 1], (2, 3), "int64")


_BETWEEN = literal([number + 1 / 32 for number in distinct(2, 3, seed=2).grid.flat], (2, 3))


def places() -> Iterator[Case]:
    """Taken from places and put there: with each argument, in place, for equal places by each rule."""
    x, y = real(3, 4), real(2, 3, seed=2)
    at = literal([2, 0, 2], kind="int64")
    rows, columns = real(3, 4, seed=2), real(3, 3, seed=2)
    added: Callable[..., Any] = lambda x, at, y, a=1.0: fromfunction(x.shape, lambda i: x[i] + tape.total([y[n, i[1]] * a for n, place in enumerate(at.flat) if place == i[0]]))
    yield Case("index_add (all)", (lambda x, a, y: torch.index_add(x, 0, a, y), lambda x, a, y: torch.clone(x).index_add_(0, a, y)), added, (x, at, rows), factor=4.0)
    yield Case("index_add (alpha)", (lambda x, a, y: torch.index_add(x, 0, a, y, alpha=2.5), lambda x, a, y: torch.clone(x).index_add_(0, a, y, alpha=2.5), lambda x, a, y: x.index_add(0, a, y, alpha=2.5)), lambda x, a, y: added(x, a, y, 2.5), (x, at, rows), factor=4.0)
    yield Case("index_add of columns", (lambda x, a, y: torch.index_add(x, 1, a, y),), lambda x, at, y: fromfunction(x.shape, lambda i: x[i] + tape.total([y[i[0], n] for n, place in enumerate(at.flat) if place == i[1]])), (x, at, columns), factor=4.0)
    once = literal([2, 0], kind="int64")
    yield Case("index_copy (all)", (lambda x, a, y: torch.index_copy(x, 0, a, y), lambda x, a, y: torch.clone(x).index_copy_(0, a, y), lambda x, a, y: x.index_copy(0, a, y)), lambda x, _a, y: fromfunction(x.shape, lambda i: x[i] if i[0] == 1 else y[(2, 0).index(i[0]), i[1]]), (x, once, real(2, 4, seed=2)))
    yield Case("index_copy of columns", (lambda x, a, y: torch.index_copy(x, 1, a, y),), lambda x, _a, y: fromfunction(x.shape, lambda i: x[i] if i[1] not in (0, 2) else y[i[0], (2, 0).index(i[1])]), (x, once, real(3, 2, seed=2)))
    yield Case("index_fill", (lambda x, a: torch.index_fill(x, 1, a, 2.5), lambda x, a: torch.clone(x).index_fill_(1, a, 2.5), lambda x, a: x.index_fill(1, a, 2.5)), lambda x, _a: fromfunction(x.shape, lambda i: 2.5 if i[1] in (0, 2) else x[i]), (x, once))
    yield Case("index_select of columns", (lambda x, a: torch.index_select(x, 1, a), lambda x, a: x.index_select(1, a), lambda x, a: torch.take_along_dim(x, a[None].expand(3, 3), 1)), lambda x, a: fromfunction((3, 3), lambda i: x[i[0], int(a.flat[i[1]])]), (x, at))
    yield Case("gather (all)", (lambda x, a: torch.gather(x, 1, a), lambda x, a: x.gather(1, a), lambda x, a: x.take_along_dim(a, dim=1)), lambda x, a: fromfunction((3, 2), lambda i: x[i[0], int(a[i])]), (x, literal([1, 0, 2, 2, 1, 3], (3, 2), "int64")))
    yield Case("take (all)", (torch.take, torch.Tensor.take, lambda x, a: torch.take_along_dim(x, a)), lambda x, a: Grid((3,), [x.flat[int(place)] for place in a.flat]), (x, literal([11, 0, 11], kind="int64")))
    flat = literal([11, 0, 5], kind="int64")
    yield Case("put", (lambda x, a, y: torch.put(x, a, y), lambda x, a, y: torch.clone(x).put_(a, y)), lambda x, a, y: Grid(x.shape, [y.flat[a.flat.index(n)] if n in a.flat else v for n, v in enumerate(x.flat)]), (x, flat, real(3, seed=2)))
    twice = literal([11, 0, 11], kind="int64")
    yield Case("put (accumulate)", (lambda x, a, y: torch.put(x, a, y, accumulate=True), lambda x, a, y: torch.clone(x).put_(a, y, True)), lambda x, a, y: Grid(x.shape, [v + tape.total([b for p, b in zip(a.flat, y.flat) if p == n]) for n, v in enumerate(x.flat)]), (x, twice, real(3, seed=2)), factor=2.0)
    yield from _scattered(x, y)
    yield from _masked()
    yield from _by_index(x)


def _scattered(x: Input, y: Input) -> Iterator[Case]:
    """Rows of places that may be equal."""
    for dim in (0, 1):
        pick = lambda x, at, y, i, d=dim: [y[p] for p in at.indices() if (int(at[p]) == i[d] and p[1 - d] == i[1 - d])]
        inputs: tuple[Any, ...] = (x, _AT, y)
        add = lambda x, at, y, k=pick: fromfunction(x.shape, lambda i: x[i] + tape.total(k(x, at, y, i)))
        yield Case(
            "scatter_add over dimension " + str(dim),
            (lambda x, a, y, d=dim: torch.scatter_add(x, d, a, y), lambda x, a, y, d=dim: torch.clone(x).scatter_add_(d, a, y), lambda x, a, y, d=dim: torch.scatter(x, d, a, y, reduce="add") if not torch.is_grad_enabled() else torch.scatter_add(x, d, a, y)),
            add,
            inputs,
            factor=4.0,
        )
        for how, function in (("sum", tape.total), ("prod", right.product), ("mean", lambda several: tape.total(several) * (1 / len(several))), ("amax", lambda s: max(s, key=tape.plain)), ("amin", lambda s: min(s, key=tape.plain))):
            inputs = (distinct(3, 4), _AT, _BETWEEN)
            for own in (True, False):
                reduce = lambda x, at, y, k=pick, f=function, o=own: fromfunction(x.shape, lambda i: f([*([x[i]] if o else []), *k(x, at, y, i)]) if k(x, at, y, i) else x[i])
                calls = (lambda x, a, y, d=dim, h=how, o=own: torch.scatter_reduce(x, d, a, y, h, include_self=o), lambda x, a, y, d=dim, h=how, o=own: torch.clone(x).scatter_reduce_(d, a, y, reduce=h, include_self=o))
                yield Case("scatter_reduce (" + how + (", include_self" if own else "") + ") over dimension " + str(dim), calls, reduce, inputs, factor=6.0, few=True)
        once = literal([1, 0, 2, 2, 1, 0], (2, 3), "int64") if dim == 0 else literal([1, 0, 2, 2, 3, 1], (2, 3), "int64")
        write = lambda x, at, y, k=pick: fromfunction(x.shape, lambda i: (k(x, at, y, i) or [x[i]])[0])
        yield Case("scatter over dimension " + str(dim), (lambda x, a, y, d=dim: torch.scatter(x, d, a, y), lambda x, a, y, d=dim: torch.clone(x).scatter_(d, a, y), lambda x, a, y, d=dim: x.scatter(d, a, src=y)), write, (x, once, y))
        yield Case("scatter of a number over dimension " + str(dim), (lambda x, a, d=dim: torch.scatter(x, d, a, 2.5), lambda x, a, d=dim: torch.clone(x).scatter_(d, a, value=2.5)), lambda x, at, k=pick: fromfunction(x.shape, lambda i: 2.5 if k(x, at, Grid((2, 3), [1.0] * 6), i) else x[i]), (x, once))
    rows, at = real(3, 4, seed=2), literal([2, 0, 2], kind="int64")
    for how, function in (("prod", right.product), ("mean", lambda s: tape.total(s) * (1 / len(s))), ("amax", lambda s: max(s, key=tape.plain)), ("amin", lambda s: min(s, key=tape.plain))):
        for own in (True, False):
            reduce = lambda x, at, y, f=function, o=own: fromfunction(x.shape, lambda i: f([*([x[i]] if o else []), *[y[n, i[1]] for n, place in enumerate(at.flat) if place == i[0]]]) if i[0] in at.flat else x[i])
            yield Case("index_reduce (" + how + (", include_self" if own else "") + ")", (lambda x, a, y, h=how, o=own: x.index_reduce(0, a, y, h, include_self=o), lambda x, a, y, h=how, o=own: torch.clone(x).index_reduce_(0, a, y, h, include_self=o)), reduce, (x, at, rows), factor=6.0, few=True, optional=True)
    if hasattr(torch, "segment_reduce"):
        inputs, sizes = real(6, 2), literal([2, 1, 3], kind="int64")
        parts = ((0, 2), (2, 3), (3, 6))
        for how, function in (("sum", tape.total), ("mean", lambda s: tape.total(s) * (1 / len(s))), ("prod", right.product), ("max", lambda s: max(s, key=tape.plain)), ("min", lambda s: min(s, key=tape.plain))):
            segment = lambda x, _n, f=function: fromfunction((3, 2), lambda i: f([x[r, i[1]] for r in range(*parts[i[0]])]))
            yield Case("segment_reduce (" + how + ")", (lambda x, n, h=how: torch.segment_reduce(x, h, lengths=n), lambda x, n, h=how: torch.segment_reduce(x, h, offsets=torch.cat([n.new_zeros(1), n.cumsum(0)]))), segment, (inputs, sizes), factor=4.0, few=True, optional=True)


def _masked() -> Iterator[Case]:
    x, mask = real(3, 4), Input(Grid((3, 4), [at % 3 != 1 for at in range(12)]), "mask")
    kept = lambda x, m: Grid((8,), [number for number, true in zip(x.flat, m.flat) if true])
    yield Case("masked_select (all)", (torch.masked_select, torch.Tensor.masked_select, lambda x, m: x[m]), kept, (x, mask))
    yield Case("masked_fill (all)", (*forms("masked_fill", 2.5), lambda x, m: torch.where(m, 2.5, x), lambda x, m: x.masked_fill(m, torch.tensor(2.5, dtype=x.dtype, device=x.device))), lambda x, m: Grid(x.shape, [2.5 if true else v for v, true in zip(x.flat, m.flat)]), (x, mask))

    def put(x: Grid, m: Grid, y: Grid) -> Grid:
        source = iter(y.flat)
        return Grid(x.shape, [next(source) if true else number for number, true in zip(x.flat, m.flat)])

    yield Case("masked_scatter", forms("masked_scatter"), put, (x, mask, real(8, seed=2)))
    yield Case("where (all)", (torch.where, lambda m, x, y: x.where(m, y)), lambda m, x, y: Grid(x.shape, [a if true else b for true, a, b in zip(m.flat, x.flat, y.flat)]), (mask, x, real(3, 4, seed=2)))
    yield Case("where's places", (lambda m: torch.stack(torch.where(m), 1), torch.argwhere, torch.nonzero, lambda m: torch.stack(torch.nonzero(m, as_tuple=True), 1)), lambda m: Grid((8, 2), [float(coordinate) for at in m.indices() if m[at] for coordinate in at]), (mask,), ("bool",), backward=False)
    yield Case("masked assignment", (lambda x, m: _assigned(x, m, 2.5),), lambda x, m: Grid(x.shape, [2.5 if true else v for v, true in zip(x.flat, m.flat)]), (x, mask))
    yield Case("one_hot (all)", (lambda a: torch.nn.functional.one_hot(a, 4), lambda a: torch.nn.functional.one_hot(a, num_classes=4)), lambda a: fromfunction((3, 4), lambda i: int(a.flat[i[0]] == i[1])), (literal([2, 0, 3], kind="int64"),), ("int64",), backward=False)
    yield Case("one_hot (classes found)", (torch.nn.functional.one_hot,), lambda a: fromfunction((3, 4), lambda i: int(a.flat[i[0]] == i[1])), (literal([2, 0, 3], kind="int64"),), ("int64",), backward=False)
    yield Case("unravel_index", (lambda a: torch.stack(torch.unravel_index(a, (3, 4)), 1),), lambda a: Grid((3, 2), [coordinate for n in a.flat for coordinate in divmod(n, 4)]), (literal([5, 0, 11], kind="int64"),), ("int64",), backward=False, optional=True)


def _by_index(x: Input) -> Iterator[Case]:
    r, c = literal([2, 0, 2], kind="int64"), literal([3, 1, 0], kind="int64")
    y = real(3, seed=2)
    last = lambda x, r, c, y: fromfunction(x.shape, lambda i: next((v for a, b, v in zip(r.flat, c.flat, y.flat) if (a, b) == i), x[i]))
    yield Case("index_put (two)", (lambda x, r, c, y: torch.index_put(x, (r, c), y), lambda x, r, c, y: torch.clone(x).index_put_((r, c), y), lambda x, r, c, y: x.index_put((r, c), y)), last, (x, r, c, y))
    same = literal([3, 1, 3], kind="int64")
    added = lambda x, r, c, y: fromfunction(x.shape, lambda i: x[i] + tape.total([v for a, b, v in zip(r.flat, c.flat, y.flat) if (a, b) == i]))
    yield Case("index_put (two, accumulate)", (lambda x, r, c, y: torch.index_put(x, (r, c), y, True), lambda x, r, c, y: torch.clone(x).index_put_((r, c), y, accumulate=True)), added, (x, r, same, y), factor=2.0)
    yield Case("index by a column and a row", (lambda x, r, c: x[r[:, None], c],), lambda x, r, c: fromfunction((3, 3), lambda i: x[int(r.flat[i[0]]), int(c.flat[i[1]])]), (x, r, c))
    yield Case("index by a list", (lambda x: x[[2, 0]], lambda x: x[torch.tensor([True, False, True], device=x.device)].flip(0)), lambda x: fromfunction((2, 4), lambda i: x[(2, 0)[i[0]], i[1]]), (x,))
    yield Case("index that is negative", (lambda x: x[-1], lambda x: x[-1, ...]), lambda x: Grid((4,), x.flat[-4:]), (x,))
    yield Case("index with None", (lambda x: x[:, None, 1],), lambda x: Grid((3, 1), x.flat[1::4]), (x,))
