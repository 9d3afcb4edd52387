"""Programs of this machine: started in a session of their own, with nothing to read, and ended when their time is up.

On Unix by `posix_spawn`: to import subprocess takes longer than to run most of them.
"""

import contextlib
import os
import time
from collections.abc import Mapping

from rigup.machine.host import Answer

_PIECE = 1 << 16  # bytes that are read at once
_LAST = 1.0  # seconds that a program has to end when it has closed its output
_SOON, _LATER = 0.0005, 0.05  # seconds from one look to the next
_BROKEN_OFF, _LATE, _UNSTARTED = 141, 124, 126  # exit statuses as shells have them
_KILL, _PIPE = 9, 13  # signals; to import their names takes long, too


def answer_of(program: str, argv: tuple[str, ...], environment: Mapping[str, str], seconds: float, most: int) -> Answer:
    """What a program prints, as far as the limits let it: neither a hanging nor a chattering one holds us up."""
    try:
        if os.name != "posix":
            return _by_subprocess(argv, environment, seconds, most)
        number, reading = _started(program, argv, environment)
    except FileNotFoundError:  # what its first line names, or its loader, is not there; or it has just gone
        if not os.path.exists(program):
            return Answer(None, "absent", exit=127)
        return Answer(None, "refused", "its interpreter is not there", exit=_UNSTARTED)
    except (OSError, ValueError) as error:
        return Answer(None, "refused", getattr(error, "strerror", None) or type(error).__name__, exit=_UNSTARTED)
    try:
        return _finished(number, reading, seconds, most)
    finally:
        os.close(reading)


def _started(program: str, argv: tuple[str, ...], environment: Mapping[str, str]) -> tuple[int, int]:
    """The program's number, and the end of the pipe into which it prints. Raises OSError, ValueError."""
    reading, writing = os.pipe()
    streams = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), *((os.POSIX_SPAWN_DUP2, writing, end) for end in (1, 2))]
    try:
        return os.posix_spawn(program, argv, environment, file_actions=streams, setsid=True, setsigdef=[_PIPE]), reading
    except (OSError, ValueError):
        os.close(reading)
        raise
    finally:
        os.close(writing)


def _finished(number: int, reading: int, seconds: float, most: int) -> Answer:
    output, is_late = _output(reading, time.monotonic() + seconds, most)
    if is_late:
        _end(number)
        _waited(number)
        return Answer(None, "refused", f"no answer in {seconds} s", exit=_LATE)
    cut = 0
    if len(output) >= most:
        cut = _BROKEN_OFF  # as where nobody reads on
        _end(number)
    status = _status(number)
    if status is None:  # it closed its output and runs on
        cut = _LATE
        _end(number)
        status = _waited(number)
    return Answer(output.decode("utf-8", "replace"), exit=cut or os.waitstatus_to_exitcode(status or 0))


def _output(reading: int, until: float, most: int) -> tuple[bytes, bool]:
    """What is printed, and whether the time was up before the end of it."""
    import select

    waiting, content = select.poll(), bytearray()
    waiting.register(reading, select.POLLIN)
    while len(content) < most:
        left = until - time.monotonic()
        if left <= 0 or not waiting.poll(1000 * left):
            return bytes(content), True
        if not (more := os.read(reading, min(_PIECE, most - len(content)))):
            break
        content += more
    return bytes(content), False


def _status(number: int) -> int | None:
    """How a program ended; None where it goes on."""
    until, pause = time.monotonic() + _LAST, _SOON
    while True:
        if (status := _waited(number, os.WNOHANG)) is not None:
            return status
        if time.monotonic() > until:
            return None
        time.sleep(pause)
        pause = min(2 * pause, _LATER)


def _waited(number: int, options: int = 0) -> int | None:
    """The status with which it ended; zero where who started us wants to hear of no child's end, as it cannot be told."""
    try:
        ended, status = os.waitpid(number, options)
    except ChildProcessError:
        return 0
    return status if ended else None


def _end(number: int) -> None:
    """End a program that we started, with its children."""
    with contextlib.suppress(OSError):
        os.killpg(number, _KILL)


def _by_subprocess(argv: tuple[str, ...], environment: Mapping[str, str], seconds: float, most: int) -> Answer:
    """The same where there is no `posix_spawn`, and no session whose children are ended with it."""
    import subprocess
    import threading

    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    late = threading.Event()

    def end_late() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds, end_late)
    timer.daemon = True
    timer.start()
    try:
        output = process.stdout.read(most) if process.stdout else b""
        if len(output) >= most:
            process.kill()
        process.wait()
    finally:
        timer.cancel()
        if process.stdout:
            process.stdout.close()
    if late.is_set():
        return Answer(None, "refused", f"no answer in {seconds} s", exit=_LATE)
    return Answer(output.decode("utf-8", "replace"), exit=_BROKEN_OFF if len(output) >= most else process.returncode)
