"""Match a framework's devices with the machine's: by PCI address, UUID, name, and last by order."""

import re
from collections.abc import Callable, Sequence

from rigup.schemas.shared import SeenDevice
from rigup.verify.observe import Listed

_ADDRESS = re.compile(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])", re.IGNORECASE)


def matched(theirs: Sequence[Listed], ours: Sequence[SeenDevice]) -> dict[str, int]:
    """For each framework device (by id) the index of the matching machine device; unknown ones are left out.

    Several of theirs may be one of ours: parts of a card that was cut. A way that tells two cards apart goes before
    one that does not; cards alike are matched in order.
    """
    found: dict[str, int] = {}
    for alike in (_by_address, _by_uuid):
        for listed in theirs:
            places = [place for place, other in enumerate(ours) if alike(listed, other)]
            if listed.id not in found and places:
                found[listed.id] = places[0]
    for alike in (_by_name, _by_isa, _by_vendor):
        _in_order(theirs, ours, found, alike)
    if len(theirs) == len(ours) == 1:  # of a framework that does not tell whose chip it is
        found.setdefault(theirs[0].id, 0) if not theirs[0].vendor else None
    return found


def _in_order(
    theirs: Sequence[Listed], ours: Sequence[SeenDevice], found: dict[str, int], alike: Callable[[Listed, SeenDevice], bool]
) -> None:
    """Match the n-th of the alike devices of one list with the n-th of the other."""
    for listed in theirs:
        free = [place for place, other in enumerate(ours) if place not in found.values() and alike(listed, other)]
        if listed.id not in found and free:
            found[listed.id] = free[0]


def _by_address(listed: Listed, other: SeenDevice) -> bool:
    return _address(listed) is not None and _address(listed) == _address(other)


def _address(device: Listed | SeenDevice) -> str | None:
    """`00000000:01:00.0` and `0000:01:00.0` are one address."""
    match = _ADDRESS.fullmatch(device.pci_address or "")
    return f"{int(match[1] or '0', 16):04x}:{match[2].lower()}" if match else None


def _by_uuid(listed: Listed, other: SeenDevice) -> bool:
    mine = str(listed.properties.get("uuid") or listed.uuid or "").removeprefix("GPU-").lower()
    return bool(mine) and mine == (other.uuid or "").removeprefix("GPU-").lower()


def _by_name(listed: Listed, other: SeenDevice) -> bool:
    return _words(listed) == _words(other) != ""


def _words(device: Listed | SeenDevice) -> str:
    """A device name without the words that some tools omit."""
    plain = re.sub(r"\(r\)|\(tm\)|nvidia|amd|intel|graphics", " ", (device.name or "").lower())
    return " ".join(plain.split())


def _by_isa(listed: Listed, other: SeenDevice) -> bool:
    return bool(listed.isa) and listed.isa == other.isa


def _by_vendor(listed: Listed, other: SeenDevice) -> bool:
    """By vendor, unless the chips' ISAs differ."""
    if not listed.vendor or listed.vendor != other.vendor:
        return False
    return not (listed.isa and other.isa) or listed.isa == other.isa
