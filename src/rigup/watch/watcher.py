"""Samples at even times, each with what is wrong: what everything that shows, records or exports goes through."""

import time
from collections.abc import Generator

from msgspec import structs

from rigup.schemas.watch import Watch
from rigup.watch.findings import findings
from rigup.watch.history import History
from rigup.watch.sampler import Sampler
from rigup.watch.ways import ELSEWHERE, here

_PRIMED = 0.1  # seconds; a tick of /proc/stat is 0.01


class Watcher:
    """A sampler with its history."""

    def __init__(self, tree: str | None = None, anonymous: bool = False) -> None:
        self.sampler, self.history = Sampler(tree, anonymous), History()
        self.surroundings = here(self.sampler.files) if tree is None else ELSEWHERE

    def prime(self, seconds: float = _PRIMED) -> None:
        """Let the one sample that is wanted have rates of the host: they are counted over so many seconds."""
        began = time.monotonic()
        self.sampler.prime()
        time.sleep(max(seconds - (time.monotonic() - began), 0.0))

    def sample(self) -> Watch:
        """One sample with its findings."""
        self.history.add(self.sampler.sample())
        if self.history.last is None:
            raise AssertionError
        answer = structs.replace(self.history.last, findings=findings(self.history, self.surroundings))
        self.history.last = answer
        return answer

    def samples(self, interval: float, count: int | None) -> Generator[Watch, None, None]:
        """Samples at even times, of a clock that nobody sets; one that comes late does not crowd those after it."""
        due, count_taken = time.monotonic(), 0
        while True:
            yield self.sample()
            count_taken += 1
            if count is not None and count_taken >= count:
                return
            due = max(due + interval, time.monotonic())
            time.sleep(max(due - time.monotonic(), 0.0))

    def close(self) -> None:
        """Let the drivers go."""
        self.sampler.close()
