"""Recording around a program's work: in a thread beside it, or around a program that is started."""

import threading
import time
from types import TracebackType

from rigup.watch.recording import Recorder
from rigup.watch.watcher import Watcher


class Recording:
    """Samples into a file while a block runs: `with rigup.watch.record("run.db"): …`.

    A sample that cannot be read or written does not disturb the block; `trouble` says what was wrong.
    """

    def __init__(self, path: str, interval: float = 1.0) -> None:
        self.path, self.interval, self.trouble = path, interval, ""
        self._recorder = Recorder(path)
        self._watcher = Watcher()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True, name="rigup-watch")

    def __enter__(self) -> "Recording":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """End it: one more sample, and the file is whole."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=30)
        self._watcher.close()
        self._recorder.close()

    def _work(self) -> None:
        due = time.monotonic()
        while True:
            last = self._stop.is_set()
            self._take()
            if last:
                return
            due = max(due + self.interval, time.monotonic())
            self._stop.wait(due - time.monotonic())

    def _take(self) -> None:
        try:
            self._recorder.add(self._watcher.sample())
            self.trouble = self._recorder.trouble
        except Exception as error:  # the work that is recorded goes on
            self.trouble = f"{type(error).__name__}: {error}"
