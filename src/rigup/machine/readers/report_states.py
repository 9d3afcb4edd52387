"""What nvidia-smi's long report tells of a card's link, and of how busy it is."""

from collections.abc import Callable, Iterator
from typing import Any

from rigup.machine.kinds import CardState
from rigup.machine.readers.values import Draft, address, number
from rigup.machine.texts import Hit, Text

Said = tuple[str, str, str, int]  # section, key, value, offset

_FIELDS: dict[tuple[str, str], tuple[str, Callable[[str], Any]]] = {
    ("pcie generation", "current"): ("generation", number),
    ("pcie generation", "max"): ("generation_most", number),
    ("link width", "current"): ("lanes", lambda value: number(value.rstrip("x "))),
    ("link width", "max"): ("lanes_most", lambda value: number(value.rstrip("x "))),
    ("utilization", "gpu"): ("busy", lambda value: number(value.rstrip(" %"))),
}


def state_of_report(text: Text, head: Hit, told: list[Said]) -> Iterator[CardState]:
    """The link of one card, and how busy it is."""
    draft = Draft(text, CardState, head.start)
    draft.add("pci_address", address(head["address"]))
    for section, key, value, at in told:
        field, convert = _FIELDS.get((section, key)) or ("", str)
        if field:
            draft.add(field, convert(value), at)
    yield from draft.facts("pci_address")
