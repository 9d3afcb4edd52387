"""A question with what was seen in its text: what its answer is made of."""

from typing import NamedTuple

from rigup.knowledge.questions import Asked
from rigup.machine.store import Facts
from rigup.schemas.shared import Finding


class Card(NamedTuple):
    """The cards that a question is about, all of one model; `number` of them, `vram` bytes each or 0."""

    name: str
    vendor: str
    isa: str
    vram: int
    number: int = 1


class Look(NamedTuple):
    """A question, what was seen in its text, the cards that it is about, and what is wrong, where it asks of that."""

    asked: Asked
    facts: Facts
    card: Card | None
    found: tuple[Finding, ...] = ()
