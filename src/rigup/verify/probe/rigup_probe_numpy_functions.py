"""NumPy's functions of numbers: of each element, of rows, of matrices, and transforms; wanted is what Python computes."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np
import rigup_probe_expected as reference
from rigup_probe_compare import Found
from rigup_probe_expected import each, normal, rounded, turned

_FLOATS = ("float64", "float32", "float16")


def elementwise(_device: dict[str, Any]) -> dict[str, Any]:
    """Functions of small numbers and of large ones."""
    found = Found()
    for kind in _FLOATS:
        _sized(found, kind)
    return dict(found.measured())


def _python(name: str) -> Callable[[float], float]:
    """The same function of Python's."""
    if name == "cbrt":
        return lambda x: math.copysign(abs(x) ** (1 / 3), x)
    function: Callable[[float], float] = getattr(math, "a" + name[3:] if name.startswith("arc") else name)
    return function


_LIKE_ITSELF = ("expm1", "log1p", "sin", "tan", "arcsin", "arctan", "sinh", "tanh", "arcsinh", "arctanh", "cbrt", "sqrt")
_FAR = (
    ("exp", 5, 10),
    ("log", 1e3, 1e4),
    ("log1p", 1e3, 1e4),
    ("sqrt", 1e3, 1e4),
    ("sin", 50, 100),
    ("cos", 50, 100),
    ("tanh", 9, 90),
    ("arctan", 50, 500),
)


def _sized(found: Found, kind: str) -> None:
    """Of small numbers, where a formula as it is written has no digits left, and of large ones."""
    size = 2.0 ** {"float16": -9, "float32": -21}.get(kind, -42)
    ways = [(name, " of small numbers ", [size * (n / 8 + 1 / 3) for n in range(41)]) for name in _LIKE_ITSELF]
    ways += [(name, " of large numbers ", [low + (high - low) * n / 40 for n in range(41)]) for name, low, high in _FAR]
    for name, label, steps in ways:
        given = rounded(kind, steps)
        found.near(name + label + kind, getattr(np, name)(np.array(given, kind)), list(map(_python(name), given)))


def reductions(_device: dict[str, Any]) -> dict[str, Any]:
    """Sums and their like by their arguments, of many numbers and of large ones."""
    found = Found()
    for kind in _FLOATS:
        values = rounded(kind, [[1 + number / 8 for number in row] for row in normal(1, 9, 19)])
        array = np.array(values, kind)
        found.near(
            "average " + kind,
            np.average(array, axis=1, weights=array[0]),
            [reference.dot(row, values[0]) / math.fsum(values[0]) for row in values],
        )
        _long(found, kind)
        _by_arguments(found, kind, array, values)
    _whole_sums(found)
    return dict(found.measured())


def _by_arguments(found: Found, kind: str, array: Any, values: list[list[float]]) -> None:
    """Corrections, dimensions that stay, starts and other norms: a build that ignores one is right where none is given."""
    many = len(values[0])
    spread = [reference.variance(row) for row in values]
    shares = [variance * many / (many - 1) for variance in spread]
    cases = {
        "var (ddof)": (np.var(array, axis=1, ddof=1), shares),
        "std (ddof)": (np.std(array, axis=1, ddof=1), list(map(math.sqrt, shares))),
        "var (ddof 2, method)": (array.var(axis=1, ddof=2), [variance * many / (many - 2) for variance in spread]),
        "sum (keepdims)": (np.sum(array, axis=1, keepdims=True), [[math.fsum(row)] for row in values]),
        "sum (initial)": (np.sum(array, axis=1, initial=5), [math.fsum(row) + 5 for row in values]),
        "sum (where)": (np.sum(array, axis=1, where=array > 1), [math.fsum(v for v in row if v > 1) for row in values]),
        "max (initial)": (np.max(array, axis=1, initial=1.5), [max(*row, 1.5) for row in values]),
        "mean of both dimensions": (np.mean(array, axis=(0, 1)), reference.mean(reference.flat(values))),
        "median of an even row": (np.median(array[:, :8], axis=1), [_median(row[:8]) for row in values]),
        "norm (1)": (np.linalg.norm(array.astype("float64"), 1, axis=1), [math.fsum(map(abs, row)) for row in values]),
        "norm (infinite)": (np.linalg.norm(array.astype("float64"), np.inf, axis=1), [max(map(abs, row)) for row in values]),
    }
    for name, (got, wanted) in cases.items():
        found.near(name + " " + kind, got, wanted)


def _whole_sums(found: Found) -> None:
    """Of whole numbers, beyond what 32 bits and the digits of a float hold."""
    for kind, size in (("int8", 100), ("uint8", 200), ("int16", 30_000), ("int32", 2_000_000_000), ("int64", 2**53 + 1)):
        values = [size - at % 7 for at in range(300)]
        array = np.array(values, kind)
        cases = {
            "sum": (array.sum(), sum(values)),
            "cumsum": (np.cumsum(array), [sum(values[: at + 1]) for at in range(300)]),
            "prod": (array[:2].prod(), values[0] * values[1] if size < 2**31 else None),
            "max": (array.max(), size),
            "ptp": (int(np.ptp(array)), 6),
        }
        for name, (got, wanted) in cases.items():
            if wanted is not None:
                found.exact(name + " of large " + kind, got, wanted)


