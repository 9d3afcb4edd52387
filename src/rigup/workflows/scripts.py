"""Training scripts and batch files as bytes."""

from pathlib import Path

from rigup.language import _
from rigup.workflows.errors import RequestError

MOST_BYTES = 2_000_000


def script_bytes(path: Path) -> bytes:
    """What stands in a script.

    Raises:
        RequestError: it is not there, cannot be read, or is too large for a script.

    """
    try:
        if not path.is_file():
            raise RequestError(_("{path}: there is no such file.").format(path=path))
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise RequestError(_("{path}: {why}.").format(path=path, why=getattr(error, "strerror", None) or error)) from error
    if len(data) > MOST_BYTES:
        raise RequestError(_("{path}: it is too large for a script.").format(path=path))
    return data
