"""Tables of operators with the arguments that are given less often: pools, images made larger, losses, places."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_reference_networks as networks
import torch
from rigup_probe_grid import Grid, each, fromfunction, reduced
from rigup_probe_tape import total
from rigup_probe_torch_cases import Case, distinct, literal, real
from torch.nn import functional

from rigup_probe_tables.torch_resampling import _resized, _weights


def windows() -> Iterator[Case]:
    """Means that leave the padding out, or divide by another number; windows with gaps; a last window that is cut."""
    for shape in ((2, 3, 11), (2, 3, 7, 6), (1, 2, 4, 5, 4)):
        rank = len(shape) - 2
        top, middle = (getattr(functional, name + "_pool" + str(rank) + "d") for name in ("max", "avg"))
        label, inputs = " in " + str(rank) + " dimensions", (real(*shape),)
        yield Case("avg_pool without padding" + label, (lambda x, c=middle: c(x, 3, 2, 1, count_include_pad=False),), networks.pool(3, 2, 1, right.mean, False), inputs, factor=2.0)
        yield Case("avg_pool of the usual stride" + label, (lambda x, c=middle: c(x, 2),), networks.pool(2, 2, 0, right.mean, True), inputs, factor=2.0)
        if rank > 1:
            divided: Callable[..., Any] = lambda row: total(row) * 0.2
            yield Case("avg_pool by 5" + label, (lambda x, c=middle: c(x, 3, 2, 1, divisor_override=5),), networks.pool(3, 2, 1, divided, True), inputs, factor=2.0)
        yield Case("max_pool with a dilation" + label, (lambda x, c=top: c(x, 2, 1, 0, 2),), _with_gaps, (distinct(*shape),), factor=2.0)
        biggest = getattr(functional, "adaptive_max_pool" + str(rank) + "d")
        yield Case("adaptive_max_pool" + label, (lambda x, c=biggest: c(x, 1).flatten(1),), reduced(tuple(range(2, rank + 2)), right.largest), (distinct(*shape),))
    for size, stride in (((2, 3), (1, 2)), ((3, 1), (2, 1))):
        yield Case("avg_pool2d by " + str(size) + " every " + str(stride), (lambda x, a=size, b=stride: functional.avg_pool2d(x, a, b),), lambda x, a=size, b=stride: _by_sides(x, a, b), (real(2, 3, 7, 6),), factor=2.0)


def _with_gaps(x: Grid) -> Grid:
    """The largest of those that lie two apart."""
    offsets = list(itertools.product((0, 2), repeat=len(x.shape) - 2))
    sizes = [extent - 2 for extent in x.shape[2:]]
    return fromfunction((*x.shape[:2], *sizes), lambda i: right.largest([x[(*i[:2], *map(sum, zip(i[2:], off)))] for off in offsets]))


def _by_sides(x: Grid, size: tuple[int, int], stride: tuple[int, int]) -> Grid:
    sides = [(extent - a) // b + 1 for extent, a, b in zip(x.shape[2:], size, stride)]
    return fromfunction((*x.shape[:2], *sides), lambda i: right.mean([x[i[0], i[1], i[2] * stride[0] + r, i[3] * stride[1] + c] for r in range(size[0]) for c in range(size[1])]))


def interpolations() -> Iterator[Case]:
    """Nearest and linear, with corners that meet or edges that do, larger and smaller.

    Source of the places: documentation of torch.nn.Upsample and torch.nn.functional.interpolate.
    """
    for shape, outputs in (((2, 3, 5), (9,)), ((1, 2, 4, 5), (7, 9)), ((1, 2, 7, 9), (4, 5)), ((1, 1, 3, 2, 4), (5, 4, 6))):
        rank, inputs = len(outputs), (real(*shape),)
        label = " of " + "x".join(map(str, shape[2:])) + " to " + "x".join(map(str, outputs))
        mode = ("linear", "bilinear", "trilinear")[rank - 1]
        for corners in (False, True):
            yield Case("interpolate (" + mode + (", align_corners" if corners else "") + ")" + label, (lambda x, o=outputs, m=mode, c=corners: functional.interpolate(x, o, mode=m, align_corners=c),), _resized(outputs, _linear(corners)), inputs, factor=4.0)
        yield Case("interpolate (nearest)" + label, (lambda x, o=outputs: functional.interpolate(x, o),), _resized(outputs, _weights("nearest", False)), inputs, factor=4.0)


Weights = Callable[[int, int, int], "list[tuple[int, float]]"]


def _linear(corners: bool) -> Weights:
    def weights(at: int, size: int, outputs: int) -> list[tuple[int, float]]:
        place = at * (size - 1) / (outputs - 1) if corners else max((at + 0.5) * size / outputs - 0.5, 0.0)
        low = min(int(place), size - 1)
        share = place - low
        return [(low, 1 - share), (min(low + 1, size - 1), share)]

    return weights


def losses() -> Iterator[Case]:
    """Of scores that are surely wrong; added up or left alone; with weights."""
    far = literal([-200.0, 200, 100, -100, 12, -12, 88, -90, 0.5, -0.5])
    truths = literal([1.0, 0, 0, 1, 0, 1, 1, 0, 1, 0], kind="given")
    entropy = functional.binary_cross_entropy_with_logits
    for name, scores in (("sure scores", far), ("usual scores", real(10))):
        yield Case("binary_cross_entropy_with_logits of " + name, (entropy,), right.mean_of(right.binary_with_logits), (scores, truths), factor=4.0)
        yield Case("binary_cross_entropy_with_logits, each of " + name, (lambda x, y: entropy(x, y, reduction="none"),), each(right.binary_with_logits), (scores, truths), factor=4.0)
    two = (real(5, 9), real(5, 9, seed=2))
    rows: tuple[tuple[str, Any, Any], ...] = (("mse_loss", functional.mse_loss, right.squared), ("l1_loss", functional.l1_loss, lambda x, y: right.maximum(x - y, y - x)), ("smooth_l1_loss", functional.smooth_l1_loss, right.huber))
    for name, call, reference in rows:
        yield Case(name + " added up", (lambda x, y, c=call: c(x, y, reduction="sum"),), _sum_of(reference), two, factor=4.0)
        yield Case(name + " of each", (lambda x, y, c=call: c(x, y, reduction="none"),), each(reference), two, factor=4.0)


def _sum_of(function: Callable[..., Any]) -> Callable[..., Grid]:
    return lambda x, y: Grid((), [total(list(map(function, x.flat, y.flat)))])


_NEGATIVE = literal([-1, 0, -5, 3, -2], kind="int64")


def places() -> Iterator[Case]:
    """Counted from the end, along each dimension, of several tensors at once."""
    table = real(5, 7)
    yield Case("index counted from the end", (lambda x, at: x[at],), lambda x, at: fromfunction((5, 7), lambda i: x[int(at.flat[i[0]]) % 5, i[1]]), (table, _NEGATIVE))
    yield Case("index of columns counted from the end", (lambda x, at: x[:, at],), lambda x, at: fromfunction((5, 5), lambda i: x[i[0], int(at.flat[i[1]]) % 7]), (table, _NEGATIVE))
    pairs = literal([4, -2, 0, 2, -5], kind="int64")
    yield Case("index by two", (lambda x, r, c: x[r, c],), lambda x, r, c: Grid((5,), [x[int(a) % 5, int(b) % 7] for a, b in zip(r.flat, c.flat)]), (table, pairs, _NEGATIVE))
    yield Case("index_put counted from the end", (_put, lambda x, y: x.index_put((torch.tensor([-1, 1]).to(x.device),), y)), lambda x, y: fromfunction((5, 7), lambda i: y[0 if i[0] == 4 else 1, i[1]] if i[0] in (1, 4) else x[i]), (table, real(2, 7, seed=2)))
    for dim in (0, 1, 2):
        at = literal([(n * 7 + n // 5) % 3 for n in range(24)], (3, 2, 4) if dim == 0 else (2, 3, 4) if dim == 1 else (2, 4, 3), "int64")
        x = real(3, 4, 5)
        yield Case("gather along dimension " + str(dim) + " of three", (lambda x, at, d=dim: torch.gather(x, d, at),), _gathered(dim), (x, at))
        yield Case("scatter_add along dimension " + str(dim) + " of three", (lambda x, at, y, d=dim: x.scatter_add(d, at, y),), _scattered(dim), (x, at, real(*at.grid.shape, seed=2)), factor=2.0)
        for count in (2, 3, 5):
            inputs = tuple(real(*_sized((2, 3, 4), dim, 1 + seed % 3), seed=seed + 1) for seed in range(count))
            name = " of " + str(count) + " along dimension " + str(dim)
            yield Case("cat" + name, (lambda *x, d=dim: torch.cat(x, d),), _joined(dim), inputs)
            same = tuple(real(2, 3, 4, seed=seed + 1) for seed in range(count))
            yield Case("cat of equal shapes" + name, (lambda *x, d=dim: torch.cat(x, d),), _joined(dim), same)
            yield Case("stack" + name, (lambda *x, d=dim: torch.stack(x, d),), _stacked(dim), same)


def _put(x: Any, y: Any) -> Any:
    copied = torch.clone(x)
    copied[torch.tensor([-1, 1]).to(x.device)] = y
    return copied


def _sized(shape: tuple[int, ...], dim: int, size: int) -> tuple[int, ...]:
    return (*shape[:dim], size, *shape[dim + 1 :])


def _gathered(dim: int) -> Callable[..., Grid]:
    return lambda x, at: fromfunction(at.shape, lambda i: x[_sized(i, dim, int(at[i]))])


def _scattered(dim: int) -> Callable[..., Grid]:
    def called(x: Grid, at: Grid, y: Grid) -> Grid:
        return fromfunction(x.shape, lambda i: x[i] + total([y[j] for j in at.indices() if _sized(j, dim, int(at[j])) == i]))

    return called


def _joined(dim: int) -> Callable[..., Grid]:
    def called(*x: Grid) -> Grid:
        sources = [(grid, at) for grid in x for at in range(grid.shape[dim])]
        shape = _sized(x[0].shape, dim, len(sources))
        return fromfunction(shape, lambda i: sources[i[dim]][0][_sized(i, dim, sources[i[dim]][1])])

    return called


def _stacked(dim: int) -> Callable[..., Grid]:
    return lambda *x: fromfunction((*x[0].shape[:dim], len(x), *x[0].shape[dim:]), lambda i: x[i[dim]][i[:dim] + i[dim + 1 :]])