def _long(found: Found, kind: str) -> None:
    """Sums over what does not fit one vector, one block or one cache line."""
    values = rounded(kind, normal(7, 5003)) if kind != "float16" else [1.0] * 2000
    found.near("sum of many " + kind, np.array(values, kind).sum() / 1000, math.fsum(values) / 1000)
    if kind == "float64":
        _statistics(found)
    spread = rounded(kind, normal(8, 1001))
    found.near("mean of steps " + kind, np.array(spread, kind)[::3].mean() * 10, reference.mean(spread[::3]) * 10)


def _statistics(found: Found) -> None:
    """Quantiles, covariance, and sums with steps."""
    sample, other = normal(11, 21), normal(12, 21)
    up, middles = sorted(sample), (reference.mean(sample), reference.mean(other))
    both = math.fsum((x - middles[0]) * (y - middles[1]) for x, y in zip(sample, other)) / 20
    left, right = np.array(sample), np.array(other)
    found.near("quantile float64", np.quantile(left, [0.0, 0.25, 0.5, 1.0]), [up[0], up[5], up[10], up[20]])
    found.near("percentile float64", np.percentile(left, 75), up[15])
    found.near("cov float64", np.cov(left, right)[0, 1], both)
    size = math.sqrt(reference.variance(sample) * reference.variance(other)) * 21 / 20
    found.near("corrcoef float64", np.corrcoef(left, right)[0, 1], both / size)
    a, b = sample[:3], other[:3]
    found.near("cross float64", np.cross(left[:3], right[:3]), [a[n - 2] * b[n - 1] - a[n - 1] * b[n - 2] for n in range(3)])
    found.near("polyval float64", np.polyval(left[:3], 2.0), 4 * sample[0] + 2 * sample[1] + sample[2])
    found.near("std of a sample float64", left.std(ddof=1), math.sqrt(reference.variance(sample) * 21 / 20))
    found.near("gradient float64", np.gradient(left)[1:-1], [(b - a) / 2 for a, b in zip(sample, sample[2:])])


