"""Files for their owner alone: written whole or not at all, through no link, over nothing unasked."""

import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any


def takes_a_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a device, a pipe or a socket stands at the path: it is written into, and never replaced by a file."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def write(path: str, fill: Callable[[IO[bytes]], Any], replace: bool = False) -> None:
    """Give what `fill` writes the path's name, with mode 0600. A link that stands there is replaced, never followed.

    Raises FileExistsError where something stands at the path and must not be replaced, and OSError.
    """
    if takes_a_stream(path):
        with open(path, "wb") as file:
            fill(file)
        return
    folder = os.path.dirname(os.path.abspath(path))
    handle, draft = tempfile.mkstemp(dir=folder, prefix=".rigup-")  # 0600, as the file will be
    try:
        with os.fdopen(handle, "wb") as file:
            fill(file)
        if replace:
            os.replace(draft, path)
        else:
            _settle(draft, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(draft)


def _settle(draft: str, path: str) -> None:
    """Give the draft its name, unless something bears it already."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        os.rename(draft, path)
