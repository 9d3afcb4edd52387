"""The link of a card to its machine, and what its driver tells of its clock."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.machine import readers  # noqa: F401
from rigup.machine.kinds import CardState
from rigup.machine.reader import READERS
from rigup.machine.readers.nvidia_query import slowing
from rigup.machine.texts import Text

CARD = "/sys/bus/pci/devices/0000:01:00.0/"


def link(name: str, body: str) -> list[CardState]:
    return list(READERS["card_link"].read(Text(CARD + name, body)))


@pytest.mark.parametrize(
    ("name", "field"), [("current_link_width", "lanes"), ("max_link_width", "lanes_of_card"), ("../max_link_width", "lanes_of_slot")]
)
def test_each_file_tells_its_lanes(name: str, field: str) -> None:
    (state,) = link(name, "16\n")
    assert (state.pci_address, getattr(state, field)) == ("0000:01:00.0", 16)
    assert not {"lanes", "lanes_of_card", "lanes_of_slot"} - {field} & set(state.fields)


@pytest.mark.parametrize("body", ["0", "63", "255", "", "x16", "-4", "16 lanes"])
def test_what_is_no_number_of_lanes_is_none(body: str) -> None:
    assert link("current_link_width", body) == []


@given(st.text(max_size=40))
def test_hostile_files_give_lanes_or_nothing(body: str) -> None:
    assert all(0 < state.lanes <= 32 for state in link("current_link_width", body))


@given(st.text(max_size=40))
def test_hostile_cells_give_words_or_nothing(cell: str) -> None:
    assert slowing(cell) is None or all(word.isalpha() for word in slowing(cell) or ())


def test_an_idle_card_is_slowed_down_by_nothing() -> None:
    assert slowing("0x0000000000000001") == []
    assert slowing("0x0000000000000048") == ["hardware", "temperature"]
    assert slowing("[N/A]") is None
