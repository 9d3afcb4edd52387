"""A long log without what it says over and over: the lines of a loop's steps, of progress bars, of polls.

What is read of a log is what stands in it once or often, not every one of ten thousand lines that differ in their
numbers alone. If it is still long, stretches go in which no word stands that anybody waits for. Both ends stay whole,
and each line that stays keeps what stands around it. Lines keep their numbers.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator

from rigup.machine.literals import literals_in

Numbered = list[tuple[int, str]]
_LONG = 400_000  # characters from which on a text is a long one
_END = 1000  # lines at either end that stay as they are
_AROUND = 3  # lines on either side of a rare one
_KEPT = 100  # lines of one form that are read
_KEPT_TELLING = 2000  # and of a form with a word in it that somebody waits for
_NEAR = 40  # lines on either side of a word that somebody waits for
_WORD = 5  # characters from which on it is a word, and not a part of many
_SELDOM = 50  # times that a shorter one may occur
_OF_STEPS = frozenset(("loss", "it/s", "nan"))  # who waits for these wants to know that steps run, and not of each
_COUNTED = b"0123456789.,:%|#=-+ \t\r"  # what steps and bars differ in


def thinned(body: str) -> Numbered:
    """Its lines with their numbers, from 1; those of a short text are all of them.

    Where lines were left out an empty one stands, so that what stood apart is not read as one message.
    """
    lines = body.split("\n")
    if len(body) < _LONG:
        return list(enumerate(lines, 1))
    numbered = list(_with_gaps(lines, _spread(_rare(body, len(lines)), _AROUND)))
    return numbered if sum(len(line) for _, line in numbered) < _LONG else _near_words(numbered)


def _near_words(numbered: Numbered) -> Numbered:
    """Those near a word, of lines of which some were left out already."""
    body = "\n".join(line for _, line in numbered)
    starts = [0, *(match.end() for match in re.finditer("\n", body))]
    spots = [spots for word, spots in literals_in(body).items() if len(word) >= _WORD or len(spots) <= _SELDOM]
    near = {bisect_right(starts, at) - 1 for some in spots for at in some}
    ends = {*range(_END), *range(len(numbered) - _END, len(numbered))}
    wanted = _spread([number in near or number in ends for number in range(len(numbered))], _NEAR)
    numbers = [number for number, _ in numbered]
    return [(numbers[number - 1], line) for number, line in _with_gaps([line for _, line in numbered], wanted)]


def _rare(body: str, count: int) -> list[bool]:
    """For each line whether it is one of few of its form."""
    forms = body.encode().translate(None, _COUNTED).split(b"\n")
    most = _lines_per_form(forms)
    seen: dict[bytes, int] = defaultdict(int)
    rare = []
    for number, form in enumerate(forms):
        seen[form] += 1
        allowed = most.get(form)
        rare.append(allowed is None or seen[form] <= allowed or number < _END or number >= count - _END)
    return rare


def _lines_per_form(forms: list[bytes]) -> dict[bytes, int]:
    """How many lines of each form that comes too often are read."""
    often = [form for form, count in Counter(forms).items() if count > _KEPT]
    return {form: _KEPT_TELLING if _tells(form.decode("utf-8", "replace")) else _KEPT for form in often}


def _tells(form: str) -> bool:
    """Whether a word stands in it that somebody waits for, of which some of the lines are not enough."""
    return not _OF_STEPS.issuperset(literals_in(form))


def _spread(wanted: list[bool], around: int) -> list[bool]:
    """The lines that are wanted, and so many on either side of each."""
    marked, done = wanted.copy(), 0
    for number in (number for number, is_wanted in enumerate(wanted) if is_wanted):
        first, last = max(number - around, done), min(number + around + 1, len(wanted))
        marked[first:last] = [True] * (last - first)
        done = last
    return marked


def _with_gaps(lines: list[str], marked: list[bool]) -> Iterator[tuple[int, str]]:
    in_gap = False
    for number, (line, stays) in enumerate(zip(lines, marked, strict=True), 1):
        if stays:
            in_gap = False
            yield number, line
        elif not in_gap:
            in_gap = True
            yield number, ""
