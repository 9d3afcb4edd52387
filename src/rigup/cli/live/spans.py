"""Lines of a picture: pieces of text, each with the role by which a theme colours it."""

from typing import NamedTuple

from rigup.cli.layout import columns
from rigup.visible import visible


class Span(NamedTuple):
    """A piece of a line; `role` is a key of a theme, "" the plain text."""

    text: str
    role: str = ""


Line = list[Span]


def harmless(text: str) -> str:
    """Foreign text in one line that moves no cursor."""
    return visible(text).replace("\n", " ").replace("\t", " ")


def cut(text: str, most: int) -> str:
    """As much as fits into so many columns, with a sign where something is left out."""
    if columns(text) <= most:
        return text
    if most <= 0:
        return ""
    text = text[:most]  # a character takes a column or more, but for the few that take none
    while columns(text) > most - 1:
        text = text[:-1]
    return text + "…"


def cell(text: str, wide: int, right: bool = False) -> str:
    """The text in exactly so many columns."""
    if (taken := columns(text)) > wide:
        text = cut(text, wide)
        taken = columns(text)
    blanks = " " * (wide - taken)
    return blanks + text if right else text + blanks


def fitted(line: Line, wide: int) -> Line:
    """The line in exactly so many columns."""
    answer, room = [], wide
    for span in line:
        taken = columns(span.text)
        if taken > room:
            span = Span(cut(span.text, room), span.role)  # noqa: PLW2901
            taken = columns(span.text)
        if span.text:
            answer.append(span)
        room -= taken
    if room:
        answer.append(Span(" " * room, answer[-1].role if answer and answer[-1].role == "chosen" else ""))
    return answer


def marked(line: Line, role: str) -> Line:
    """The line in one role."""
    return [Span("".join(span.text for span in line), role)]
