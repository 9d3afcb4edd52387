"""Compare results with expected values in plain Python: no framework judges itself, nor does NumPy."""

from __future__ import annotations

import math
import random
import time
from typing import Any, Callable

from rigup_probe_expected import Nested, dot, flat, shape_of

SHAPES = ((128, 256, 192), (61, 509, 129))  # of large products: one that suits tiles, one that suits none

LARGE = ((512, 515, 530),)  # where libraries share the work out among threads


class Found:
    """Results of several operators: `errors` by operator, names of those `wrong`, `elsewhere` or `left` out."""

    def __init__(self) -> None:
        self.errors = {}  # type: dict[str, float]
        self.wrong = []  # type: list[str]
        self.elsewhere = []  # type: list[str]
        self.left = []  # type: list[str]

    def near(self, name: str, got: Any, wanted: Nested) -> None:
        """A result that rounding may move."""
        self.errors[name] = error(got, wanted)

    def exact(self, name: str, got: Any, wanted: Nested) -> None:
        """Compare an exact result; NaN must be NaN, and the sign of zero is ignored."""
        values, right = listed(got), listed(wanted)
        if shape_of(values) != shape_of(right) or not all(map(_same, flat(values), flat(right))):
            self.wrong.append(name)

    def measured(self) -> dict[str, Any]:
        """The measurement for the probe's event."""
        results = {"errors": self.errors, "wrong": self.wrong, "elsewhere": self.elsewhere, "left": self.left}
        return {name: list(dict.fromkeys(result)) if isinstance(result, list) else result for name, result in results.items()}


def listed(array: Any) -> Nested:
    """An array of any framework as nested lists."""
    if isinstance(array, (list, tuple)):
        return [listed(item) for item in array]
    return array.tolist() if hasattr(array, "tolist") else array


def _same(left: Any, other: Any) -> bool:
    return bool(left == other or (left != left and other != other))


def error(got: Any, wanted: Nested) -> float:
    """The largest deviation relative to the root mean square of the expected values; `inf` if a number is not finite."""
    values, right = listed(got), listed(wanted)
    if shape_of(values) != shape_of(right):
        return math.inf
    pairs = list(zip(flat(values), flat(right)))
    if not all(math.isfinite(abs(value)) for value, _other in pairs):
        return math.inf
    size = math.sqrt(math.fsum(abs(other) ** 2 for _one, other in pairs) / max(len(pairs), 1)) or 1.0
    return max((abs(value - other) for value, other in pairs), default=0.0) / size


def product_error(got: Any, left: Nested, right: Nested) -> float:
    """The error of a large product of matrices, in units of an entry's size, without the n³ sums of a whole one.

    Both sides are multiplied by vectors of random signs, so that every entry of the result counts; some entries are
    summed one by one beside. Source: R. Freivalds, Probabilistic machines can use less running time (1977).
    """
    values, draw = listed(got), random.Random(5)  # noqa: S311
    if shape_of(values) != (len(left), len(right[0])):
        return math.inf
    if not all(math.isfinite(value) for value in flat(values)):
        return math.inf
    inner, wide, worst = len(right), len(right[0]), 0.0
    for _round in range(2):
        signs = [float(draw.choice((-1, 1))) for _ in range(wide)]
        middle = [dot(row, signs) for row in right]
        off = [abs(dot(mine, signs) - dot(row, middle)) for mine, row in zip(values, left)]
        worst = max(worst, max(off) / math.sqrt(wide * inner))
    spots = [(17 * n % len(left), 29 * n % wide) for n in range(24)]
    deviations = [abs(values[i][j] - dot(left[i], [row[j] for row in right])) for i, j in spots]
    return float(max(worst, max(deviations) / math.sqrt(inner)))


def rate(side: int, go: Callable[[], Any]) -> float:
    """Operations a second of a product of matrices with so many rows; `go` waits for its end."""
    go()
    began, rounds = time.perf_counter(), 0
    while not rounds or time.perf_counter() - began < 0.25:
        go()
        rounds += 1
    return 2.0 * side**3 * rounds / (time.perf_counter() - began)


def distributed(normal: list[float], uniform: list[float], integers: list[int]) -> dict[str, float]:
    """Statistics of random numbers: 100,000 each, normal, uniform in [0, 1) and integers below ten."""
    middle = math.fsum(normal) / len(normal)
    spread = math.sqrt(math.fsum((value - middle) ** 2 for value in normal) / len(normal))
    return {
        "mean": middle,
        "deviation": spread,
        "least": min(uniform),
        "most": max(uniform),
        "middle": math.fsum(uniform) / len(uniform),
        "kept": sum(integers) / len(integers) / 4.5,
    }


def misdistributed(normal: list[float], uniform: list[float], integers: list[int]) -> list[str]:
    """Faults of random numbers beyond mean and deviation: shape, independence, missing values."""
    inside = sum(abs(value) < 1 for value in normal) / len(normal)
    beyond = sum(abs(value) > 3 for value in normal) / len(normal)
    parts = [sum(part / 8 <= value < (part + 1) / 8 for value in uniform) / len(uniform) for part in range(8)]
    found = {
        "normal within 1": abs(inside - 0.6827) < 0.02,
        "normal beyond 3": 0.0005 < beyond < 0.006,
        "uniform in eighths": all(abs(part - 0.125) < 0.01 for part in parts),
        "uniform below 1": min(uniform) >= 0 and max(uniform) <= 1,
        "integers": sorted(set(integers)) == list(range(10)) and _even(integers),
        "independent": all(abs(_follows(values)) < 0.03 for values in (normal, uniform)),
        "distinct": len(set(uniform)) > 0.9 * len(uniform),
    }
    return [name for name, right in found.items() if not right]


def _even(integers: list[int]) -> bool:
    return all(abs(integers.count(digit) / len(integers) - 0.1) < 0.01 for digit in range(10))


def _follows(values: list[float]) -> float:
    """The correlation of each number with the next one."""
    middle = math.fsum(values) / len(values)
    off = [value - middle for value in values]
    return math.fsum(value * other for value, other in zip(off, off[1:])) / math.fsum(value * value for value in off)
