"""Run a person's program as if we were not there, and remember what it said.

On a terminal it gets a terminal of its own, of the same size, so that colours, progress bars and prompts are as
ever; else its two outputs stay two. Signals are handed on; its exit status becomes ours.
"""

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import BinaryIO, NoReturn

from rigup.machine.witness import Ended

_HEAD, _TAIL = 256_000, 2_000_000  # bytes that are remembered
_EVENTS = "/sys/fs/cgroup/memory.events"
_LOOKS = (0.05, 0.3, 1.0, 3.0, 10.0)  # seconds after the start at which its processes are looked at


class Memory:
    """The beginning and the end of what was said."""

    def __init__(self) -> None:
        self._head, self._tail = bytearray(), bytearray()

    def keep(self, said: bytes) -> None:
        """Remember some more."""
        room = _HEAD - len(self._head)
        self._head += said[:room]
        self._tail += said[max(room, 0) :]
        if len(self._tail) > 2 * _TAIL:
            del self._tail[:-_TAIL]

    def __bytes__(self) -> bytes:
        return bytes(self._head + self._tail[-_TAIL:])


def attend(argv: tuple[str, ...], aside: bool = False) -> Ended:
    """Run a program to its end. `aside`: its output goes to standard error, for ours is data.

    Raises:
        FileNotFoundError, PermissionError: it cannot be started.

    """
    began, kills = _since_start(), _oom_kills()
    memory, seen = Memory(), Seen()
    on_terminal = os.name == "posix" and not aside and sys.stdin.isatty() and sys.stdout.isatty()
    status = _on_terminal(argv, memory, seen) if on_terminal else _on_pipes(argv, memory, seen, aside)
    return Ended(
        argv,
        status,
        bytes(memory),
        seen.interpreter,
        seen.variables,
        began,
        frozenset(seen.pids),
        max(0, _oom_kills() - kills),
    )


class Seen:
    """What could be seen of a program while it lived: the Python in it, and its variables."""

    def __init__(self) -> None:
        self.interpreter, self.variables = "", None if os.path.isdir("/proc") else dict(os.environ)
        self.pids: set[int] = set()
        self._next = iter(_LOOKS)
        self._at = time.monotonic() + next(self._next)

    def look(self, pid: int) -> None:
        """Look at its processes, now and then."""
        if time.monotonic() < self._at:
            return
        self._at = time.monotonic() + next(self._next, 3600.0)
        for one in _family(pid):
            self.pids.add(one)
            if python := _interpreter(one):
                self.interpreter, self.variables = python, _variables(one) or self.variables
        if self.variables is None:
            self.variables = _variables(pid)


def _family(pid: int) -> Iterator[int]:
    """A process and its descendants, parents first."""
    yield pid
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                for child in file.read(100_000).split()[:1000]:
                    yield from _family(int(child))


def _interpreter(pid: int) -> str:
    """The path by which a Python was started: a link in an environment tells which one that is."""
    with contextlib.suppress(OSError, IndexError):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            first = file.read(4096).split(b"\0")[0].decode("utf-8", "replace")
        real = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        if real.startswith("python"):
            return first if first.startswith("/") else _on_path(first, pid)
    return ""


def _on_path(name: str, pid: int) -> str:
    """Where a bare name was found on the program's own path."""
    return shutil.which(name, path=(_variables(pid) or {}).get("PATH")) or ""


def _variables(pid: int) -> dict[str, str] | None:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            pairs = file.read(1_000_000).decode("utf-8", "replace").split("\0")
    except OSError:
        return None
    return {name: value for name, equals, value in (pair.partition("=") for pair in pairs) if equals}


