"""Tables of norms and losses with their arguments off the default: weights, given statistics, other dimensions; one row each."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_tape as tape
from rigup_probe_grid import Grid, fromfunction, lanes
from rigup_probe_torch_cases import Case, Input, given, literal, real
from torch import nn
from torch.nn import functional

_EPS = right.EPSILON
_TWO = ("float64", "float32")


def normalizations() -> Iterator[Case]:
    """Long rows, two dimensions at once, without weights, by weights and by statistics that were given."""
    x, weight, bias = real(2, 6, 7), real(6, seed=2, low=0.25), real(6, seed=3)
    middle, spread = given(6, seed=4), given(6, seed=5, low=0.25)
    yield Case("instance_norm with weights", (lambda x, w, b: functional.instance_norm(x, weight=w, bias=b, eps=_EPS),), lambda x, w, b: right.affine(right.instance_norm(x), w, b, 1), (x, weight, bias), factor=4.0)
    by = lambda x, m, v, w, b: functional.instance_norm(x, m, v, w, b, use_input_stats=False, eps=_EPS)
    yield Case("instance_norm by statistics", (by,), right.batch_norm_by, (x, middle, spread, weight, bias), _TWO, factor=4.0, few=True)
    for wide in (1031, 2050):
        inputs = (real(2, wide), given(wide, seed=2, low=0.25), given(wide, seed=3))
        yield Case("layer_norm of long rows of " + str(wide), (lambda x, w, b: functional.layer_norm(x, w.shape, w, b, _EPS),), right.layer_norm, inputs, factor=6.0, few=True)
        if hasattr(functional, "rms_norm"):
            yield Case("rms_norm of long rows of " + str(wide), (lambda x, w: functional.rms_norm(x, w.shape, w, _EPS),), right.rms_norm, inputs[:2], factor=6.0, few=True)
    yield Case("layer_norm over two dimensions", (lambda x, w, b: functional.layer_norm(x, w.shape, w, b, _EPS),), _over_two, (real(3, 4, 5), real(4, 5, seed=2, low=0.25), real(4, 5, seed=3)), factor=4.0)
    plain = lambda x: lanes(x, lambda at: at[:-1], right.normal)
    yield Case("layer_norm without weights", (lambda x: functional.layer_norm(x, x.shape[-1:], eps=_EPS),), plain, (real(5, 12),), factor=4.0)
    groups = lambda x: lanes(x, lambda at: (at[0], at[1] // 3), right.normal)
    yield Case("group_norm without weights", (lambda x: functional.group_norm(x, 2, eps=_EPS),), groups, (x,), factor=4.0)
    yield Case("batch_norm without weights", (lambda x: functional.batch_norm(x, None, None, training=True, eps=_EPS),), lambda x: lanes(x, lambda at: at[1], right.normal), (x,), factor=4.0)
    yield from _of_small_numbers()
    yield from _running_statistics()
    yield Case("local_response_norm", (lambda x: functional.local_response_norm(x, 3, 0.5, 0.75, 2.0),), _among_neighbours, (real(2, 5, 4),), factor=4.0, few=True, spreads=False)


def _of_small_numbers() -> Iterator[Case]:
    """Whose variance is about what stands beside it under the root where nobody says otherwise."""
    scale = 2.0**-8

    def normal(row: list[Any]) -> list[Any]:
        off = [number * scale for number in row]
        middle = right.mean(off)
        off = [number - middle for number in off]
        below = 1.0 / tape.sqrt(tape.dot(off, off) * (1 / len(off)) + 1e-5)
        return [number * below for number in off]

    inputs = (real(3, 4, 5),)
    rows: tuple[tuple[str, Callable[..., Any], Callable[[tuple[int, ...]], Any]], ...] = (
        ("layer_norm", lambda x: functional.layer_norm(x * scale, (5,)), lambda at: at[:2]),
        ("group_norm", lambda x: functional.group_norm(x * scale, 2), lambda at: (at[0], at[1] // 2)),
        ("batch_norm", lambda x: functional.batch_norm(x * scale, None, None, training=True), lambda at: at[1]),
        ("instance_norm", lambda x: functional.instance_norm(x * scale), lambda at: at[:2]),
    )
    for name, call, key in rows:
        yield Case(name + " of small numbers", (call,), lambda x, k=key: lanes(x, k, normal), inputs, _TWO, factor=10.0, few=True)


def _over_two(x: Grid, weight: Grid, bias: Grid) -> Grid:
    plain = lanes(x, lambda at: at[0], right.normal)
    return fromfunction(x.shape, lambda at: plain[at] * weight[at[1:]] + bias[at[1:]])


def _among_neighbours(x: Grid) -> Grid:
    """Source: Krizhevsky et al. (2012), with the mean over three channels."""

    def element(at: tuple[int, ...]) -> Any:
        near = [x[at[0], channel, at[2]] for channel in range(at[1] - 1, at[1] + 2) if 0 <= channel < x.shape[1]]
        below = tape.dot(near, near) * (0.5 / 3) + 2.0
        return x[at] / tape.exp(tape.log(below) * 0.75)

    return fromfunction(x.shape, element)


def _running_statistics() -> Iterator[Case]:
    """As modules keep them: after two batches, by a momentum, and as a mean over all batches."""
    inputs = (given(5, 3, 4),)
    for name, momentum, share in (("BatchNorm1d's statistics after two batches", 0.25, lambda _at: 0.25), ("BatchNorm1d's statistics, mean of all", None, lambda at: 1 / at)):
        wanted = lambda x, s=share: _kept(x, s)
        yield Case(name, (lambda x, m=momentum: _after_two(x, m),), wanted, inputs, _TWO, backward=False, factor=4.0, few=True)


def _after_two(x: Any, momentum: Any) -> Any:
    module = nn.BatchNorm1d(3, momentum=momentum, dtype=x.dtype, device=x.device)
    module(x)
    module(x * 2 + 1)
    return module.running_mean, module.running_var, module.num_batches_tracked.to(x.dtype)


def _kept(x: Grid, share: Callable[[int], float]) -> tuple[Grid, ...]:
    columns = [[number for at, number in zip(x.indices(), x.flat) if at[1] == channel] for channel in range(3)]
    middle, spread = [0.0] * 3, [1.0] * 3
    for batch, change in ((1, lambda x: x), (2, lambda x: 2 * x + 1)):
        part = share(batch)
        rows = [list(map(change, row)) for row in columns]
        middle = [old * (1 - part) + right.mean(row) * part for old, row in zip(middle, rows)]
        spread = [old * (1 - part) + right.variance(row) * part for old, row in zip(spread, rows)]
    return Grid((3,), middle), Grid((3,), spread), Grid((), [2.0])


_CLASSES = 5
_WEIGHTS = [0.5, 2.0, 1.0, 0.25, 1.5]


def losses() -> Iterator[Case]:
    """Weights of classes, sums and each by itself, targets as shares, and losses of pairs."""
    goals = literal([2, 0, 4, 1, 3, 3], kind="int64")
    inputs = (real(6, _CLASSES), goals, literal(_WEIGHTS, kind="given"))
    for how in ("mean", "sum", "none"):
        for name, call, logs in (("cross_entropy", functional.cross_entropy, True), ("nll_loss", functional.nll_loss, False)):
            ways = (lambda x, g, w, c=call, h=how: c(x, g, w, ignore_index=1, reduction=h),)
            yield Case(name + " (weight, ignore_index, " + how + ")", ways, _by_class(how, logs), inputs, factor=4.0, few=True)
    shares = given(6, _CLASSES, low=0.0625, high=0.5, seed=4)
    yield Case("cross_entropy (shares)", (functional.cross_entropy,), _by_shares, (inputs[0], shares), factor=4.0, few=True)
    planes = literal([at % _CLASSES for at in range(12)], (2, 2, 3), "int64")
    yield Case("cross_entropy of planes", (functional.cross_entropy,), _of_planes, (real(2, _CLASSES, 2, 3), planes), factor=4.0)
    yield from _of_pairs()


def _by_class(how: str, logs: bool) -> Callable[..., Grid]:
    def called(x: Grid, goals: Grid, weights: Grid) -> Grid:
        each, sizes = [], []
        for row, goal in enumerate(goals.flat):
            mine = x.flat[row * _CLASSES : (row + 1) * _CLASSES]
            mine = right.log_softmax(mine) if logs else mine
            size = 0.0 if goal == 1 else weights.flat[int(goal)]
            each.append(-(mine[int(goal)] * size))
            sizes.append(size)
        if how == "none":
            return Grid((len(each),), each)
        return Grid((), [tape.total(each) * (1 / sum(sizes) if how == "mean" else 1.0)])

    return called


def _by_shares(x: Grid, shares: Grid) -> Grid:
    rows = [right.log_softmax(x.flat[at : at + _CLASSES]) for at in range(0, len(x.flat), _CLASSES)]
    flat = [number for row in rows for number in row]
    return Grid((), [-tape.dot(flat, shares.flat) * (1 / len(rows))])


def _of_planes(x: Grid, goals: Grid) -> Grid:
    parts = []
    for at, goal in zip(goals.indices(), goals.flat):
        parts.append(-right.log_softmax([x[at[0], channel, at[1], at[2]] for channel in range(_CLASSES)])[int(goal)])
    return Grid((), [right.mean(parts)])


def _of_pairs() -> Iterator[Case]:
    two, fixed = (real(5, 9), real(5, 9, seed=2)), given(5, 9, low=0.125, high=0.875, seed=3)
    signs = Input(Grid((5, 9), [1.0 if at % 3 else -1.0 for at in range(45)]), "given")
    rows: tuple[tuple[str, Any, Any, tuple[Input, ...]], ...] = (
        ("binary_cross_entropy (weight)", lambda x, y, w: right.binary(x, y) * w, functional.binary_cross_entropy, (real(5, 9, low=0.125, high=0.875), fixed, given(5, 9, seed=5, low=0.25))),
        ("binary_cross_entropy_with_logits (weight)", lambda x, y, w: right.binary_with_logits(x, y) * w, functional.binary_cross_entropy_with_logits, (two[0], fixed, given(5, 9, seed=5, low=0.25))),
        ("poisson_nll_loss", lambda x, y: tape.exp(x) - y * x, functional.poisson_nll_loss, (two[0], fixed)),
        ("soft_margin_loss", lambda x, y: tape.softplus(-(x * y)), functional.soft_margin_loss, (two[0], signs)),
        ("hinge_embedding_loss (margin)", lambda x, y: x if y > 0 else right.relu(0.53 - x), lambda x, y: functional.hinge_embedding_loss(x, y, 0.53), (two[0], signs)),
        ("margin_ranking_loss (margin)", lambda x, y, s: right.relu((y - x) * s + 0.53), lambda x, y, s: functional.margin_ranking_loss(x, y, s, 0.53), (*two, signs)),
        ("gaussian_nll_loss", lambda x, y, v: (tape.log(v) + (x - y) * (x - y) / v) * 0.5, functional.gaussian_nll_loss, (*two, real(5, 9, low=0.25, seed=6))),
    )
    for name, reference, call, inputs in rows:
        yield Case(name, (call,), right.mean_of(reference), inputs, factor=6.0, few=True)
    yield Case("kl_div (batchmean)", (lambda x, y: functional.kl_div(x, y, reduction="batchmean"),), lambda x, y: Grid((), [tape.total(map(right.divergence, x.flat, y.flat)) * (1 / 5)]), (two[0], fixed), factor=4.0, few=True)
