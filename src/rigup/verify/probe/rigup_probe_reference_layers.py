"""References of recurrent layers, masked heads, embedding bags and norms by given statistics, by definition.

Sources: the definitions in pytorch.org/docs (`torch.nn`).
"""

from __future__ import annotations

import itertools
from typing import Any, Callable, List, Sequence

from rigup_probe_grid import Grid, fromfunction
from rigup_probe_reference_networks import attention, linear
from rigup_probe_tape import Number, plain, sqrt, total

State = List[List[List[Number]]]


def stacked(cell: Callable[..., Any], gates: int, states: int, layers: int, both: bool) -> Callable[..., Any]:
    """Layers of cells over L, N, E, from states that are given; all outputs of the last, and the states at its end.

    The inputs: x, then each state (layers x ways, N, H), then four weights for each layer and way.
    """

    def called(x: Grid, *more: Grid) -> tuple[Grid, ...]:
        begun, weights = more[:states], more[states:]
        ends: list[State] = []
        ways = 2 if both else 1
        for layer in range(layers):
            outputs = []
            for way in range(ways):
                number = layer * ways + way
                state = [_rows(begin, number) for begin in begun]
                layer_weights = weights[4 * number : 4 * number + 4]
                outputs.append(_one_way(cell, gates, x, layer_weights, state, backward=way == 1))
                ends.append(state)
            x = _joined(x.shape[:2], outputs)
        size = weights[1].shape[1]
        shape = (layers * ways, x.shape[1], size)
        return (x, *(Grid(shape, [n for state in ends for row in state[at] for n in row]) for at in range(states)))

    return called


def _rows(grid: Grid, number: int) -> list[list[Number]]:
    _count, batch, size = grid.shape
    return [grid.flat[(number * batch + row) * size :][:size] for row in range(batch)]


def _one_way(
    cell: Callable[..., Any], gates: int, x: Grid, weights: Sequence[Grid], state: State, backward: bool
) -> dict[tuple[int, int], list[Number]]:
    """The output of each step and example; `state` is updated to the final state."""
    inward, inner, first, second = weights
    steps, batch, wide = x.shape
    size = inner.shape[1]
    outputs = {}
    for step in reversed(range(steps)) if backward else range(steps):
        for number in range(batch):
            start = x.place((step, number, 0))
            here = linear(Grid((1, wide), x.flat[start : start + wide]), inward, first).flat
            before = linear(Grid((1, size), state[0][number]), inner, second).flat
            split = [(here[at * size : (at + 1) * size], before[at * size : (at + 1) * size]) for at in range(gates)]
            for place, new in enumerate(cell(split, [vectors[number] for vectors in state])):
                state[place][number] = new
            outputs[step, number] = state[0][number]
    return outputs


def _joined(shape: Sequence[int], outputs: Sequence[dict[tuple[int, int], list[Number]]]) -> Grid:
    steps, batch = shape
    flat = [number for at in itertools.product(range(steps), range(batch)) for way in outputs for number in way[at]]
    return Grid((steps, batch, len(flat) // (steps * batch)), flat)


def heads_across(heads: int) -> Callable[..., Grid]:
    """Attention with its projections from N, L, E to the keys and values of N, S, E; `hidden` keys are not looked at."""

    def called(query: Grid, key: Grid, value: Grid, inward: Grid, bias: Grid, outward: Grid, last: Grid, hidden: Any = None) -> Grid:
        batch, _steps, wide = query.shape
        parts = []
        for number, source in enumerate((query, key, value)):
            weight = Grid((wide, wide), inward.flat[number * wide * wide : (number + 1) * wide * wide])
            shift = Grid((wide,), bias.flat[number * wide : (number + 1) * wide])
            parts.append(_by_heads(linear(source, weight, shift), heads))
        shown = Grid((batch, 1, 1, key.shape[1]), [not flag for flag in hidden.flat]) if hidden else None
        mixed, size = attention()(*parts, shown), wide // heads
        joined = fromfunction(query.shape, lambda at: mixed[at[0], at[2] // size, at[1], at[2] % size])
        return linear(joined, outward, last)

    return called


def _by_heads(x: Grid, heads: int) -> Grid:
    batch, steps, wide = x.shape
    size = wide // heads
    return fromfunction((batch, heads, steps, size), lambda at: x[at[0], at[2], at[1] * size + at[3]])


def bags(ends: Sequence[tuple[int, int]], function: Callable[[list[Number]], Number]) -> Callable[..., Grid]:
    """A function of each column of the rows that a bag names; each row times its weight, where there are weights."""

    def called(rows: Grid, table: Grid, weights: Any = None) -> Grid:
        def bag(index: tuple[int, ...]) -> Number:
            first, last = ends[index[0]]
            return function([table[int(rows.flat[at]), index[1]] * (weights.flat[at] if weights else 1.0) for at in range(first, last)])

        return fromfunction((len(ends), table.shape[1]), bag)

    return called


def shortened(most: float) -> Callable[[Grid, Grid], Grid]:
    """Rows of a table, none longer than so much."""

    def called(rows: Grid, table: Grid) -> Grid:
        wide = table.shape[1]
        lengths = [plain(sqrt(total(number * number for number in table.flat[at : at + wide]))) for at in range(0, len(table.flat), wide)]
        shares = [min(1.0, most / (length + 1e-7)) for length in lengths]
        return fromfunction((*rows.shape, wide), lambda at: table[int(rows[at[:-1]]), at[-1]] * shares[int(rows[at[:-1]])])

    return called


def by_frequency(rows: Grid, table: Grid) -> Grid:
    """Rows of an embedding table with gradients scaled by the rows' frequency."""

    def element(at: tuple[int, ...]) -> Number:
        row = int(rows[at[:-1]])
        number = table[row, at[-1]]
        return plain(number) + (number - plain(number)) * (1 / rows.flat.count(row))

    return fromfunction((*rows.shape, table.shape[1]), element)
