"""Vendors and addresses on the PCI bus."""

import re

from rigup.machine.kinds import Symptom

NVIDIA = "10de"
AMD = "1002"


def on_first_bus(symptom: Symptom) -> bool:
    """A card in a slot is device 0 of a bus of its own behind a port; on the first bus of all, or under another number, a hypervisor put it."""
    match = re.match(r"(?:[0-9a-f]{4,8}:)?:?(?P<bus>[0-9a-f]{2}):(?P<device>[0-9a-f]{2})(?![0-9a-f:])", str(symptom.get("address") or ""))
    return match is not None and (match["bus"] == "00" or match["device"] != "00")


def same_address(address: str, other: str) -> bool:
    """Whether two addresses are one card's, with the domain or without."""
    return address.removeprefix("0000:") == other.removeprefix("0000:")
