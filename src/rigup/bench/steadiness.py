"""Whether a figure is steady: one rule for report, data and picture."""

from msgspec import UNSET

from rigup.schemas.bench import Figure

FEW = 3
"""Samples, below which nothing is told of how far they lie apart."""

_SPREAD = 0.2  # of the median, over which the middle half of the samples may reach
_BEST = 1.25  # times the typical figure that the best may be
_DRIFT = 0.1  # by which the second half of the samples may be faster or slower than the first


def unsteady(result: Figure) -> list[str]:
    """Why a figure is unsteady; empty if it is steady or has too few samples.

    Returns:
        "spread": the middle half of the samples reaches far; "best": the best sample is far from the typical one;
        "drift": it became faster or slower while it was measured, by heat or by a clock that had to rise.

    """
    if not judged(result):
        return []
    found = {"spread": (result.spread or 0.0) > _SPREAD, "best": _times(result) > _BEST, "drift": abs(result.drift or 0.0) > _DRIFT}
    return [name for name, true in found.items() if true]


def judged(result: Figure) -> bool:
    """Whether there are samples enough; a figure that does not say how many is taken as one of many."""
    return result.samples is UNSET or result.samples >= FEW


def doubt(result: Figure) -> float:
    """The share of a figure that may be noise, by its samples."""
    return max(result.spread or 0.0, _times(result) - 1, abs(result.drift or 0.0))


def _times(result: Figure) -> float:
    """The ratio of the best value to this one; of seconds the smallest is best."""
    if not result.median or not result.best:
        return 1.0
    return result.median / result.best if result.unit == "s" else result.best / result.median
