"""Fill the holes of a table's commands: data stays within its word."""

import re
from collections.abc import Iterable, Mapping

from rigup.knowledge.patterns import lazy_regex

_HOLE = lazy_regex(r"\{([a-z_]{1,20})(?:\|([A-Za-z0-9._+-]{0,40}))?\}")
Filled = tuple[tuple[str, ...], ...]


def filled(commands: Iterable[Iterable[str]], values: Mapping[str, str]) -> Filled:
    """Argument vectors with {name} filled, and {name|word} by the word where the name has no value.

    A shell's own text (what follows `-c`) is left as it stands.

    Raises:
        KeyError: a hole without a value or a word of its own.

    """
    return tuple(_vector(list(argv), values) for argv in commands)


def _vector(argv: list[str], values: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        word if place and argv[place - 1] == "-c" else _HOLE.sub(lambda hole: _value(hole, values), word) for place, word in enumerate(argv)
    )


def _value(hole: "re.Match[str]", values: Mapping[str, str]) -> str:
    value = values.get(hole[1], "")
    if value or (hole[1] in values and hole[2] is None):
        return value
    if hole[2] is None:
        raise KeyError(hole[1])
    return hole[2]
