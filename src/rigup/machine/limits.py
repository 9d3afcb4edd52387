"""How much is taken of what others wrote: no text, stream or machine may cost more time or memory than a person would wait for.

What is left out for its size is listed among the troubles of the answer, and then nothing is called healthy.
"""

import time
from collections.abc import Iterable

from rigup.language import N_

MOST_SUBJECTS = 1000  # of one kind: a hundred machines of eight cards and more
MOST_TEXT = 6_000_000  # bytes of all texts together: the words in one of 8 MB took more memory than half a gigabyte
MOST_SECONDS = 5.0  # of our own work until all is read; a program that is waited for costs none
MOST_SEARCHED = 200_000  # characters around its words in which one message is looked for in one text; of 1,309 real ones none took 5,000
MOST_ROW_SECONDS = 0.5  # in which one message is looked for in one text, if it is not found
MOST_PLACED = 5000  # files, folders and links of a stream; a machine without a GPU answers with 230
MOST_STREAM = 40_000_000  # bytes of a stream; such a machine prints a few

TOO_MANY = N_("too many of a kind, so these were left out")
TOO_LONG = N_("too long, so only the beginning and the end were read")
TOO_MUCH = N_("too much, so the rest was left out")
TOO_LATE = N_("the time was up, so what was not read yet was left out")
_NAMED = 5  # that are told by name


class Clock:
    """The time that our own work may take, on whatever else the machine works meanwhile."""

    def __init__(self, seconds: float = MOST_SECONDS) -> None:
        self._until = time.process_time() + seconds
        self._soonest = time.monotonic() + seconds  # threads take turns, so before that we cannot have worked so long

    def is_up(self) -> bool:
        """Whether it has passed; to ask what the process has worked takes ten times as long as to look at a clock."""
        return time.monotonic() > self._soonest and time.process_time() > self._until


def shares(sizes: Iterable[int], room: int = MOST_TEXT) -> int:
    """The most bytes that each of several texts may have, so that all together find room: small ones stay whole."""
    left = sorted(sizes)
    for number, size in enumerate(left):
        even = room // (len(left) - number)
        if size > even:
            return even
        room -= size
    return max(left, default=room)


def named(names: Iterable[str], why: str) -> list[str]:
    """What was left out, with why, as one trouble; none where nothing was."""
    known = sorted(set(names))
    if not known:
        return []
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    return [", ".join(known[:_NAMED]) + more + ": " + why]
