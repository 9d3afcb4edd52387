"""Shapes, parts and joins."""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable, Iterator

import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, fromfunction
from rigup_probe_torch_cases import FLOATS, Case, Input, given, real
from rigup_probe_torch_forms import copied, forms

Index = Any


_X, _MANY = (2, 3, 4), 33_019


def _from(shape: tuple[int, ...], source: Callable[[Index], Index]) -> Callable[[Grid], Grid]:
    return lambda x: fromfunction(_longer(shape, x), lambda i: x[tuple(source(i))])


def _flat(shape: tuple[int, ...]) -> Callable[[Grid], Grid]:
    return lambda x: Grid(_longer(shape, x), x.flat)


def _longer(shape: tuple[int, ...], x: Grid) -> tuple[int, ...]:
    """Of so many times the numbers as there are usually, so many times the first dimension."""
    return (shape[0] * max(len(x.flat) // math.prod(_X), 1), *shape[1:]) if shape else shape


_SHAPES: tuple[tuple[str, tuple[Any, ...], Any], ...] = (
    ("reshape", (lambda x: torch.reshape(x, (4, 6)), lambda x: x.reshape(4, -1), lambda x: x.reshape_as(torch.empty(4, 6))), _flat((4, 6))),
    ("resolve_conj", forms("resolve_conj"), lambda x: x),
    ("resolve_neg", forms("resolve_neg"), lambda x: x),
    ("contiguous", (lambda x: x.transpose(0, 1).contiguous().transpose(0, 1), lambda x: x.contiguous()), lambda x: x),
    ("view", (lambda x: x.contiguous().view(6, 4), lambda x: x.contiguous().view_as(torch.empty(6, 4))), _flat((6, 4))),
    ("flatten", (lambda x: torch.flatten(x, 1), lambda x: x.flatten(1, 2), torch.nn.Flatten(1)), _flat((2, 12))),
    ("flatten of the first", (lambda x: torch.flatten(x, 0, 1),), _flat((6, 4))),
    ("ravel", (torch.ravel, torch.Tensor.ravel, torch.flatten), _flat((24,))),
    ("unflatten", (lambda x: torch.unflatten(x, 2, (2, 2)), lambda x: x.unflatten(-1, (2, 2)), torch.nn.Unflatten(2, (2, 2))), _flat((2, 3, 2, 2))),
    ("unsqueeze", (lambda x: torch.unsqueeze(x, 1), lambda x: x.unsqueeze(1), copied(lambda x: x.unsqueeze_(1))), _flat((2, 1, 3, 4))),
    ("unsqueeze of the last", (lambda x: torch.unsqueeze(x, -1),), _flat((2, 3, 4, 1))),
    ("squeeze", (lambda x: torch.squeeze(x[None, :, None]), lambda x: x[None].squeeze(), copied(lambda x: x[None].squeeze_())), _flat(_X)),
    ("squeeze of one", (lambda x: torch.squeeze(x[None, :, None], 0), lambda x: x[None, :, None].squeeze(dim=0)), _flat((2, 1, 3, 4))),
    ("transpose", (*forms("transpose", 0, 2), *forms("swapaxes", 0, 2)), _from((4, 3, 2), lambda i: i[::-1])),
    ("permute", (lambda x: torch.permute(x, (2, 0, 1)), lambda x: x.permute(2, 0, 1)), _from((4, 2, 3), lambda i: (i[1], i[2], i[0]))),
    ("movedim", forms("movedim", 0, 2), _from((3, 4, 2), lambda i: (i[2], i[0], i[1]))),
    ("mT", (lambda x: x.mT, lambda x: x.adjoint(), lambda x: torch.adjoint(x), lambda x: x.mH), _from((2, 4, 3), lambda i: (i[0], i[2], i[1]))),
    ("T", (lambda x: x[0].T, lambda x: x[0].H, lambda x: torch.t(x[0]), lambda x: x[0].t(), copied(lambda x: x[0].t_())), _from((4, 3), lambda i: (0, i[1], i[0]))),
    (
        "expand",
        (lambda x: x[:, :1].expand(2, 5, 4), lambda x: x[:, :1].expand(-1, 5, -1), lambda x: torch.broadcast_to(x[:, :1], (2, 5, 4)), lambda x: x[:, :1].expand_as(torch.empty(2, 5, 4)), lambda x: torch.broadcast_tensors(x[:, :1], torch.empty(2, 5, 4))[0], lambda x: x[:, :1].broadcast_to(2, 5, 4)),
        _from((2, 5, 4), lambda i: (i[0], 0, i[2])),
    ),
    ("repeat", (lambda x: x.repeat(1, 2, 1), lambda x: torch.tile(x, (1, 2, 1)), lambda x: x.tile(2, 1)), _from((2, 6, 4), lambda i: (i[0], i[1] % 3, i[2]))),
    ("repeat of more dimensions", (lambda x: x.repeat(2, 1, 1, 1), lambda x: torch.tile(x, (2, 1, 1, 1))), _from((2, 2, 3, 4), lambda i: i[1:])),
    ("repeat_interleave (repeats)", (lambda x: torch.repeat_interleave(x, torch.tensor([1, 0, 2], device=x.device), dim=1, output_size=3), lambda x: x.repeat_interleave(torch.tensor([1, 0, 2], device=x.device), 1)), _from((2, 3, 4), lambda i: (i[0], (0, 2, 2)[i[1]], i[2]))),
    ("repeat_interleave of the last", (lambda x: torch.repeat_interleave(x, 2, dim=-1),), _from((2, 3, 8), lambda i: (i[0], i[1], i[2] // 2))),
    ("repeat_interleave of all", (lambda x: torch.repeat_interleave(x, 2),), lambda x: Grid((48,), [v for v in x.flat for _ in range(2)])),
    ("flip", (lambda x: torch.flip(x, (0, 2)), lambda x: x.flip(0, 2)), _from(_X, lambda i: (1 - i[0], i[1], 3 - i[2]))),
    ("flip of the middle", (lambda x: torch.flip(x, [1]),), _from(_X, lambda i: (i[0], 2 - i[1], i[2]))),
    ("fliplr", forms("fliplr"), _from(_X, lambda i: (i[0], 2 - i[1], i[2]))),
    ("flipud", forms("flipud"), _from(_X, lambda i: (1 - i[0], i[1], i[2]))),
    ("roll", (lambda x: torch.roll(x, (1, -1), (0, 2)), lambda x: x.roll((1, -1), (0, 2))), _from(_X, lambda i: ((i[0] - 1) % 2, i[1], (i[2] + 1) % 4))),
    ("roll of all", (lambda x: torch.roll(x, 5),), lambda x: Grid(_X, x.flat[-5:] + x.flat[:-5])),
    ("rot90", (lambda x: torch.rot90(x, 1, (1, 2)), lambda x: x.rot90(1, [1, 2]), lambda x: torch.rot90(x, -3, (1, 2))), _from((2, 4, 3), lambda i: (i[0], i[2], 3 - i[1]))),
    ("rot90 twice", (lambda x: torch.rot90(x, 2),), _from(_X, lambda i: (1 - i[0], 2 - i[1], i[2]))),
    ("narrow", (lambda x: torch.narrow(x, 2, 1, 2), lambda x: x.narrow(2, 1, 2), lambda x: torch.narrow_copy(x, 2, 1, 2)), _from((2, 3, 2), lambda i: (i[0], i[1], i[2] + 1))),
    ("select", (lambda x: torch.select(x, 1, 2), lambda x: x.select(1, -1), lambda x: x[:, 2]), _from((2, 4), lambda i: (i[0], 2, i[1]))),
    ("slices of all kinds", (lambda x: x[:, 1:, ::3],), _from((2, 2, 2), lambda i: (i[0], i[1] + 1, 3 * i[2]))),
    ("slice with an ellipsis", (lambda x: x[..., -3:-1], lambda x: x[:, :, 1:3]), _from((2, 3, 2), lambda i: (i[0], i[1], i[2] + 1))),
    ("one element", (lambda x: x[1, 2, 3],), _from((), lambda _i: (1, 2, 3))),
    ("diagonal", (lambda x: torch.diagonal(x, 1, 1, 2), lambda x: x.diagonal(1, 1, 2), lambda x: torch.linalg.diagonal(x, offset=1), lambda x: torch.diagonal_copy(x, 1, 1, 2)), _from((2, 3), lambda i: (i[0], i[1], i[1] + 1))),
    ("unfold of a dimension", (lambda x: x.unfold(2, 2, 1),), _from((2, 3, 3, 2), lambda i: (i[0], i[1], i[2] + i[3]))),
    ("as_strided", (lambda x: torch.as_strided(torch.clone(x.contiguous()), (3, 4), (2, 5), 1), lambda x: torch.clone(x.contiguous()).as_strided((3, 4), (2, 5), 1)), lambda x: fromfunction((3, 4), lambda i: x.flat[1 + 2 * i[0] + 5 * i[1]])),
    ("atleast_3d", (lambda x: torch.atleast_3d(x[0]), lambda x: torch.atleast_2d(x[0])[..., None], lambda x: torch.atleast_1d(x[0])[..., None]), _from((3, 4, 1), lambda i: (0, i[0], i[1]))),
    (
        "clone",
        (
            torch.clone,
            torch.Tensor.clone,
            lambda x: x.contiguous(),
            lambda x: x.clone(memory_format=torch.contiguous_format),
            lambda x: torch.nn.Identity()(x),
            torch.Tensor.resolve_conj,
            torch.Tensor.resolve_neg,
            torch.Tensor.conj,
            lambda x: x.to(x.dtype, copy=True),
            lambda x: torch.Tensor.type_as(x, x),
            lambda x: torch.real(x),
        ),
        _from(_X, lambda i: i),
    ),
    ("pixel_unshuffle", (lambda x: torch.nn.functional.pixel_unshuffle(x.reshape(1, 1, 6, 4), 2), lambda x: torch.nn.PixelUnshuffle(2)(x.reshape(1, 1, 6, 4))), lambda x: fromfunction((1, 4, 3, 2), lambda i: x.flat[(2 * i[2] + i[1] // 2) * 4 + 2 * i[3] + i[1] % 2])),
    ("pixel_shuffle (module)", (lambda x: torch.nn.PixelShuffle(2)(x.reshape(1, 4, 3, 2)), lambda x: torch.pixel_shuffle(x.reshape(1, 4, 3, 2), 2)), lambda x: fromfunction((1, 1, 6, 4), lambda i: x.flat[(i[2] % 2 * 2 + i[3] % 2) * 6 + i[2] // 2 * 2 + i[3] // 2])),
    ("channel_shuffle", (lambda x: torch.nn.functional.channel_shuffle(x.reshape(1, 6, 4, 1), 2), lambda x: torch.nn.ChannelShuffle(3)(torch.nn.ChannelShuffle(2)(torch.nn.ChannelShuffle(2)(x.reshape(1, 6, 4, 1))))), lambda x: fromfunction((1, 6, 4, 1), lambda i: x.flat[(i[1] % 2 * 3 + i[1] // 2) * 4 + i[2]])),
)


def shapes() -> Iterator[Case]:
    """The same numbers in another shape or order."""
    inputs = (real(*_X),)
    for name, calls, reference in _SHAPES:
        yield Case(name + " (shapes)", calls, reference, inputs, few=name == "view")
        if name not in ("ravel", "clone"):
            yield from _in_other_types(name, calls, reference)
    yield from _cut()
    yield from _parts()


def _in_other_types(name: str, calls: tuple[Any, ...], reference: Any) -> Iterator[Case]:
    """Whole numbers and truths; complex numbers every row is asked for."""
    for kind in ("uint8", "bool"):
        whole = Input(Grid(_X, [at * 7 % 5 if kind != "bool" else at * at * 7 % 11 % 2 == 1 for at in range(24)]), kind)
        yield Case(name + " (shapes) in " + kind, calls[:1], reference, (whole,), (kind,), backward=False, few=True)


def _cut() -> Iterator[Case]:
    """Into several."""
    x = (real(4, 6),)
    column = lambda first, last: _from((4, last - first), lambda i: (i[0], i[1] + first))
    row = lambda first, last: _from((last - first, 6), lambda i: (i[0] + first, i[1]))
    rows: tuple[tuple[str, tuple[Any, ...], tuple[Any, ...]], ...] = (
        ("split", (lambda x: torch.split(x, 4, 1), lambda x: x.split(4, dim=1), lambda x: torch.split(x, [4, 2], 1), lambda x: x.split_with_sizes([4, 2], 1), lambda x: torch.unsafe_split(x, 4, 1)), (column(0, 4), column(4, 6))),
        ("split of rows", (lambda x: torch.split(x, 3), lambda x: x.split(3)), (row(0, 3), row(3, 4))),
        ("chunk", (lambda x: torch.chunk(x, 2, 1), lambda x: x.chunk(2, dim=1), lambda x: torch.unsafe_chunk(x, 2, 1)), (column(0, 3), column(3, 6))),
        ("chunk of rows", (lambda x: torch.chunk(x, 2),), (row(0, 2), row(2, 4))),
        ("tensor_split", (lambda x: torch.tensor_split(x, 4, 1), lambda x: x.tensor_split((2, 4, 5), 1), lambda x: torch.tensor_split(x, torch.tensor([2, 4, 5]), dim=1)), (column(0, 2), column(2, 4), column(4, 5), column(5, 6))),
        ("hsplit", (lambda x: torch.hsplit(x, 2), lambda x: x.hsplit([3])), (column(0, 3), column(3, 6))),
        ("vsplit", (lambda x: torch.vsplit(x, 2), lambda x: x.vsplit([2])), (row(0, 2), row(2, 4))),
        ("dsplit", (lambda x: [part[0] for part in torch.dsplit(x[None], [2])], lambda x: [part[0] for part in x[None].dsplit([2])]), (column(0, 2), column(2, 6))),
        ("unbind", (lambda x: torch.unbind(x), lambda x: x.unbind(0), tuple), tuple(_from((6,), lambda i, r=r: (r, i[0])) for r in range(4))),
        ("unbind of columns", (lambda x: torch.unbind(x, 1), lambda x: x.unbind(dim=1)), tuple(_from((4,), lambda i, c=c: (i[0], c)) for c in range(6))),
    )
    for name, calls, references in rows:
        yield Case(name + " (all parts)", calls, lambda x, several=references: tuple(reference(x) for reference in several), x)


def _parts() -> Iterator[Case]:
    """Triangles, diagonals, and what is put into a copy."""
    x = real(4, 5)
    for off in (-1, 0, 2):
        for name, inside in (("tril", lambda i, o: i[1] - i[0] <= o), ("triu", lambda i, o: i[1] - i[0] >= o)):
            yield Case(name + " (" + str(off) + ", all)", (*forms(name, off), lambda x, n=name, o=off: getattr(torch, n)(x[None], diagonal=o)[0]), lambda x, k=inside, o=off: fromfunction((4, 5), lambda i: x[i] if k(i, o) else 0.0), (x,))
            if off > 0:  # where the last columns differ
                yield Case(name + " of matrices in a batch", (lambda x, n=name, o=off: getattr(torch, n)(x, o),), lambda x, k=inside, o=off: fromfunction(x.shape, lambda i: x[i] if k(i[1:], o) else 0.0), (real(2, 4, 5),))
        row = real(3)
        size, up, left = 3 + abs(off), max(-off, 0), max(off, 0)
        put = lambda v, s=size, u=up, o=left: fromfunction((s, s), lambda i: v.flat[i[0] - u] if i[0] - u == i[1] - o and 0 <= i[0] - u < 3 else 0.0)
        yield Case("diag of a row (" + str(off) + ")", (lambda v, o=off: torch.diag(v, o), lambda v, o=off: torch.diag_embed(v, o), lambda v, o=off: v.diag(o), lambda v, o=off: torch.diagflat(v, o), lambda v, o=off: v.diag_embed(offset=o), lambda v, o=off: torch.diag_embed(v, -o, 1, 0)), put, (row,))
        kept = [(r, r + off) for r in range(4) if 0 <= r + off < 5]
        yield Case("diag of a matrix (" + str(off) + ")", (lambda x, o=off: torch.diag(x, o), lambda x, o=off: x.diag(o), lambda x, o=off: torch.diagonal(x, o)), lambda x, k=kept: Grid((len(k),), [x[at] for at in k]), (x,))
        pairs = [(r, c) for r in range(4) for c in range(5) if c - r <= off]
        yield Case("tril_indices (" + str(off) + ")", (lambda x, o=off: torch.tril_indices(4, 5, o, device=x.device),), lambda _x, p=pairs: Grid((2, len(p)), [pair[at] for at in (0, 1) for pair in p]), (given(1),), ("float32",), backward=False)
        pairs = [(r, c) for r in range(4) for c in range(5) if c - r >= off]
        yield Case("triu_indices (" + str(off) + ")", (lambda x, o=off: torch.triu_indices(4, 5, o, device=x.device),), lambda _x, p=pairs: Grid((2, len(p)), [pair[at] for at in (0, 1) for pair in p]), (given(1),), ("float32",), backward=False)
    yield Case("trace", (torch.trace, torch.Tensor.trace), lambda x: Grid((), [tape.total([x[i, i] for i in range(4)])]), (x,), factor=2.0)
    y = real(4, seed=2)
    yield Case("select_scatter", (lambda x, y: torch.select_scatter(x, y, 1, 2), lambda x, y: x.select_scatter(y, 1, 2)), lambda x, y: fromfunction((4, 5), lambda i: y.flat[i[0]] if i[1] == 2 else x[i]), (x, y))
    z = real(4, 2, seed=3)
    yield Case("slice_scatter", (lambda x, y: torch.slice_scatter(x, y, 1, 1, 5, 2), lambda x, y: x.slice_scatter(y, dim=1, start=1, end=5, step=2)), lambda x, y: fromfunction((4, 5), lambda i: y[i[0], i[1] // 2] if i[1] in (1, 3) else x[i]), (x, z))
    yield Case("diagonal_scatter", (lambda x, y: torch.diagonal_scatter(x, y, 1), lambda x, y: x.diagonal_scatter(y, offset=1)), lambda x, y: fromfunction((4, 5), lambda i: y.flat[i[0]] if i[1] == i[0] + 1 else x[i]), (x, y))
    yield Case("fill_diagonal_", (copied(lambda x: x.fill_diagonal_(2.5)),), lambda x: fromfunction((4, 5), lambda i: 2.5 if i[0] == i[1] else x[i]), (x._replace(kind="given"),), backward=False)
    yield Case("zero_", (copied(lambda x: x.zero_()), lambda x: torch.zeros_like(x), lambda x: x.new_zeros(4, 5)), lambda x: Grid(x.shape, [0.0] * 20), (x._replace(kind="given"),), backward=False)
    yield Case(
        "fill",
        (lambda x: torch.fill(x, 2.5), copied(lambda x: x.fill_(2.5)), lambda x: torch.full_like(x, 2.5), lambda x: x.new_full((4, 5), 2.5), lambda x: x.new_ones(4, 5) * 2.5, lambda x: torch.full((4, 5), 2.5, dtype=x.dtype), lambda x: torch.ones(4, 5, dtype=x.dtype) * 2.5),
        lambda x: Grid(x.shape, [2.5] * 20),
        (x._replace(kind="given"),),
        backward=False,
    )
    yield Case("a part assigned", (copied(_assign),), lambda x: fromfunction((4, 5), lambda i: 1.5 if i[0] == 1 else x[(i[0], i[1] - 1)] * 2.0 if i[0] == 3 and i[1] > 0 else x[i]), (x,))


def _assign(x: Any) -> Any:
    old = torch.clone(x)
    x[1] = 1.5
    x[3, 1:] = old[3, :-1] * 2
    return x


def joins() -> Iterator[Case]:
    """Several as one."""
    two, three = (real(2, 3), real(2, 3, seed=2)), (real(3), real(2, seed=2))
    stack = lambda dim: lambda x, y: fromfunction([*x.shape[:dim], 2, *x.shape[dim:]], lambda i: (y if i[dim] else x)[i[:dim] + i[dim + 1 :]])
    cat = lambda dim: lambda x, y: fromfunction([extent * (2 if at == dim else 1) for at, extent in enumerate(x.shape)], lambda i: (x if i[dim] < x.shape[dim] else y)[tuple(index % x.shape[at] if at == dim else index for at, index in enumerate(i))])
    for dim in (0, 1):
        yield Case("cat over " + str(dim) + " (all names)", tuple(lambda x, y, c=c, d=dim: c([x, y], d) for c in (torch.cat, torch.concat, torch.concatenate)), cat(dim), two)
        yield Case("stack over " + str(dim) + " (all)", (lambda x, y, d=dim: torch.stack((x, y), d), lambda x, y, d=dim: torch.stack((x, y), dim=d - 3)), stack(dim), two)
    for name, reference in (("hstack", cat(1)), ("vstack", cat(0)), ("row_stack", cat(0)), ("dstack", stack(2)), ("column_stack", cat(1))):
        if hasattr(torch, name):
            yield Case(name, (lambda x, y, n=name: getattr(torch, n)((x, y)),), reference, two)
    yield Case("cat with an empty one", (lambda x, y: torch.cat([x, y[:0], y]), lambda x, y: torch.cat([x, y.new_empty(0, 3), y])), cat(0), two)
    yield Case("block_diag", (torch.block_diag,), lambda x, y: fromfunction((4, 6), lambda i: x[i] if i[0] < 2 and i[1] < 3 else y[i[0] - 2, i[1] - 3] if i[0] > 1 and i[1] > 2 else 0.0), two)
    yield Case("cartesian_prod", (torch.cartesian_prod,), lambda x, y: Grid((6, 2), [v for pair in itertools.product(x.flat, y.flat) for v in pair]), three)
    yield Case("combinations", (lambda x: torch.combinations(x, 2), lambda x: torch.combinations(x)), lambda x: Grid((3, 2), [v for pair in itertools.combinations(x.flat, 2) for v in pair]), three[:1])
    yield Case("combinations (with_replacement)", (lambda x: torch.combinations(x, 2, True),), lambda x: Grid((6, 2), [v for pair in itertools.combinations_with_replacement(x.flat, 2) for v in pair]), three[:1])
    for indexing in ("ij", "xy"):
        shape = (3, 2) if indexing == "ij" else (2, 3)
        yield Case(
            "meshgrid (" + indexing + ")",
            (lambda x, y, n=indexing: torch.meshgrid(x, y, indexing=n), lambda x, y, n=indexing: torch.meshgrid([x, y], indexing=n)),
            lambda x, y, s=shape, n=indexing: (fromfunction(s, lambda i: x.flat[i[0] if n == "ij" else i[1]]), fromfunction(s, lambda i: y.flat[i[1] if n == "ij" else i[0]])),
            three,
        )
    yield Case("kron", (torch.kron, lambda x, y: x.kron(y)), lambda x, y: fromfunction((4, 9), lambda i: x[i[0] // 2, i[1] // 3] * y[i[0] % 2, i[1] % 3]), two, factor=2.0)
    for _name, value, size in (("constant", 0.5, 1), ("constant", 0.0, 2)):
        yield Case("pad by " + str(value) + ", " + str(size), (lambda x, _y, v=value, s=size: torch.nn.functional.pad(x, (s, 1, 0, s), value=v),), lambda x, _y, v=value, s=size: fromfunction((2 + s, 4 + s), lambda i: x[i[0], i[1] - s] if i[0] < 2 and 0 <= i[1] - s < 3 else v), two)


def numbers() -> Iterator[Case]:
    """Tensors that are made from numbers alone."""
    like = (given(1),)
    rows: tuple[tuple[str, Any, Any], ...] = (
        ("arange (all)", lambda x: torch.arange(-3, 9, 2.5, dtype=x.dtype, device=x.device), [-3.0, -0.5, 2, 4.5, 7]),
        ("arange (start, end, step)", lambda x: torch.arange(start=-3, end=9, step=2.5, dtype=x.dtype), [-3.0, -0.5, 2, 4.5, 7]),
        ("arange of one", lambda x: torch.arange(5, dtype=x.dtype, device=x.device), [0.0, 1, 2, 3, 4]),
        ("arange down", lambda x: torch.arange(5, 1, -2, dtype=x.dtype), [5.0, 3]),
        ("range", lambda x: torch.arange(1, 4, dtype=x.dtype), [1.0, 2, 3]),
        ("linspace (all)", lambda x: torch.linspace(3, -1, 5, dtype=x.dtype), [3.0, 2, 1, 0, -1]),
        ("linspace of one", lambda x: torch.linspace(3, 7, 1, dtype=x.dtype), [3.0]),
        ("logspace", lambda x: torch.logspace(-2, 2, 5, base=2, dtype=x.dtype), [0.25, 0.5, 1, 2, 4]),
        ("logspace (base 10)", lambda x: torch.logspace(0, 2, 3, dtype=x.dtype), [1.0, 10, 100]),
        ("tensor", lambda x: torch.tensor([1.5, -2, 0.25], dtype=x.dtype), [1.5, -2, 0.25]),
        ("as_tensor", lambda x: torch.as_tensor([1.5, -2, 0.25], dtype=x.dtype), [1.5, -2, 0.25]),
        ("scalar_tensor", lambda x: torch.scalar_tensor(2.5, dtype=x.dtype)[None], [2.5]),
        ("full (all)", lambda x: torch.full((3,), -1.5, dtype=x.dtype), [-1.5] * 3),
        ("zeros", lambda x: torch.zeros(3, dtype=x.dtype), [0.0] * 3),
        ("ones", lambda x: torch.ones(3, dtype=x.dtype), [1.0] * 3),
        ("eye (all)", lambda x: torch.eye(2, dtype=x.dtype).flatten(), [1.0, 0, 0, 1]),
        ("eye of two sides", lambda x: torch.eye(2, 3, dtype=x.dtype).flatten(), [1.0, 0, 0, 0, 1, 0]),
        ("ones_like", lambda x: torch.ones_like(torch.empty(3), dtype=x.dtype), [1.0] * 3),
        ("zeros_like", lambda x: torch.zeros_like(torch.empty(3), dtype=x.dtype), [0.0] * 3),
        ("full_like", lambda x: torch.full_like(torch.empty(3), 2.5, dtype=x.dtype), [2.5] * 3),
        ("vander", lambda x: torch.vander(torch.tensor([2.0, 3], dtype=x.dtype)).flatten(), [2.0, 1, 3, 1]),
        ("linalg.vander", lambda x: torch.linalg.vander(torch.tensor([2.0, 3], dtype=x.dtype), N=3).flatten(), [1.0, 2, 4, 1, 3, 9]),
        ("vander (increasing)", lambda x: torch.vander(torch.tensor([2.0, 3], dtype=x.dtype), 3, True).flatten(), [1.0, 2, 4, 1, 3, 9]),
    )
    many: tuple[tuple[str, Any, float], ...] = (
        ("full_like", lambda x: torch.full_like(x.new_empty(_MANY), 2.5), 2.5),
        ("ones_like", lambda x: torch.ones_like(x.new_empty(_MANY)), 1.0),
        ("zeros_like", lambda x: torch.zeros_like(x.new_empty(_MANY)), 0.0),
        ("full", lambda x: torch.full((_MANY,), 2.5, dtype=x.dtype, device=x.device), 2.5),
        ("ones", lambda x: torch.ones(_MANY, dtype=x.dtype, device=x.device), 1.0),
        ("zeros", lambda x: torch.zeros(_MANY, dtype=x.dtype, device=x.device), 0.0),
        ("new_full", lambda x: x.new_full((_MANY,), 2.5), 2.5),
        ("fill_", lambda x: x.new_empty(_MANY).fill_(2.5), 2.5),
    )
    for name, call, value in many:
        yield Case(name + " of many numbers", (call,), lambda *_x, v=value: Grid((_MANY,), [v] * _MANY), like, backward=False, few=True, spreads=False)
    for name, more in (("zeros", ()), ("ones", ()), ("full", (2,))):
        like_, new = getattr(torch, name + "_like"), getattr(torch.Tensor, "new_" + name)
        yield Case(name + "_like, new_" + name + " (dtype)", (lambda x, c=like_, m=more: c(x, *m, dtype=torch.int64), lambda x, c=new, m=more: c(x, (1,), *m, dtype=torch.int64)), lambda *_x, n=name, m=more: Grid((1,), [m[0] if m else int(n == "ones")]), like, backward=False, few=True, spreads=False, result="int64")
    for name, call, values in rows:
        yield Case(name + " of numbers", (call,), lambda *_x, v=values: Grid((len(v),), v), like, FLOATS[:2] if "vander" in name else FLOATS, backward=False, few=True, factor=2.0, optional=name in ("vander", "linalg.vander"))
