"""The time budget of quick checks; what does not fit is reported as left.

It is counted in processor time of the thread that checks: on a machine that is busy with other things as much is tried
as on one that is not. A device that is waited for takes none, so that there is an end by the clock, too.
"""

from __future__ import annotations

import math
import time

SECONDS = 20.0
_BY_THE_CLOCK = 4  # times as long


class Budget:
    """A budget of processor time and wall time."""

    def __init__(self) -> None:
        self._until = self._end = math.inf

    def begin(self, seconds: float) -> None:
        """Start the budget now."""
        self._until = time.thread_time() + seconds
        self._end = time.perf_counter() + seconds * _BY_THE_CLOCK

    def over(self) -> bool:
        """Whether the budget is used up."""
        return time.thread_time() > self._until or time.perf_counter() > self._end


BUDGET = Budget()
