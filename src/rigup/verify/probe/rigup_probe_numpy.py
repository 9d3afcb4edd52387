"""What all frameworks but torch are compared with: NumPy in float64, and some entries summed by Python itself."""

from __future__ import annotations

import math
import time
from typing import Any, Callable

import numpy as np

SHAPES = ((256, 512, 384), (61, 1021, 129))


def normal(seed: int, *shape: int) -> Any:
    """Numbers of a normal distribution, the same each time, in float64."""
    return np.random.RandomState(seed).standard_normal(shape)


def error(got: Any, wanted: Any) -> float:
    """The largest deviation, in units of the root mean square of what is wanted; `inf` where a number is none."""
    there = np.asarray(got).astype(np.float64)
    if there.shape != wanted.shape or not np.isfinite(there).all():
        return math.inf
    return float(np.abs(there - wanted).max() / (math.sqrt(float((wanted**2).mean())) or 1.0))


def product(rounded: Callable[[Any], Any], multiplied: Callable[[Any, Any], Any]) -> dict[str, Any]:
    """The error of a product, and of some entries that Python has summed. `rounded`: to the type and back."""
    errors, samples = {}, 0.0
    for rows, inner, columns in SHAPES:
        left, right = rounded(normal(1, rows, inner)), rounded(normal(2, inner, columns))
        got = np.asarray(multiplied(left, right)).astype(np.float64)
        errors[str((rows, inner, columns))] = error(got, left @ right)
        samples = max(samples, _sampled(got, left, right))
    return {"errors": errors, "samples": samples}


def _sampled(got: Any, left: Any, right: Any) -> float:
    spots = [(17 * n % got.shape[0], 29 * n % got.shape[1]) for n in range(24)]
    told = [abs(got[i, j] - math.fsum(a * b for a, b in zip(left[i].tolist(), right[:, j].tolist()))) for i, j in spots]
    return max(told) / math.sqrt(left.shape[1]) if all(map(math.isfinite, told)) else math.inf


def convolved(pictures: Any, kernels: Any) -> Any:
    """A convolution of pictures (number, channel, row, column) without padding."""
    windows = np.lib.stride_tricks.sliding_window_view(pictures, kernels.shape[2:], axis=(2, 3))
    return np.einsum("ncijkl,ockl->noij", windows, kernels)


def rate(side: int, go: Callable[[], Any]) -> float:
    """Operations a second of a product of matrices with so many rows; `go` waits for its end."""
    go()
    began, rounds = time.perf_counter(), 0
    while not rounds or time.perf_counter() - began < 0.25:
        go()
        rounds += 1
    return 2.0 * side**3 * rounds / (time.perf_counter() - began)
