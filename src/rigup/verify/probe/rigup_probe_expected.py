"""Expected values, computed in plain Python: a framework is not compared with another one.

Arrays are nested lists of numbers, matrices are lists of rows. Everything is computed in double precision from inputs
that were rounded to the type under test before; sums are exact (`math.fsum`).
"""

from __future__ import annotations

import cmath
import math
import random
import struct
from typing import Any, Callable

Nested = Any  # a number, or a list of such
Function = Callable[[float], float]


def normal(seed: int, *shape: int) -> Nested:
    """Numbers of a normal distribution, the same for one seed in every version of Python."""
    draw = random.Random(seed)  # noqa: S311  (no secret)
    return shaped([draw.gauss(0.0, 1.0) for _ in range(math.prod(shape))], shape)


def whole(seed: int, least: int, most: int, *shape: int) -> Nested:
    """Whole numbers from `least` to `most`, both of which may occur."""
    draw = random.Random(seed)  # noqa: S311
    return shaped([draw.randint(least, most) for _ in range(math.prod(shape))], shape)


def shaped(values: list[Any], shape: Any) -> Nested:
    """A flat list as an array, the last index running fastest."""
    for size in reversed(tuple(shape)[1:]):
        values = [values[at : at + size] for at in range(0, len(values), size)]
    return values


def flat(array: Nested) -> list[Any]:
    """All numbers of an array in order."""
    return [item for part in array for item in flat(part)] if isinstance(array, (list, tuple)) else [array]


def shape_of(array: Nested) -> tuple[int, ...]:
    """The size of each dimension."""
    return (len(array), *(shape_of(array[0]) if array else ())) if isinstance(array, (list, tuple)) else ()


def each(function: Callable[..., Any], *arrays: Nested) -> Nested:
    """A function of the elements of arrays of one shape; a number goes with every element."""
    if not any(isinstance(array, (list, tuple)) for array in arrays):
        return function(*arrays)
    size = next(len(array) for array in arrays if isinstance(array, (list, tuple)))
    return [each(function, *(array[at] if isinstance(array, (list, tuple)) else array for array in arrays)) for at in range(size)]


def rounded(kind: str, array: Nested) -> Nested:
    """Numbers as a type holds them: float64, float32, float16 or bfloat16."""
    return each(_ROUNDINGS[kind], array)


