"""Bytes as a person reads them."""

_UNITS = ("B", "kB", "MB", "GB", "TB")


def size(count: int) -> str:
    """A count of bytes in the unit that a person would take."""
    value, unit = float(count), _UNITS[0]
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == _UNITS[0] or value >= 100 else f"{value:.1f} {unit}"
