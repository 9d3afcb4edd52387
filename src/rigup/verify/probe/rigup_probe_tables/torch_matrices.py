"""Tables of complex numbers, Fourier transforms and linear algebra; one row each."""

from __future__ import annotations

import cmath
import math
from typing import Any, Callable, Iterator

import torch
from rigup_probe_grid import Grid, fromfunction
from rigup_probe_reference_networks import matmul
from rigup_probe_tape import Number, dot, sqrt
from rigup_probe_torch_cases import Case, Input, given, real


def _flat(values: list[Any]) -> Grid:
    return Grid((len(values),), values)


def complex_numbers() -> Iterator[Case]:
    """Products and absolute values of complex numbers, and Fourier transforms of several lengths."""
    pairs = (real(6, 2), real(6, 2, seed=2))
    kinds = ("float64", "float32")
    yield Case("complex product", (lambda x, y: torch.view_as_real(torch.complex(x[:, 0], x[:, 1]) * torch.complex(y[:, 0], y[:, 1])),), _multiplied, pairs, kinds, optional=True, factor=2.0)
    yield Case("complex abs", (lambda x: torch.complex(x[:, 0], x[:, 1]).abs(),), lambda x: _flat([sqrt(x[at, 0] * x[at, 0] + x[at, 1] * x[at, 1]) for at in range(6)]), pairs[:1], kinds, optional=True, factor=2.0)
    for count in (8, 12, 17):
        yield Case("fft of " + str(count), (lambda x: torch.view_as_real(torch.fft.fft(x)),), _transformed, (real(count),), kinds, optional=True, factor=4.0)
        yield Case("rfft and back of " + str(count), (lambda x: torch.fft.irfft(torch.fft.rfft(x), n=x.shape[-1]),), lambda x: Grid(x.shape, [v * 1.0 for v in x.flat]), (real(count),), kinds, optional=True, factor=4.0)


def _multiplied(x: Grid, y: Grid) -> Grid:
    def element(i: tuple[int, ...]) -> Number:
        (a, b), (c, d) = ((z[i[0], 0], z[i[0], 1]) for z in (x, y))
        return a * d + b * c if i[1] else a * c - b * d

    return fromfunction(x.shape, element)


def _transformed(x: Grid) -> Grid:
    count = len(x.flat)
    turn = [cmath.exp(-2j * math.pi * at / count) for at in range(count)]

    def element(i: tuple[int, ...]) -> Number:
        waves = [turn[i[0] * at % count] for at in range(count)]
        return dot(x.flat, [wave.imag if i[1] else wave.real for wave in waves])

    return fromfunction((count, 2), element)


_KINDS = ("float64", "float32")
_EXACTLY: dict[str, Any] = {"backward": False, "optional": True, "factor": 8.0}


def _same(x: Grid, *_others: Grid) -> Grid:
    return Grid(x.shape, x.flat)


def _identity(x: Grid) -> Grid:
    return fromfunction(x.shape, lambda i: float(i[0] == i[1]))


def _strong(size: int) -> tuple[Input, Input]:
    """A matrix that is far from singular, and a symmetric one that is positive definite."""
    plain = real(size, size, low=-1, high=1).grid
    strong = [number + (1.5 * size if at % (size + 1) == 0 else 0.0) for at, number in enumerate(plain.flat)]
    even = [(strong[r * size + c] + strong[c * size + r]) / 2 for r in range(size) for c in range(size)]
    return Input(Grid((size, size), strong), "given"), Input(Grid((size, size), even), "given")


def matrices() -> Iterator[Case]:
    """Solved, inverted and taken apart: each result put together again gives the matrix."""
    for size in (2, 6, 17):
        matrix, even = _strong(size)
        yield from _solved(matrix, " of " + str(size) + " rows")
        yield from _decompositions(matrix, even, " of " + str(size) + " rows")
    yield Case("product of powers", (lambda x: torch.matrix_power(x, 2) if hasattr(torch, "matrix_power") else x @ x,), lambda x: matmul(x, x), (real(2, 4, 4, low=-1, high=1),), _KINDS, factor=4.0, optional=True)


def _solved(matrix: Input, label: str) -> Iterator[Case]:
    linalg, side = torch.linalg, given(matrix.grid.shape[0], 3, seed=4)
    yield Case("solve" + label, (lambda y, x: x @ linalg.solve(x, y),), _same, (side, matrix), _KINDS, **_EXACTLY)
    yield Case("inverse" + label, (lambda x: x @ linalg.inv(x),), _identity, (matrix,), _KINDS, **_EXACTLY)
    yield Case("det" + label, (torch.det,), lambda x: Grid((), [_determinant(x)]), (matrix,), _KINDS, **_EXACTLY)
    length: Callable[..., Any] = lambda x: Grid((), [math.sqrt(sum(number * number for number in x.flat))])
    yield Case("norm of a matrix" + label, (linalg.norm,), length, (matrix,), _KINDS, **_EXACTLY)


def _decompositions(matrix: Input, even: Input, label: str) -> Iterator[Case]:
    """The factors, the shape that each is promised to have, and the order of what has one."""
    linalg, size = torch.linalg, matrix.grid.shape[0]
    none = lambda x: Grid(x.shape, [0.0] * len(x.flat))
    rising: Callable[..., Any] = lambda _x: Grid((size - 1,), [1] * (size - 1))
    rows: tuple[tuple[str, Callable[[Any], Any], Any, Input], ...] = (
        ("cholesky", lambda x: linalg.cholesky(x) @ linalg.cholesky(x).t(), _same, even),
        ("cholesky is lower", lambda x: torch.triu(linalg.cholesky(x), 1), none, even),
        ("qr", lambda x: _together(linalg.qr(x)), _same, matrix),
        ("qr is orthogonal", lambda x: linalg.qr(x)[0].t() @ linalg.qr(x)[0], _identity, matrix),
        ("qr is upper", lambda x: torch.tril(linalg.qr(x)[1], -1), none, matrix),
        ("svd", lambda x: _of_three(*linalg.svd(x)), _same, matrix),
        ("svd's order", lambda x: _falls(linalg.svd(x)[1]), rising, matrix),
        ("eigh", lambda x: _of_eigen(*linalg.eigh(x)), _same, even),
        ("eigh's order", lambda x: _falls(linalg.eigh(x)[0].flip(0)), rising, even),
        ("eigvalsh's order", lambda x: _falls(linalg.eigvalsh(x).flip(0)), rising, even),
    )
    for name, call, reference, input_ in rows:
        yield Case(name + label, (call,), reference, (input_,), _KINDS, **_EXACTLY)


def _falls(values: Any) -> Any:
    return (values[:-1] >= values[1:]).to(torch.int64)


def _together(parts: Any) -> Any:
    return parts[0] @ parts[1]


def _of_three(left: Any, middle: Any, right: Any) -> Any:
    return left @ torch.diag(middle) @ right


def _of_eigen(values: Any, vectors: Any) -> Any:
    return vectors @ torch.diag(values) @ vectors.t()


def _determinant(x: Grid) -> float:
    rows = [x.flat[at * x.shape[1] : (at + 1) * x.shape[1]] for at in range(x.shape[0])]
    result = 1.0
    for at in range(len(rows)):
        result *= rows[at][at]
        for row in rows[at + 1 :]:
            part = row[at] / rows[at][at]
            row[:] = [number - part * other for number, other in zip(row, rows[at])]
    return result
