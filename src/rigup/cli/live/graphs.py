"""Graphs and bars of characters: two samples a column in braille dots, eighths of a block in a bar."""

import functools
import math
from collections.abc import Sequence

_LEFT = (0, 0x40, 0x44, 0x46, 0x47)  # dots of a braille character's left column, from the bottom
_RIGHT = (0, 0x80, 0xA0, 0xB0, 0xB8)
_EIGHTHS = " ▏▎▍▌▋▊▉"


def graph(values: Sequence[float | None], wide: int, high: int, top: float) -> list[str]:
    """The last values as `high` lines of `wide` characters, the newest at the right; None and NaN are not known.

    A value that is known has a dot at least, so that zero differs from what nobody told.
    """
    if wide < 1:
        return [""] * high
    dots = [_dots(value, high * 4, top) for value in values[-2 * wide :]]
    dots = [0] * (2 * wide - len(dots)) + dots
    columns = [_column(left, right, high) for left, right in zip(dots[::2], dots[1::2], strict=True)]
    return ["".join(row) for row in zip(*columns, strict=True)]


@functools.lru_cache(maxsize=4096)
def _column(left: int, right: int, high: int) -> str:
    """Characters from above to below that have so many dots at the left and at the right."""
    return "".join(
        chr(0x2800 + _LEFT[max(0, min(4, left - below))] + _RIGHT[max(0, min(4, right - below))]) for below in range(4 * high - 4, -1, -4)
    )


def _dots(value: float | None, most: int, top: float) -> int:
    if value is None or math.isnan(value):
        return 0
    return max(1, min(most, round(value / top * most))) if top > 0 else 1


def bar(share: float | None, wide: int) -> str:
    """A share, 0 to 1, as a bar; dots where nobody told."""
    if share is None:
        return "·" * wide
    eighths = round(max(0.0, min(1.0, share)) * wide * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(wide, "░")[:wide]
