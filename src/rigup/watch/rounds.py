"""Work that may hang: a sensor that does not answer costs itself only."""

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue

Task = tuple[str, Callable[[], None]]


def again_and_again(task: Callable[[], None], interval: float, stop: threading.Event) -> None:
    """Do it every so many seconds until it is to stop; one that took longer puts off those that follow."""
    due = time.monotonic()
    while not stop.is_set():
        task()
        due = max(due + interval, time.monotonic())
        stop.wait(due - time.monotonic())


class Rounds:
    """Runs small tasks one after another in a thread of its own; one that is late is left behind with that thread."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._hanging: dict[str, threading.Event] = {}
        self._thread: _Worker | None = None

    def run(self, tasks: list[Task]) -> dict[str, str]:
        """Run all; by name why one did not end. A task that hangs still from before is not begun again."""
        failed = {name: "no answer" for name, _task in tasks if not self._is_free(name)}
        waiting = [(name, task) for name, task in tasks if name not in failed]
        while waiting:
            worker = self._thread = self._thread or _Worker()
            worker.queue.put(waiting)
            late = not worker.wait(self.seconds)
            failed |= worker.failed
            if not late:
                break
            name = worker.current
            failed[name] = "no answer"
            self._hanging[name] = worker.idle
            waiting = waiting[[other for other, _task in waiting].index(name) + 1 :]
            self._thread = None
        return failed

    def _is_free(self, name: str) -> bool:
        if (idle := self._hanging.get(name)) is None:
            return True
        if idle.is_set():
            del self._hanging[name]
            return True
        return False


class _Worker:
    """One thread. It ends after a round in which it was left behind."""

    def __init__(self) -> None:
        self.queue: SimpleQueue[list[Task]] = SimpleQueue()
        self.done: SimpleQueue[None] = SimpleQueue()
        self.idle = threading.Event()
        self.current, self.steps, self.failed = "", 0, dict[str, str]()
        self._left = False
        threading.Thread(target=self._work, daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Whether the round ended; False when one of its tasks took longer than that."""
        before = -1
        while True:
            try:
                self.done.get(timeout=seconds)
            except Empty:
                if self.steps == before:
                    self._left = True
                    return False
                before = self.steps
            else:
                return True

    def _work(self) -> None:
        while not self._left:
            tasks = self.queue.get()
            self.failed = {}
            for name, task in tasks:
                self.current = name
                try:
                    task()
                except Exception as error:  # whatever a driver's files hold costs that device only
                    self.failed[name] = f"{type(error).__name__}: {error}"[:200]
                if self._left:
                    break
                self.steps += 1
            self.done.put(None)
        self.idle.set()
