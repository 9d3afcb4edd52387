"""A JetPack that a text names is a release of Linux for Tegra."""

import pytest

import rigup.machine.readers.notes  # noqa: F401  (registers it)
from rigup.machine.reader import READERS
from rigup.machine.texts import Text


def l4t(body):
    found = READERS["jetson_of_a_jetpack"].read(Text("text", body))
    return [reading.value for fact in found for reading in fact.fields.values()]


@pytest.mark.parametrize(
    ("said", "release"), [("Orin NX 16GB, JetPack 6.2.", "36.4"), ("nvidia-jetpack 6.2+b77", "36.4"), ("JetPack 4.6.1 on a Nano", "32.6")]
)
def test_one_that_is_named(said, release):
    assert l4t(said) == [release]


@pytest.mark.parametrize("said", ["JetPack 5.1 works, JetPack 6.2 does not", "which JetPack is it?"])
def test_of_two_or_none_nobody_knows(said):
    assert not l4t(said)
