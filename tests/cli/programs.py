"""How the tests run `rigup doctor -- PROGRAM`: as a process, and on a terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

DOCTOR = [sys.executable, "-m", "rigup", "doctor"]
LIMIT = 60.0  # seconds in which a test gives up, not which it measures


def run(*program, options=(), **more):
    """The finished process of a doctor that ran a program."""
    more = {"capture_output": True, "text": True, "timeout": LIMIT} | more
    return subprocess.run([*DOCTOR, *options, "--", *map(str, program)], check=False, **more)


def python(script, *options):
    """A program that runs a script with this Python."""
    return [sys.executable, *options, "-c", script]


class Terminal:
    """A process on a terminal: what it prints, and keys for it."""

    def __init__(self, argv, size=(30, 100), **environment):
        self.said = b""
        self.pid, self.end = pty.fork()
        if not self.pid:
            os.environ.update(environment)
            os.execvp(argv[0], argv)
        self.resize(*size)

    def resize(self, rows, columns):
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys):
        os.write(self.end, keys)

    def until(self, pattern):
        """Read until the pattern was said; what was said up to then. Fails where it ends or never comes."""
        limit = time.monotonic() + LIMIT
        while not (found := re.search(pattern, self.said)):
            assert time.monotonic() < limit, self.said
            assert self._read(), (pattern, self.said)
        self.before, self.said = self.said[: found.start()], self.said[found.end() :]
        return found

    def _read(self):
        if not select.select([self.end], [], [], 1.0)[0]:
            return True
        try:
            more = os.read(self.end, 65_536)
        except OSError:
            return False
        self.said += more
        return bool(more)

    def finish(self):
        """Read to its end; the exit status, negative for a signal."""
        limit = time.monotonic() + LIMIT
        while self._read():
            assert time.monotonic() < limit, self.said
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.pid = 0
        return status

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.end)
