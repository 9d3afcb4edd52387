"""Summarise samples: median, best, worst, quartiles, spread and drift."""

from __future__ import annotations

from typing import Any, Dict

Measured = Dict[str, Any]
_HALVES = 6  # samples, from which on a change between the first and the second half of them tells of more than chance


def of_times(times: list[float]) -> Measured:
    """Summarise the seconds of calls in their order; the shortest is the best.

    Returns:
        median: of all; best, worst: the shortest and the longest; quartiles: between them lies the middle half, the
        better first; spread: how far they lie apart, as a share of the median; drift: how much faster (below 0:
        slower) the second half was than the first, as a share, left out of few; samples: how many.

    """
    return _summary(times, sorted(times), -1.0)


def of_rates(rates: list[float]) -> Measured:
    """Amounts a second, in the order in which they were reached; the highest is the best. As `of_times`."""
    return _summary(rates, sorted(rates, reverse=True), 1.0)


def _summary(values: list[float], ordered: list[float], way: float) -> Measured:
    """`values` as they came, and the best first; `way`: 1 where more is better, -1 where less is."""
    summary = {
        "median": middle(ordered),
        "best": ordered[0],
        "worst": ordered[-1],
        "quartiles": [ordered[len(ordered) // 4], ordered[(len(ordered) * 3) // 4]],
        "spread": spread(ordered),
        "samples": len(values),
    }
    half = len(values) // 2
    if len(values) >= _HALVES:
        first, second = middle(sorted(values[:half])), middle(sorted(values[-half:]))
        summary["drift"] = (second / first) ** way - 1
    return summary


def as_rate(measured: Measured, amount: float) -> Measured:
    """Convert seconds to amount per second; spread, drift and count are kept."""
    rates = {name: amount / measured[name] for name in ("median", "best", "worst")}
    quartiles = [amount / quartile for quartile in measured["quartiles"]]
    return dict(measured, quartiles=quartiles, seconds=measured["median"], **rates)


def middle(ordered: list[float]) -> float:
    """The median of sorted numbers."""
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def spread(ordered: list[float]) -> float:
    """How far the middle half of sorted numbers reaches, as a share of the median."""
    return abs(ordered[(len(ordered) * 3) // 4] - ordered[len(ordered) // 4]) / middle(ordered)
