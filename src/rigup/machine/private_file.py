"""Files for their owner alone: written whole or not at all, through no link, over nothing unasked."""

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any


def write(path: str, fill: Callable[[IO[bytes]], Any], replace: bool = False) -> None:
    """Give what `fill` writes the path's name, with mode 0600. A link that stands there is replaced, never followed.

    Raises FileExistsError where something stands at the path and must not be replaced, and OSError.
    """
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
