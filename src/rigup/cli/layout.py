"""Text for terminals: wrapped by width as it is seen, for a Chinese character takes two columns."""

import functools
import os
import sys

from rigup.knowledge.patterns import lazy_regex
from rigup.visible import visible

_NARROWEST, _WIDEST = 40, 100
_STYLE = lazy_regex(r"\x1b\[[0-9;]*m")
_WIDE = r"\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"  # scripts without blanks, and their punctuation
_OPENING = r"（【〔〈《「『“‘(\[{"
_CLOSING = r"。，、；：？！…～·）】〕〉》」』”’),.;:?!\]}%"
# What a line is never broken within: a word, or one Chinese character, with the punctuation that clings to it.
_UNBROKEN = lazy_regex(rf"\s+|(?:\x1b\[[0-9;]*m|[{_OPENING}])*(?:[{_WIDE}]|[^\s“‘{_WIDE}]+|[“‘])(?:\x1b\[[0-9;]*m|[{_CLOSING}])*")
_WORDS = lazy_regex(r"\s+|\S+")  # the same where there is neither
_FIRST_WIDE = "\u2e80"
# Blocks without a wide, a combining or an invisible character: a column each.
_NARROW = lazy_regex("[ -~\u00a1-\u00ac\u00ae-\u02ff\u0410-\u044f\u2010-\u2027\u2190-\u21ff\u2500-\u25fc\u2800-\u28ff]*")
_ACROSS = lazy_regex(rf"(?<=[{_WIDE}])[^\S\n]*\n\s*(?=[{_WIDE}])")


def unbroken(text: str) -> str:
    """A paragraph in one line; scripts without blanks get none where their source is broken."""
    joined = text if max(text, default="") < _FIRST_WIDE else _ACROSS.sub("", text)
    return " ".join(joined.split())


def _pieces(text: str) -> list[str]:
    """What a line is never broken within, and the blanks between."""
    plain = max(text, default="") < _FIRST_WIDE and "“" not in text and "‘" not in text
    return (_WORDS if plain else _UNBROKEN).findall(text)


def width() -> int:
    """Columns to write in: the terminal's, within what is readable; 80 where there is none."""
    return max(_NARROWEST, min(_terminal(), _WIDEST))


def _terminal() -> int:
    """As `shutil.get_terminal_size` tells it, without the archives that it imports."""
    configured = os.environ.get("COLUMNS", "")
    if configured.strip().isdecimal() and int(configured):
        return int(configured)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return 80


def columns(text: str) -> int:
    """How many columns a text takes; colours take none."""
    plain = _STYLE.sub("", text) if "\x1b" in text else text
    return len(plain) if plain.isascii() or _NARROW.fullmatch(plain) else sum(map(_columns_of, plain))


@functools.lru_cache(maxsize=4096)
def _columns_of(letter: str) -> int:
    import unicodedata  # most texts are of letters that take one column each

    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Cf", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def padded(text: str, wanted: int) -> str:
    """The text, filled with blanks to so many columns."""
    return text + " " * max(0, wanted - columns(text))


def wrapped(text: str, first: str = "", rest: str | None = None, most: int | None = None) -> list[str]:
    """Lines of at most `most` columns; the first begins with `first`, the others with `rest` (as many blanks).

    Chinese is broken between any two characters, but not before a closing mark nor after an opening one.
    Only a word that is longer than a line stands out.
    """
    room = most or width()
    indent = " " * columns(first) if rest is None else rest
    lines, line, used, empty = [], first, columns(first), True
    for piece in _pieces(visible(text)):
        if piece.isspace():
            line, used = (line, used) if empty else (line + " ", used + 1)
            continue
        wide = columns(piece)
        if not empty and used + wide > room:
            lines.append(line.rstrip())
            line, used = indent, columns(indent)
        line, used, empty = line + piece, used + wide, False
    return [*lines, line.rstrip()]