def _median(row: list[float]) -> float:
    up = sorted(row)
    return (up[(len(up) - 1) // 2] + up[len(up) // 2]) / 2


def linear_algebra(_device: dict[str, Any]) -> dict[str, Any]:
    """What LAPACK does, tried by what must hold of its answers; the products that try them are Python's."""
    found = Found()
    for kind in ("float64", "float32"):
        for size in (3, 24):
            _solved(found, kind, size)
            _split(found, kind, size)
    return dict(found.measured())


def _solved(found: Found, kind: str, size: int) -> None:
    matrix = [
        [number / 4 + (size**0.5 * 1.5 if i == j else 0.0) for j, number in enumerate(row)] for i, row in enumerate(normal(1, size, size))
    ]
    matrix, goals = rounded(kind, matrix), rounded(kind, normal(2, size, 2))
    array, identity = np.array(matrix, kind), [[float(i == j) for j in range(size)] for i in range(size)]

    def of(name: str) -> str:
        return name + " " + str(size) + " " + kind

    found.near(of("solve"), reference.matmul(matrix, np.linalg.solve(array, np.array(goals, kind)).tolist()), goals)
    found.near(of("inv"), reference.matmul(matrix, np.linalg.inv(array).tolist()), identity)
    found.near(of("det"), np.linalg.det(array) / reference.determinant(matrix), 1.0)
    sign, logarithm = np.linalg.slogdet(array)
    wanted = reference.determinant(matrix)
    found.near(of("slogdet"), [float(sign), float(logarithm)], [math.copysign(1, wanted), math.log(abs(wanted))])
    found.near(of("norm"), np.linalg.norm(array), math.sqrt(math.fsum(v * v for v in reference.flat(matrix))))
    tall = [*matrix, *matrix[: size // 2]]
    solution = np.linalg.lstsq(np.array(tall, kind), np.array([*goals, *goals[: size // 2]], kind), rcond=None)[0]
    found.near(of("lstsq"), reference.matmul(matrix, solution.tolist()), goals)
    found.near(of("matrix_power"), np.linalg.matrix_power(array, 3), reference.matmul(reference.matmul(matrix, matrix), matrix))
    found.near(of("trace"), np.trace(array), math.fsum(matrix[n][n] for n in range(size)))
    found.near(of("pinv"), reference.matmul(matrix, np.linalg.pinv(array).tolist()), identity)


def _split(found: Found, kind: str, size: int) -> None:
    """Decompositions: what they are made of gives the matrix again."""
    matrix = rounded(kind, normal(3, size, size))
    even = rounded(kind, reference.each(lambda x, y: x + y, matrix, turned(matrix)))
    array, identity = np.array(matrix, kind), [[float(i == j) for j in range(size)] for i in range(size)]

    def of(name: str) -> str:
        return name + " " + str(size) + " " + kind

    q, r = (factor.tolist() for factor in np.linalg.qr(array))
    found.near(of("qr"), reference.matmul(q, r), matrix)
    found.near(of("qr is orthogonal"), reference.matmul(turned(q), q), identity)
    found.exact(of("qr is triangular"), [number for i, row in enumerate(r) for number in row[:i]], [0.0] * (size * (size - 1) // 2))
    u, s, v = (factor.tolist() for factor in np.linalg.svd(array))
    found.near(of("svd"), reference.matmul([[x * y for x, y in zip(row, s)] for row in u], v), matrix)
    found.near(of("svd is orthogonal"), reference.matmul(turned(u), u), identity)
    found.exact(of("svd is sorted"), s, sorted(s, reverse=True))
    values, vectors = (factor.tolist() for factor in np.linalg.eigh(np.array(even, kind)))
    found.near(of("eigh"), reference.matmul(even, vectors), [[x * y for x, y in zip(row, values)] for row in vectors])
    found.near(of("eigh is orthogonal"), reference.matmul(turned(vectors), vectors), identity)
    found.near(of("eigvalsh"), np.linalg.eigvalsh(np.array(even, kind)), values)
    general, sides = np.linalg.eig(array)
    right = [[x * y for x, y in zip(row, general.tolist())] for row in sides.tolist()]
    real, imaginary = (
        reference.matmul(matrix, each(part, sides.tolist())) for part in (lambda z: complex(z).real, lambda z: complex(z).imag)
    )
    found.near(of("eig"), each(complex, real, imaginary), right)
    definite = reference.matmul(matrix, turned(matrix))
    definite = rounded(
        kind, [[number + (float(size) if i == j else 0.0) for j, number in enumerate(row)] for i, row in enumerate(definite)]
    )
    lower = np.linalg.cholesky(np.array(definite, kind)).tolist()
    found.near(of("cholesky"), reference.matmul(lower, turned(lower)), definite)


def _normed(found: Found, length: int, values: list[float], both: list[complex]) -> None:
    """With each norm, shortened, and filled up with zeros."""
    of, half, size = " " + str(length), length // 2 + 1, math.sqrt(length)
    right, mine, back = reference.fourier(both), reference.fourier(values)[:half], reference.fourier(both, 1)
    ways: Any = (("ortho", 1 / size, 1 / size), ("forward", 1 / length, 1.0))
    for norm, share, other in ways:
        cases = {
            "fft": (np.fft.fft(np.array(both), norm=norm), [v * share for v in right]),
            "rfft": (np.fft.rfft(np.array(values), norm=norm), [v * share for v in mine]),
            "ifft": (np.fft.ifft(np.array(both), norm=norm), [v * other for v in back]),
        }
        for name, (got, wanted) in cases.items():
            found.near(name + " (" + norm + ")" + of + " complex128", got, wanted)
    found.near("fft of fewer" + of + " complex128", np.fft.fft(np.array(both), length - 3), reference.fourier(both[:-3]))
    found.near("fft of more" + of + " complex128", np.fft.fft(np.array(both), length + 2), reference.fourier([*both, 0, 0]))


def fourier(_device: dict[str, Any]) -> dict[str, Any]:
    """Transforms of lengths that are powers of two, that are not, and primes; convolutions beside."""
    found = Found()
    for length in (8, 12, 31):
        values = normal(length, length)
        both = list(map(complex, values, normal(9, length)))
        of, half = " " + str(length), length // 2 + 1
        found.near("fft" + of + " complex128", np.fft.fft(np.array(both)), reference.fourier(both))
        found.near("ifft" + of + " complex128", np.fft.ifft(np.array(both)), [number / length for number in reference.fourier(both, 1)])
        found.near("rfft" + of + " complex128", np.fft.rfft(np.array(values)), reference.fourier(values)[:half])
        found.near("irfft" + of + " float64", np.fft.irfft(np.array(reference.fourier(values)[:half]), length), values)
        _normed(found, length, values, both)
    square = normal(4, 6, 5)
    by_row = [reference.fourier(row) for row in square]
    found.near("fft2 complex128", np.fft.fft2(np.array(square)), turned([reference.fourier(column) for column in turned(by_row)]))
    left, right = normal(5, 23), normal(6, 5)
    padded = [0.0] * 4 + left + [0.0] * 4
    wanted = [reference.dot(padded[n : n + 5], right[::-1]) for n in range(27)]
    found.near("convolve float64", np.convolve(np.array(left), np.array(right)), wanted)
    found.near(
        "correlate float64", np.correlate(np.array(left), np.array(right)), [reference.dot(left[n : n + 5], right) for n in range(19)]
    )
    found.exact("fftfreq", np.fft.fftfreq(4), [0.0, 0.25, -0.5, -0.25])
    found.exact("fftshift", np.fft.fftshift(np.arange(5)), [3, 4, 0, 1, 2])
    return dict(found.measured())
