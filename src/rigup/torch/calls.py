"""How the arguments of a call are written in the calling line, for errors that name them."""

import ast
import linecache
import sys
from types import FrameType


def names_of_arguments(count: int) -> list[str]:
    """What the caller of our caller wrote for its positional arguments; `argument 1` … where that cannot be seen."""
    plain = [f"argument {number}" for number in range(1, count + 1)]
    try:
        written = _written(sys._getframe(2))
    except (SyntaxError, ValueError, IndexError):
        return plain
    return written if len(written) == count else plain


def _written(frame: FrameType) -> list[str]:
    """The arguments of the call that runs in a frame; [] where its source is not at hand."""
    position = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    first, last, start, end = position
    if first is None or last is None or start is None or end is None:
        return []
    lines = [linecache.getline(frame.f_code.co_filename, number).encode() for number in range(first, last + 1)]
    lines[-1] = lines[-1][:end]  # columns are counted in bytes
    lines[0] = lines[0][start:]
    call = ast.parse(b"".join(lines).decode(), mode="eval").body
    given = call.args if isinstance(call, ast.Call) else []
    return [] if any(isinstance(one, ast.Starred) for one in given) else [ast.unparse(one) for one in given]
