"""Run a person's program as if we were not there, and remember its output.

What is a terminal to us is one to the program: on a terminal it gets one of its own, of the same size, so that
colours, progress bars, prompts and Ctrl-Z are as ever. What is none stays none, and its two outputs stay two.
Signals are handed on; its exit status becomes ours.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from rigup.machine.witness import Ended
from rigup.workflows.process_family import ProcessFamily

_HEAD, _TAIL = 256_000, 2_000_000  # bytes that are remembered
_PIECE = 65_536
_QUIET, _LONGEST = 0.1, 2.0  # seconds that are given to output behind the end of a program
_EAGER, _LAZY = 0.05, 0.5  # seconds between looks: in its first second, and then
_MEANT_FOR_IT = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH")
_OF_KEYS = ("SIGINT", "SIGQUIT")  # Ctrl-C reaches the program by itself, with all of its group
_BY_A_PROGRAM = 0  # SI_USER and below: kill and its like; a terminal's signals come from the kernel
_GAP = b"\n[rigup did not keep what stood here]\n"


class OutputBuffer:
    """The beginning and the end of the output."""

    def __init__(self) -> None:
        self._head, self._tail, self._lost = bytearray(), bytearray(), False

    def keep(self, data: bytes) -> None:
        """Remember some more."""
        room = _HEAD - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * _TAIL:
            del self._tail[:-_TAIL]
            self._lost = True

    def __bytes__(self) -> bytes:
        lost = self._lost or len(self._tail) > _TAIL
        return bytes(self._head + (_GAP if lost else b"") + self._tail[-_TAIL:])


def supervised(argv: tuple[str, ...], aside: bool = False) -> Ended:
    """Run a program to its end. `aside`: its output goes to standard error, for ours is data.

    Raises:
        OSError: it cannot be started.

    """
    began, output, family = _since_start(), OutputBuffer(), ProcessFamily(argv)
    status = _Supervisor(argv, output, family, aside).status()
    return Ended(argv, status, bytes(output), family.interpreter, family.variables, began, frozenset(family.pids), family.kills())


def _since_start() -> float:
    """Seconds since the kernel's start, as its log counts them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class _Supervisor:
    """One program, from start to end."""

    def __init__(self, argv: tuple[str, ...], output: OutputBuffer, family: ProcessFamily, aside: bool) -> None:
        self.argv, self.output, self.family = argv, output, family
        self.targets = {1: 2 if aside else 1, 2: 2}  # where each of its outputs goes
        self.sources: dict[int, int] = {}  # our end of what it writes to: where that goes
        self.ready = selectors.DefaultSelector()
        self.pid = 0
        self.ended: int | None = None

    def status(self) -> int:
        """Run it; its exit status, or minus the number of the signal that ended it."""
        with _handing_on(lambda: self.pid, self._on_terminal()), self.ready:
            return self._on_a_terminal() if self._on_terminal() else self._without_terminal()

    def _on_terminal(self) -> bool:
        """Whether keys come from a terminal and words go to one."""
        if sys.platform == "win32":
            return False
        from rigup.workflows.pseudo_terminal import is_terminal

        return is_terminal(0) and is_terminal(self.targets[1])

    # -- each output for itself

    def _without_terminal(self) -> int:
        """Keys, stops and signals of the terminal reach it directly; its outputs come through us."""
        ends, terminals = self._outputs()
        try:
            process = subprocess.Popen(self.argv, stdout=ends[1], stderr=ends[2])
        finally:
            for end in ends.values():
                os.close(end)
        self.pid = process.pid
        with self._resizing(terminals), _sent_by_others(process.pid):
            while (ended := process.poll()) is None:
                self._pass(self._pause() if self.sources else _LAZY / 5)
            self._drain()
        return ended

    def _outputs(self) -> tuple[dict[int, int], list[int]]:
        """The program's ends of its two outputs, and our ends of those that are terminals."""
        ends, terminals = {}, []
        for number, target in self.targets.items():
            if _is_terminal(target):
                from rigup.workflows.pseudo_terminal import pair

                ours, ends[number] = pair(target, raw=True)
                terminals.append(ours)
            else:
                ours, ends[number] = os.pipe()
            self._listen(ours, target)
        return ends, terminals

    def _listen(self, ours: int, target: int) -> None:
        self.sources[ours] = target
        self.ready.register(ours, selectors.EVENT_READ)

    def _resizing(self, terminals: list[int]) -> contextlib.AbstractContextManager[None]:
        if not terminals:
            return contextlib.nullcontext()
        from rigup.workflows.pseudo_terminal import following_size

        return following_size(self.sources[terminals[0]], terminals, lambda: _send(self.pid, signal.SIGWINCH))

    # -- on a terminal of its own

    def _on_a_terminal(self) -> int:
        from rigup.workflows.pseudo_terminal import Keys, following_size, lead, pair

        ours, theirs = pair(0, raw=False)
        pipes = {2: os.pipe()} if not _is_terminal(2) else {}
        try:
            led = lead(self.argv, theirs, {number: end for number, (_mine, end) in pipes.items()})
        finally:
            for end in (theirs, *(end for _mine, end in pipes.values())):
                os.close(end)
        self.pid = led.pid
        self._listen(ours, self.targets[1])
        for number, (mine, _end) in pipes.items():
            self._listen(mine, self.targets[number])
        keys = Keys()
        try:
            with following_size(0, [ours], lambda: _send(self.pid, signal.SIGWINCH)):
                return self._ferry(_Ferry(ours, led.news, keys))
        finally:
            keys.give()
            os.waitpid(led.leader, 0)

    def _ferry(self, ferry: "_Ferry") -> int:
        """Keys one way, output the other, until the program has ended."""
        self.ready.register(ferry.news, selectors.EVENT_READ)
        while self.ended is None:
            ferry.attend_keys(self.ready)
            for ready in self._pass(self._pause()):
                if ready == ferry.news:
                    self._take_event(ferry)
                elif ready == 0:
                    ferry.typed()
        self.ready.unregister(ferry.news)
        self._drain()
        return self.ended

    def _take_event(self, ferry: "_Ferry") -> None:
        from rigup.workflows.pseudo_terminal import hear

        event, number = hear(ferry.news)
        if event == "s":
            self._drain()
            ferry.keys.stop(self.pid)
        else:
            self.ended = number

    # -- both

    def _pause(self) -> float:
        return _EAGER if len(self.family.pids) == 0 else _LAZY

    def _pass(self, seconds: float) -> list[int]:
        """Pass on what is there; whoever else is ready."""
        self.family.look(self.pid)
        others = []
        for key, _events in self.ready.select(timeout=seconds):
            if key.fd in self.sources:
                self._pass_on(key.fd)
            else:
                others.append(key.fd)
        return others

    def _pass_on(self, source: int) -> None:
        data = read(source)
        if data is None:
            return
        self.output.keep(data)
        if not data or not write(self.sources[source], data):
            # At its end, or nobody reads any more: then the program is told by its own writing, as ever.
            self.ready.unregister(source)
            del self.sources[source]
            os.close(source)

    def _drain(self) -> None:
        """Output from before the end. One that it left behind may hold its outputs: nobody waits for that."""
        until = time.monotonic() + _LONGEST
        while self.sources and time.monotonic() < until:
            readable = [key.fd for key, _events in self.ready.select(timeout=_QUIET) if key.fd in self.sources]
            if not readable:
                return
            for source in readable:
                self._pass_on(source)


