"""Literals that anybody waits for, found in one pass over a text: a long log costs what its finds cost."""

from collections import Counter
from typing import Any

from rigup.knowledge import tables
from rigup.knowledge.compile import PROGRAM
from rigup.knowledge.doctor_tables import Wording, speakers, wordings, wordings_of_kernel

_PART = 500_000  # characters whose finds are held at once: a short literal repeated fills the memory
_SPOTS = 10_000  # of one literal in one text
_HEAD = 4  # first letters by which literals are told apart
_FEW = 12_000  # characters of all texts up to which literals are looked for by their heads: what finds all at once takes longer to make
_MARKS: set[str] = set()
_searched = Counter[str]()  # characters so far, by speaker
_ANYBODY = "anybody"


def wait_for(marks: tuple[str, ...]) -> None:
    """Look for these too: a reader's marks, declared before the first text is read."""
    _MARKS.update(marks)


@tables.remembered
def wordings_of(speaker: str) -> dict[str, list[Wording]]:
    """Wordings by their literal: those that "anybody", a "program" alone or the "kernel" alone may say; none for ""."""
    by_literal = dict[str, list[Wording]]()
    for known in wordings_of_kernel() if speaker == "kernel" else wordings() if speaker else ():
        if speaker != "program" or known.may_say & PROGRAM:
            by_literal.setdefault(known.literal, []).append(known)
    return by_literal


@tables.remembered
def _literals(speaker: str, _marks: int) -> frozenset[str]:
    """All literals that are looked for; computed again where more marks were declared."""
    waited = set(wordings_of(speaker))
    waited |= {word for alike in wordings_of(speaker).values() for known in alike for word in known.beside}
    if speaker == _ANYBODY:
        waited |= {row.literal for row in speakers()} | _MARKS
    return frozenset(waited)


@tables.remembered
def _by_head(speaker: str, marks: int) -> dict[str, list[str]]:
    """The literals by their heads; those that are shorter by ""."""
    by_head: dict[str, list[str]] = {"": []}
    for literal in _literals(speaker, marks):
        by_head.setdefault(literal[:_HEAD] if len(literal) >= _HEAD else "", []).append(literal)
    return by_head


@tables.remembered
def _automaton(speaker: str, marks: int) -> tuple[list[str], Any]:
    """Those of more than a letter, and what finds them all at once, by their numbers."""
    import ahocorasick_rs

    # The other forms of it search hardly faster and take twice as long to make.
    quickly_made = ahocorasick_rs.Implementation.NoncontiguousNFA
    literals = sorted(literal for literal in _literals(speaker, marks) if len(literal) > 1)
    return literals, ahocorasick_rs.AhoCorasick(literals, implementation=quickly_made, store_patterns=False)


def literals_in(body: str, speaker: str = _ANYBODY) -> dict[str, list[int]]:
    """Where each literal occurs, in order: those of messages that `speaker` may say; where that is anybody, those of speakers and the marks of all readers that are registered, too."""
    if speaker != _ANYBODY and not (speaker and body):
        return {}
    _searched[speaker] += len(body)
    if _searched[speaker] < _FEW:
        return _found_by_heads(body, _by_head(speaker, len(_MARKS)))
    return _found_at_once(body, speaker)


def _found_by_heads(body: str, by_head: dict[str, list[str]]) -> dict[str, list[int]]:
    heads = {body[at : at + _HEAD] for at in range(len(body) - _HEAD + 1)} | {""}
    likely = (literal for head in by_head.keys() & heads for literal in by_head[head])
    return {literal: places_of(literal, body) for literal in likely if literal in body}


def _found_at_once(body: str, speaker: str) -> dict[str, list[int]]:
    literals, automaton = _automaton(speaker, len(_MARKS))
    longest = max(map(len, literals))
    # A text may be full of a single letter: its first places are enough, and its end is not gone through.
    letters = (literal for literal in _by_head(speaker, len(_MARKS))[""] if len(literal) == 1)
    found = {letter: places_of(letter, body) for letter in letters if letter in body}
    for at in range(0, len(body), _PART):
        part = body[at : at + _PART + longest - 1]
        for number, start, _end in automaton.find_matches_as_indexes(part, overlapping=True):
            spots = found.setdefault(literals[number], [])
            if len(spots) < _SPOTS and start < _PART:  # else the next part has it
                spots.append(at + start)
    return {literal: spots for literal, spots in found.items() if spots}


def places_of(literal: str, body: str) -> list[int]:
    """Where one literal occurs, in order."""
    offsets, at = list[int](), body.find(literal)
    while at >= 0 and len(offsets) < _SPOTS:
        offsets.append(at)
        at = body.find(literal, at + 1)
    return offsets
