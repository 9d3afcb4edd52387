"""What the machine's own firmware says of itself."""

from rigup.machine.facts import MACHINE, Fact


class Firmware(Fact, keys=("part",), scope=MACHINE):
    """A firmware and its release: an update of it moves settings that drivers rely on."""

    part: str  # bios (also where it is UEFI)
    version: str
    date: str  # as the maker writes it: 05/18/2026
