"""A command of a step: its output kept and shown as it comes, its end waited for, its start on record."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from rigup.machine.escapes import without_escapes
from rigup.visible import visible

Argv = tuple[str, ...]
NOT_STARTED = 127  # as a shell says it of a program that is not there
_PATIENCE = 10.0  # seconds that a command may take to end when it is asked to
_MOST_LOG = 200_000_000  # bytes of one log; what a command says beyond is not kept
_CHUNK = 65_536
_TAG = "RIGUP_RUN"


class Child:
    """A command that runs in a process group of its own, so that Ctrl-C reaches it only through us."""

    def __init__(self, argv: Argv, log: Path, variables: Mapping[str, str], folder: str = "") -> None:
        self._log = open(log, "ab")  # noqa: SIM115  (closed when the command has ended)
        self._log.write(b"$ " + _readable(" ".join(argv)) + b"\n")
        self._log.flush()
        self.process: subprocess.Popen[bytes] | None = None
        self.why = ""
        group = {"process_group": 0} if os.name == "posix" else {}
        try:
            self.process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=dict(variables),
                cwd=folder or None,
                bufsize=0,
                **group,  # type: ignore[call-overload]
            )
        except OSError as error:
            self.why = error.strerror or type(error).__name__
            self._log.write(_readable(f"{argv[0]}: {self.why}") + b"\n")

    def wait(self, say: Callable[[str], None], gentle: bool = False, started: Callable[[int], None] | None = None) -> int:
        """Its exit status; its output goes to `say` line by line.

        Args:
            say: called with each line.
            gentle: it is never ended by us: Ctrl-C waits for it.
            started: hears its number first; who is interrupted in that has ended the command too.

        """
        if self.process is None:
            self._log.close()
            return NOT_STARTED
        try:
            self._pump(say, gentle, self._noted(started, gentle))
        except KeyboardInterrupt:
            self._end()
            raise
        finally:
            self._log.close()
            if self.process.stdout:
                self.process.stdout.close()
        return self.process.wait()

    def _noted(self, started: Callable[[int], None] | None, gentle: bool) -> bool:
        """Whether somebody asked for an end meanwhile."""
        try:
            if started and self.process:
                started(self.process.pid)
        except KeyboardInterrupt:
            if not gentle:
                raise
            return True
        return False

    def _pump(self, say: Callable[[str], None], gentle: bool, stopped: bool) -> None:
        rest = b""
        while True:
            try:
                chunk = self._next()
            except KeyboardInterrupt:
                if not gentle:
                    raise
                stopped = True
                continue
            if not chunk:
                break
            rest = self._pass_lines(rest + chunk, say)
        if rest:
            _keep(self._log, rest)
            say(rest.decode("utf-8", "replace"))
        if stopped:
            raise KeyboardInterrupt

    def _next(self) -> bytes:
        stream = self.process.stdout if self.process else None
        return os.read(stream.fileno(), _CHUNK) if stream else b""

    def _pass_lines(self, text: bytes, say: Callable[[str], None]) -> bytes:
        """Pass on whole lines; returns the beginning of the next one."""
        *lines, rest = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            _keep(self._log, line)
            say(line.decode("utf-8", "replace"))
        return rest[-_CHUNK:]

    def _end(self) -> None:
        """Asked twice, then ended."""
        for number in (signal.SIGINT, signal.SIGTERM):
            self._signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                if self.process:
                    self.process.wait(_PATIENCE)
                    return
        self._signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(OSError):
            if self.process and os.name == "posix":
                os.killpg(self.process.pid, number)
            elif self.process:
                self.process.terminate()


def _keep(log: IO[bytes], line: bytes) -> None:
    with contextlib.suppress(OSError):  # a full disk ends the step by itself; its log is not what matters then
        if log.tell() < _MOST_LOG:
            log.write(_readable(line.decode("utf-8", "replace")) + b"\n")
            log.flush()


def _readable(line: str) -> bytes:
    """A line as logs hold it: whoever shows the file on a terminal is safe."""
    return visible(without_escapes(line)).encode()


def started_at(pid: int) -> str:
    """When a process began, in the kernel's own count, so that another with its number is told apart; "" if it is gone."""
    with contextlib.suppress(OSError, IndexError):
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        fields = status.rpartition(")")[2].split()
        return "" if fields[0] == "Z" else fields[19]
    return ""


def wait_for_other(pid: int, began: str, seconds: float) -> bool:
    """Wait for a command that a killed run left behind; False if it still runs after so many seconds."""
    end = time.monotonic() + seconds
    while began and started_at(pid) == began:
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def tagged(variables: Mapping[str, str], ident: str) -> dict[str, str]:
    """Variables by which commands, and all that these start, are known where a run was killed before it noted them."""
    return {**variables, _TAG: ident}


def of_run(ident: str) -> list[tuple[int, str]]:
    """This person's processes that a run has started and that still work: number and start of each. Never raises."""
    processes = []
    sign = f"\0{_TAG}={ident}\0".encode()
    with contextlib.suppress(OSError):
        for pid in (int(name) for name in os.listdir("/proc") if name.isdecimal()):
            with contextlib.suppress(OSError):
                if sign in b"\0" + Path(f"/proc/{pid}/environ").read_bytes() and pid != os.getpid():
                    processes.append((pid, started_at(pid)))
    return processes
