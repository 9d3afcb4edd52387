"""Literals that anybody waits for, found in one pass over a text: a long log costs what its finds cost."""

from typing import Any

from rigup.knowledge import tables
from rigup.knowledge.compile import KERNEL, PROGRAM
from rigup.knowledge.doctor_tables import Wording, speakers, wordings

_PART = 500_000  # characters whose finds are held at once: a short literal repeated fills the memory
_SPOTS = 10_000  # of one literal in one text
_SHORT = (
    2000  # characters of a machine's own text in which each is looked for: what finds all at once takes longer to make
)
_MARKS: set[str] = set()
_ANYBODY = "anybody"
_SAYS = {"kernel": KERNEL, "program": PROGRAM}


def wait_for(marks: tuple[str, ...]) -> None:
    """Look for these too: a reader's marks, declared before the first text is read."""
    _MARKS.update(marks)


@tables.remembered
def wordings_of(speaker: str) -> dict[str, list[tuple[int, Wording]]]:
    """Wordings, each with its number, by their literal: those that "anybody", a "program" alone or the "kernel" alone may say; none for ""."""
    bit, by_literal = _SAYS.get(speaker, 0), dict[str, list[tuple[int, Wording]]]()
    for number, known in enumerate(wordings() if speaker else ()):
        if not bit or known.may_say & bit:
            by_literal.setdefault(known.literal, []).append((number, known))
    return by_literal


@tables.remembered
def _literals(speaker: str, _marks: int) -> tuple[str, ...]:
    """All literals that are looked for; computed again where more marks were declared."""
    waited = set(wordings_of(speaker))
    waited |= {word for alike in wordings_of(speaker).values() for _number, known in alike for word in known.beside}
    if speaker == _ANYBODY:
        waited |= {row.literal for row in speakers()} | _MARKS
    return tuple(sorted(waited, key=lambda word: (len(word) == 1, word)))  # the automaton has all but single letters


@tables.remembered
def _automaton(speaker: str, marks: int) -> tuple[int, Any]:
    """The length of the longest literal, and what finds them all."""
    import ahocorasick_rs

    literals = _literals(speaker, marks)
    return max(map(len, literals)), ahocorasick_rs.AhoCorasick([word for word in literals if len(word) > 1])


def literals_in(body: str, speaker: str = _ANYBODY) -> dict[str, list[int]]:
    """Where each literal occurs, in order: those of messages that `speaker` may say; where that is anybody, those of speakers and the readers' marks too."""
    if speaker == _ANYBODY:
        from rigup.machine.readers import of_texts  # noqa: F401  (their marks are looked for where people speak)
    elif not (speaker and body):
        return {}
    literals = _literals(speaker, len(_MARKS))
    if speaker != _ANYBODY and len(body) < _SHORT:
        return {literal: places_of(literal, body) for literal in literals if literal in body}
    longest, automaton = _automaton(speaker, len(_MARKS))
    offsets: list[list[int]] = [[] for _literal in literals]
    for at in range(0, len(body), _PART):
        part = body[at : at + _PART + longest - 1]
        for number, start, _end in automaton.find_matches_as_indexes(part, overlapping=True):
            spots = offsets[number]
            if len(spots) < _SPOTS and start < _PART:  # else the next part has it
                spots.append(at + start)
    # A text may be full of a single letter: its first places are enough, and its end is not gone through.
    by_literal = (
        (word, spots if len(word) > 1 else places_of(word, body)) for word, spots in zip(literals, offsets, strict=True)
    )
    return {word: spots for word, spots in by_literal if spots}


def places_of(literal: str, body: str) -> list[int]:
    """Where one literal occurs, in order."""
    offsets, at = list[int](), body.find(literal)
    while at >= 0 and len(offsets) < _SPOTS:
        offsets.append(at)
        at = body.find(literal, at + 1)
    return offsets
