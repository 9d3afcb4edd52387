"""Whether a figure can be relied on: one rule, by which the report, the data and the picture all go."""

from msgspec import UNSET

from rigup.schemas.bench import Figure

FEW = 3
"""Samples, below which nothing is told of how far they lie apart."""

_SPREAD = 0.2  # of the median, over which the middle half of the samples may reach
_BEST = 1.25  # times the typical figure that the best may be
_DRIFT = 0.1  # by which the second half of the samples may be faster or slower than the first


def unsteady(one: Figure) -> list[str]:
    """Why the median of a figure tells little; nothing where it does tell, or where the samples are too few to say.

    Returns:
        "spread": the middle half of the samples reaches far; "best": the best sample is far from the typical one;
        "drift": it became faster or slower while it was measured, by heat or by a clock that had to rise.

    """
    if not judged(one):
        return []
    found = {
        "spread": (one.spread or 0.0) > _SPREAD,
        "best": _times(one) > _BEST,
        "drift": abs(one.drift or 0.0) > _DRIFT,
    }
    return [name for name, true in found.items() if true]


def judged(one: Figure) -> bool:
    """Whether there are samples enough; a figure that does not say how many is taken as one of many."""
    return one.samples is UNSET or one.samples >= FEW


def doubt(one: Figure) -> float:
    """The share of a figure that may be chance: the farthest that its samples give reason to think."""
    return max(one.spread or 0.0, _times(one) - 1, abs(one.drift or 0.0))


def _times(one: Figure) -> float:
    """How many times as good the best is; of seconds the fewest are."""
    if not one.median or not one.best:
        return 1.0
    return one.median / one.best if one.unit == "s" else one.best / one.median
