"""A real terminal: a program behind a pseudo-terminal, and the screen that a person would see."""

import contextlib
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl

import pyte

_OWN = "import fcntl,os,sys,termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"


class Terminal:
    """One program on one terminal. `raw` is all that it wrote."""

    def __init__(self, *words, columns=80, lines=24, **environ):
        self.master, slave = pty.openpty()
        ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        env = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _OWN, sys.executable, "-m", "rigup", *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**env, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **environ},
            start_new_session=True,
        )
        os.close(slave)
        self.raw = b""
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)

    def _pump(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        try:
            told = os.read(self.master, 65536)
        except OSError:  # Linux: the other side is closed
            return False
        self.raw += told
        self._stream.feed(told)
        if b"\x1b[6n" in told:  # where the cursor is: a terminal answers
            self.send(f"\x1b[{self._screen.cursor.y + 1};{self._screen.cursor.x + 1}R")
        return bool(told)

    def lines(self):
        """What stands on the screen."""
        return [line.rstrip() for line in self._screen.display]

    def text(self):
        """The same as one text."""
        return "\n".join(self.lines())

    def until(self, condition, seconds=30):
        """Read on until the screen is as it should be."""
        end = time.monotonic() + seconds
        wanted = (lambda: condition in self.text()) if isinstance(condition, str) else condition
        while not wanted():
            if time.monotonic() > end:
                raise AssertionError(f"{condition} was not seen in:\n{self.text()}")
            self._pump(0.1)
        return self

    def send(self, text):
        """Type."""
        os.write(self.master, text.encode())

    def status(self, seconds=30):
        """How it ended."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self._pump(0.1)
        while self._pump(0.05):
            pass
        return self.process.poll()

    def close(self):
        """End what is left."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)
        os.close(self.master)


@contextlib.contextmanager
def terminal(*words, **how):
    """A terminal for the time of a block."""
    made = Terminal(*words, **how)
    try:
        yield made
    finally:
        made.close()
