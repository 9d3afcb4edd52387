"""Text for terminals: wrapped by width as it is seen, for a Chinese character takes two columns."""

import re
import shutil
import unicodedata

_NARROWEST, _WIDEST = 40, 100
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_WIDE = r"\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"  # scripts without blanks, and their punctuation
_OPENING = r"（【〔〈《「『“‘(\[{"
_CLOSING = r"。，、；：？！…～·）】〕〉》」』”’),.;:?!\]}%"
# What a line is never broken within: a word, or one Chinese character, with the punctuation that clings to it.
_UNBROKEN = re.compile(
    rf"\s+|(?:\x1b\[[0-9;]*m|[{_OPENING}])*(?:[{_WIDE}]|[^\s“‘{_WIDE}]+|[“‘])(?:\x1b\[[0-9;]*m|[{_CLOSING}])*"
)


_ACROSS = re.compile(rf"(?<=[{_WIDE}])[^\S\n]*\n\s*(?=[{_WIDE}])")


def unbroken(text: str) -> str:
    """A paragraph in one line; scripts without blanks get none where their source is broken."""
    return " ".join(_ACROSS.sub("", text).split())


def width() -> int:
    """Columns to write in: the terminal's, within what is readable; 80 where there is none."""
    return max(_NARROWEST, min(shutil.get_terminal_size((80, 24)).columns, _WIDEST))


def columns(text: str) -> int:
    """How many columns a text takes; colours take none."""
    plain = _STYLE.sub("", text) if "\x1b" in text else text
    return len(plain) if plain.isascii() else sum(_columns_of(letter) for letter in plain)


def _columns_of(letter: str) -> int:
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
    for piece in _UNBROKEN.findall(text):
        if piece.isspace():
            line, used = (line, used) if empty else (line + " ", used + 1)
            continue
        wide = columns(piece)
        if not empty and used + wide > room:
            lines.append(line.rstrip())
            line, used = indent, columns(indent)
        line, used, empty = line + piece, used + wide, False
    return [*lines, line.rstrip()]
