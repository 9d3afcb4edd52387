"""A terminal of its own for a program, between it and the person's: sizes, keys, stops and continuations.

The program is led by a process of ours that is its session's leader: only so does the kernel stop it on Ctrl-Z,
and only so do we hear that it has stopped, and stop as well.
"""

import contextlib
import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn

_NEWS = struct.Struct("=ci")  # what happened to the program: p pid, e error's number, s signal that stopped it, x status
Hook = Callable[[], None]


class Lead(NamedTuple):
    """A program that runs on a terminal of its own."""

    pid: int
    leader: int
    news: int  # the leader tells here what becomes of it


def pair(like: int, raw: bool) -> tuple[int, int]:
    """A new terminal (our end, the program's end) with the size and settings of one; raw: it changes no byte."""
    ours, theirs = pty.openpty()
    with contextlib.suppress(termios.error):
        settings = termios.tcgetattr(like)
        settings[1] = settings[1] & ~termios.OPOST if raw else settings[1]
        termios.tcsetattr(theirs, termios.TCSANOW, settings)
    same_size(like, ours)
    os.set_blocking(ours, False)
    return ours, theirs


def same_size(like: int, terminal: int) -> None:
    """Give a terminal the size of another one."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, fcntl.ioctl(like, termios.TIOCGWINSZ, b"\0" * 8))


@contextlib.contextmanager
def following_size(like: int, terminals: list[int], then: Hook) -> Iterator[None]:
    """Keep the size of terminals that of another one; `then` notifies those who would not get the signal."""

    def resized(_number: int, _frame: Any) -> None:
        for terminal in terminals:
            same_size(like, terminal)
        then()

    before = signal.signal(signal.SIGWINCH, resized)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before or signal.SIG_DFL)


# -- the leader --------------------------------------------------------------------------------------


def lead(argv: tuple[str, ...], terminal: int, outputs: dict[int, int]) -> Lead:
    """Start a program on a terminal; `outputs` are ends of pipes for those that shall be none. Raises OSError."""
    news, tell = os.pipe()
    leader = os.fork()
    if not leader:
        os.close(news)
        _lead(argv, terminal, outputs, tell)
    os.close(tell)
    event, number = hear(news)
    if event != "p":
        os.close(news)
        os.waitpid(leader, 0)
        raise OSError(number, os.strerror(number), argv[0])
    return Lead(number, leader, news)


def hear(news: int) -> tuple[str, int]:
    """What happened. A leader that is gone without a word was killed, and the program with it."""
    message = b""
    while len(message) < _NEWS.size and (more := os.read(news, _NEWS.size - len(message))):
        message += more
    if len(message) < _NEWS.size:
        return "x", -signal.SIGKILL
    event, number = _NEWS.unpack(message)
    return event.decode(), number


def _lead(argv: tuple[str, ...], terminal: int, outputs: dict[int, int], tell: int) -> NoReturn:
    """In a process of our own: begin a session, start the program before it, and tell what becomes of it."""
    try:
        _keep_open({terminal, *outputs.values(), tell})
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        _follow(_begun(argv, terminal, outputs), tell)
    except OSError as error:
        os.write(tell, _NEWS.pack(b"e", error.errno or 1))
    finally:
        os._exit(0)


def _keep_open(wanted: set[int]) -> None:
    """Close what else was open: the other end of a terminal in our hands would keep it alive without its owner."""
    low = 3
    for number in (*sorted(wanted), os.sysconf("SC_OPEN_MAX")):
        os.closerange(low, min(number, 65_536))
        low = number + 1


def _begun(argv: tuple[str, ...], terminal: int, outputs: dict[int, int]) -> int:
    process = subprocess.Popen(
        argv,
        stdin=terminal,
        stdout=outputs.get(1, terminal),
        stderr=outputs.get(2, terminal),
        preexec_fn=_to_the_front,  # noqa: PLW1509  (this process has no threads)
    )
    process.returncode = 0  # nobody but us waits for it
    for number in (terminal, *outputs.values()):
        os.close(number)
    return process.pid


def _to_the_front() -> None:
    """In the program's process: a group of its own, which the keys go to."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)


def _follow(pid: int, tell: int) -> None:
    with contextlib.suppress(OSError):
        for number in (0, 1, 2):  # an end of a pipe that we held would keep it open
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
    os.write(tell, _NEWS.pack(b"p", pid))
    while True:
        _pid, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            break
        os.write(tell, _NEWS.pack(b"s", os.WSTOPSIG(status)))
    os.write(tell, _NEWS.pack(b"x", os.waitstatus_to_exitcode(status)))


# -- the person's terminal ---------------------------------------------------------------------------


class Keys:
    """The person's keyboard: ours while we are in the foreground, and then handed on key by key."""

    def __init__(self) -> None:
        self.settings = termios.tcgetattr(0)
        self.taken = False

    def take(self) -> bool:
        """Take the keys, where we are in the foreground; whether they are taken."""
        front = _in_front()
        if front and not self.taken:
            tty.setraw(0, termios.TCSADRAIN)  # what was typed ahead is for the program
        self.taken = front
        return front

    def give(self) -> None:
        """Leave the terminal as it was."""
        if self.taken and _in_front():
            termios.tcsetattr(0, termios.TCSADRAIN, self.settings)
        self.taken = False

    def stop(self, pid: int) -> None:
        """The program has stopped: so do we, and when we are continued it is, too."""
        self.give()
        os.killpg(os.getpgrp(), signal.SIGTSTP)
        self.take()
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGCONT)


def _in_front() -> bool:
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def is_terminal(number: int) -> bool:
    """Whether one of our three is a terminal here, where there are such."""
    try:
        return sys.platform != "win32" and os.isatty(number)
    except OSError:
        return False
