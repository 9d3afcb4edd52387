"""References of operators on numbers and rows: closed forms over plain or traced numbers.

Sources: the operators' published formulas (pytorch.org/docs, `torch.nn.functional`), written anew over one number.
"""

from __future__ import annotations

import math
from typing import Any, Callable, List, Sequence

from rigup_probe_grid import Grid, lanes
from rigup_probe_tape import Number, absolute, dot, erf, exp, expm1, log, plain, sigmoid, softplus, sqrt, tanh, total

Row = List[Number]


def relu(x: Number) -> Number:
    """The positive part."""
    return x if x > 0 else x * 0.0


def relu6(x: Number) -> Number:
    """Between 0 and 6."""
    return clamped(0.0, 6.0)(x)


def clamped(low: float, high: float) -> Callable[[Number], Number]:
    """Between two numbers, constant outside."""

    def called(x: Number) -> Number:
        return x * 0.0 + low if x < low else x * 0.0 + high if x > high else x * 1.0

    return called


def gelu(x: Number) -> Number:
    """x times the normal distribution up to x."""
    return x * 0.5 * (erf(x * math.sqrt(0.5)) + 1.0)


def gelu_by_tanh(x: Number) -> Number:
    """Its approximation."""
    return x * 0.5 * (tanh((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)) + 1.0)


def silu(x: Number) -> Number:
    """x times its sigmoid."""
    return x * sigmoid(x)


def mish(x: Number) -> Number:
    """x times the tanh of its softplus."""
    return x * tanh(softplus(x))


def elu(x: Number) -> Number:
    """x, and e^x - 1 below zero."""
    return x if x > 0 else expm1(x)


def selu(x: Number) -> Number:
    """elu with the two constants of self-normalizing networks (arXiv:1706.02515)."""
    return (x if x > 0 else expm1(x) * 1.6732632423543772848170429916717) * 1.0507009873554804934193349852946


def leaky_relu(x: Number) -> Number:
    """x, and a part of it below zero."""
    return x if x > 0 else x * 0.25


def hardswish(x: Number) -> Number:
    """x times a straight line between -3 and 3."""
    return x * clamped(0.0, 6.0)(x + 3.0) * (1 / 6)


def hardsigmoid(x: Number) -> Number:
    """A straight line between -3 and 3."""
    return clamped(0.0, 6.0)(x + 3.0) * (1 / 6)


def hardtanh(x: Number) -> Number:
    """Between -1 and 1."""
    return clamped(-1.0, 1.0)(x)


def softsign(x: Number) -> Number:
    """x over 1 + |x|."""
    return x / (absolute(x) + 1.0)


def logsigmoid(x: Number) -> Number:
    """The logarithm of the sigmoid."""
    return -softplus(-x)


def maximum(x: Number, y: Number) -> Number:
    """The larger; equal ones share the gradient."""
    if plain(x) == plain(y):
        return x * 0.5 + y * 0.5
    return max(y, x)


def minimum(x: Number, y: Number) -> Number:
    """The smaller; equal ones share the gradient."""
    return -maximum(-x, -y)


def largest(row: Row) -> Number:
    """The maximum of a row without equal ones."""
    return max(row, key=plain)


def smallest(row: Row) -> Number:
    """The minimum of a row without equal ones."""
    return min(row, key=plain)


def logsumexp(row: Row) -> Number:
    """The logarithm of the sum of exponentials, taken from the largest."""
    top = max(map(plain, row))
    return log(total([exp(number - top) for number in row])) + top


def log_softmax(row: Row) -> Row:
    """Each less the logarithm of the sum of exponentials."""
    top = max(map(plain, row))
    off = [number - top for number in row]
    below = log(total([exp(number) for number in off]))
    return [number - below for number in off]


def softmax(row: Row) -> Row:
    """Shares that sum to one."""
    return [exp(number) for number in log_softmax(row)]


def mean(row: Row) -> Number:
    """The arithmetic mean."""
    return total(row) * (1 / len(row))


def variance(row: Row, less: int = 1) -> Number:
    """The variance, divided by n - 1 by default."""
    off = _off(row)
    return dot(off, off) * (1 / (len(row) - less))


def _off(row: Row) -> Row:
    middle = mean(row)
    return [number - middle for number in row]


def deviation(row: Row) -> Number:
    """The standard deviation."""
    return sqrt(variance(row))


def length(row: Row) -> Number:
    """The Euclidean norm."""
    return sqrt(dot(row, row))


def product(row: Row) -> Number:
    """All multiplied."""
    result = row[0]
    for number in row[1:]:
        result = result * number
    return result


def running_sum(row: Row) -> Row:
    """Sums up to each."""
    return _running(row, lambda before, number: before + number)


def running_product(row: Row) -> Row:
    """Products up to each."""
    return _running(row, lambda before, number: before * number)


