"""Several machines at once: each sampled by a thread of its own, with what is needed to show it."""

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import UNSET, structs

from rigup.schemas.watch import Watch
from rigup.watch.findings import findings
from rigup.watch.history import History, key_of
from rigup.watch.recording import NoRecording, Recording
from rigup.watch.rounds import again_and_again

POINTS = 3600
_LOOK_BACK = 700  # samples that findings of a moment are made of: the longest asks for ten minutes
_OLD = 5.0  # seconds beside three intervals after which a sample is no longer one of now


class Node:
    """One machine.

    Args:
        name: as a person knows it.
        sample: gives a sample; raises where there is none.
        interval: seconds between two.
        judges: whether findings are worked out here.
        end: called when the node is no longer wanted.

    """

    def __init__(
        self, name: str, sample: Callable[[], Watch], interval: float, judges: bool = True, end: Callable[[], None] | None = None
    ) -> None:
        self.name, self.interval, self.trouble = name, interval, ""
        self.history, self.version = History(POINTS), 0
        self.times: list[float] = []
        self._sample, self._judges, self._at, self._end = sample, judges, -1.0, end
        self._stop, self.lock = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._work, daemon=True, name="rigup node")

    def start(self) -> None:
        """Begin to sample."""
        self._thread.start()

    def stop(self) -> None:
        """End after the sample that is being made."""
        self._stop.set()
        if self._end is not None:
            self._end()

    def take(self) -> None:
        """One sample; where there is none, why."""
        try:
            sample = self._sample()
        except Exception as error:  # the next one may succeed
            with self.lock:
                self.trouble, self.version = str(error) or type(error).__name__, self.version + 1
            return
        now = time.monotonic()
        with self.lock:
            if sample.interval is UNSET and self._at >= 0:
                sample = structs.replace(sample, interval=now - self._at)
            self._at, self.trouble, self.version = now, "", self.version + 1
            self.history.add(sample)
            if self._judges:
                self.history.last = structs.replace(sample, findings=findings(self.history))
            self.times = [*self.times[-POINTS + 1 :], sample.time]

    def last(self) -> tuple[Watch | None, str]:
        """The last sample, and why there is none of now."""
        with self.lock:
            age = time.monotonic() - self._at
            old = self._at >= 0 and age > 3 * self.interval + _OLD and not self.trouble
            return self.history.last, f"no sample for {age:.0f} s" if old else self.trouble

    def series(self, names: tuple[str, ...]) -> dict[str, object]:
        """Times and the values of each GPU, the oldest first."""
        with self.lock:
            last = self.history.last
            gpus = last.gpus if last else []
            host = {name: self.history.host[name].last(POINTS) for name in ("cpu", "ram")}
            return {
                "times": self.times,
                "host": host,
                "gpus": {key_of(gpu): {name: self.history.recent(gpu, name, POINTS) for name in names} for gpu in gpus},
            }

    def _work(self) -> None:
        again_and_again(self.take, self.interval, self._stop)


class Replayed(Node):
    """A recording in the place of a machine: all of its time at once, of many samples each so-many-th. Raises NoRecording."""

    def __init__(self, path: str) -> None:
        super().__init__(Path(path).name, self._no_more, 1.0)
        self.path = path
        with contextlib.closing(Recording(path)) as recording:
            self._step = -(-recording.count() // POINTS) or 1
            for number, sample in enumerate(recording.samples()):
                if number % self._step == 0:
                    self.history.add(sample)
                    self.times.append(sample.time)
                last = sample
            if not self.times:
                raise NoRecording(f"{path}: it holds no sample")
            self.history.last = structs.replace(last, findings=findings(self.history))
        self.version = 1

    def moment(self, point: int) -> Watch:
        """The sample behind a point of the graphs, with what was wrong then. Raises LookupError where there is none, NoRecording."""
        if not 0 <= point < len(self.times):
            raise LookupError(point)
        with contextlib.closing(Recording(self.path)) as recording:
            history = recording.history_at(point * self._step, _LOOK_BACK)
        if history.last is None:
            raise AssertionError
        return structs.replace(history.last, findings=findings(history))

    def _no_more(self) -> Watch:
        raise NoRecording("a recording has no more samples")

    def start(self) -> None:
        """There is nothing to wait for."""

    def last(self) -> tuple[Watch | None, str]:
        """The last sample of the recording."""
        return self.history.last, ""
