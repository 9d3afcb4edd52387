"""One run at a time: two that change one machine would spoil each other's way back."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rigup.language import _
from rigup.plan.applying.journal import BusyError, Intent, JournalError, Record, begun, folder, withdrawn

_ALIVE = "alive"


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
        template = _("The journal in {path} cannot be written: {error}. Nothing is done without it.")
        raise JournalError(template.format(path=folder(), error=error.strerror or type(error).__name__)) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def announced(title: str, where: str) -> Iterator[Record]:
    """A run is on record from the moment when it was asked for and nobody is to be asked again.

    So a run that is killed while it is being planned is the last one too, and `rigup undo` takes no other back. It is
    forgotten if it ends, however it ends, before it had anything to do.

    Args:
        title: what was asked for.
        where: the folder in which it was.

    Raises:
        JournalError: the journal cannot be written.

    """
    from filelock import FileLock

    record = begun(Intent(title=title, asked={"folder": where}, announced=True))
    lock = FileLock(record.folder / _ALIVE, timeout=0)
    try:
        lock.acquire()
        yield record
    finally:
        lock.release()
        with suppress(JournalError):
            if record.intent().announced:
                withdrawn(record)


def is_being_planned(record: Record) -> bool:
    """Whether somebody who announced a run is still at it: the system itself lets go of the lock of one that was killed."""
    from filelock import FileLock, Timeout

    if not (record.folder / _ALIVE).exists() or not record.intent().announced:
        return False
    lock = FileLock(record.folder / _ALIVE, timeout=0)
    try:
        lock.acquire()
    except (Timeout, OSError):
        return True
    lock.release()
    return False
