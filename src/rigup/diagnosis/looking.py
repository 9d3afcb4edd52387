"""A question with what was seen in its text: what its answer is made of."""

from typing import NamedTuple

from rigup.knowledge.questions import Asked
from rigup.machine.store import Facts


class Card(NamedTuple):
    """The cards that a question is about, all of one model; `number` of them, `vram` bytes each or 0."""

    name: str
    vendor: str
    isa: str
    vram: int
    number: int = 1


class Look(NamedTuple):
    """A question, what was seen in its text, and the cards that it is about."""

    asked: Asked
    facts: Facts
    card: Card | None
