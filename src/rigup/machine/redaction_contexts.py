"""Forms in which a name stands in a text, and where in a long text they are worth trying."""

import heapq
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from rigup.knowledge.patterns import compiled, lazy_regex
from rigup.knowledge.tables import remembered, rows

_WINDOW, _OVERLAP = (200_000, 5_000)  # characters that are looked through at once; more than the longest name that is learnt


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """A form in which the group `x` is a name of a kind. One of `hints` stands where it does, in lower case."""

    kind: str
    regex: str
    hints: tuple[str, ...] = ()

    @property
    def form(self) -> re.Pattern[str]:
        """Of one line or of many."""
        return _form(self.regex)


@remembered
def _form(regex: str) -> re.Pattern[str]:
    return compiled(regex, re.MULTILINE)


@remembered
def contexts() -> tuple[Context, ...]:
    """All forms, in the order in which they are tried. Raises KnowledgeError where the table is malformed."""
    return rows("private_names", "context", Context)


# A table of hosts: only where a text is known to be one, for many lines begin with an address.
HOSTS = lazy_regex(
    r"^[ \t]{0,4}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{0,4}:[0-9a-fA-F:]{1,40})[ \t]{1,20}(?P<x>[A-Za-z][\w. \t-]{0,300}?)[ \t]{0,20}(?:#[^\n]{0,200})?$",
    re.MULTILINE,
)

# Files whose whole text is one private thing, by how their paths end.
WHOLE_FILES = (
    ("host", lazy_regex(r"/(?:etc/hostname|proc/sys/kernel/hostname|etc/mailname|HOSTNAME)\Z")),
    ("domain", lazy_regex(r"/proc/sys/kernel/domainname\Z")),
    ("unique id", lazy_regex(r"/unique_id\Z")),
    (
        "serial number",
        lazy_regex(
            r"/(?:serial(?:_number)?|(?:product|board|chassis)_serial|(?:board|chassis)_asset_tag|wwid|machine-id|"
            r"serial-number|sys_image_guid|node_guid)\Z"
        ),
    ),
)


def matching_contexts(body: str) -> Iterator[tuple[Context, int, int]]:
    """Contexts with the lines that they are worth trying on, in the order of the text."""
    users, finder = _finder()
    done: dict[int, int] = {}
    start = end = -1
    for at, number in heapq.merge(*_places(finder, lowered(body))):
        if not start <= at <= end:  # else a line without end would be gone through for each word in it
            start, end = body.rfind("\n", 0, at) + 1, body.find("\n", at)
            end = len(body) if end < 0 else end
        for index in users[number]:
            if done.get(index, -1) != start:
                done[index] = start
                yield contexts()[index], start, end


def _places(finder: Any, body: str) -> Iterator[Iterator[tuple[int, int]]]:
    """Where each hint stands; a sign that may fill a text counts once a line."""
    yield ((at, number) for number, at, _end in matches(finder, body))
    for number, hint in enumerate(_hints()):
        if len(hint) == 1:
            yield _by_line(body, hint, number)


def _by_line(body: str, hint: str, number: int) -> Iterator[tuple[int, int]]:
    at = body.find(hint)
    while at >= 0:
        yield at, number
        end = body.find("\n", at)
        at = body.find(hint, end) if end >= 0 else -1


@remembered
def _hints() -> list[str]:
    return sorted({hint for context in contexts() for hint in context.hints})


@remembered
def _finder() -> tuple[list[list[int]], Any]:
    import ahocorasick_rs

    hints = _hints()
    users = [[index for index, context in enumerate(contexts()) if hint in context.hints] for hint in hints]
    return users, ahocorasick_rs.AhoCorasick([hint if len(hint) > 1 else "\0" + hint + "\0" for hint in hints])


def matches(finder: Any, body: str) -> Iterator[tuple[int, int, int]]:
    """Every place of every word, by its end. A list of all would take a hundred times the room of a text full of them."""
    done = 0
    for start in range(0, len(body), _WINDOW):
        first = max(0, start - _OVERLAP)
        for number, at, end in finder.find_matches_as_indexes(body[first : start + _WINDOW], overlapping=True):
            if first + end > done:
                yield number, first + at, first + end
        done = start + _WINDOW


def lowered(body: str) -> str:
    """Lower case, letter for letter: of the few that become two letters the case is kept."""
    lower = body.lower()
    if len(lower) == len(body):
        return lower
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in body)
