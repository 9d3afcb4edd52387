"""The firmware's release, from the kernel's files."""

from hypothesis import given
from hypothesis import strategies as st

from rigup.machine import readers  # noqa: F401  (registers them)
from rigup.machine.facts import Place
from rigup.machine.kinds import Firmware
from rigup.machine.look import look
from rigup.machine.reader import READERS
from rigup.machine.sources import Source
from rigup.machine.texts import Text
from rigup.machine.tree import Tree


def test_release_and_date_are_one_firmware(tmp_path):
    folder = tmp_path / "sys/class/dmi/id"
    folder.mkdir(parents=True)
    (folder / "bios_version").write_text("F15c\n")
    (folder / "bios_date").write_text("05/18/2026\n")
    (seen,) = look([Source(Place(world="host"), Tree(str(tmp_path)))]).of(Firmware)
    assert seen.values() == {"part": "bios", "version": "F15c", "date": "05/18/2026"}


def test_an_empty_file_states_nothing():
    assert list(READERS["firmware_release"].read(Text("/sys/class/dmi/id/bios_version", "\n"))) == []


@given(st.text(max_size=300), st.sampled_from(["bios_version", "bios_date", "x"]))
def test_any_text_is_borne(body, name):
    assert len(list(READERS["firmware_release"].read(Text("/sys/class/dmi/id/" + name, body)))) <= 1
