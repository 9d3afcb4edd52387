"""Messages that a console broke at its width, made one line again.

Consoles of Python (rich) and mail break a long message between its words, and may draw a box around it.
What is joined is a text beside the one that was pasted, never in its place: tables have lines of one width too.
"""

from collections.abc import Iterator
from itertools import groupby, pairwise

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Place
from rigup.machine.texts import Text

_MARKS = ("Error", "Exception", "WARN", "Warning", "failure")
_SPEAKS = lazy_regex(r"\w{0,30}(?:Error|Exception)\b|\bWARN(?:ING)?\b|\b\w{0,20}Warning\b|\bfailure\b")
_BOX = lazy_regex(r"^(?P<before>[^\u2502\n]{0,80})\u2502 (?P<text>[^\u2502\n]{1,200}?) {0,200}\u2502[ \t]*$")
_ANEW = lazy_regex(
    r"[ \t]{0,40}(?:\d{2,4}[-:/.]\d|\[|\(|[|+=*#>$%-]{1,3} |(?:DEBUG|INFO|WARN|WARNING|ERROR|NOTE|FATAL|CRITICAL)\b|File \"|Traceback|raise |return |\w{1,40}(?:Error|Warning): )"
)  # as no continuation does
_ENDS = (".", "!", ")", ":")  # after them a new sentence begins, and on a line of its own it is another message
_WIDTHS = range(40, 141)  # what a console is wide, less a box's sides and a log's columns
_LEAST, _MOST = 3, 24  # lines of a message; of two nobody can tell how wide the console was
_TALLEST = 4000  # lines of a text that are looked at


def unwrapped(source: str, body: str, place: Place, numbers: list[int]) -> list[Text]:
    """The messages of a text that were broken at a width, each as one line; none where none was.

    `numbers` are those of its lines in the source.
    """
    if not any(mark in body for mark in _MARKS):
        return []
    joined = list(_join(body))
    return [Text(source, "\n".join(text for _, text in joined), place, lines=[numbers[n - 1] for n, _ in joined] + [0])] if joined else []


def _join(body: str) -> Iterator[tuple[int, str]]:
    rows = [(number, *_inner(line)) for number, line in enumerate(body.split("\n", _TALLEST)[:_TALLEST], 1)]
    for _, alike in groupby(rows, key=lambda row: row[1]):
        part = [(number, text) for number, _, text in alike]
        at = 0
        while at < len(part):
            count = _count_of_parts(part, at) if _SPEAKS.search(part[at][1]) else 1
            if count >= _LEAST:
                yield part[at][0], " ".join(text.strip() for _, text in part[at : at + count])
            at += count


def _inner(line: str) -> tuple[str, str]:
    """Whether a line stands in a box, with what is before it, and its words."""
    box = _BOX.match(line)
    return (box["before"], box["text"].rstrip()) if box else ("", line.rstrip())


def _count_of_parts(part: list[tuple[int, str]], at: int) -> int:
    """How many lines belong together; what does not hold of three does not hold of more, for they are no narrower."""
    lines = [part[at][1], *_continuations(part[at + 1 : at + _MOST], part[at][1])]
    count = _LEAST
    if len(lines) < count or not _full(lines[:count]):
        return 1
    while count < len(lines) and _full(lines[: count + 1]):
        count += 1
    return count


def _continuations(part: list[tuple[int, str]], first: str) -> Iterator[str]:
    """The lines that may go on with a message: none that begins as the message did, or as a log's line or a sentence does."""
    before = first
    for _, text in part:
        sentence = before[-1:] in _ENDS and text.strip()[:1].isupper()
        if sentence or _ANEW.match(text) or text.split(None, 1)[:1] == first.split(None, 1)[:1]:
            return
        yield text
        before = text


def _full(lines: list[str]) -> bool:
    """Whether no line but the last had room for the first word of the next."""
    width = max(map(len, lines))
    return width in _WIDTHS and all(lines) and all(len(line) + 1 + _first(following) > width for line, following in pairwise(lines))


def _first(line: str) -> int:
    """How long the first word of a line is."""
    words = line.split(None, 1)
    return len(words[0]) if words else 0
