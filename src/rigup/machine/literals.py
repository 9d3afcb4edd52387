"""Literals that anybody waits for, found in one pass over a text: a long log costs what its finds cost."""

import functools
from typing import Any

from rigup.knowledge.doctor_tables import signatures, speakers

_PART = 500_000  # characters whose finds are held at once: a short literal repeated fills the memory
_SPOTS = 10_000  # of one literal in one text
_MARKS: set[str] = set()


def wait_for(marks: tuple[str, ...]) -> None:
    """Look for these too: a reader's marks, declared before the first text is read."""
    _MARKS.update(marks)
    _automaton.cache_clear()


@functools.cache
def _automaton() -> tuple[tuple[str, ...], Any]:
    import ahocorasick_rs

    waited = {row.literal for row in signatures()} | {row.literal for row in speakers()} | _MARKS
    waited |= {word for row in signatures() for word in row.beside}
    literals = tuple(sorted(word for word in waited if len(word) > 1))
    return (*literals, *sorted(word for word in waited if len(word) == 1)), ahocorasick_rs.AhoCorasick(literals)


def literals_in(body: str) -> dict[str, list[int]]:
    """Where each literal occurs, in order."""
    literals, automaton = _automaton()
    found: list[list[int]] = [[] for _literal in literals]
    longest = max(map(len, literals))
    for at in range(0, len(body), _PART):
        part = body[at : at + _PART + longest - 1]
        for number, start, _end in automaton.find_matches_as_indexes(part, overlapping=True):
            spots = found[number]
            if len(spots) < _SPOTS and start < _PART:  # else the next part has it
                spots.append(at + start)
    told = ((word, spots or _of_sign(body, word)) for word, spots in zip(literals, found, strict=True))
    return {word: spots for word, spots in told if spots}


def _of_sign(body: str, sign: str) -> list[int]:
    """Of a literal of one letter: a text may be full of it, and the first places are enough."""
    spots: list[int] = []
    if len(sign) != 1:
        return spots
    at = body.find(sign)
    while at >= 0 and len(spots) < _SPOTS:
        spots.append(at)
        at = body.find(sign, at + 1)
    return spots
