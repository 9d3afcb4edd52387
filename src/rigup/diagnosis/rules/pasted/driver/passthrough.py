"""A card that is handed through to a guest, and what keeps it from working there."""

import re

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Symptom

_GUESTS_FILE = lazy_regex(r"(?:^|[/_.-])(?:vm|guest|domu)(?:[0-9_.-]|$)", re.IGNORECASE)


def named_after_a_guest(symptom: Symptom) -> bool:
    """Who keeps two machines' outputs apart names the file after the one: `guest-dmesg.txt`."""
    return bool(_GUESTS_FILE.search(symptom.fields["id"].where.source.rpartition("/")[2]))
