"""Run the probe in a child process with limits on time and memory; its progress is known even if it hangs or crashes."""

import contextlib
import json
import math
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from rigup import shipped

PROBE = shipped.path("verify/probe")
Event = dict[str, Any]
_TICK = 0.2  # seconds between looks at its memory
_LINE, _LINES = 1_000_000, 20_000  # bytes of one, and how many, are listened to
_HEAD, _TAIL = 100_000, 400_000  # bytes of its standard error that are kept


class Limits(NamedTuple):
    """What a child may take.

    Attributes:
        start: seconds until the framework is imported and has listed its devices.
        check: seconds for one check.
        memory: bytes of main memory; 0 for no limit.
        until: the moment of `time.monotonic` at which it is ended, wherever it is.

    """

    start: float = 180.0
    check: float = 60.0
    memory: int = 0
    until: float = math.inf


class Ended(NamedTuple):
    """How a child ended.

    Attributes:
        why: "" where it went by itself; "hung", "memory" or "over" (its time was) where we ended it.
        status: its exit status; minus the signal's number where one ended it.
        stderr: its standard error, the middle left out where that was long.
        seconds: how long it ran.

    """

    why: str
    status: int
    stderr: bytes
    seconds: float


def run(python: str, order: Event, limits: Limits, on_event: Callable[[Event], None], probe: Path = PROBE) -> Ended:
    """Run a probe in an interpreter; `on_event` is called with each event that it writes.

    Raises:
        OSError: the interpreter cannot be started.

    """
    began = time.monotonic()
    with tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            [python, str(probe), json.dumps(order)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=_variables(),
            start_new_session=os.name == "posix",
        )
        try:
            why = _attended(process, limits, on_event)
        finally:
            _end(process)
        status = process.poll()  # one that waits in a driver is not gone yet, and nobody can end it
        return Ended(why, -9 if status is None else status, _kept(stderr), time.monotonic() - began)


def _variables() -> dict[str, str]:
    """The environment variables of the child: the caller's, with faulthandler enabled."""
    return {**os.environ, "PYTHONFAULTHANDLER": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"}


def _attended(process: "subprocess.Popen[bytes]", limits: Limits, on_event: Callable[[Event], None]) -> str:
    """Read events until the child ends or exceeds a limit; the reason why it was stopped, "" if it ended by itself."""
    lines: queue.Queue[bytes | None] = queue.Queue()
    threading.Thread(target=_listen, args=(process.stdout, lines), daemon=True).start()
    until = time.monotonic() + limits.start
    while True:
        with contextlib.suppress(queue.Empty):
            line = lines.get(timeout=_TICK)
            if line is None:
                return _last_breath(process, limits)
            for event in _event(line):
                on_event(event)
                until = time.monotonic() + (limits.check if event["say"] != "ready" else limits.start)
        if time.monotonic() > min(until, limits.until):
            return "over" if limits.until < until else "hung"
        if limits.memory and resident(process.pid) > limits.memory:
            return "memory"


def _listen(out: "IO[bytes] | None", lines: "queue.Queue[bytes | None]") -> None:
    for _number in range(_LINES):
        line = out.readline(_LINE) if out else b""
        if not line:
            break
        lines.put(line)
    lines.put(None)


def _last_breath(process: "subprocess.Popen[bytes]", limits: Limits) -> str:
    """Wait for the exit of a child that has closed its output; an interpreter with loaded drivers takes a while."""
    try:
        process.wait(timeout=min(limits.check, 30))
    except subprocess.TimeoutExpired:
        return "hung"
    return ""


def _event(line: bytes) -> Iterator[Event]:
    """The event on a line of output; nothing if the line is no event."""
    with contextlib.suppress(ValueError, RecursionError):
        event = json.loads(line)
        if isinstance(event, dict) and isinstance(event.get("say"), str):
            yield event


def resident(pid: int) -> int:
    """Resident memory of a process in bytes; 0 where the system does not report it."""
    try:
        if sys.platform == "linux":
            return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        if os.name == "posix":
            completed = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, timeout=5, check=False)
            return int(completed.stdout or 0) * 1024
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return 0
    return 0


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill the child and its process group; a process that hangs in a driver may outlive this."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, 9) if os.name == "posix" else process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=10)
    if process.stdout:
        process.stdout.close()


def _kept(stderr: IO[bytes]) -> bytes:
    """The head and the tail of a file, with a mark between them where it was cut."""
    size = stderr.seek(0, os.SEEK_END)
    stderr.seek(0)
    if size <= _HEAD + _TAIL:
        return stderr.read()
    head = stderr.read(_HEAD)
    stderr.seek(-_TAIL, os.SEEK_END)
    return head + b"\n[...]\n" + stderr.read()
