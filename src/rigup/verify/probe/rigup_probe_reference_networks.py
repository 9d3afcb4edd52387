"""References of products, convolutions, pooling, attention and recurrent cells: sums over indices, by definition.

Sources: the definitions in pytorch.org/docs (`torch.nn`) and, for attention, arXiv:1706.03762.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable, Sequence

from rigup_probe_grid import Grid, fromfunction
from rigup_probe_reference import mean, softmax
from rigup_probe_tape import Number, dot, plain, sigmoid, tanh


def matmul(left: Grid, right: Grid) -> Grid:
    """Of matrices, vectors and batches of them, as numpy's `matmul`."""
    if len(left.shape) == len(right.shape) == 1:
        return Grid((), [dot(left.flat, right.flat)])
    if len(left.shape) == 1:
        result = matmul(Grid((1, *left.shape), left.flat), right)
        return Grid((*result.shape[:-2], result.shape[-1]), result.flat)
    if len(right.shape) == 1:
        result = matmul(left, Grid((*right.shape, 1), right.flat))
        return Grid(result.shape[:-1], result.flat)
    (rows, inner), columns = left.shape[-2:], right.shape[-1]
    batch = left.shape[:-2] if len(left.shape) >= len(right.shape) else right.shape[:-2]
    flat = []
    for number in range(math.prod(batch)):
        mine = left.flat[(number * rows * inner) % max(len(left.flat), 1) :][: rows * inner]
        theirs = right.flat[(number * inner * columns) % max(len(right.flat), 1) :][: inner * columns]
        turned = [theirs[column::columns] for column in range(columns)]
        flat += [dot(mine[row * inner : (row + 1) * inner], column_values) for row in range(rows) for column_values in turned]
    return Grid((*batch, rows, columns), flat)


def linear(x: Grid, weight: Grid, bias: Any = None) -> Grid:
    """Rows by the rows of a weight, and a bias."""
    outputs, inner = weight.shape
    rows = [weight.flat[at * inner : (at + 1) * inner] for at in range(outputs)]
    flat = []
    for start in range(0, len(x.flat), inner):
        values = [dot(x.flat[start : start + inner], row) for row in rows]
        flat += [number + bias.flat[at] if bias else number for at, number in enumerate(values)]
    return Grid((*x.shape[:-1], outputs), flat)


