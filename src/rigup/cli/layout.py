"""Text for terminals: wrapped by width as it is seen, for a Chinese character takes two columns."""

import re
import shutil
import unicodedata

_NARROWEST, _WIDEST = 40, 100
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_UNBROKEN = re.compile(r"\s+|[\u3000-\u9fff\uff00-\uffef]|[^\s\u3000-\u9fff\uff00-\uffef]+")


def width() -> int:
    """Columns to write in: the terminal's, within what is readable; 80 where there is none."""
    return max(_NARROWEST, min(shutil.get_terminal_size((80, 24)).columns, _WIDEST))


def columns(text: str) -> int:
    """How many columns a text takes; colours take none."""
    return sum(_columns_of(letter) for letter in _STYLE.sub("", text))


def _columns_of(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Cf", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def padded(text: str, wanted: int) -> str:
    """The text, filled with blanks to so many columns."""
    return text + " " * max(0, wanted - columns(text))


def wrapped(text: str, first: str = "", rest: str | None = None, most: int | None = None) -> list[str]:
    """Lines of at most `most` columns; the first begins with `first`, the others with `rest` (as many blanks)."""
    room = most or width()
    indent = " " * columns(first) if rest is None else rest
    lines, line, empty = [], first, True
    for piece in _UNBROKEN.findall(text):
        if piece.isspace():
            line += "" if empty else " "
            continue
        if not empty and columns(line + piece) > room:
            lines.append(line.rstrip())
            line, empty = indent, True
        line, empty = line + piece, False
    return [*lines, line.rstrip()]