def running_maximum(row: Row) -> Row:
    """The largest up to each."""
    return _running(row, lambda before, number: max(number, before))


def _running(row: Row, step: Callable[[Number, Number], Number]) -> Row:
    result: Row = []
    for number in row:
        result.append(step(result[-1], number) if result else number)
    return result


EPSILON = 0.125  # under the root of norms: as large, that a norm that forgets it is seen


def normal(row: Row) -> Row:
    """Mean 0 and variance 1."""
    off = _off(row)
    below = 1.0 / sqrt(dot(off, off) * (1 / len(row)) + EPSILON)
    return [number * below for number in off]


def root_mean_square(row: Row) -> Row:
    """Root mean square 1."""
    below = 1.0 / sqrt(dot(row, row) * (1 / len(row)) + EPSILON)
    return [number * below for number in row]


def layer_norm(x: Grid, scale: Grid, shift: Grid) -> Grid:
    """Over the last dimension."""
    return affine(lanes(x, lambda index: index[:-1], normal), scale, shift, -1)


def rms_norm(x: Grid, scale: Grid) -> Grid:
    """Over the last dimension."""
    return affine(lanes(x, lambda index: index[:-1], root_mean_square), scale, None, -1)


def batch_norm(x: Grid, scale: Grid, shift: Grid) -> Grid:
    """Over all but the channels, by their own statistics."""
    return affine(lanes(x, lambda index: index[1], normal), scale, shift, 1)


def batch_norm_by(x: Grid, middle: Grid, spread: Grid, scale: Grid, shift: Grid) -> Grid:
    """By statistics that were given."""
    flat = [(v - middle.flat[index[1]]) / sqrt(spread.flat[index[1]] + EPSILON) for index, v in zip(x.indices(), x.flat)]
    return affine(Grid(x.shape, flat), scale, shift, 1)


def group_norm(groups: int) -> Callable[[Grid, Grid, Grid], Grid]:
    """Over groups of channels, for each example."""

    def called(x: Grid, scale: Grid, shift: Grid) -> Grid:
        size = x.shape[1] // groups
        return affine(lanes(x, lambda index: (index[0], index[1] // size), normal), scale, shift, 1)

    return called


def instance_norm(x: Grid) -> Grid:
    """Over the places of each channel of each example."""
    return lanes(x, lambda index: index[:2], normal)


def affine(x: Grid, scale: Grid, shift: Any, dim: int) -> Grid:
    """Times a scale and with a shift, which go along one dimension."""
    flat = []
    for index, number in zip(x.indices(), x.flat):
        scaled = number * scale.flat[index[dim]]
        flat.append(scaled + shift.flat[index[dim]] if shift is not None else scaled)
    return Grid(x.shape, flat)


def cross_entropy(smoothing: float = 0.0, ignored: int = -100) -> Callable[[Grid, Grid], Grid]:
    """The mean negative log-probability of the right class."""

    def called(scores: Grid, goals: Grid) -> Grid:
        classes = scores.shape[1]
        losses = []
        for row, goal in enumerate(goals.flat):
            logs = log_softmax(scores.flat[row * classes : (row + 1) * classes])
            if goal != ignored:
                losses.append(-(logs[int(goal)] * (1 - smoothing) + total(logs) * (smoothing / classes)))
        return Grid((), [mean(losses)])

    return called


def negative_log_likelihood(logs: Grid, goals: Grid) -> Grid:
    """The negative mean of the entries at the right classes."""
    return Grid((), [-mean([logs[row, int(goal)] for row, goal in enumerate(goals.flat)])])


def mean_of(function: Callable[..., Number]) -> Callable[..., Grid]:
    """The mean of a loss over all pairs."""

    def called(*grids: Grid) -> Grid:
        return Grid((), [mean(list(map(function, *(grid.flat for grid in grids))))])

    return called


def squared(x: Number, y: Number) -> Number:
    """The squared difference."""
    return (x - y) * (x - y)


def huber(x: Number, y: Number) -> Number:
    """Half the square near zero, straight beyond 1."""
    off = absolute(x - y)
    return off * off * 0.5 if off < 1 else off - 0.5


def binary_with_logits(x: Number, y: Number) -> Number:
    """The cross entropy of a probability whose logit is given."""
    return softplus(x) - x * y


def binary(x: Number, y: Number) -> Number:
    """The cross entropy of a probability."""
    return -(y * log(x) + (1.0 - y) * log(1.0 - x))


def divergence(x: Number, y: Number) -> Number:
    """Kullback and Leibler's, of y from e^x."""
    return y * (log(y) - x)


def take(numbers: Sequence[Number], at: Sequence[float]) -> Row:
    """Those at some places."""
    return [numbers[int(place)] for place in at]