def convolution(stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1) -> Callable[..., Grid]:
    """In any number of dimensions: N, C, places; weight: outputs, C / groups, places."""

    def called(x: Grid, weight: Grid, bias: Any = None) -> Grid:
        window, share, inner = weight.shape[2:], weight.shape[0] // groups, weight.shape[1]
        sizes = [(size + 2 * padding - dilation * (extent - 1) - 1) // stride + 1 for size, extent in zip(x.shape[2:], window)]
        parts, area = math.prod(window), math.prod(x.shape[2:])
        offsets = list(enumerate(itertools.product(*map(range, window))))
        flat: dict[tuple[int, ...], Number] = {}
        for place in itertools.product(*map(range, sizes)):
            inside = []  # which part of the window lies on which number of a channel
            for part, at in offsets:
                source = [here * stride - padding + off * dilation for here, off in zip(place, at)]
                if all(0 <= coordinate < size for coordinate, size in zip(source, x.shape[2:])):
                    inside.append((part, sum(coordinate * step for coordinate, step in zip(source, x.steps[2:]))))
            for number, group in itertools.product(range(x.shape[0]), range(groups)):
                first = number * x.shape[1] + group * inner
                values = [x.flat[(first + channel) * area + at] for channel in range(inner) for _part, at in inside]
                for output in range(group * share, (group + 1) * share):
                    begin = output * inner * parts
                    weights = [weight.flat[begin + channel * parts + part] for channel in range(inner) for part, _at in inside]
                    result = dot(values, weights)
                    flat[(number, output, *place)] = result + bias.flat[output] if bias else result
        return fromfunction((x.shape[0], weight.shape[0], *sizes), flat.__getitem__)

    return called


def transposed_convolution(
    stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1, output_padding: int = 0
) -> Callable[..., Grid]:
    """Transposed convolution; weight: C, outputs / groups, spatial sizes."""

    def called(x: Grid, weight: Grid, bias: Any = None) -> Grid:
        window, share = weight.shape[2:], x.shape[1] // groups
        fixed = output_padding - 2 * padding + 1
        sizes = [(size - 1) * stride + dilation * (extent - 1) + fixed for size, extent in zip(x.shape[2:], window)]
        outputs = weight.shape[1] * groups
        pairs: dict[tuple[int, ...], tuple[list[Number], list[Number]]] = {}
        for source, value in zip(x.indices(), x.flat):
            for at in itertools.product(range(weight.shape[1]), *map(range, window)):
                target = source[1] // share * weight.shape[1] + at[0]
                place = [here * stride - padding + off * dilation for here, off in zip(source[2:], at[1:])]
                lists = pairs.setdefault((source[0], target, *place), ([], []))
                lists[0].append(value)
                lists[1].append(weight[(source[1], *at)])

        def element(index: tuple[int, ...]) -> Number:
            result = dot(*pairs.get(index, ([], [])))
            return result + bias.flat[index[1]] if bias else result

        return fromfunction((x.shape[0], outputs, *sizes), element)

    return called


def pool(size: int, stride: int, padding: int, function: Callable[[list[Any]], Any], whole: bool) -> Callable[[Grid], Grid]:
    """A function of each window; `whole`: places outside count as zeros, else they are left out."""

    def called(x: Grid) -> Grid:
        sizes = [(extent + 2 * padding - size) // stride + 1 for extent in x.shape[2:]]

        def element(index: tuple[int, ...]) -> Number:
            values = []
            for at in itertools.product(range(size), repeat=len(sizes)):
                source = (*index[:2], *(here * stride - padding + off for here, off in zip(index[2:], at)))
                values += [x[source]] if x.has(source) else [0.0] if whole else []
            return function(values)

        return fromfunction((*x.shape[:2], *sizes), element)

    return called


def adaptive_mean(outputs: int) -> Callable[[Grid], Grid]:
    """Adaptive mean pooling to a number of outputs in each dimension."""

    def part(at: int, size: int) -> range:
        return range(at * size // outputs, -(-(at + 1) * size // outputs))

    def called(x: Grid) -> Grid:
        def element(index: tuple[int, ...]) -> Number:
            parts = [part(at, size) for at, size in zip(index[2:], x.shape[2:])]
            return mean([x[(*index[:2], *place)] for place in itertools.product(*parts)])

        return fromfunction((*x.shape[:2], *(outputs for _ in x.shape[2:])), element)

    return called


def attention(causal: bool = False, scale: Any = None, shared: int = 1) -> Callable[..., Grid]:
    """softmax(Q Kᵀ / √d + mask) V. A Boolean mask keeps what is True; `shared`: query heads per key head."""

    def called(query: Grid, key: Grid, value: Grid, mask: Any = None) -> Grid:
        keys, wide, deep = key.shape[-2], query.shape[-1], value.shape[-1]
        factor = scale or 1 / math.sqrt(wide)
        flat = []
        for index in itertools.product(*map(range, query.shape[:-1])):
            head = (*index[:-2], index[-2] // shared)
            start = query.place((*index, 0))
            asked = query.flat[start : start + wide]
            open_ = [at for at in range(keys) if not (causal and at > index[-1]) and _lets(mask, (*index, at))]
            scores = []
            for at in open_:
                first = key.place((*head, at, 0))
                score = dot(asked, key.flat[first : first + wide]) * factor
                scores.append(score + _spread(mask, (*index, at)) if mask and not _is_truth(mask) else score)
            shares = softmax(scores)
            flat += [dot(shares, [value[(*head, at, part)] for at in open_]) for part in range(deep)]
        return Grid((*query.shape[:-1], deep), flat)

    return called


def _is_truth(mask: Grid) -> bool:
    return isinstance(mask.flat[0], bool)


def _lets(mask: Any, index: tuple[int, ...]) -> bool:
    return not mask or not _is_truth(mask) or bool(_spread(mask, index))


def _spread(mask: Grid, index: tuple[int, ...]) -> Any:
    """A mask of fewer dimensions, or of one number in a dimension, serves all that it is spread over."""
    last = index[len(index) - len(mask.shape) :]
    return mask[tuple(0 if size == 1 else at for at, size in zip(last, mask.shape))]


def multihead(heads: int, causal: bool = False) -> Callable[..., Grid]:
    """Attention with its projections, of N, L, E to itself."""

    def called(x: Grid, inward: Grid, bias: Grid, outward: Grid, last: Grid) -> Grid:
        batch, steps, wide = x.shape
        three, size = linear(x, inward, bias), x.shape[2] // heads

        def part(number: int) -> Grid:
            shape = (batch, heads, steps, size)
            return fromfunction(shape, lambda at: three[at[0], at[2], number * wide + at[1] * size + at[3]])

        mixed = attention(causal)(part(0), part(1), part(2))
        joined = fromfunction((batch, steps, wide), lambda at: mixed[at[0], at[2] // size, at[1], at[2] % size])
        return linear(joined, outward, last)

    return called


def recurrent(cell: Callable[..., Any], gates: int, states: int) -> Callable[..., Grid]:
    """A layer of cells over L, N, E; all its outputs. weight: gates x hidden, E; then gates x hidden, hidden; biases."""

    def called(x: Grid, inward: Grid, inner: Grid, first: Grid, second: Grid) -> Grid:
        steps, batch, _wide = x.shape
        size = inner.shape[1]
        state = [[[0.0] * size for _ in range(batch)] for _ in range(states)]
        flat: list[Number] = []
        for step in range(steps):
            for number in range(batch):
                start = x.place((step, number, 0))
                here = linear(Grid((1, x.shape[2]), x.flat[start : start + x.shape[2]]), inward, first).flat
                before = linear(Grid((1, size), state[0][number]), inner, second).flat
                split = [(here[at * size : (at + 1) * size], before[at * size : (at + 1) * size]) for at in range(gates)]
                for place, vector in enumerate(cell(split, [vectors[number] for vectors in state])):
                    state[place][number] = vector
                flat += state[0][number]
        return Grid((steps, batch, size), flat)

    return called


def _added(pair: Sequence[Sequence[Number]], function: Callable[[Number], Number]) -> list[Number]:
    return [function(number + other) for number, other in zip(*pair)]


def rnn_cell(gates: Any, _state: Any) -> Any:
    """Elman's, with tanh."""
    return [_added(gates[0], tanh)]


def rectified_cell(gates: Any, _state: Any) -> Any:
    """Elman's, with the positive part."""
    return [_added(gates[0], lambda x: x if x > 0 else x * 0.0)]


def lstm_cell(gates: Any, state: Any) -> Any:
    """In the order input, forget, cell, output."""
    enter, forget, new, leave = (_added(pair, function) for pair, function in zip(gates, (sigmoid, sigmoid, tanh, sigmoid)))
    cell = [f * c + i * g for f, c, i, g in zip(forget, state[1], enter, new)]
    return [[o * tanh(c) for o, c in zip(leave, cell)], cell]


def gru_cell(gates: Any, state: Any) -> Any:
    """A GRU cell, gates in the order reset, update, new; the reset gate multiplies the recurrent product."""
    reset, update = _added(gates[0], sigmoid), _added(gates[1], sigmoid)
    new = [tanh(x + r * h) for x, r, h in zip(gates[2][0], reset, gates[2][1])]
    return [[(1.0 - z) * n + z * h for z, n, h in zip(update, new, state[0])]]


def embedding(padding: int = -1) -> Callable[[Grid, Grid], Grid]:
    """Rows of a table; the padding row gets no gradient."""

    def called(rows: Grid, table: Grid) -> Grid:
        def element(index: tuple[int, ...]) -> Number:
            row = int(rows[index[:-1]])
            number = table[row, index[-1]]
            return plain(number) if row == padding else number

        return fromfunction((*rows.shape, table.shape[1]), element)

    return called
