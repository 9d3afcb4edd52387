"""A child process whose end is certain: its standard error is kept, bounded, and it goes when rigup goes, however that is."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

CHILD = Path(__file__).with_name("held_child.py")
_FIRST, _LAST = 256 << 10, 128 << 10  # bytes: what an engine says of itself at its start, and what it said last
_LINE = 8 << 10
_LAST_WORDS = 2.0  # seconds for what was said and is not yet read
_QUIET = 0.15  # seconds without a new line, after which nothing more is taken to be on its way


class Log:
    """The beginning and the end of what a process said; what is between is counted."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._last: deque[str] = deque()
        self._sizes = [0, 0]
        self._lock = threading.Lock()
        self._added = time.monotonic()
        self.left_out = 0

    def add(self, line: str) -> None:
        """Keep a line, or the beginning of a long one."""
        line = line[:_LINE]
        with self._lock:
            self._added = time.monotonic()
            if self._sizes[0] < _FIRST:
                self._first.append(line)
                self._sizes[0] += len(line)
                return
            self._last.append(line)
            self._sizes[1] += len(line)
            while self._sizes[1] > _LAST:
                self._sizes[1] -= len(self._last.popleft())
                self.left_out += 1

    def settle(self, seconds: float = _LAST_WORDS) -> None:
        """Wait for lines that are on their way, at most so long: programs log from threads of their own, behind what they do."""
        began = time.monotonic()
        while (left := max(self._added, began) + _QUIET - time.monotonic()) > 0 and time.monotonic() < began + seconds:
            time.sleep(left)

    def text(self) -> str:
        """All that is kept."""
        with self._lock:
            gap = [f"… {self.left_out} lines …\n"] if self.left_out else []
            return "".join((*self._first, *gap, *self._last))


class Child:
    """A process in a session of its own, so that Ctrl-C at the terminal is rigup's.

    It is started by the thread that reads what it says and lives as long as it does: Linux ends a child with the thread
    that started it.

    Args:
        words: the program and its arguments.
        environ: all its variables.
        log: keeps what it says on standard error.
        folder: in which it starts; None for the one where rigup stands.

    Raises:
        OSError: it cannot be started.

    """

    def __init__(self, words: Sequence[str], environ: Mapping[str, str], log: Log | None = None, folder: str | None = None) -> None:
        self.log = log or Log()
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._fault: OSError | None = None
        begun = threading.Event()
        self._reader = threading.Thread(target=self._live, args=(list(words), dict(environ), begun), daemon=True)
        self._reader.start()
        begun.wait()
        if self._fault is not None:
            raise self._fault

    def _live(self, words: list[str], environ: dict[str, str], begun: threading.Event) -> None:
        try:
            self._process = subprocess.Popen(
                words,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
                cwd=self._folder,
            )
        except OSError as error:
            self._fault = error
            return
        finally:
            begun.set()
        assert self._process.stderr is not None  # noqa: S101
        with contextlib.suppress(OSError, ValueError), self._process.stderr as stream:
            while line := stream.readline(_LINE):
                self.log.add(line.decode("utf-8", "replace"))
        self._process.wait()

    @property
    def pid(self) -> int:
        """Of the process that was started; it leads its session."""
        return self._process.pid if self._process else 0

    @property
    def status(self) -> int | None:
        """How it ended, negative for a signal; None while it runs."""
        return self._process.poll() if self._process else None

    def wait(self, seconds: float) -> int | None:
        """How it ended, waited for so long; None where it still runs."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
        return self.status

    def stop(self, seconds: float = 15.0) -> None:
        """End it, and all that it started: first by letting go of its standard input, then for certain."""
        process = self._process
        if process is None:
            return
        with contextlib.suppress(OSError):
            if process.stdin:
                process.stdin.close()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._kill(process)
            process.wait(seconds)
        self._reader.join(_LAST_WORDS)

    def _kill(self, process: "subprocess.Popen[bytes]") -> None:
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
