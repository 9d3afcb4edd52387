"""Who does the reading: one worker for what is quick, a thread of its own for what waits for a program.

Each job has a time limit from its beginning. One that is late is given up: its worker may hang for ever, so
another takes its place, and what it says later is not listened to.
"""

import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Done(NamedTuple, Generic[T]):
    """A job that ended: with its value, or with what went wrong."""

    name: str
    value: T | None
    trouble: str = ""


class Crew(Generic[T]):
    """Jobs by name; `finished` gives them back one by one."""

    def __init__(self) -> None:
        self._quick: queue.SimpleQueue[tuple[str, Callable[[], T]] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Done[T]] = queue.SimpleQueue()
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
            return
        self._quick.put((name, job))
        if not self._serving:
            self._serve_anew()

    def dismiss(self) -> None:
        """Nothing more is given: the worker goes home."""
        self._quick.put(None)

    def finished(self) -> list[Done[T]]:
        """The next job that ended, or those that are late."""
        while True:
            wait = min(self._late_at.values(), default=time.monotonic() + 0.5) - time.monotonic()
            try:
                done = self._done.get(timeout=max(0.01, wait))
            except queue.Empty:
                if late := self._given_up():
                    return late
                continue
            if self._seconds.pop(done.name, None) is not None:  # one that comes too late was given up
                self._late_at.pop(done.name, None)
                return [done]

    def _given_up(self) -> list[Done[T]]:
        late = [name for name, limit in list(self._late_at.items()) if limit <= time.monotonic()]
        for name in late:
            del self._late_at[name]
            self._seconds.pop(name, None)
        self._abandoned.update(late)
        if any(name not in self._alone for name in late):
            self._serve_anew()
        return [Done(name, None, "no answer in time") for name in late]

    def _serve_anew(self) -> None:
        self._serving = True
        threading.Thread(target=self._serve, daemon=True, name="rigup reader").start()

    def _serve(self) -> None:
        while True:
            taken = self._quick.get()
            if taken is None:
                return
            name, job = taken
            self._work(name, job)
            if name in self._abandoned:  # we were late: another serves
                return

    def _work(self, name: str, job: Callable[[], T]) -> None:
        self._late_at[name] = time.monotonic() + self._seconds[name]
        try:
            done = Done(name, job())
        except Exception as error:  # it costs its own facts only
            done = Done(name, None, type(error).__name__ + ": " + str(error)[:200])
        self._done.put(done)
