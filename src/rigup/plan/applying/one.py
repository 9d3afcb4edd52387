"""One run at a time: two that change one machine would spoil each other's way back."""

from collections.abc import Iterator
from contextlib import contextmanager

from rigup.language import _
from rigup.plan.applying.journal import BusyError, JournalError, folder


@contextmanager
def alone() -> Iterator[None]:
    """Hold the person's lock while steps are taken or taken back. Raises BusyError where somebody else holds it, JournalError."""
    from filelock import FileLock, Timeout

    try:
        folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(folder() / "lock", timeout=0)
        lock.acquire()
    except Timeout as error:
        raise BusyError(_("Another rigup of yours is changing this machine. Wait until it has ended.")) from error
    except OSError as error:
        told = _("The journal in {path} cannot be written: {error}. Nothing is done without it.")
        raise JournalError(told.format(path=folder(), error=error.strerror or type(error).__name__)) from error
    try:
        yield
    finally:
        lock.release()
