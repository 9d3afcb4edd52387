"""A question with what was seen in its text: what its answer is made of."""

from typing import NamedTuple

from rigup.knowledge.questions import Asked
from rigup.machine.kinds import Platform, Torch
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


def system(seen: Look) -> str:
    """The system that the text is of: linux, wsl, windows or macos; "" where nobody tells."""
    for platform in seen.facts.of(Platform):
        if platform.get("wsl"):
            return "wsl"
        if platform.get("system"):
            return str(platform.get("system"))
    return "macos" if any(torch.get("mps_available") for torch in seen.facts.of(Torch)) else ""


def chip(seen: Look) -> str:
    """The chip of the card that is asked about; "" where none is known."""
    return seen.card.isa if seen.card else ""
