"""What is counted, searched and unique."""

from __future__ import annotations

import bisect
import math
from typing import Any, Iterator

import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, along, always, fromfunction, reduced
from rigup_probe_torch_cases import Case, Input, distinct, given, literal

from rigup_probe_tables.torch_ranked import _TWO, kept


def counts() -> Iterator[Case]:
    """What is counted: in bins, of a kind, in what order."""
    values = literal([0.5, 1.5, 1.25, 3.75, -0.5, 2.0, 4.0, 1.0, 0.0, 3.0], kind="given")
    yield Case("histc", (lambda x: torch.histc(x, 4, 0, 4), lambda x: x.histc(bins=4, min=0, max=4)), always(Grid((4,), [2.0, 3, 1, 3])), (values,), _TWO, backward=False)
    yield Case("histc (own bounds)", (lambda x: torch.histc(x, 3),), always(Grid((3,), [3.0, 4, 3])), (values,), _TWO, backward=False)
    yield Case("histogram", (lambda x: torch.histogram(x, 4, range=(0.0, 4.0))[0], lambda x: torch.histogram(x, torch.tensor([0.0, 1, 2, 3, 4], dtype=x.dtype))[0]), always(Grid((4,), [2.0, 3, 1, 3])), (values,), _TWO, backward=False, optional=True)
    yield Case("histogram (weight, density)", (lambda x: torch.histogram(x, 2, range=(0.0, 4.0), weight=torch.arange(10, dtype=x.dtype), density=True)[0],), always(Grid((2,), [18 / 82, 23 / 82])), (values,), _TWO, backward=False, optional=True, factor=4.0)
    whole = Input(Grid((8,), [3, 1, 1, 0, 5, 3, 3, 1]), "int64")
    weights = given(8, seed=3)
    yield Case("bincount (minlength)", (lambda x: torch.bincount(x, minlength=8), lambda x: x.bincount(minlength=8)), always(Grid((8,), [1, 3, 0, 3, 0, 1, 0, 0])), (whole,), ("int64",), backward=False)
    yield Case("bincount (weights)", (torch.bincount, lambda x, w: x.bincount(w)), lambda x, w: Grid((6,), [math.fsum(b for a, b in zip(x.flat, w.flat) if a == at) for at in range(6)]), (whole, weights), _TWO, backward=False)
    some = literal([at % 3 - 1.0 for at in range(20)], (4, 5), "given")
    zero = lambda row: float(sum(number != 0 for number in row))
    yield Case("count_nonzero over dimensions", (lambda x: torch.count_nonzero(x, 1), lambda x: x.count_nonzero(dim=1)), reduced((1,), zero), (some,), backward=False)
    yield Case("isin", (lambda x: torch.isin(x, torch.tensor([1.0, 5.0], dtype=x.dtype, device=x.device)),), lambda x: Grid(x.shape, [v == 1 for v in x.flat]), (some,), backward=False)
    yield Case("isin (invert)", (lambda x: torch.isin(x, torch.tensor([1.0, 5.0], dtype=x.dtype, device=x.device), invert=True, assume_unique=False),), lambda x: Grid(x.shape, [v != 1 for v in x.flat]), (some,), backward=False)
    yield from _searched()
    yield from _unequal()
    ordered = distinct(5, 8)
    for dim in (0, 1):
        for down in (False, True):
            label = " over dimension " + str(dim) + (" (descending)" if down else "")
            by = along(dim, lambda row, d=down: sorted(row, key=tape.plain, reverse=d))
            at = along(dim, lambda row, d=down: sorted(range(len(row)), key=row.__getitem__, reverse=d))
            yield Case("sort" + label, (lambda x, d=dim, u=down: torch.sort(x, dim=d, descending=u)[0], lambda x, d=dim, u=down: x.sort(d, u)[0]), by, (ordered,))
            yield Case("argsort" + label, (lambda x, d=dim, u=down: torch.argsort(x, dim=d, descending=u), lambda x, d=dim, u=down: x.argsort(d, u), lambda x, d=dim, u=down: torch.sort(x, dim=d, descending=u)[1]), at, (ordered._replace(kind="given"),), backward=False)
            top = lambda x, d=dim, u=down: _cut(along(d, lambda row: sorted(row, key=tape.plain, reverse=u))(x), d, 3)
            yield Case("topk" + label, (lambda x, d=dim, u=down: torch.topk(x, 3, dim=d, largest=u)[0], lambda x, d=dim, u=down: x.topk(3, d, u, True)[0]), top, (ordered,))
        keep = lambda x, d=dim: kept(reduced((d,), lambda row: sorted(row, key=tape.plain)[1]), d)(x)
        yield Case("kthvalue (keepdim) over dimension " + str(dim), (lambda x, d=dim: torch.kthvalue(x, 2, d, True)[0], lambda x, d=dim: x.kthvalue(2, d, True)[0]), keep, (ordered,))
    yield Case("topk (unsorted)", (lambda x: torch.topk(x, 3, 1, sorted=False)[0].sum(1),), reduced((1,), lambda row: tape.total(sorted(row, key=tape.plain)[-3:])), (ordered,), factor=4.0)
    yield Case("msort", (torch.msort, torch.Tensor.msort), along(0, lambda row: sorted(row, key=tape.plain)), (ordered,))


