"""The small words of Slurm's answers: durations, times, sizes, counts, TRES, GRES, states, job arrays.

Every function takes whatever text there is and answers `None` (or nothing) where it is no such word: it never raises.
"""

import functools
import re
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo

from rigup.machine.slurm.values import Gpus, Request

NOT_SET = frozenset(("", "(null)", "N/A", "n/a", "None", "NONE", "Unknown", "UNKNOWN", "NOT_SET", "n/s", "INVALID", "Partition_Limit"))
UNLIMITED = frozenset(("UNLIMITED", "INFINITE", "unlimited", "infinite"))
_SENTINELS = range(0xFFFFFFFD, 0x100000000)  # 32 bit INFINITE and NO_VAL (slurm.h)
_DURATION = re.compile(r"(?:(\d{1,7})-)?(\d{1,7})(?::(\d{1,7}))?(?::(\d{1,7}))?(?:\.\d+)?\Z")
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,6})?)([KMGTPE]?)(?:i?B)?[nc]?\Z", re.IGNORECASE)
_GRES = re.compile(r"(?:gres[:/])?gpu(?:[:/=]([^:=,()]+?))??(?:[:=](\d{1,9})([KMG]?))?(?:\([^)]*\))?\Z")
_STEP = 1024
_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_SUFFIXES = {
    "*": "NOT_RESPONDING",
    "~": "POWERED_DOWN",
    "#": "POWERING_UP",
    "!": "POWER_DOWN",
    "%": "POWERING_DOWN",
    "$": "MAINTENANCE",
    "@": "REBOOT_REQUESTED",
    "^": "REBOOT_ISSUED",
    "-": "PLANNED",
}
_SHORT = {
    "ALLOC": "ALLOCATED",
    "MIX": "MIXED",
    "DRNG": "DRAINING",
    "COMP": "COMPLETING",
    "MAINT": "MAINTENANCE",
    "RESV": "RESERVED",
    "UNK": "UNKNOWN",
    "PLND": "PLANNED",
    "POW_DN": "POWERING_DOWN",
    "POW_UP": "POWERING_UP",
    "FAILG": "FAILING",
    "FUTR": "FUTURE",
    "BOOT": "REBOOT_ISSUED",
    "REBOOT": "REBOOT_REQUESTED",
    "NPC": "PERFCTRS",
    "NOT_RESP": "NOT_RESPONDING",
    "INVAL": "INVALID_REG",
    "PLANNED": "PLANNED",
}


_DRAINED = {"DRAINED": ("IDLE", "DRAIN"), "DRAINING": ("MIXED", "DRAIN")}  # as sinfo words the two


def text(value: str | None) -> str:
    """The word, empty where Slurm means "nothing"."""
    return "" if value is None or value in NOT_SET else value


@functools.lru_cache(4096)
def words(value: str | None) -> tuple[str, ...]:
    """A list with commas; empty where it means nothing or everything."""
    if value is None or value in NOT_SET or value in ("ALL", "(none)"):
        return ()
    return tuple(part for part in (part.strip() for part in value.split(",")) if part)


def whole(value: str | None) -> int | None:
    """A count; None where it is none, or Slurm's number for "not set"."""
    if value is None or not value.isdecimal() or not value.isascii() or len(value) > 18:
        return None
    number = int(value)
    return None if number in _SENTINELS else number


def duration(value: str | None) -> int | None:
    """`1-02:03:04`, `02:03:04`, `03:04` (minutes:seconds) or plain minutes, in seconds. None: no limit, or not set."""
    if not value or not (found := _DURATION.match(value)):
        return None
    days, first, second, third = (int(part) if part else None for part in found.groups())
    if days is not None:  # days-hours[:minutes[:seconds]]
        return days * 86400 + (first or 0) * 3600 + (second or 0) * 60 + (third or 0)
    if third is not None:
        return (first or 0) * 3600 + (second or 0) * 60 + third
    if second is not None:
        return (first or 0) * 60 + second
    return (first or 0) * 60


def moment(value: str | None, zone: tzinfo = UTC) -> int | None:
    """`2026-11-20T21:28:31` in the time zone of who wrote it, or unix seconds, as unix seconds."""
    if not value or value in NOT_SET:
        return None
    if value.isdecimal():
        return (whole(value) or None) if len(value) > 6 else None
    try:
        stamp = datetime.fromisoformat(value)
        return int((stamp if stamp.tzinfo else stamp.replace(tzinfo=zone)).timestamp())
    except (ValueError, OverflowError, OSError):
        return None


