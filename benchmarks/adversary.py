"""Texts that a pattern has to look at for long: they begin as it does and go on in one of its repeats, and never end as it does.

Made of the pattern's own parse tree: its letters, the first way of each choice, the least of each repeat.
"""

import re
from collections.abc import Iterable, Iterator
from re import _parser  # type: ignore[attr-defined]  # the one parser of Python's own regexes
from typing import Any

_FEW = 8  # repeats up to so many letters are not worth a text of their own
_LONGEST = 3000  # letters of one repeat
_MOST = 12  # texts of one pattern


def misleading(regex: str) -> list[str]:
    """Texts for a pattern, each for one of its repeats."""
    tree = _parser.parse(regex, re.MULTILINE)
    found = list(dict.fromkeys(_pumped(tree, "")))
    step = max(1, -(-len(found) // _MOST))
    return [*found[::step], sample(tree)[:-1]]


def letters(regex: str) -> list[str]:
    """A letter of each class that a pattern repeats, without doubles."""
    return list(dict.fromkeys(_of_classes(_parser.parse(regex, re.MULTILINE))))


def _of_classes(tree: Iterable[tuple[Any, Any]]) -> Iterator[str]:
    for kind, value in tree:
        name = str(kind)
        if name in ("SUBPATTERN", "ATOMIC_GROUP"):
            yield from _of_classes(value[-1] if name == "SUBPATTERN" else value)
        elif name == "BRANCH":
            for choice in value[1]:
                yield from _of_classes(choice)
        elif name.endswith("_REPEAT"):
            inside = list(value[2])
            if len(inside) == 1 and str(inside[0][0]) in ("IN", "ANY", "NOT_LITERAL", "LITERAL", "CATEGORY"):
                yield _letter(str(inside[0][0]), inside[0][1])
            else:
                yield from _of_classes(inside)


def sample(tree: Iterable[tuple[Any, Any]]) -> str:
    """The least that a pattern matches, but for what looks ahead and behind."""
    return "".join(_least(str(kind), value) for kind, value in tree)


def _least(kind: str, value: Any) -> str:
    if kind in ("LITERAL", "RANGE", "NOT_LITERAL", "IN", "ANY", "CATEGORY"):
        return _letter(kind, value)
    if kind in ("SUBPATTERN", "ATOMIC_GROUP"):
        return sample(value[-1] if kind == "SUBPATTERN" else value)
    if kind.endswith("_REPEAT"):
        return sample(value[2]) * value[0]
    return sample(value[1][0]) if kind == "BRANCH" else ""


def _letter(kind: str, value: Any) -> str:
    """A letter of a class: one of those that stand in words, where it holds any."""
    if kind == "LITERAL":
        return chr(value)
    if kind == "NOT_LITERAL":
        return "a" if value != ord("a") else "b"
    return next((letter for letter in "a1 -./_:=x(" + chr(0x4E00) + "\n\t" if _holds(kind, value, letter)), " ")


def _holds(kind: str, value: Any, letter: str) -> bool:
    if kind == "ANY":
        return letter != "\n"
    if kind == "RANGE":
        return bool(value[0] <= ord(letter) <= value[1])
    if kind == "LITERAL":
        return bool(value == ord(letter))
    if kind == "CATEGORY":
        form = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}[str(value).removeprefix("CATEGORY_").removeprefix("NOT_")]
        return bool(re.match(form, letter)) != ("NOT_" in str(value))
    denied = bool(value) and str(value[0][0]) == "NEGATE"
    return any(_holds(str(one), part, letter) for one, part in (value[1:] if denied else value)) != denied


def _pumped(tree: Iterable[tuple[Any, Any]], before: str) -> Iterator[str]:
    """What stands before each repeat, and then as much of the repeat as it takes."""
    for kind, value in tree:
        name = str(kind)
        if name in ("SUBPATTERN", "ATOMIC_GROUP"):
            yield from _pumped(value[-1] if name == "SUBPATTERN" else value, before)
        elif name == "BRANCH":
            for choice in value[1]:
                yield from _pumped(choice, before)
        elif name.endswith("_REPEAT"):
            body = sample(value[2]) or "a"
            times = min(value[1], _LONGEST // len(body))
            if times * len(body) > _FEW:
                yield before + body * times
            yield from _pumped(value[2], before)
        before += _least(name, value)
