"""Rates from counters: differences over the time that a clock measures which nobody sets."""

Key = tuple[object, ...]


class Rates:
    """The counters of the sample before, by a key of the caller's."""

    def __init__(self) -> None:
        self._before: dict[Key, tuple[float, float]] = {}
        self._now: dict[Key, tuple[float, float]] = {}

    def per_second(self, key: Key, count: float, now: float, bits: int = 0) -> float | None:
        """How fast a counter grows; None at first, and where it went back.

        `now` is in seconds of a clock that only grows. `bits`: the width at which the counter begins anew, where it is
        known; else one that went back was reset.
        """
        before = self._before.get(key)
        self._now[key] = (now, count)
        if before is None or now <= before[0]:
            return None
        grown = count - before[1]
        if grown < 0:
            grown = grown + 2**bits if bits else -1
        return grown / (now - before[0]) if grown >= 0 else None

    def next(self) -> None:
        """A sample is done: what was not counted in it is forgotten."""
        self._before, self._now = self._now, {}
