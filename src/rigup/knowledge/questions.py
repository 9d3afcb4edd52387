"""What people ask of machines that are in order, with the answers (data/questions.toml)."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.patterns import lazy_regex

_LONGEST = 1200  # characters of a paragraph in which somebody asks
_MOST = 40  # paragraphs of one text
_MOST_ANSWERS = 2
_BEFORE = 2  # sentences before the one that asks
_END = lazy_regex(r"(?<=[.?!…])\s+|(?<=[。？！])|\n")


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is asked again and again.

    Attributes:
        asks: patterns that all match in the sentence that asks with those before it.
        answer: what an expert says.
        lines: commands below it, with holes that `fills` fills from the text, or `usual`.
        example: a paragraph in which it is asked.
        near_miss: one in which it is not.
        beside: causes beside which it is answered, too; else only where nothing is wrong.

    """

    id: str
    asks: list[str]
    answer: str
    lines: list[str] = []
    fills: str = ""
    usual: dict[str, str] = {}
    example: str
    near_miss: str
    beside: list[str] = []


class Asked(NamedTuple):
    """A question that a text asks: the row, the sentence, and the commands as that text wants them."""

    row: Question
    sentence: str
    lines: list[str]


class _Asking(msgspec.Struct, frozen=True):
    regex: str


def questions() -> tuple[Question, ...]:
    """All that is known to be asked.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return tables.rows("questions", "question", Question)


def asked_in(text: str) -> list[Asked]:
    """The questions of a text that have an answer, each once.

    Of what a sentence may ask together with those before it an answer that gives commands is told only where nothing else has more of its own words.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asking = [re.compile(row.regex, re.IGNORECASE) for row in tables.rows("questions", "asking", _Asking)]
    windows = list(_windows(text, asking))
    rows = questions()
    asked = {(sentence, row.id) for sentence, near in windows for row in _meant(rows, sentence, near)}
    found = ((row, next((sentence for sentence, _near in windows if (sentence, row.id) in asked), "")) for row in rows)
    return [Asked(row, sentence, _lines(row, text)) for row, sentence in found if sentence][:_MOST_ANSWERS]


def _windows(text: str, asking: list[re.Pattern[str]]) -> Iterator[tuple[str, str]]:
    """Each sentence that asks, and the same with those before it in its paragraph: what it is about mostly stands there."""
    for paragraph in re.split(r"\n[ \t]*\n", text)[:_MOST]:
        sentences = [part.strip() for part in _END.split(paragraph[:_LONGEST]) if part.strip()]
        for number, sentence in enumerate(sentences):
            if any(form.search(sentence) for form in asking):
                yield sentence, "\n".join(sentences[max(number - _BEFORE, 0) : number + 1])


def _meant(rows: tuple[Question, ...], sentence: str, near: str) -> list[Question]:
    """Those that the sentence asks together with those before it; of them with commands only what it holds most of in its own words."""
    fitting = [row for row in rows if _share(row, near) == 1]
    most = max((_share(row, sentence) for row in fitting), default=0.0)
    return [row for row in fitting if not row.lines or _share(row, sentence) >= most]


def _share(row: Question, text: str) -> float:
    """The share of its patterns that match."""
    return sum(re.search(form, text, re.IGNORECASE) is not None for form in row.asks) / len(row.asks)


def _lines(row: Question, text: str) -> list[str]:
    found = re.search(row.fills, text) if row.fills else None
    values = {**row.usual, **{name: value for name, value in (found.groupdict() if found else {}).items() if value}}
    return [line.format_map(values) if values else line for line in row.lines]