def _since_start() -> float:
    """Seconds since the kernel's start, as its log counts them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def _oom_kills() -> int:
    with contextlib.suppress(OSError, ValueError), open(_EVENTS, encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("oom_kill "))
    return 0


# -- without a terminal ------------------------------------------------------------------------------


def _on_pipes(argv: tuple[str, ...], memory: Memory, seen: Seen, aside: bool) -> int:
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    outs = {process.stdout: sys.stderr.buffer if aside else sys.stdout.buffer, process.stderr: sys.stderr.buffer}
    with _handing_on(process.pid), selectors.DefaultSelector() as ready:
        for source in outs:
            if source is not None:
                ready.register(source, selectors.EVENT_READ)
        while ready.get_map():
            seen.look(process.pid)
            for key, _events in ready.select(timeout=0.05):
                said = os.read(key.fd, 65_536)
                if not said:
                    ready.unregister(key.fileobj)
                    continue
                memory.keep(said)
                _pass_on(said, outs[key.fileobj])  # type: ignore[index]
        return process.wait()


def _pass_on(said: bytes, target: BinaryIO) -> None:
    """A reader that went away must not end the program: it is told by its own writing, as ever."""
    with contextlib.suppress(BrokenPipeError, ValueError):
        target.write(said)
        target.flush()


@contextlib.contextmanager
def _handing_on(pid: int) -> Iterator[None]:
    """Signals that are meant for the program reach it; Ctrl-C reaches it by itself, with all of its group."""
    held = {}
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", None), getattr(signal, "SIGUSR1", None)):
        if number is not None:
            held[number] = signal.signal(number, lambda sent, _frame: _send(pid, sent))
    held[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)


# -- on a terminal -----------------------------------------------------------------------------------


def _on_terminal(argv: tuple[str, ...], memory: Memory, seen: Seen) -> int:
    """The program gets a terminal of its own, and ours passes every key and every byte on."""
    import pty
    import termios
    import tty

    if not shutil.which(argv[0]):
        raise FileNotFoundError(2, os.strerror(2), argv[0])
    pid, terminal = pty.fork()
    if not pid:
        _become(argv)
    _same_size(terminal)
    settings = termios.tcgetattr(0)
    resized = signal.signal(signal.SIGWINCH, lambda _sent, _frame: _same_size(terminal))
    try:
        tty.setraw(0)
        with _handing_on(pid):
            _ferry(pid, terminal, memory, seen)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, settings)
        signal.signal(signal.SIGWINCH, resized)
        os.close(terminal)


def _become(argv: tuple[str, ...]) -> NoReturn:
    """In the child: be the program, or say by the shell's own status that it cannot be."""
    try:
        os.execvp(argv[0], argv)  # noqa: S606  (the person's own program)
    except OSError as error:
        os.write(2, (argv[0] + ": " + (error.strerror or "") + "\n").encode())
    os._exit(126)


def _same_size(terminal: int) -> None:
    import fcntl
    import termios

    with contextlib.suppress(OSError):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, fcntl.ioctl(1, termios.TIOCGWINSZ, b"\0" * 8))


def _ferry(pid: int, terminal: int, memory: Memory, seen: Seen) -> None:
    """Keys one way, output the other, until nobody holds the program's terminal any more."""
    with selectors.DefaultSelector() as ready:
        ready.register(0, selectors.EVENT_READ)
        ready.register(terminal, selectors.EVENT_READ)
        while True:
            seen.look(pid)
            for key, _events in ready.select(timeout=0.05):
                moved = _read(key.fd)
                if moved and key.fd == terminal:
                    memory.keep(moved)
                    os.write(1, moved)
                elif moved:
                    os.write(terminal, moved)
                elif key.fd == terminal:
                    return
                else:
                    ready.unregister(0)


def _read(source: int) -> bytes:
    """What is there; nothing where the last writer has closed, which Linux calls an error of a terminal."""
    try:
        return os.read(source, 65_536)
    except OSError:
        return b""


def leave(status: int) -> int:
    """End as the program ended: by its status, or by the same signal."""
    if status >= 0:
        return status
    sys.stdout.flush()
    sys.stderr.flush()
    with contextlib.suppress(OSError, ValueError):
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return 128 - status