class _Ferry:
    """The person's keys on their way to the program's terminal."""

    def __init__(self, terminal: int, news: int, keys: Any) -> None:
        self.terminal, self.news, self.keys = terminal, news, keys
        self._waiting = bytearray()
        self._closed = self._listening = False

    def attend_keys(self, ready: selectors.BaseSelector) -> None:
        """Take keys while we are in the foreground and the program takes what was typed."""
        self._hand_over()
        wanted = self.keys.take() and not self._closed and len(self._waiting) < _PIECE
        if wanted != self._listening:
            (ready.register(0, selectors.EVENT_READ) if wanted else ready.unregister(0))
            self._listening = wanted

    def typed(self) -> None:
        """Take what was typed."""
        data = read(0)
        self._closed = data == b""
        self._waiting += data or b""
        self._hand_over()

    def _hand_over(self) -> None:
        with contextlib.suppress(OSError):  # full: again in a moment
            if self._waiting:
                del self._waiting[: os.write(self.terminal, self._waiting)]


def _is_terminal(number: int) -> bool:
    from rigup.workflows.pseudo_terminal import is_terminal

    return is_terminal(number)


def read(source: int) -> bytes | None:
    """What is there; b"" where the last writer has closed, which Linux calls an error of a terminal; None: nothing."""
    try:
        return os.read(source, _PIECE)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def write(target: int, data: bytes) -> bool:
    """Write all of it; whether anybody reads."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(target, rest) :]
        except BlockingIOError:  # somebody made our output one that does not wait
            time.sleep(0.005)
        except OSError:
            return False
    return True


# -- signals -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def _handing_on(pid: Callable[[], int], keys_are_ours: bool) -> Iterator[None]:
    """Signals that are meant for the program reach it. What somebody chose to ignore stays ignored."""
    alone = keys_are_ours or not _has_terminal()

    def hand_on(sent: int, _frame: Any) -> None:
        if alone or sent not in _numbers(_OF_KEYS):
            _send(pid(), sent)

    wanted = [number for number in _numbers((*_MEANT_FOR_IT, *_OF_KEYS)) if signal.getsignal(number) is not signal.SIG_IGN]
    held = {number: signal.signal(number, hand_on) for number in wanted}
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler or signal.SIG_DFL)


@contextlib.contextmanager
def _sent_by_others(pid: int) -> Iterator[None]:
    """Of Ctrl-C and its like hand on what another program sends: what the terminal sends has reached all of its group.

    Only who waits for a signal is told who sent it; macOS does not tell at all.
    """
    held = [number for number in _numbers(_OF_KEYS) if signal.getsignal(number) is not signal.SIG_IGN]
    if not held or not hasattr(signal, "sigwaitinfo") or not _has_terminal():
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    listener = threading.Thread(target=_listen_for, args=(held, pid), daemon=True, name="rigup signals")
    listener.start()
    try:
        yield
    finally:
        signal.pthread_kill(listener.ident or 0, held[0])
        listener.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _listen_for(held: list[int], pid: int) -> None:
    """Until we send ourselves one."""
    while (info := signal.sigwaitinfo(held)).si_pid != os.getpid() or info.si_code > _BY_A_PROGRAM:
        if info.si_code <= _BY_A_PROGRAM:
            _send(pid, info.si_signo)


def _numbers(names: tuple[str, ...]) -> list[int]:
    """Those that there are on this system."""
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


def _has_terminal() -> bool:
    """Whether Ctrl-C of a terminal would reach us and the program at once."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | getattr(os, "O_NOCTTY", 0)))
    except OSError:
        return False
    return True


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        if pid:
            os.kill(pid, number)


def leave(status: int) -> int:
    """End as the program ended: by its status, or by the same signal, without a core of our own."""
    if status >= 0:
        return status
    with contextlib.suppress(OSError, AttributeError):
        sys.stdout.flush()
        sys.stderr.flush()
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with contextlib.suppress(OSError, ValueError):
        signal.signal(-status, signal.SIG_DFL) if -status not in (signal.SIGKILL, signal.SIGSTOP) else None
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [-status])
        os.kill(os.getpid(), -status)
    return 128 - status
