"""Signals to a process of the table: to that process alone, never to another one that has its number since."""

import os
import signal

from msgspec import UNSET

from rigup.language import _
from rigup.schemas.watch import WatchedProcess
from rigup.watch.files import LiveFiles
from rigup.watch.processes import Programs

_NAMES = ("SIGTERM", "SIGINT", "SIGKILL", "SIGHUP", "SIGSTOP", "SIGCONT", "SIGUSR1", "SIGUSR2")
OFFERED = tuple(name for name in _NAMES if hasattr(signal, name))
_SAME = 0.5  # seconds within which two starts are one


def send(process: WatchedProcess, name: str) -> str:
    """Send a signal; what came of it as a sentence. On Linux by a handle that stays with the process."""
    words = {"signal": name, "pid": process.pid}
    if process.start is UNSET or process.pid <= 1:
        return _("{pid} is a process of another namespace: it cannot be reached from here.").format(**words)
    try:
        handle = os.pidfd_open(process.pid) if hasattr(os, "pidfd_open") else None
        try:
            start = Programs(LiveFiles()).start_of(process.pid)
            if start is None or abs(start - process.start) > _SAME:
                return _("{pid} has ended; nothing was sent.").format(**words)
            number = getattr(signal, name)
            if handle is None:
                os.kill(process.pid, number)
            else:
                signal.pidfd_send_signal(handle, number)
        finally:
            if handle is not None:
                os.close(handle)
    except ProcessLookupError:
        return _("{pid} has ended; nothing was sent.").format(**words)
    except PermissionError:
        return _("{pid} belongs to {user}: you may not send it {signal}.").format(
            **words, user=process.user if process.user is not UNSET else "?"
        )
    except OSError as error:
        return _("{pid}: {why}").format(pid=process.pid, why=error.strerror)
    return _("{signal} was sent to {pid}.").format(**words)
