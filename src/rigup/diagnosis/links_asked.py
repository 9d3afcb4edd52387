"""What links carry beside what was measured over them: copies to a card, collectives between cards, and what was read from a disk."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from rigup.diagnosis.looking import Look
from rigup.knowledge import tables
from rigup.knowledge.pcie import bytes_of, generation_of
from rigup.knowledge.questions import form_of
from rigup.knowledge.speeds import data_sheet
from rigup.machine.kinds import CardState, Gpu

_GIGA, _PERCENT = 1e9, 100
_LANES, _GENERATIONS = (16, 8, 4, 1), range(1, 6)
_LIKE = 0.16  # share of a difference within which a rate is that of a link
_MOST = 1.05  # of a peak: what is above was computed in another type


class _Joint(msgspec.Struct, frozen=True):
    card: str
    both: float
    switch: bool = False


class _Slot(msgspec.Struct, frozen=True):
    chips: str
    generation: int


class _Reach(msgspec.Struct, frozen=True):
    kind: str
    low: float
    usual: float


class _Disk(msgspec.Struct, frozen=True):
    kind: str
    said: str
    rate: float


def _figure(seen: Look, name: str) -> float:
    return float(seen.asked.said.get(name, "0"))


def _reach(kind: str) -> _Reach:
    return next(row for row in tables.rows("links", "reach", _Reach) if row.kind == kind)


def _generation(seen: Look) -> int:
    """Of PCIe: as the text tells it of card and slot together, else what the card's chip has; 0 where nobody knows."""
    states = [int(state.get("generation_most") or 0) for state in seen.facts.of(CardState)]
    told = generation_of(_figure(seen, "giga")) or max(states, default=0)
    rows = tables.rows("links", "slot", _Slot)
    own = next((row.generation for row in rows if seen.card and re.fullmatch(row.chips, seen.card.isa)), 0)
    return int(told or own)


def _lanes(seen: Look) -> int:
    states = [int(state.get("lanes") or _LANES[0]) for state in seen.facts.of(CardState)]
    return int(_figure(seen, "width")) or min(states, default=0) or _LANES[0]


def _carried(seen: Look) -> float:
    """Gigabytes a second that the link to the card carries one way."""
    return bytes_of(_generation(seen), _lanes(seen)) / _GIGA


def _copied(seen: Look) -> float:
    """Gigabytes a second of the faster of the copies that were measured; what is not pinned says nothing of the link."""
    rate = max(_figure(seen, "rate"), _figure(seen, "back"), _figure(seen, "megabytes") / 1000)
    return 0.0 if "pageable" in seen.asked.said else rate


def _generation_told(seen: Look, is_full: bool) -> str:
    """Of the link, where the copies were as fast as it lets them be, or slower."""
    known = _copied(seen) and _carried(seen)
    fits = known and (_copied(seen) >= _reach("copy").low * _carried(seen)) is is_full
    return str(_generation(seen)) if fits else ""


def _like(seen: Look) -> str:
    """Links that give the measured rate in practice."""
    usual, rate = _reach("copy").usual / _GIGA, _copied(seen)
    known = [(generation, lanes) for generation in _GENERATIONS for lanes in _LANES] if rate else []
    return " / ".join(f"Gen {g} x{n}" for g, n in known if abs(usual * bytes_of(g, n) / rate - 1) <= _LIKE)


def _joint(seen: Look) -> _Joint | None:
    """NVLink of the cards, where the text shows that they are joined by it, or they cannot be otherwise."""
    named = seen.card.name if seen.card else ""
    names = [*(str(gpu.get("name") or "") for gpu in seen.facts.of(Gpu)), seen.asked.said.get("board", ""), named]
    rows = tables.rows("links", "nvlink", _Joint)
    row = next((row for name in names for row in rows if form_of(row.card).search(name)), None)
    return row if row and (row.switch or seen.asked.said.get("joint")) else None


