"""Tables of operators on rows: reductions, softmax, losses, normalization; one row each."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import torch
from rigup_probe_grid import Grid, along, always, reduced
from rigup_probe_tape import total
from rigup_probe_torch_cases import Case, distinct, given, literal, real
from torch import nn
from torch.nn import functional

_EPS = right.EPSILON


def reductions() -> Iterator[Case]:
    """Over each dimension, and over all."""
    rows: tuple[tuple[str, Any, Any, Any], ...] = (
        ("sum", torch.sum, total, real(5, 6, 7)),
        ("mean", torch.mean, right.mean, real(5, 6, 7)),
        ("var", torch.var, right.variance, real(5, 6, 7)),
        ("std", torch.std, right.deviation, real(5, 6, 7)),
        ("norm", torch.norm, right.length, real(5, 6, 7)),
        ("amax", torch.amax, right.largest, distinct(5, 6, 7)),
        ("amin", torch.amin, right.smallest, distinct(5, 6, 7)),
        ("logsumexp", torch.logsumexp, right.logsumexp, real(5, 6, 7)),
        ("prod", torch.prod, right.product, real(3, 4, 2, low=0.5, high=2)),
    )
    for name, call, reference, input_ in rows:
        for dim in (0, 1, 2):
            calls = (lambda x, c=call, d=dim: c(x, dim=d),)
            yield Case(name + " over dimension " + str(dim), calls, reduced((dim,), reference), (input_,), factor=4.0)
        if name != "logsumexp":
            yield Case(name + " over all", (lambda x, c=call: c(x),), reduced((), reference), (input_,), factor=4.0)
    yield from _of_many()
    yield from _running()
    yield from _choosing()


def _of_many() -> Iterator[Case]:
    """Long rows: a sum that is kept in a short type stands still."""
    wide = given(2, 4099, low=0.5, high=1.5)
    for name, call, reference in (("sum", torch.sum, total), ("mean", torch.mean, right.mean), ("norm", torch.norm, right.length), ("var", torch.var, right.variance), ("logsumexp", torch.logsumexp, right.logsumexp)):
        yield Case(name + " of long rows", (lambda x, c=call: c(x, dim=1),), reduced((1,), reference), (wide,), backward=False)
        yield Case(name + " of long columns", (lambda x, c=call: c(x, dim=0),), reduced((0,), reference), (given(1031, 3, low=0.5, high=1.5),), backward=False)
    yield Case("any and all", (lambda x: (x > 2).any(0).sum() + (x > 2).all(1).sum() + 0 * x.sum().long(),), _any_and_all, (literal([3.0, 1, 3, 1, 3, 3, 3, 3, 1, 1, 1, 1], (3, 4), "given"),), backward=False)
    yield Case("count_nonzero", (torch.count_nonzero,), lambda x: Grid((), [sum(map(bool, x.flat))]), (literal([0.0, 1, 2, 0, 5], kind="given"),), backward=False)


def _any_and_all(x: Grid) -> Grid:
    rows = [x.flat[at * 4 : at * 4 + 4] for at in range(3)]
    columns = sum(any(row[at] > 2 for row in rows) for at in range(4))
    return Grid((), [columns + sum(all(number > 2 for number in row) for row in rows)])


def _running() -> Iterator[Case]:
    for dim in (0, 1):
        for name, call, reference in (("cumsum", torch.cumsum, right.running_sum), ("cumprod", torch.cumprod, right.running_product)):
            values = real(6, 9, low=0.5, high=1.5)
            yield Case(name + " over dimension " + str(dim), (lambda x, c=call, d=dim: c(x, d),), along(dim, reference), (values,), factor=8.0)
    values = distinct(6, 9)
    yield Case("cummax", (lambda x: torch.cummax(x, 1)[0],), along(1, right.running_maximum), (values,))
    yield Case("cumsum of a long row", (lambda x: torch.cumsum(x, 0),), along(0, right.running_sum), (given(1031, low=-1, high=1),), ("float64", "float32"), backward=False, factor=4)


def _choosing() -> Iterator[Case]:
    """Which is the largest; of equal ones, where it is promised."""
    for name, call, function in (("argmax", torch.argmax, max), ("argmin", torch.argmin, min)):
        for dim in (0, 1):
            reference = reduced((dim,), lambda row, f=function: float(row.index(f(row))))
            yield Case(name + " over dimension " + str(dim), (lambda x, c=call, d=dim: c(x, d),), reference, (distinct(12, 19)._replace(kind="given"),), backward=False)
        values = given(3, 1031, low=-3, high=3, step=1 / 64)._replace(kind="given")
        flat = [v + (5.0 * (1 if function is max else -1) if at % 1031 == 777 else 0.0) for at, v in enumerate(values.grid.flat)]
        far = values._replace(grid=Grid((3, 1031), flat))
        yield Case(name + " of long rows", (lambda x, c=call: c(x, 1),), always(Grid((3,), [777.0] * 3)), (far,), backward=False)
        calls = (lambda x, n=name[3:]: getattr(torch, n)(x, 1)[0],)
        pick = right.largest if function is max else right.smallest
        yield Case(name[3:] + " with its place", calls, reduced((1,), pick), (distinct(12, 19),))


def softmaxes() -> Iterator[Case]:
    """Also of large numbers, over each dimension, and in a module."""
    for name, call, module, reference in (("softmax", functional.softmax, nn.Softmax, right.softmax), ("log_softmax", functional.log_softmax, nn.LogSoftmax, right.log_softmax)):
        for dim in (0, 1, 2):
            calls = (lambda x, c=call, d=dim: c(x, d), module(dim))
            yield Case(name + " over dimension " + str(dim), calls, along(dim, reference), (real(3, 5, 9),), factor=4.0)
        for wide in (1, 2, 16, 33, 129):
            yield Case(name + " of rows of " + str(wide), (lambda x, c=call: c(x, -1),), along(-1, reference), (real(4, wide),), factor=8.0)
        yield Case(name + " of long rows", (lambda x, c=call: c(x, -1),), along(-1, reference), (real(2, 1031),), factor=4.0)
        large = literal([1000.0, 992, 1000, 984, -1000, -1008, -1016, -1000, 0, 88, 90, 89], (3, 4))
        yield Case(name + " of large numbers", (lambda x, c=call: c(x, -1),), along(-1, reference), (large,), factor=4.0)
        yield Case(name + " of four dimensions", (lambda x, c=call: c(x, -1),), along(-1, reference), (real(2, 2, 5, 7),), factor=4.0)
    least: Callable[..., Any] = lambda row: right.softmax([-number for number in row])
    for dim in (0, 1):
        ways = (functional.softmin, lambda x, dim: nn.Softmin(dim)(x))
        yield Case("softmin over dimension " + str(dim), tuple(lambda x, c=call, d=dim: c(x, d) for call in ways), along(dim, least), (real(4, 9),), factor=4.0)


def losses() -> Iterator[Case]:
    """Forward and backward."""
    goals = literal([2, 0, 5, 1, 6, 3, 3], kind="int64")
    scores, large = real(7, 9), real(7, 9, low=-100, high=100, step=1)
    entropy = functional.cross_entropy
    yield Case("cross_entropy", (entropy, nn.CrossEntropyLoss()), right.cross_entropy(), (scores, goals), factor=2.0)
    yield Case("cross_entropy of large numbers", (entropy,), right.cross_entropy(), (large, goals), factor=2.0)
    yield Case("cross_entropy (smoothed)", (lambda x, g: entropy(x, g, label_smoothing=0.25),), right.cross_entropy(0.25), (scores, goals), factor=4.0)
    yield Case("cross_entropy (ignore_index)", (lambda x, g: entropy(x, g, ignore_index=3),), right.cross_entropy(0.0, 3), (scores, goals), factor=2.0)
    wide = literal([1000, 3, 517], kind="int64")
    yield Case("cross_entropy of many classes", (entropy,), right.cross_entropy(), (real(3, 1031), wide), factor=2.0)
    yield Case("nll_loss", (functional.nll_loss, nn.NLLLoss()), right.negative_log_likelihood, (scores, goals), factor=2.0)
    two, shares = (real(5, 9), real(5, 9, seed=2)), real(5, 9, low=0.125, high=0.875, seed=3)
    yield Case("mse_loss", (functional.mse_loss, nn.MSELoss()), right.mean_of(right.squared), two, factor=2.0)
    yield Case("l1_loss", (functional.l1_loss, nn.L1Loss()), right.mean_of(lambda x, y: right.absolute(x - y)), two, factor=2.0)
    yield Case("smooth_l1_loss", (functional.smooth_l1_loss, nn.SmoothL1Loss()), right.mean_of(right.huber), two, factor=2.0)
    yield Case("huber_loss", (functional.huber_loss, nn.HuberLoss()), right.mean_of(right.huber), two, factor=2.0)
    fixed = shares._replace(kind="given")
    yield Case("binary_cross_entropy_with_logits", (functional.binary_cross_entropy_with_logits, nn.BCEWithLogitsLoss()), right.mean_of(right.binary_with_logits), (two[0], fixed), factor=4.0)
    yield Case("binary_cross_entropy", (functional.binary_cross_entropy, nn.BCELoss()), right.mean_of(right.binary), (real(5, 9, low=0.125, high=0.875), fixed), factor=4.0)
    yield Case("kl_div", (lambda x, y: functional.kl_div(x, y, reduction="mean"),), right.mean_of(right.divergence), (two[0], fixed), factor=4.0)
    yield Case("cosine_similarity", (lambda x, y: functional.cosine_similarity(x, y, 1),), _cosine, two, factor=4.0)
    yield Case("normalize", (lambda x: functional.normalize(x, dim=1),), along(1, _unit), (real(5, 9),), factor=4.0)


def _cosine(x: Grid, y: Grid) -> Grid:
    wide, dot = x.shape[1], right.dot
    pairs = [(x.flat[at : at + wide], y.flat[at : at + wide]) for at in range(0, len(x.flat), wide)]
    return Grid((x.shape[0],), [dot(a, b) / (right.length(a) * right.length(b)) for a, b in pairs])


def _unit(row: list[Any]) -> list[Any]:
    below = right.length(row)
    return [number / below for number in row]


def normalizations() -> Iterator[Case]:
    """Of layers, batches, groups, instances; training and eval."""
    for shape in ((7, 12), (2, 3, 33), (1, 1), (3, 257), (64, 8)):
        wide = shape[-1:]
        inputs = (real(*shape), real(*wide, seed=2, low=0.25), real(*wide, seed=3))
        name = " of rows of " + str(shape[-1])
        yield Case("layer_norm" + name, (lambda x, w, b: functional.layer_norm(x, w.shape, w, b, _EPS),), right.layer_norm, inputs, factor=4.0)
        if hasattr(functional, "rms_norm"):
            yield Case("rms_norm" + name, (lambda x, w: functional.rms_norm(x, w.shape, w, _EPS),), right.rms_norm, inputs[:2], factor=4.0)
    several: tuple[tuple[int, ...], ...]
    several = ((9, 6), (4, 6, 7), (3, 6, 5, 3), (2, 6, 2, 3, 4))
    for channels in several:
        yield from _by_channels(channels)
    yield Case("batch_norm's running statistics", (_running_statistics,), _statistics_wanted, (given(9, 4), given(4, seed=2), given(4, seed=3, low=0.25)), ("float64", "float32"), backward=False, factor=4.0)
    yield Case("BatchNorm1d", (_batch_module,), _statistics_and_result, (given(9, 4),), ("float64", "float32"), backward=False, factor=4.0)


def _by_channels(shape: tuple[int, ...]) -> Iterator[Case]:
    inputs = (real(*shape), real(6, seed=2, low=0.25), real(6, seed=3))
    kept = (given(6, seed=4), given(6, seed=5, low=0.25))
    name = " of " + str(len(shape)) + " dimensions"
    yield Case("batch_norm" + name, (lambda x, w, b: functional.batch_norm(x, None, None, w, b, True, 0.1, _EPS),), right.batch_norm, inputs, factor=4.0)
    yield Case("batch_norm in eval" + name, (lambda x, m, v, w, b: functional.batch_norm(x, m, v, w, b, False, 0.1, _EPS),), right.batch_norm_by, (inputs[0], *kept, *inputs[1:]), factor=4.0)
    for groups in (1, 3):
        yield Case("group_norm by " + str(groups) + name, (lambda x, w, b, g=groups: functional.group_norm(x, g, w, b, _EPS),), right.group_norm(groups), inputs, factor=4.0)
    if len(shape) > 2:
        yield Case("instance_norm" + name, (lambda x: functional.instance_norm(x, eps=_EPS),), right.instance_norm, inputs[:1], factor=4.0)


def _running_statistics(x: Any, middle: Any, spread: Any) -> Any:
    middle, spread = middle.clone(), spread.clone()
    functional.batch_norm(x, middle, spread, None, None, True, 0.25, _EPS)
    return middle, spread


def _statistics_wanted(x: Grid, middle: Grid, spread: Grid) -> Any:
    columns = [x.flat[at::4] for at in range(4)]
    means = [0.75 * old + 0.25 * right.mean(column) for old, column in zip(middle.flat, columns)]
    return Grid((4,), means), Grid((4,), [0.75 * old + 0.25 * right.variance(column) for old, column in zip(spread.flat, columns)])


def _batch_module(x: Any) -> Any:
    module = nn.BatchNorm1d(4, eps=_EPS, momentum=0.25, dtype=x.dtype, device=x.device)
    result = module(x)
    return result, module.running_mean, module.running_var, module.eval()(x)


def _statistics_and_result(x: Grid) -> Any:
    ones, zero = Grid((4,), [1.0] * 4), Grid((4,), [0.0] * 4)
    middle, spread = _statistics_wanted(x, zero, ones)
    return right.batch_norm(x, ones, zero), middle, spread, right.batch_norm_by(x, middle, spread, ones, zero)
