"""Which of the system's fonts have the letters of a picture: what no font has would be drawn as empty boxes."""

import contextlib
import re
from collections.abc import Iterable
from typing import Any

PLAIN = "DejaVu Sans"
"""The font that comes with matplotlib: Latin, Greek, Cyrillic."""

_LIKELY = re.compile(r"cjk|hei|gothic|song|han|sans", re.IGNORECASE)
_NO_LETTERS = re.compile(r"last ?resort|emoji|symbol|math", re.IGNORECASE)  # one has a box for every letter there is
_MOST = 400  # fonts that are opened


def families(texts: Iterable[str]) -> tuple[list[str], set[str]]:
    """Families to draw texts with, the plain one first, and the letters that none of them has. Never raises."""
    from matplotlib import font_manager

    wanted = {letter for text in texts for letter in text if not letter.isspace()}
    fonts = font_manager.fontManager.ttflist
    plain = next((entry for entry in fonts if entry.name == PLAIN and entry.style == "normal"), None)
    missing = wanted - _letters(plain.fname) if plain else wanted
    chosen = [PLAIN]
    for font in sorted(filter(_upright, fonts), key=lambda entry: not _LIKELY.search(entry.name))[:_MOST] if missing else ():
        has = _letters(font.fname) & missing
        if has:
            chosen.append(font.name)
            missing -= has
        if not missing:
            break
    return chosen, missing


def _upright(font: Any) -> bool:
    return font.style == "normal" and font.name != PLAIN and not _NO_LETTERS.search(font.name)


def _letters(path: str) -> set[str]:
    """The letters of a font; none where it cannot be read."""
    from matplotlib.ft2font import FT2Font

    with contextlib.suppress(RuntimeError, OSError, ValueError):
        return {chr(code) for code in FT2Font(path).get_charmap()}
    return set()


def without(text: str, missing: set[str]) -> str:
    """The text with a mark in place of each letter that cannot be drawn."""
    return "".join("?" if letter in missing else letter for letter in text)
