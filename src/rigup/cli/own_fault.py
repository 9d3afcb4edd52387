"""The last resort: what no command has caught is printed as a sentence, and kept for whoever mends rigup."""

import os
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path

from rigup.language import _

_SHOWN = "RIGUP_TRACEBACK"
"""The variable that has the traceback printed, for who works on rigup."""


def report_fault(error: Exception) -> int:
    """Say what happened, on standard error as far as that can be written; the exit status.

    Args:
        error: what went through a command uncaught.

    """
    from rigup.knowledge.compile import KnowledgeError

    if os.environ.get(_SHOWN):
        raise error
    if isinstance(error, OSError):
        message = _("A file could not be read or written: {error}.").format(error=_of_system(error))
    elif isinstance(error, KnowledgeError):
        message = str(error)
    elif isinstance(error, MemoryError):
        message = _("There was not enough memory for this.")
    else:
        message = _of_ours(error)
    with suppress(OSError, ValueError):
        sys.stderr.write(message + "\n")
    return 2


def _of_system(error: OSError) -> str:
    named = ": ".join(str(part) for part in (error.filename, error.strerror or type(error).__name__) if part)
    return named.encode("utf-8", "replace").decode()


def _of_ours(error: Exception) -> str:
    """A fault of rigup's own, with where its traceback is kept."""
    path = _keep(error)
    sentence = _("rigup itself has a fault here ({error}).").format(error=type(error).__name__)
    more = _("What its authors need to mend it stands in {path}; look through it before you send it.")
    return f"{sentence} {more.format(path=path)}" if path else sentence


def _keep(error: Exception) -> Path | None:
    from rigup.plan.applying.journal import state

    path = state() / "faults" / time.strftime("%Y%m%dT%H%M%S.txt", time.gmtime())
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write("".join(traceback.format_exception(error)))
    except OSError:
        return None
    return path
