"""What linear algebra ought to give, by elimination and rotation over plain or traced numbers."""

from __future__ import annotations

import math
from typing import Any, List

import rigup_probe_tape as tape
from rigup_probe_grid import Grid, fromfunction

Rows = List[List[Any]]


def rows_of(x: Grid) -> Rows:
    """A matrix as a list of rows."""
    wide = x.shape[-1]
    return [x.flat[at : at + wide] for at in range(0, len(x.flat), wide)]


def grid_of(rows: Rows) -> Grid:
    """And back."""
    return Grid((len(rows), len(rows[0])), [number for row in rows for number in row])


def turned(rows: Rows) -> Rows:
    """Transposed."""
    return [list(column) for column in zip(*rows)]


def product(left: Rows, right: Rows) -> Rows:
    """Of two matrices."""
    columns = turned(right)
    return [[tape.dot(row, column) for column in columns] for row in left]


def solved(matrix: Rows, wanted: Rows) -> tuple[Rows, Any]:
    """What the matrix must be multiplied by to give what is wanted, and its determinant."""
    size = len(matrix)
    rows = [[*map(_same, a), *map(_same, b)] for a, b in zip(matrix, wanted)]
    whole: Any = 1.0
    for at in range(size):
        best = max(range(at, size), key=lambda row: abs(tape.plain(rows[row][at])))
        if best != at:
            rows[at], rows[best], whole = rows[best], rows[at], -whole
        whole = rows[at][at] * whole
        rows[at] = [number / rows[at][at] for number in rows[at]]
        for other in range(size):
            if other != at:
                part = rows[other][at]
                rows[other] = [number - part * mine for number, mine in zip(rows[other], rows[at])]
    return [row[size:] for row in rows], whole


def _same(number: Any) -> Any:
    return number * 1.0


def unit(size: int) -> Rows:
    """Ones on the diagonal."""
    return [[float(r == c) for c in range(size)] for r in range(size)]


def inverse(x: Grid) -> Grid:
    """Of one matrix."""
    rows = rows_of(x)
    return grid_of(solved(rows, unit(len(rows)))[0])


def determinant(x: Grid) -> Any:
    """Of one matrix."""
    rows = rows_of(x)
    return solved(rows, unit(len(rows)))[1]


def lower(matrix: Rows) -> Rows:
    """Cholesky's factor."""
    size = len(matrix)
    found: Rows = [[0.0] * size for _ in range(size)]
    for r in range(size):
        for c in range(r + 1):
            rest = matrix[r][c] - tape.dot(found[r][:c], found[c][:c])
            found[r][c] = tape.sqrt(rest) if r == c else rest / found[c][c]
    return found


def values(matrix: Rows) -> list[Any]:
    """Eigenvalues of a symmetric matrix, the least first, by Jacobi's rotations."""
    rows = [list(map(_same, row)) for row in matrix]
    size = len(rows)
    for _sweep in range(8):
        for p in range(size):
            for q in range(p + 1, size):
                if abs(tape.plain(rows[p][q])) > 1e-15:
                    rows = _rotated(rows, p, q)
    return sorted((rows[at][at] for at in range(size)), key=tape.plain)


def _rotated(rows: Rows, p: int, q: int) -> Rows:
    half = (rows[q][q] - rows[p][p]) / (rows[p][q] * 2.0)
    sign = 1.0 if tape.plain(half) >= 0 else -1.0
    slope = sign / (tape.absolute(half) + tape.sqrt(half * half + 1.0))
    cosine = 1.0 / tape.sqrt(slope * slope + 1.0)
    sine = slope * cosine
    turn: Rows = unit(len(rows))
    turn[p][p], turn[q][q], turn[p][q], turn[q][p] = cosine, cosine, sine, -sine
    return product(product(turned(turn), rows), turn)


def singular(x: Grid) -> list[Any]:
    """Singular values, the largest first."""
    rows = rows_of(x)
    small = product(rows, turned(rows)) if len(rows) <= len(rows[0]) else product(turned(rows), rows)
    return [tape.sqrt(number) for number in values(small)][::-1]


def exponential(x: Grid) -> Grid:
    """Of a small matrix, by its series."""
    rows, size = rows_of(x), x.shape[0]
    term: Rows = unit(size)
    total = unit(size)
    for count in range(1, 30):
        term = [[number * (1 / count) for number in row] for row in product(term, rows)]
        total = [[a + b for a, b in zip(mine, theirs)] for mine, theirs in zip(term, total)]
    return grid_of(total)


def gram_schmidt(x: Grid) -> tuple[Rows, Rows]:
    """Q and R, the diagonal of R positive."""
    columns, found = turned(rows_of(x)), []  # type: tuple[Rows, Rows]
    size = len(columns)
    upper: Rows = [[0.0] * size for _ in range(size)]
    for at, first in enumerate(columns):
        column = first
        for number, other in enumerate(found):
            upper[number][at] = tape.dot(other, column)
            column = [entry - upper[number][at] * mine for entry, mine in zip(column, other)]
        upper[at][at] = tape.sqrt(tape.dot(column, column))
        found.append([number / upper[at][at] for number in column])
    return turned(found), upper


def transformed(pairs: Grid, dim: int, back: bool, count: int = 0, norm: str = "backward") -> Grid:
    """The discrete Fourier transform of pairs (real, imaginary) along one dimension, cut or filled up to `count`."""
    size = count or pairs.shape[dim]
    sign = 1 if back else -1
    share = {"backward": 1 / size if back else 1.0, "forward": 1.0 if back else 1 / size, "ortho": 1 / math.sqrt(size)}[norm]
    shape = [size if at == dim else length for at, length in enumerate(pairs.shape)]

    def coefficient(index: Any) -> Any:
        numbers, weights = [], []
        for place in range(min(size, pairs.shape[dim])):
            angle = sign * 2 * math.pi * place * index[dim] / size
            source = (*index[:dim], place, *index[dim + 1 : -1])
            numbers += [pairs[(*source, 0)], pairs[(*source, 1)]]
            weights += (
                [share * math.cos(angle), -share * math.sin(angle)]
                if index[-1] == 0
                else [share * math.sin(angle), share * math.cos(angle)]
            )
        return tape.dot(numbers, weights)

    return fromfunction(shape, coefficient)
