"""Another machine by the person's own OpenSSH: one connection, a script on its standard input, nothing left there.

The terminal stays ssh's own, so passwords, second factors and questions about host keys work; what ssh
says of itself is passed on, cleaned. The far side may be hostile: what it prints is bounded, and read as a
stream is (see `stream.py`).
"""

import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import NamedTuple

from rigup.machine.collect.posix import SECONDS
from rigup.machine.escapes import without_escapes
from rigup.machine.limits import MOST_STREAM
from rigup.visible import UNFIT

_MOST_BYTES = MOST_STREAM  # of one trip
_MOST_SAID = 8000  # characters of what ssh said, the last ones
_CONNECT = 30  # seconds for the network
_START = 45  # seconds until the far side speaks, where nobody can be asked for a password
_START_ASKED = 180  # the same where somebody may have to type one
_SSH_FAILED = 255  # ssh's own exit status where it was not the far side that failed
_DONE = re.compile(rb"(?m)^@done [^\n]{0,40}\n")
_HOST = re.compile(r"(?!-)[\w.@%+:/\[\]\\-]{1,255}")
_UNFIT = re.compile(rf"[{UNFIT}]")
_OPTIONS = (
    "-T",
    "-a",
    "-x",
    "-o",
    "ClearAllForwardings=yes",
    "-o",
    "RemoteCommand=none",
    "-o",
    "PermitLocalCommand=no",
    "-o",
    f"ConnectTimeout={_CONNECT}",
)
# What OpenSSH's client says, and which failure it is. First that is found.
_FAILURES = (
    ("host-key", r"Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED|No \S{1,40} host key is known for"),
    ("refused", r"Permission denied|Too many authentication failures|No supported authentication methods|Authentication failed"),
    ("name", r"Could not resolve hostname|Name or service not known"),
    ("time-out", r"timed out|Operation timed out"),
    (
        "unreachable",
        r"Connection refused|No route to host|Network is unreachable|Connection closed|Connection reset|Broken pipe|banner exchange",
    ),
    ("configuration", r"Bad configuration option|terminating, \d+ bad configuration|Bad owner or permissions|unknown option"),
)


class Failure(Exception):
    """A machine that could not be asked. `kind` is a word for programs, the text ssh's own last words."""

    def __init__(self, kind: str, message: str = "") -> None:
        super().__init__(message)
        self.kind, self.said = kind, message


def failed(message: str) -> Failure:
    """Which failure it is that ssh's words tell of."""
    return Failure(next((kind for kind, form in _FAILURES if re.search(form, message)), "ssh"), cleaned(message))


def words(host: str) -> tuple[str, ...]:
    """ssh to a host, before the command: it asks nobody anything. Raises Failure."""
    if not fit(host):
        raise Failure("name")
    return ("ssh", *_OPTIONS, "-o", "BatchMode=yes", "--", host)


class Limits(NamedTuple):
    """Seconds until the far side speaks, and until a script is done."""

    start: float
    trip: float


def default_limits() -> Limits:
    """Somebody at a terminal may have to find a password first."""
    return Limits(_START_ASKED if sys.stdin and sys.stdin.isatty() else _START, SECONDS + 30)


def fit(host: str) -> bool:
    """Whether a name can be handed to ssh: an option is no host."""
    return bool(_HOST.fullmatch(host))