def _cut(x: Grid, dim: int, count: int) -> Grid:
    shape = (count, x.shape[1]) if dim == 0 else (x.shape[0], count)
    return fromfunction(shape, lambda i: x[i])


def _searched() -> Iterator[Case]:
    borders, values = [1.0, 2.0, 2.0, 5.0], literal([0.0, 1.0, 2.0, 3.0, 5.0, 6.0], (2, 3), "given")
    for later in (False, True):
        cut = bisect.bisect_right if later else bisect.bisect_left
        wanted = Grid((2, 3), [cut(borders, number) for number in values.grid.flat])
        side = "right" if later else "left"
        known: Any = lambda x: torch.tensor(borders, dtype=x.dtype, device=x.device)
        calls = (lambda x, r=later: torch.bucketize(x, known(x), right=r), lambda x, r=later: torch.bucketize(x, known(x), right=r, out_int32=True))
        yield Case("bucketize (" + side + ")", calls, always(wanted), (values,), backward=False)
        calls = (
            lambda x, r=later: torch.searchsorted(known(x), x, right=r),
            lambda x, s=side: torch.searchsorted(known(x), x, side=s),
            lambda x, r=later: torch.searchsorted(known(x), x, right=r, out_int32=True),
            lambda x, r=later: torch.searchsorted(known(x).flip(0).contiguous(), x, right=r, sorter=torch.tensor([3, 2, 1, 0], device=x.device)),
        )
        yield Case("searchsorted (" + side + ")", calls, always(wanted), (values,), backward=False)


def _unequal() -> Iterator[Case]:
    values = literal([2.0, 2, 1, 1, 1, 3, 2, 2], kind="given")
    runs, sizes, back = Grid((4,), [2.0, 1, 3, 2]), Grid((4,), [2, 3, 1, 2]), Grid((8,), [0, 0, 1, 1, 1, 2, 3, 3])
    yield Case("unique_consecutive", (lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True), lambda x: x.unique_consecutive(return_inverse=True, return_counts=True)), lambda _x: (runs, back, sizes), (values,), backward=False)
    known, where, often = Grid((3,), [1.0, 2, 3]), Grid((8,), [1, 1, 0, 0, 0, 2, 1, 1]), Grid((3,), [3, 4, 1])
    yield Case("unique (inverse, counts)", (lambda x: torch.unique(x, return_inverse=True, return_counts=True), lambda x: x.unique(sorted=True, return_inverse=True, return_counts=True)), lambda _x: (known, where, often), (values,), backward=False)
    rows = literal([3.0, 4, 1, 2, 3, 4], (3, 2), "given")
    yield Case("unique of rows (dim)", (lambda x: torch.unique(x, dim=0),), always(Grid((2, 2), [1.0, 2, 3, 4])), (rows,), backward=False)
    near = literal([3.0, 4, 3, 4, 1, 2], (3, 2), "given")
    yield Case("unique_consecutive of rows (dim)", (lambda x: torch.unique_consecutive(x, dim=0),), always(Grid((2, 2), [3.0, 4, 1, 2])), (near,), backward=False)
