"""The end of a long list of texts without the list: a vocabulary of half a million words is most of a header.

Texts lie one behind another, each after its length. From any place within, the next text is found by its length, which is
small, and by those of its followers. So one look shows whether a place lies within the list, and halving finds its end.
"""

import re
import struct
from collections.abc import Iterator
from itertools import pairwise

from rigup.fit.source import Source

_WINDOW, _NEAR = 8 << 10, 32 << 10
_FARTHEST = 64 << 20
_LONGEST = 2048  # bytes of one text of a list that is jumped over
_FEWEST = 16  # texts in a row that make a list
_CANDIDATES = 64  # texts before what is none: what follows the list may look like some
_FIRST_STEP = 1 << 20
_NAME = re.compile(rb"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+")
_MOST_NAME, _HIGHEST_KIND = 512, 12


def ends_of_texts(source: Source, at: int, order: str) -> Iterator[int]:
    """Places where the list that goes on at `at` may end, in their order.

    Args:
        source: the file.
        at: where a text of the list begins.
        order: the file's byte order, as `struct` has it.

    """
    low, high, step = at, min(source.size, at + _FARTHEST), _FIRST_STEP
    while low + step < high:
        if _begin(source.peek(low + step, _WINDOW), order) is None:
            high = low + step
            break
        low, step = low + step, 2 * step
    while high - low > _NEAR:
        middle = (low + high) // 2
        if _begin(source.peek(middle, _WINDOW), order) is None:
            high = middle
        else:
            low = middle
    body = source.peek(low, high - low + 2 * _WINDOW)
    begin = 0 if low == at else _begin(body[:_WINDOW], order)
    if begin is not None:
        places = _walked(body, begin, order)[-_CANDIDATES:]
        yield from (low + end for end in places if _goes_on(body[end : end + _MOST_NAME], order))


def _goes_on(body: bytes, order: str) -> bool:
    """What stands there may be the name of a key or of a tensor, with a small number behind it."""
    if len(body) < 8:
        return False
    length = struct.unpack_from(order + "Q", body)[0]
    name, after = body[8 : 8 + length], body[8 + length : 12 + length]
    return bool(_NAME.fullmatch(name)) and len(after) == 4 and struct.unpack(order + "I", after)[0] <= _HIGHEST_KIND


def _begin(window: bytes, order: str) -> int | None:
    """Where in a window the first text begins; None where it is no part of a list of texts."""
    for start in range(min(_LONGEST, len(window))):
        places = _walked(window, start, order)
        if len(places) > _FEWEST and places[-1] + 8 + _LONGEST > len(window):
            lengths = [after - before - 8 for before, after in pairwise(places)]
            if sum(length > 0 for length in lengths) > len(lengths) // 2:
                return start
    return None


def _walked(body: bytes, start: int, order: str) -> list[int]:
    """Where texts begin, one behind another, as long as their lengths are those of texts."""
    length_at, places = struct.Struct(order + "Q").unpack_from, [start]
    while places[-1] + 8 <= len(body):
        length = length_at(body, places[-1])[0]
        if length > _LONGEST:
            break
        places.append(places[-1] + 8 + length)
    return places
