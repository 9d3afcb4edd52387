"""Arrays in plain Python: a shape and a flat list of numbers, and the ways to walk over them."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any, Callable, Iterator, List, Sequence, Tuple

Index = Tuple[int, ...]
Lane = Callable[[List[Any]], List[Any]]


class Grid:
    """Numbers in rows, the last dimension the fastest."""

    def __init__(self, shape: Sequence[int], flat: Sequence[Any]) -> None:
        self.shape, self.flat = tuple(shape), list(flat)
        if len(self.flat) != math.prod(self.shape):
            raise ValueError("a grid of " + str(self.shape) + " does not have " + str(len(self.flat)) + " numbers")
        self.steps = [math.prod(self.shape[place + 1 :]) for place in range(len(self.shape))]

    def __getitem__(self, index: Index) -> Any:
        return self.flat[self.place(index)]

    def place(self, index: Index) -> int:
        """Where an index lies in the flat list."""
        return sum(map(operator.mul, self.steps, index))

    def indices(self) -> Iterator[Index]:
        """Each index, in the order of the flat list."""
        return itertools.product(*map(range, self.shape))

    def has(self, index: Index) -> bool:
        """Whether an index lies inside."""
        return all(0 <= at < size for at, size in zip(index, self.shape))


def fromfunction(shape: Sequence[int], function: Callable[[Index], Any]) -> Grid:
    """A grid whose number at each index a function gives."""
    return Grid(shape, [function(index) for index in itertools.product(*map(range, shape))])


def each(function: Callable[..., Any]) -> Callable[..., Grid]:
    """A function of numbers as a function of grids, which are broadcast against each other."""

    def called(*grids: Grid) -> Grid:
        shape = _broadcast(grids)
        if all(grid.shape == shape for grid in grids):
            return Grid(shape, list(map(function, *(grid.flat for grid in grids))))
        return fromfunction(shape, lambda index: function(*(grid[_inside(grid, index)] for grid in grids)))

    return called


def _broadcast(grids: Sequence[Grid]) -> Index:
    rank = max(len(grid.shape) for grid in grids)
    padded = [(1,) * (rank - len(grid.shape)) + grid.shape for grid in grids]
    return tuple(max(sizes) if min(sizes) else 0 for sizes in zip(*padded))


def _inside(grid: Grid, index: Index) -> Index:
    last = index[len(index) - len(grid.shape) :]
    return tuple(0 if size == 1 else at for at, size in zip(last, grid.shape))


def lanes(grid: Grid, key: Callable[[Index], Any], function: Lane) -> Grid:
    """A function of lists, over all numbers whose indices have the same key."""
    places: dict[Any, list[int]] = {}
    for place, index in enumerate(grid.indices()):
        places.setdefault(key(index), []).append(place)
    flat: list[Any] = [None] * len(grid.flat)
    for several in places.values():
        for place, value in zip(several, function([grid.flat[at] for at in several])):
            flat[place] = value
    return Grid(grid.shape, flat)


def always(result: Grid) -> Callable[..., Grid]:
    """The same, whatever the inputs."""
    return lambda *_grids: result


def along(dim: int, function: Lane) -> Callable[[Grid], Grid]:
    """A function of lists, along one dimension."""

    def called(grid: Grid) -> Grid:
        at = dim % len(grid.shape)
        return lanes(grid, lambda index: index[:at] + index[at + 1 :], function)

    return called


def reduced(dims: Sequence[int], function: Callable[[list[Any]], Any]) -> Callable[[Grid], Grid]:
    """A function from a list to a number, over some dimensions, which go; () for all."""

    def called(grid: Grid) -> Grid:
        rank = len(grid.shape)
        gone = {dim % rank for dim in dims} if dims else set(range(rank))
        kept = [place for place in range(rank) if place not in gone]
        gathered: dict[Index, list[Any]] = {}
        for index, value in zip(grid.indices(), grid.flat):
            gathered.setdefault(tuple(index[place] for place in kept), []).append(value)
        return fromfunction([grid.shape[place] for place in kept], lambda index: function(gathered[index]))

    return called


def transposed(grid: Grid) -> Grid:
    """All dimensions in the reverse order."""
    return fromfunction(grid.shape[::-1], lambda index: grid[index[::-1]])


def swapped(grid: Grid) -> Grid:
    """The last two dimensions exchanged."""
    shape = (*grid.shape[:-2], grid.shape[-1], grid.shape[-2])
    return fromfunction(shape, lambda index: grid[(*index[:-2], index[-1], index[-2])])


def each_row(function: Callable[[list[Any]], list[Any]]) -> Callable[[Grid], Grid]:
    """A function of lists over the last dimension, whose results may be of another length."""

    def called(grid: Grid) -> Grid:
        wide = grid.shape[-1]
        rows = [function(grid.flat[at : at + wide]) for at in range(0, len(grid.flat), wide)]
        return Grid((*grid.shape[:-1], len(rows[0])), [number for row in rows for number in row])

    return called


def scaled(grid: Grid, factor: float) -> Grid:
    """Each number times the same."""
    return Grid(grid.shape, [number * factor for number in grid.flat])