def _between(seen: Look) -> tuple[float, _Reach]:
    """Gigabytes a second that cards can exchange each way, and what of it is usual; 0 where nobody knows, or several machines take part."""
    joint = _joint(seen)
    kind = "bus" if joint is None else "switch" if joint.switch else "bridge"
    each = joint.both / 2 if joint else 0.0 if "joint" in seen.asked.said else _carried(seen)
    return 0.0 if "machines" in seen.asked.said else each, _reach(kind)


def _exchanged(of_links: bool, is_full: bool) -> Callable[[Look], str]:
    """The bus bandwidth that was measured, where cards are joined so, and it is what is usual, or less."""

    def rate(seen: Look) -> str:
        said, (each, reach) = seen.asked.said.get("busbw", ""), _between(seen)
        if not said or not each or bool(_joint(seen)) is not of_links or (not of_links and float(said) > each):
            return ""
        return said if (float(said) >= reach.low * each) is is_full else ""

    return rate


def _both(seen: Look) -> str:
    return f"{joint.both:g}" if (joint := _joint(seen)) else ""


def _share_of_float32(seen: Look) -> str:
    """Per cent of the data sheet's rate in float32 that was computed."""
    sheet = data_sheet(seen.card.name, seen.card.vram or None) if seen.card else None
    peak = (sheet.rates.get("float32") or 0.0) / _GIGA if sheet else 0.0
    share = _figure(seen, "gflops") / peak if peak else 0.0
    return f"{share * _PERCENT:.0f}" if 0 < share <= _MOST else ""


def _share_of_memory(seen: Look) -> str:
    """Per cent of the data sheet's bandwidth that a copy within the card reached, where that is what is usual."""
    sheet = data_sheet(seen.card.name, seen.card.vram or None) if seen.card else None
    share = _figure(seen, "within") * _GIGA / sheet.bandwidth if sheet and sheet.bandwidth else 0.0
    return f"{share * _PERCENT:.0f}" if _reach("memory").low <= share <= _MOST else ""


def _loaded(seen: Look) -> float:
    seconds = _figure(seen, "seconds")
    return _figure(seen, "gigabytes") / seconds if seconds else 0.0


def _disk(seen: Look) -> str:
    """The kind of disk that the text names, where no more was read than it gives."""
    named = seen.asked.said.get("disk", "")
    rows = (row for row in tables.rows("links", "disk", _Disk) if named and form_of(row.said).search(named))
    return next((row.kind for row in rows if 0 < _loaded(seen) <= row.rate), "")


OF_LINKS: dict[str, Callable[[Look], Any]] = {
    "copied": lambda seen: f"{_copied(seen):g}" if _copied(seen) else "",
    "carried": lambda seen: f"{_carried(seen):.1f}" if _carried(seen) else "",
    "full_generation": lambda seen: _generation_told(seen, is_full=True),
    "short_generation": lambda seen: _generation_told(seen, is_full=False),
    "lanes_of_link": lambda seen: str(_lanes(seen)),
    "like_link": _like,
    "usual_copy": lambda seen: f"{_reach('copy').usual * _carried(seen):.0f}" if _carried(seen) else "",
    "busbw_of_links": _exchanged(of_links=True, is_full=True),
    "busbw_below_links": _exchanged(of_links=True, is_full=False),
    "busbw_of_bus": _exchanged(of_links=False, is_full=True),
    "busbw_below_bus": _exchanged(of_links=False, is_full=False),
    "nvlink_both": _both,
    "each_way": lambda seen: f"{_between(seen)[0]:.4g}" if _between(seen)[0] else "",
    "usual_busbw": lambda seen: f"{_between(seen)[1].low * _between(seen)[0]:.0f}" if _between(seen)[0] else "",
    "share_of_memory": _share_of_memory,
    "share_of_float32": _share_of_float32,
    "loading": lambda seen: f"{_loaded(seen):.1f}" if _loaded(seen) else "",
    "slow_disk": _disk,
}
