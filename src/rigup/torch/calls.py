"""The source of a call in the calling program, for errors that name its arguments."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import ast
    from types import FrameType

_PACKAGE = __name__.rpartition(".")[0]


class Written(NamedTuple):
    """A call as it stands in the source.

    Attributes:
        frame: the frame that runs it.
        call: its source; None where that is not at hand.

    """

    frame: FrameType | None
    call: ast.Call | None

    def positional(self, count: int) -> list[ast.expr | None]:
        """Expressions of the positional arguments; Nones where they cannot be assigned to the values."""
        import ast

        given = self.call.args if self.call else []
        plain = len(given) == count and not any(isinstance(expression, ast.Starred) for expression in given)
        return [*given] if plain else [None] * count

    def keyword(self, name: str) -> ast.expr | None:
        """The expression of a keyword's value."""
        return next((item.value for item in (self.call.keywords if self.call else []) if item.arg == name), None)


def written(called: str) -> Written:
    """The call by which the program outside this package entered one of our functions.

    Args:
        called: the function's name, by which the call is found where an interpreter before 3.11 tells its line alone.

    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _ours(frame):
        frame = frame.f_back
    if frame is None:
        return Written(None, None)
    try:
        call = at_position(frame) if hasattr(frame.f_code, "co_positions") else at_line(frame, called)
    except (SyntaxError, ValueError, IndexError, RecursionError):
        call = None
    return Written(frame, call)


def _ours(frame: FrameType) -> bool:
    name = str(frame.f_globals.get("__name__", ""))
    return name == _PACKAGE or name.startswith(_PACKAGE + ".")


def at_position(frame: FrameType) -> ast.Call | None:
    """The call that a frame executes, by the column positions of Python 3.11 and later."""
    import ast
    import linecache

    position = list(frame.f_code.co_positions())[frame.f_lasti // 2]  # type: ignore[attr-defined,unused-ignore]
    first, last, start, end = position
    if first is None or last is None or start is None or end is None:
        return None
    lines = [linecache.getline(frame.f_code.co_filename, number).encode() for number in range(first, last + 1)]
    lines[-1] = lines[-1][:end]  # columns are counted in bytes
    lines[0] = lines[0][start:]
    call = ast.parse(b"".join(lines).decode(), mode="eval").body
    return call if isinstance(call, ast.Call) else None


def at_line(frame: FrameType, called: str) -> ast.Call | None:
    """The only call of that name on the line that runs in a frame."""
    import ast
    import linecache

    tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals)))
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) == called
        and node.lineno <= frame.f_lineno <= (node.end_lineno or node.lineno)
    ]
    return found[0] if len(found) == 1 else None