class Connection:
    """One connection. Each trip hands a script to the shell on the other side and waits for what it prints."""

    def __init__(self, host: str, limits: Limits | None = None, quiet: bool = False, options: tuple[str, ...] = ()) -> None:
        """Begin to connect. `quiet` asks the person nothing; `options` are handed to ssh. Raises Failure."""
        if not fit(host):
            raise Failure("name")
        self.limits, self.trips = limits or default_limits(), 0
        self._said, self._quiet, self._spoke = "", quiet, False
        batch = ("-o", "BatchMode=yes") if quiet else ()
        argv = ("ssh", *_OPTIONS, *batch, *options, "--", host, "sh -s")
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)
        except OSError as error:
            raise Failure("no-ssh", str(error)) from error
        self._pieces: queue.Queue[bytes] = queue.Queue(maxsize=64)
        self._closed = False
        self._threads = [self._thread(self._receive), self._thread(self._listen)]

    def _thread(self, work: Callable[..., None], *arguments: bytes) -> threading.Thread:
        thread = threading.Thread(target=work, args=arguments, daemon=True, name="rigup ssh")
        thread.start()
        return thread

    def trip(self, script: str) -> bytes:
        """Run a script there and give back what it printed. Raises Failure."""
        self.trips += 1
        # Whole before it begins: the braces keep the shell from running half of it.
        self._thread(self._hand_over, b"{\n" + script.encode() + b"\n}\n")
        return self._answer()

    def _hand_over(self, script: bytes) -> None:
        """Write all of it; who ends before that tells why by itself."""
        pipe = self._process.stdin
        with suppress(OSError, ValueError):
            while pipe and script:
                script = script[pipe.write(script) or 0 :]

    def _receive(self) -> None:
        """What the far side prints, piece by piece; an empty piece is the end."""
        with self._process.stdout or nullcontext() as out:
            piece = b"-"
            while out and piece and not self._closed:
                piece = os.read(out.fileno(), 1 << 16)
                self._pieces.put(piece)

    def _answer(self) -> bytes:
        until = time.monotonic() + (self.limits.trip if self._spoke else self.limits.start)
        received = bytearray()
        while piece := self._piece(until):
            if not self._spoke:
                self._spoke, until = True, time.monotonic() + self.limits.trip
            before = max(0, len(received) - 200)
            received += piece
            if _DONE.search(received, before):
                return bytes(received)
            if len(received) > _MOST_BYTES:
                raise self._failure("too-much")
        raise self._why_ended(bytes(received))

    def _piece(self, until: float) -> bytes:
        try:
            return self._pieces.get(timeout=max(0.01, until - time.monotonic()))
        except queue.Empty:
            raise self._failure("time-out") from None

    def _why_ended(self, received: bytes) -> Failure:
        """Why the far side ended before the script did."""
        code = self.close()
        message = self._said + "\n" + received[-500:].decode("utf-8", "replace")
        if b"@rigup-stream/" in received or self.trips > 1:
            return Failure("cut-off", cleaned(self._said))
        if code != _SSH_FAILED:  # ssh did its part: there is no such shell
            return Failure("no-shell", cleaned(message))
        return failed(message)

    def _failure(self, kind: str) -> Failure:
        self.close(kill=True)
        return Failure(kind, cleaned(self._said))

    def _listen(self) -> None:
        """What ssh says of itself is shown as it comes: it may ask to touch a key."""
        with self._process.stderr or nullcontext() as error:
            while error and (piece := os.read(error.fileno(), 4096)):
                message = piece.decode("utf-8", "replace")
                self._said = (self._said + message)[-_MOST_SAID:]
                if not self._quiet and sys.stderr.isatty():
                    sys.stderr.write(cleaned(message) + "\n")
                    sys.stderr.flush()

    def close(self, kill: bool = False) -> int:
        """End the connection, and the shell on the other side with it. ssh's exit status."""
        self._closed = True
        with suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()
        self._drain()  # else who has a piece to hand over waits for room for ever
        if kill or not _wait(self._process):
            self._process.kill()
            self._process.wait()
        self._drain()
        for thread in self._threads:
            thread.join(timeout=1)
        return self._process.returncode

    def _drain(self) -> None:
        with suppress(queue.Empty):
            while True:
                self._pieces.get_nowait()


def _wait(process: "subprocess.Popen[bytes]") -> bool:
    try:
        process.wait(timeout=3)
    except subprocess.TimeoutExpired:
        return False
    return True


def cleaned(message: str) -> str:
    """Without what a terminal would obey; the last lines, at most."""
    plain = _UNFIT.sub("", without_escapes(message.replace("\r\n", "\n")))
    return "\n".join(line for line in plain.splitlines()[-20:] if line.strip())[-2000:]
