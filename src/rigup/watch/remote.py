"""Another machine by the person's own ssh: the rigup that is there samples, and its samples come line by line.

One that goes away is asked again, later and later; it costs itself only, for each machine has a process and threads of its own.
"""

import contextlib
import os
import queue
import subprocess
import threading
import time

import msgspec

from rigup.machine.collect.ssh import cleaned, fit
from rigup.schemas.watch import Watch

_MOST_LINE = 8 * 1024**2  # bytes of a sample
_MOST_SAID = 4000  # bytes of what ssh says
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0  # seconds before a machine is asked again
_LATE = 15.0  # seconds beside three intervals without a sample after which a connection is given up
_SOON = 3.0  # seconds in which a process that is ended ends, and its last words are read
_MISSING = 127  # as a shell calls a program that it does not find
_OPTIONS = ("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3")
_THERE = (
    'PATH="$PATH:$HOME/.local/bin:$HOME/bin"; command -v rigup > /dev/null 2>&1 || exit 127; exec rigup watch --jsonl --interval {interval}'
)


class NoSample(Exception):
    """A machine that gives no sample now; the text says why."""


class Remote:
    """Samples of one machine. `host` is as ssh takes it. Raises NoSample for a name that is none."""

    def __init__(self, host: str, interval: float) -> None:
        if not fit(host):
            raise NoSample(f"{host[:80]!r} is no name of a host")
        self.host, self.interval = host, interval
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes] = queue.Queue(maxsize=2)
        self._said, self._pause, self._again = b"", _FIRST_PAUSE, 0.0
        self._readers: list[threading.Thread] = []
        self._ended = threading.Event()

    def sample(self) -> Watch:
        """The next sample, as soon as it comes. Raises NoSample."""
        if self._process is None:
            self._begin()
        try:
            line = self._lines.get(timeout=3 * self.interval + _LATE)
        except queue.Empty:
            line = b""
            self._said = self._said or b"no sample came in time"
        if not line:
            raise self._lost()
        try:
            answer = msgspec.json.decode(line, type=Watch)
        except (msgspec.DecodeError, ValueError) as error:
            self._said = f"what it says is no sample: {error}".encode()
            raise self._lost() from error
        self._pause = _FIRST_PAUSE
        return answer

    def _begin(self) -> None:
        """Connect, unless that was tried just now."""
        if self._ended.wait(max(self._again - time.monotonic(), 0.0)):
            raise NoSample("ended")
        self._again, self._pause = time.monotonic() + self._pause, min(2 * self._pause, _LONGEST_PAUSE)
        self._lines, self._said = queue.Queue(maxsize=2), b""
        argv = ("ssh", *_OPTIONS, "--", self.host, _THERE.format(interval=self.interval))
        try:
            self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as error:
            raise NoSample(f"ssh cannot be started: {error.strerror}") from error
        self._readers = [
            threading.Thread(target=read, args=(self._process, self._lines), daemon=True, name="rigup ssh")
            for read in (self._read_lines, self._read_words)
        ]
        for reader in self._readers:
            reader.start()

    def _read_lines(self, process: "subprocess.Popen[bytes]", lines: "queue.Queue[bytes]") -> None:
        """Samples; an empty line says that there are no more. Whoever shows them late gets the newest."""
        if process.stdout is None:
            raise AssertionError
        with process.stdout as samples:
            while (line := samples.readline(_MOST_LINE)).endswith(b"\n"):
                self._put(lines, line)
        if line:
            self._said = b"a line of it is longer than 8 MiB, or has no end"
        process.wait()
        self._put(lines, b"")

    @staticmethod
    def _put(lines: "queue.Queue[bytes]", line: bytes) -> None:
        with contextlib.suppress(queue.Empty):
            while lines.full():
                lines.get_nowait()
        with contextlib.suppress(queue.Full):
            lines.put_nowait(line)

    def _read_words(self, process: "subprocess.Popen[bytes]", _lines: "queue.Queue[bytes]") -> None:
        """What ssh and the program there say on their standard error: the end of it."""
        if process.stderr is None:
            raise AssertionError
        with process.stderr as words:
            while piece := os.read(words.fileno(), _MOST_SAID):
                self._said = (self._said + piece)[-_MOST_SAID:]

    def _lost(self) -> NoSample:
        """Why no more comes; the connection is let go."""
        process, self._process = self._process, None
        status = _ended(process) if process is not None else None
        self._join()
        if status == _MISSING:
            return NoSample(
                f"rigup is not there: `ssh {self.host} python3 -m pip install --user rigup` brings it, or name the machine's exporter with --node"
            )
        error_lines = cleaned(self._said.decode("utf-8", "replace")).strip().splitlines()
        return NoSample(error_lines[-1] if error_lines else f"ssh ended with {status}")

    def stop(self) -> None:
        """End: the connection, and with it the program there."""
        self._ended.set()
        process, self._process = self._process, None
        if process is not None:
            _ended(process)
        self._join()

    def _join(self) -> None:
        """Wait until all that was said is read."""
        for reader in self._readers:
            reader.join(timeout=_SOON)


def _ended(process: "subprocess.Popen[bytes]") -> int:
    """Let a process end, and say how it did: by itself where it has, else by us."""
    status = process.poll()
    if status is None:
        process.terminate()
        try:
            status = process.wait(timeout=_SOON)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
    return status
