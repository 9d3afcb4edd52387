"""Who does the reading: one worker for what is quick, a thread of its own for what waits for a program.

Each job has a time limit from its beginning. One that is late is given up: its worker may hang for ever, so
another takes its place, and what it says later is not listened to.
"""

import collections
import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from rigup.language import N_

T = TypeVar("T")
NO_ANSWER = N_("no answer in time")
_SOON = 0.5  # seconds until who waits looks again whether anything has begun


class Done(NamedTuple, Generic[T]):
    """A job that ended: with its value, or with what went wrong."""

    name: str
    value: T | None
    trouble: str = ""


class WorkerPool(Generic[T]):
    """Jobs by name; `finished` gives them back as they end.

    Quick jobs are done in a row, and who waits is woken when all have ended: to wake him for each would take
    longer than most of them.
    """

    def __init__(self) -> None:
        self._quick: collections.deque[tuple[str, Callable[[], T]]] = collections.deque()
        self._calls: queue.SimpleQueue[bool] = queue.SimpleQueue()  # to the worker: there is something; or go home
        self._ended: list[Done[T]] = []
        self._lock, self._woken = threading.Lock(), threading.Event()
        self._seconds: dict[str, float] = {}  # limits of all that is not finished
        self._late_at: dict[str, float] = {}  # of what has begun
        self._alone: set[str] = set()
        self._abandoned: set[str] = set()
        self._serving = False

    @property
    def busy(self) -> bool:
        """Whether something is not finished."""
        return bool(self._seconds)

    def give(self, name: str, job: Callable[[], T], seconds: float, alone: bool) -> None:
        """Take a job on. `alone`: it waits for something else, so others must not wait for it."""
        self._seconds[name] = seconds
        if alone:
            self._alone.add(name)
            threading.Thread(target=self._work, args=(name, job), daemon=True, name="rigup " + name).start()
        else:
            self._quick.append((name, job))

    def dismiss(self) -> None:
        """Nothing more is given: the worker goes home."""
        self._calls.put(False)

    def finished(self) -> list[Done[T]]:
        """The jobs that have ended, once all have or one is late; then those that are late."""
        self._call()
        while True:
            next_late = min(self._late_at.copy().values(), default=time.monotonic() + _SOON)
            self._woken.wait(max(0.01, next_late - time.monotonic()))
            if done := self._take_ended() or self._given_up():
                return done

    def _call(self) -> None:
        """Give the worker the quick jobs once all of them are known."""
        if not self._quick:
            return
        if not self._serving:
            self._serve_anew()
        self._calls.put(True)

    def _take_ended(self) -> list[Done[T]]:
        """What ended since the last time; one that comes too late was given up."""
        with self._lock:
            self._woken.clear()
            ended, self._ended = self._ended, []
            done_in_time = [done for done in ended if self._seconds.pop(done.name, None) is not None]
        for done in done_in_time:
            self._late_at.pop(done.name, None)
        return done_in_time

    def _given_up(self) -> list[Done[T]]:
        late = [name for name, limit in list(self._late_at.items()) if limit <= time.monotonic()]
        for name in late:
            del self._late_at[name]
            self._seconds.pop(name, None)
        self._abandoned.update(late)
        if any(name not in self._alone for name in late):
            self._serve_anew()
            self._calls.put(True)
        return [Done(name, None, NO_ANSWER) for name in late]

    def _serve_anew(self) -> None:
        self._serving = True
        threading.Thread(target=self._serve, daemon=True, name="rigup reader").start()

    def _serve(self) -> None:
        while self._calls.get():
            while taken := self._next():
                self._work(*taken)
                if taken[0] in self._abandoned:  # we were late: another serves
                    return

    def _next(self) -> tuple[str, Callable[[], T]] | None:
        with contextlib.suppress(IndexError):
            return self._quick.popleft()
        return None

    def _work(self, name: str, job: Callable[[], T]) -> None:
        self._late_at[name] = time.monotonic() + self._seconds[name]
        try:
            done = Done(name, job())
        except Exception as error:  # it costs its own facts only
            done = Done(name, None, type(error).__name__ + ": " + str(error)[:200])
        with self._lock:
            self._ended.append(done)
            if len(self._ended) >= len(self._seconds):
                self._woken.set()
