"""Samples for the view, from a thread of its own, so that a driver that hangs keeps no key waiting."""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from msgspec import UNSET, structs

from rigup.cli.live.view import POINTS, Frame, frame_of
from rigup.schemas.watch import Watch
from rigup.watch.findings import findings
from rigup.watch.history import History
from rigup.watch.watcher import Watcher

if TYPE_CHECKING:
    from rigup.watch.recording import Recorder, Recording

SLOWEST, FASTEST = 60.0, 0.1  # seconds between two samples
_PAGE = 60  # samples of a long step


class Feed(Protocol):
    """Where frames come from."""

    interval: float
    tree: bool
    others: bool

    def start(self, post: Callable[[Frame | None], object]) -> None:
        """Begin: each frame is handed to `post`, and None when there is no more."""

    def stop(self) -> None:
        """End, and let everything go."""


class _Thread:
    """A loop in a thread that ends when it is told to."""

    def __init__(self, interval: float) -> None:
        self.interval, self.tree, self.others = interval, False, False
        self._stop, self._thread = threading.Event(), threading.Thread(target=self._guard, daemon=True)
        self._post: Callable[[Frame | None], object] = lambda _frame: None
        self._wake = threading.Event()

    def start(self, post: Callable[[Frame | None], object]) -> None:
        """Begin."""
        self._post = post
        self._thread.start()

    def stop(self) -> None:
        """End; a driver that hangs is left with the thread."""
        self._stop.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2)

    def _guard(self) -> None:
        self._work()
        self._post(None)

    def _work(self) -> None:
        raise NotImplementedError

    def _wait(self, due: float) -> float:
        """Until it is time for the next sample; when that was."""
        while (left := due + self.interval - time.monotonic()) > 0 and not self._stop.is_set():
            self._wake.wait(left)
            self._wake.clear()
        return max(due + self.interval, time.monotonic() - self.interval)


class LiveFeed(_Thread):
    """New samples, written into a recording as they pass where there is one."""

    def __init__(self, watcher: Watcher, interval: float, recorder: "Recorder | None" = None, count: int | None = None) -> None:
        super().__init__(interval)
        self._watcher, self._recorder, self._count = watcher, recorder, count

    def first(self) -> Frame:
        """The first sample, in the thread that asks."""
        return self._frame(self._sample())

    def _sample(self) -> Watch:
        self._watcher.sampler.all_processes = self.others
        return self._watcher.sample()

    def _frame(self, sample: Watch) -> Frame:
        note = ""
        if self._recorder is not None:
            from rigup.language import _

            self._recorder.add(sample)
            trouble = self._recorder.trouble
            note = _("recording waits: {why}").format(why=trouble) if trouble else _("recording")
        parents = (
            self._watcher.sampler.programs.parents(process.pid for process in (*sample.processes, *(sample.host_processes or ())))
            if self.tree
            else {}
        )
        return frame_of(sample, self._watcher.history, parents, note)

    def _work(self) -> None:
        due, taken = time.monotonic(), 1
        while not self._stop.is_set() and (self._count is None or taken < self._count):
            due = self._wait(due)
            if self._stop.is_set():
                break
            taken += 1
            try:
                self._post(self._frame(self._sample()))
            except Exception as error:  # the next one may succeed
                if self._watcher.history.last is not None:
                    self._post(frame_of(self._watcher.history.last, self._watcher.history, {}, f"{type(error).__name__}: {error}"))

    def stop(self) -> None:
        """End; what waits is written."""
        super().stop()
        if self._recorder is not None:
            self._recorder.close()
        if not self._thread.is_alive():
            self._watcher.close()


class ReplayFeed(_Thread):
    """The samples of a recording, at the pace at which they were taken, forward and back."""

    def __init__(self, path: str, speed: float = 1.0) -> None:
        super().__init__(1.0)
        self.path, self.speed, self.paused = path, speed, False
        self._lock, self._steps = threading.Lock(), 0
        self._at, self._total, self._history = 0, 0, History(POINTS)

    def first(self) -> Frame:
        """The first sample. Raises NoRecording."""
        from rigup.watch.recording import Recording

        recording = Recording(self.path)
        try:
            self._total = recording.count()
            return self._show(recording, 0)
        finally:
            recording.close()

    def seek(self, steps: int) -> None:
        """Go on by so many samples, back where it is negative."""
        with self._lock:
            self._steps += steps
        self._wake.set()

    def _show(self, recording: "Recording", at: int) -> Frame:
        """The sample at a position, with those before it that graphs and findings look back on. Raises NoRecording."""
        self._history, self._at = recording.history_at(at, POINTS), at
        return self._frame()

    def _frame(self) -> Frame:
        sample = self._history.last
        if sample is None:
            raise AssertionError  # it was shown when the first was
        shown = structs.replace(sample, findings=findings(self._history))
        self._history.last = shown
        return frame_of(shown, self._history, {}, f"{self._at + 1}/{self._total}" + (f" ×{self.speed:g}" if self.speed != 1 else ""))

    def _work(self) -> None:
        from rigup.watch.recording import NoRecording, Recording

        try:
            recording = Recording(self.path)
            try:
                self._play(recording)
            finally:
                recording.close()
        except NoRecording as error:
            if self._history.last is not None:
                self._post(frame_of(self._history.last, self._history, {}, str(error)))

    def _play(self, recording: "Recording") -> None:
        coming, ahead = iter(recording.samples(self._at + 1)), self._at + 1
        while not self._stop.is_set():
            with self._lock:
                steps, self._steps = self._steps, 0
            if steps:
                frame = self._show(recording, max(0, min(self._at + steps, self._total - 1)))
                coming, ahead = iter(recording.samples(self._at + 1)), self._at + 1
                self._post(frame)
            elif self.paused or ahead >= self._total:
                self._wake.wait()
                self._wake.clear()
                continue
            elif (sample := next(coming, None)) is not None:
                if self._rest(sample):
                    self._history.add(sample)
                    self._at, ahead = ahead, ahead + 1
                    self._post(self._frame())
                else:
                    coming = iter(recording.samples(ahead))
            else:
                ahead = self._total

    def _rest(self, sample: Watch) -> bool:
        """Wait as long as it took until this sample; False where the person did something meanwhile."""
        gap = sample.interval if sample.interval is not UNSET else 1.0
        awake = self._wake.wait(max(0.02, min(gap, SLOWEST) / self.speed))
        self._wake.clear()
        return not awake and not self._stop.is_set()

    def wake(self) -> None:
        """Look again at what the person chose."""
        self._wake.set()
