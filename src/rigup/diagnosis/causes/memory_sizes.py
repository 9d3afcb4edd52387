"""Sizes of memory as programs write them, in bytes."""

import re

GIB = 1 << 30
_UNITS = {"bytes": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": GIB, "t": 1 << 40}


def size(text: str | None) -> float | None:
    """`7.13 GiB` in bytes."""
    match = re.match(r"([\d.]{1,16}) ?(bytes|[KMGTkmgt]?)", text or "")
    try:
        return float(match[1]) * _UNITS[match[2].lower() or "b"] if match else None
    except ValueError:
        return None
