"""Bytes and times as a person reads them, in the language in force."""

from rigup.language import N_, _

_UNITS = (N_("{size} B"), N_("{size} kB"), N_("{size} MB"), N_("{size} GB"), N_("{size} TB"))
_GIB, _MIB, _KIB = 1 << 30, 1 << 20, 1 << 10
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def size(count: int) -> str:
    """A count of bytes of files, in the decimal unit that a person would take: `340 MB`, `2.9 GB`."""
    value, unit = float(count), _UNITS[0]
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            break
        value /= 1000
    return _(unit).format(size=f"{value:.0f}" if unit == _UNITS[0] or value >= 100 else f"{value:.1f}")


def gibibytes(count: int, digits: int = 1) -> str:
    """A count of bytes of memory in GiB; from a hundred on without digits, which nobody reads."""
    return _("{size} GiB").format(size=f"{count / _GIB:.{digits if count < 100 * _GIB else 0}f}")


def memory(count: int) -> str:
    """A count of bytes of memory as a whole number of the largest unit that it fills: `8 GiB`, `512 MiB`, `3 KiB`."""
    if count < _KIB:
        return _("{size} bytes").format(size=count)
    if count < _MIB:
        return _("{size} KiB").format(size=round(count / _KIB))
    return _("{size} MiB").format(size=round(count / _MIB)) if count < _GIB else gibibytes(count, 0)


def duration(seconds: float, digits: int = 1) -> str:
    """`45 s`, `4.2 min`, `12 min`, `3.4 h`, `2.1 d`; an estimate, of which no digit counts, without: `4 min`, `3 h`."""
    if seconds < 1.5 * _MINUTE:
        return _("{count} s").format(count=round(seconds))
    if seconds < 2 * _HOUR:
        return _("{count} min").format(count=f"{seconds / _MINUTE:.{0 if seconds >= 10 * _MINUTE else digits}f}")
    if seconds < 2 * _DAY:
        return _("{count} h").format(count=f"{seconds / _HOUR:.{digits}f}")
    return _("{count} d").format(count=f"{seconds / _DAY:.{digits}f}")
