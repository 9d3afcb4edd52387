"""Deviations of numbers from the expected ones, in plain Python."""

from __future__ import annotations

import math
from typing import Any, Sequence

_MOST_SIZED = 64  # lists whose size is kept


def deviation(values: Sequence[float], right: Sequence[float]) -> float:
    """The largest deviation, in units of the wanted number or of their root mean square, whichever is larger.

    There may be fewer than are wanted: then they are the first of them.
    A NaN or an infinity is right only where one is wanted.
    """
    if values == right:
        return 0.0
    size, worst = _size(right), 0.0
    for value, wanted in zip(values, right):
        if value == wanted:
            continue
        off = abs(value - wanted) / (max(abs(wanted), size) or 1.0)
        if off > worst:
            worst = off
        elif off != off and (value == value or wanted == wanted):
            return math.inf
    return worst


_SIZED: dict[int, Any] = {}


def _size(right: Sequence[float]) -> float:
    """The root mean square of what is finite; the same list is asked about for every type and layout."""
    if id(right) not in _SIZED:
        finite = [number for number in right if math.isfinite(number)]
        _SIZED.clear() if len(_SIZED) > _MOST_SIZED else None
        _SIZED[id(right)] = (right, math.sqrt(math.fsum(v * v for v in finite) / len(finite)) if finite else 1.0)
    return float(_SIZED[id(right)][1])
