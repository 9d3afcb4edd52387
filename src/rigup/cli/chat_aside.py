"""What goes on beside a talk: work that is waited for when it is needed, and Ctrl-C."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Aside:
    """Work that is begun when there is time for it, and waited for when it is needed."""

    def __init__(self, work: Callable[[], None]) -> None:
        import threading

        self.error: Exception | None = None
        self._over: list[Callable[[], None]] = []
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)

    def begin(self) -> None:
        """Begin it, where nobody has."""
        if self._thread.ident is None:
            self._thread.start()

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # it is raised where it is waited for
            self.error = error
        for callback in self._over:
            callback()

    def when_over(self, callback: Callable[[], None]) -> None:
        """Be told, from its thread; to be said before it begins."""
        self._over.append(callback)

    def wait(self) -> None:
        """Until it is over; what went wrong is raised."""
        self.begin()
        self._thread.join()
        if self.error is not None:
            raise self.error


class Interrupts:
    """Ctrl-C stops what can be stopped, wherever it finds us, and ends nothing else; SIGTERM and SIGHUP end all in order."""

    def __init__(self) -> None:
        self._stops = False
        self.end: Callable[[BaseException], bool] = lambda _error: False
        """Lets whoever reads keys leave by an exception, and says whether somebody does."""

    def __enter__(self) -> None:
        self._before = {signal.SIGINT: signal.signal(signal.SIGINT, self._on_signal)}
        for name in ("SIGTERM", "SIGHUP"):
            if (number := getattr(signal, name, None)) and signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._leave)

    def __exit__(self, *_of_error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on_signal(self, _number: int, _frame: object) -> None:
        if self._stops:
            self._stops = False  # whoever puts things in order then is not disturbed
            raise KeyboardInterrupt

    @contextmanager
    def stop(self) -> Iterator[None]:
        """Within it, Ctrl-C raises KeyboardInterrupt, once."""
        self._stops = True
        try:
            yield
        finally:
            self._stops = False

    def _leave(self, number: int, _frame: object) -> None:
        """The terminal is as it was, and an engine is ended, before the program is."""
        error = SystemExit(128 + number)
        if not self.end(error):
            raise error


@contextmanager
def unseen_keys() -> Iterator[None]:
    """Between two lines, what is typed is not written into answers; it is there, as it was typed, for the next line."""
    try:
        import termios

        handle = sys.stdin.fileno()
        before = termios.tcgetattr(handle)
    except (ImportError, OSError, ValueError, AttributeError):
        yield
        return
    quiet: list[Any] = [*before]
    quiet[0] = before[0] & ~termios.ICRNL  # Enter stays Enter for who reads it later
    quiet[3] = before[3] & ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(handle, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(handle, termios.TCSANOW, before)