def size(value: str | None, unit: str = "M") -> int | None:
    """A size as bytes; a bare number counts in `unit` (Slurm's memory: MiB)."""
    if not value or not (found := _SIZE.match(value)):
        return None
    return int(float(found[1]) * _STEP ** _UNITS[found[2].upper() or unit])


def tres(value: str | None) -> dict[str, str]:
    """`cpu=4,mem=8000M,gres/gpu:mi50=4` by name."""
    if not value or value in NOT_SET:
        return {}
    pairs = (part.partition("=") for part in value.split(","))
    return {name.strip(): count.strip() for name, _, count in pairs if count}


def tres_gpus(value: str | None) -> tuple[Request, ...]:
    """GPUs of a TRES text. Typed counts stand beside their sum: what the sum has more is of no type."""
    counts = tres(value)
    typed = [Request(name[9:], count) for name, number in counts.items() if name.startswith("gres/gpu:") and (count := whole(number))]
    rest = (whole(counts.get("gres/gpu")) or 0) - sum(request.count for request in typed)
    return (*typed, Request("", rest)) if rest > 0 else tuple(typed)


@functools.lru_cache(4096)
def gres(value: str | None) -> Mapping[str, int]:
    """GPUs of a GRES text by type: `gpu:l40:4(S:0-1),gpu:2`, `gres:gpu:mi50:2`, `gres/gpu:1`, `gpu:(null):0(IDX:N/A)`."""
    counts: dict[str, int] = {}
    if not value or "gpu" not in value:
        return counts
    for part in re.split(r",(?![^()]*\))", value.replace(":(null)", "")):
        if not (found := _GRES.match(part.strip())):
            continue
        name, number = found[1] or "", found[2]
        if number is None and name.isdecimal():
            name, number = "", name
        count = (1 if number is None else int(number)) * _STEP ** _UNITS[found[3] or ""]
        counts[name] = counts.get(name, 0) + count
    return counts


def requests(counts: Mapping[str, int]) -> tuple[Request, ...]:
    """Counts by type as requests, without the empty ones."""
    return tuple(Request(name, count) for name, count in counts.items() if count > 0)


def node_gpus(configured: str | None, used: str | None, counted: str | None = None, has_counts: bool = False) -> tuple[Gpus, ...]:
    """GPUs of a node. `used`: gres_used; else `counted`, the allocated TRES, where the site counts GPUs there (`has_counts`).

    Allocated GPUs without a type are given to the types in order, as far as there is room.
    """
    totals = gres(configured)
    if not totals:
        return ()
    if text(used):
        taken = dict(gres(used))
    elif has_counts:
        taken = {request.type: request.count for request in tres_gpus(counted)}
    else:
        return tuple(Gpus(name, total) for name, total in totals.items())
    loose = sum(count for name, count in taken.items() if name not in totals)
    rows = []
    for name, total in totals.items():
        own = taken.get(name, 0)
        extra = min(loose, max(total - own, 0))
        loose -= extra
        rows.append(Gpus(name, total, min(own + extra, total)))
    return tuple(rows)


def node_states(value: str | None) -> tuple[str, ...]:
    """`IDLE+DRAIN`, `DOWN*`, `mix-`, `drng` as upper case words, the base state first."""
    states: list[str] = []
    for part in (value or "").upper().split("+"):
        word = part.strip()
        marks = []
        while word and word[-1] in _SUFFIXES:
            marks.append(_SUFFIXES[word[-1]])
            word = word[:-1]
        states += _DRAINED.get(_SHORT.get(word, word), (_SHORT.get(word, word),)) if word else ()
        states += marks
    return tuple(dict.fromkeys(states))


def array_tasks(value: str | None) -> tuple[int, int | None]:
    """How many tasks `0-9,20-30:2%4` stands for, and how many may run at once."""
    if not value:
        return 1, None
    body, _, bound = value.strip("[]").partition("%")
    count = 0
    for part in body.split(","):
        if found := re.match(r"(\d{1,9})(?:-(\d{1,9}))?(?::(\d{1,9}))?\Z", part.strip()):
            first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1) or 1
            count += max((last - first) // step + 1, 0)
    return max(count, 1), whole(bound) or None


def shell_status(value: str | None) -> int | None:
    """Slurm's STATUS:SIGNAL as a shell tells it."""
    match = re.fullmatch(r"(\d{1,5}):(\d{1,3})", value or "", re.ASCII)
    if match is None:
        return None
    return 128 + int(match[2]) if int(match[2]) else int(match[1])
