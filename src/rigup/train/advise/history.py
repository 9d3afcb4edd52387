"""How much of their time limit jobs really use, from completed ones."""

from bisect import bisect_right
from collections.abc import Sequence

from rigup.train.advise.inputs import Past

ENOUGH = 5
"""Completed jobs of a partition from which on it is judged by its own."""
LIMITS, MEDIAN, TENTH = 1.0, 0.5, 0.1
"""What of the history is taken: nothing (jobs run to their limits), the median, or 10 %."""


class History:
    """Used parts of time limits, by partition."""

    def __init__(self, past: Sequence[Past]) -> None:
        self._every = sorted(min(1.0, job.used) for job in past)
        self._of: dict[str, list[float]] = {}
        self._kept: dict[tuple[str, float], float] = {}
        for job in sorted(past, key=lambda job: job.used):
            self._of.setdefault(job.partition, []).append(min(1.0, job.used))

    def __bool__(self) -> bool:
        """Whether anything is known."""
        return bool(self._every)

    def used(self, partition: str, quantile: float, already: float = 0.0) -> float:
        """The part of its limit that a job uses, of those that used more than this one already has."""
        if not already and (kept := self._kept.get((partition, quantile))) is not None:
            return kept
        used = self._used(partition, quantile, already)
        if not already:
            self._kept[partition, quantile] = used
        return used

    def _used(self, partition: str, quantile: float, already: float) -> float:
        return part(*self.beyond(partition, already), quantile)

    def beyond(self, partition: str, already: float) -> tuple[list[float], int]:
        """The parts that completed jobs used, in order, and the place from which on they are more than `already`."""
        own = self._of.get(partition, [])
        known = own if len(own) >= ENOUGH else self._every
        return known, bisect_right(known, already)


def part(known: Sequence[float], begin: int, quantile: float) -> float:
    """A quantile of sorted parts from a place on; all of the limit where there are none."""
    count = len(known) - begin
    if quantile >= LIMITS or not count:
        return 1.0
    place = quantile * (count - 1)
    below = int(place)
    low, high = known[begin + below], known[begin + min(below + 1, count - 1)]
    return low + (place - below) * (high - low)