def _bfloat16(value: float) -> float:
    """The upper half of float32, rounded to the nearest, to the even one of two."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    bits += 0x7FFF + (bits >> 16 & 1)
    return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0])


_ROUNDINGS = {
    "float64": float,
    "float32": lambda value: struct.unpack("<f", struct.pack("<f", value))[0],
    "float16": lambda value: struct.unpack("<e", struct.pack("<e", value))[0],
    "bfloat16": _bfloat16,
}  # type: dict[str, Function]


def turned(matrix: Nested) -> Nested:
    """The transpose."""
    return [list(column) for column in zip(*matrix)]


def dot(left: list[Any], right: list[Any]) -> Any:
    """The inner product; exact but for the products of floating point numbers, and wholly so for whole numbers."""
    if isinstance(left[0], float) or isinstance(right[0], float):
        return math.fsum(map(float.__mul__, map(float, left), map(float, right)))
    return sum(number * other for number, other in zip(left, right))


def matmul(left: Nested, right: Nested) -> Nested:
    """The product of two matrices."""
    columns = turned(right)
    return [[dot(row, column) for column in columns] for row in left]


def conv2d(pictures: Nested, kernels: Nested, stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1) -> Nested:
    """The cross-correlation of pictures (number, channel, row, column) with kernels (out, channel of the group, …)."""
    padded = [[_framed(channel, padding) for channel in picture] for picture in pictures]
    high, wide, reach = len(kernels[0][0]), len(kernels[0][0][0]), len(kernels) // groups
    rows = (len(padded[0][0]) - dilation * (high - 1) - 1) // stride + 1
    columns = (len(padded[0][0][0]) - dilation * (wide - 1) - 1) // stride + 1

    def at(picture: Nested, kernel: Nested, first: int, row: int, column: int) -> Any:
        window = [
            picture[first + c][row * stride + i * dilation][column * stride + j * dilation]
            for c in range(len(kernel))
            for i in range(high)
            for j in range(wide)
        ]
        return dot(window, flat(kernel))

    return [
        [
            [[at(picture, kernel, n // reach * len(kernel), i, j) for j in range(columns)] for i in range(rows)]
            for n, kernel in enumerate(kernels)
        ]
        for picture in padded
    ]


def _framed(channel: Nested, padding: int) -> Nested:
    wide = len(channel[0]) + 2 * padding
    empty = [[0.0] * wide for _ in range(padding)]
    return [*empty, *([0.0] * padding + list(row) + [0.0] * padding for row in channel), *empty]


def conv2d_kernel_gradient(pictures: Nested, kernels: Nested, weights: Nested) -> Nested:
    """How the sum of result times weights changes with each number of the kernels, without padding and strides."""
    high, wide = len(kernels[0][0]), len(kernels[0][0][0])

    def slope(out: int, channel: int, i: int, j: int) -> float:
        return math.fsum(
            weight * picture[channel][row + i][column + j]
            for picture, held in zip(pictures, weights)
            for row, line in enumerate(held[out])
            for column, weight in enumerate(line)
        )

    return [[[[slope(o, c, i, j) for j in range(wide)] for i in range(high)] for c in range(len(kernels[0]))] for o in range(len(kernels))]


def pooled(pictures: Nested, function: Callable[[list[float]], float], size: int = 2) -> Nested:
    """A function of each window of `size` by `size` that touches no other."""
    return [
        [
            [
                [
                    function([channel[i + a][j + b] for a in range(size) for b in range(size)])
                    for j in range(0, len(channel[0]) - size + 1, size)
                ]
                for i in range(0, len(channel) - size + 1, size)
            ]
            for channel in picture
        ]
        for picture in pictures
    ]


def softmax(row: list[float]) -> list[float]:
    """The softmax of one row, without overflow."""
    most = max(row)
    powers = [math.exp(value - most) for value in row]
    return [power / math.fsum(powers) for power in powers]


def logsumexp(row: list[float]) -> float:
    """The logarithm of the sum of powers of one row."""
    most = max(row)
    return most + math.log(math.fsum(math.exp(value - most) for value in row))


def log_softmax(row: list[float]) -> list[float]:
    """The logarithm of the softmax of one row."""
    whole_ = logsumexp(row)
    return [value - whole_ for value in row]


def attention(query: Nested, key: Nested, value: Nested, seen: Callable[[int, int], bool] | None = None) -> Nested:
    """Scaled dot-product attention of matrices (position, width). `seen(i, j)`: whether i may look at j."""
    scale = 1 / math.sqrt(len(query[0]))
    scores = [[score * scale for score in row] for row in matmul(query, turned(key))]
    if seen is not None:
        scores = [[score if seen(i, j) else -math.inf for j, score in enumerate(row)] for i, row in enumerate(scores)]
    return matmul([softmax(row) for row in scores], value)


def network_step() -> tuple[tuple[Nested, ...], float, tuple[Nested, Nested]]:
    """One step of a network of two layers, tanh between them and the mean square as its loss.

    Returns:
        inputs, goals and both weights; the loss; its gradients by the weights.

    """
    inputs, goals, first, second = (
        rounded("float32", values)
        for values in (
            normal(1, 16, 12),
            normal(2, 16, 5),
            each(lambda x: x / 4, normal(3, 12, 20)),
            each(lambda x: x / 5, normal(4, 20, 5)),
        )
    )
    hidden = each(math.tanh, matmul(inputs, first))
    off = each(lambda x, y: x - y, matmul(hidden, second), goals)
    slope = each(lambda x: 2 * x / 80, off)
    inner = each(lambda x, h: x * (1 - h * h), matmul(slope, turned(second)), hidden)
    loss = math.fsum(number * number for number in flat(off)) / 80
    return (inputs, goals, first, second), loss, (matmul(turned(inputs), inner), matmul(turned(hidden), slope))


def mean(row: list[float]) -> float:
    """The mean."""
    return math.fsum(row) / len(row)


def variance(row: list[float]) -> float:
    """Of the whole population."""
    middle = mean(row)
    return math.fsum((number - middle) ** 2 for number in row) / len(row)


def normalised(row: list[float], epsilon: float = 1e-5) -> list[float]:
    """Mean 0 and variance 1, as layer and batch norm have it."""
    middle, size = mean(row), math.sqrt(variance(row) + epsilon)
    return [(number - middle) / size for number in row]


def determinant(matrix: Nested) -> float:
    """By elimination with pivots."""
    rows, found = [list(map(float, row)) for row in matrix], 1.0
    for at in range(len(rows)):
        pivot = max(range(at, len(rows)), key=lambda row, at=at: abs(rows[row][at]))  # type: ignore[misc]
        rows[at], rows[pivot] = rows[pivot], rows[at]
        found *= rows[at][at] * (1 if at == pivot else -1)
        for row in range(at + 1, len(rows)):
            share = rows[row][at] / rows[at][at]
            rows[row] = [number - share * other for number, other in zip(rows[row], rows[at])]
    return found


def fourier(values: list[Any], sign: int = -1) -> list[complex]:
    """The discrete Fourier transform, not scaled."""
    step = 2j * math.pi * sign / len(values)
    return [sum(value * cmath.exp(step * (k * n % len(values))) for n, value in enumerate(values)) for k in range(len(values))]


def sigmoid(x: float) -> float:
    """The logistic function."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def gelu(x: float) -> float:
    """x times the normal distribution's probability of less than x."""
    return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))


def _gelu_slope(x: float) -> float:
    density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return 0.5 * (1 + math.erf(x / math.sqrt(2))) + x * density


def softplus(x: float) -> float:
    """log(1 + exp(x))."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


ACTIVATIONS = {  # each with its derivative
    "relu": (lambda x: max(x, 0.0), lambda x: float(x > 0)),
    "sigmoid": (sigmoid, lambda x: sigmoid(x) * (1 - sigmoid(x))),
    "tanh": (math.tanh, lambda x: 1 - math.tanh(x) ** 2),
    "gelu": (gelu, _gelu_slope),
    "silu": (lambda x: x * sigmoid(x), lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x)))),
    "softplus": (softplus, sigmoid),
    "elu": (lambda x: x if x > 0 else math.expm1(x), lambda x: 1.0 if x > 0 else math.exp(x)),
    "leaky_relu": (lambda x: x if x > 0 else 0.01 * x, lambda x: 1.0 if x > 0 else 0.01),
}  # type: dict[str, tuple[Function, Function]]
