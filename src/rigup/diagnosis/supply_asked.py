"""Whether a power supply is enough: the watts of cards and processor by the tables, beside those that somebody names."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from rigup.diagnosis.cards_named import named_cards
from rigup.diagnosis.looking import Card, Look
from rigup.knowledge import tables
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.questions import form_of, spaced
from rigup.knowledge.speeds import data_sheet
from rigup.machine.kinds import Gpu

_WATTS = lazy_regex(r"(?<![\d.,])(\d{3,4}) ?(?:W\b|watts?\b|Вт|瓦)")
_LEAST, _MOST = 400, 3000  # watts of supplies; smaller figures are of cards
_MORE = lazy_regex(
    r"\b(?:second|another|one more|add(?:ing)?|additional)\b|втор|ещё|еще|再加|第二|\bzweite|\bseconde?\b|\bdeuxième\b|\bsegunda\b|\botra\b"
)
_PAIR = lazy_regex(
    r"(?:\btwo|\bdual|\bboth|\bzwei|\bdos|\bdeux|\bduas|\bдв(?:е|ух|умя)|(?<![\w.])2 ?[x×]?|[两二]张?) ?(?=(?:\w+ ){0,2}\w*\d{3})"
)
_TENS = 10


class _Processor(msgspec.Struct, frozen=True):
    said: str
    watts: int


class _Beside(msgspec.Struct, frozen=True):
    rest: int
    unnamed: int
    peaks: float
    least_limit: float
    usual_limit: float
    test_limit: float
    step: int


class _Need(NamedTuple):
    """Watts of all cards, of all else, and how many cards they are."""

    cards: float
    beside: float
    number: int


def _beside() -> _Beside:
    return tables.rows("processors", "beside", _Beside)[0]


def _sentences(seen: Look) -> str:
    """All that ask it."""
    return spaced(f"{seen.asked.sentence} {seen.asked.again}")


def _watts_of(card: Card, seen: Look) -> float:
    """By the limit that is shown, else by the data sheet; 0 where nobody knows."""
    sheet, shown = data_sheet(card.name, card.vram or None), seen.asked.said.get("limit", "")
    is_own = any(gpu.get("name") == card.name for gpu in seen.facts.of(Gpu))
    return float(shown) if shown.isdecimal() and is_own else (sheet.watts or 0.0) if sheet else 0.0


def _own(seen: Look) -> list[Card]:
    """The cards that the text shows."""
    cards = [gpu for gpu in seen.facts.of(Gpu) if gpu.get("name") and not gpu.get("integrated")]
    return [Card(str(gpu.get("name")), str(gpu.get("vendor")), "", int(gpu.get("vram") or 0)) for gpu in cards]


def _cards(seen: Look) -> list[Card]:
    """Those that the question names, with the text's own where one is to be added; else the text's own."""
    said, own = _sentences(seen), _own(seen)
    named = named_cards(said) or ([] if own else named_cards(seen.asked.near))
    more = _MORE.search(said) is not None
    if not named:
        return [*own, *(own[:1] if more else [])]
    return [*(own if more else []), *named * (2 if _PAIR.search(said) else 1)]


def _need(seen: Look) -> _Need | None:
    """None where the watts of a card are not known."""
    watts = [_watts_of(card, seen) for card in _cards(seen)]
    processor, rows = seen.asked.said.get("processor", ""), tables.rows("processors", "processor", _Processor)
    known = next((row.watts for row in rows if processor and form_of(row.said).search(processor)), 0)
    beside = known + _beside().rest if known else _beside().unnamed
    return _Need(sum(watts), beside, len(watts)) if watts and all(watts) else None


def _named(seen: Look) -> int:
    """Watts of the supply, as the question names them, or the text does."""
    parts = (_sentences(seen), spaced(seen.asked.near))
    said = [int(found[1]) for part in parts for found in _WATTS.finditer(part) if _LEAST <= int(found[1]) <= _MOST]
    return said[0] if said else int(seen.asked.said.get("psu", "0"))


def _wanted(need: _Need) -> int:
    return math.ceil((need.cards + need.beside) * _beside().peaks / _beside().step) * _beside().step


def _verdict(seen: Look, need: _Need) -> str:
    named = _named(seen)
    if not named:
        return "open"
    return "enough" if _wanted(need) <= named else "hardly" if need.cards + need.beside <= named else "little"


def _told(verdict: str) -> Callable[[Look], str]:
    """The watts of a supply that is right, where that is what is to be said of the one that is named."""
    return lambda seen: str(_wanted(need)) if (need := _need(seen)) and _verdict(seen, need) == verdict else ""


def _of_need(value: Callable[[_Need], float]) -> Callable[[Look], str]:
    return lambda seen: f"{value(need):.0f}" if (need := _need(seen)) else ""


def _limit(seen: Look) -> str:
    """Watts for each card with which the named supply serves; "" where they would be too few."""
    need, named = _need(seen), _named(seen)
    if need is None or not named:
        return ""
    each, fits = need.cards / need.number, (named / _beside().peaks - need.beside) / need.number
    watts = int(min(fits, _beside().usual_limit * each)) // _TENS * _TENS
    return str(watts) if watts >= _beside().least_limit * each else ""


def _feeds(seen: Look) -> str:
    """The cards that it is about: "2 × NAME"."""
    names = [card.name for card in _cards(seen)]
    counts = {name: names.count(name) for name in names}
    return " + ".join(name if count == 1 else f"{count} × {name}" for name, count in counts.items())


OF_SUPPLY: dict[str, Callable[[Look], Any]] = {
    "feeds": _feeds,
    "named_watts": lambda seen: str(_named(seen) or ""),
    "watts_of_cards": _of_need(lambda need: need.cards),
    "watts_beside": _of_need(lambda need: need.beside),
    "watts_of_all": _of_need(lambda need: need.cards + need.beside),
    "supply_that_lacks": _told("little"),
    "supply_at_its_edge": _told("hardly"),
    "supply_that_serves": _told("enough"),
    "supply_to_buy": _told("open"),
    "watts_that_serve": _limit,
    "watts_for_a_test": _of_need(lambda need: int(need.cards / need.number * _beside().test_limit) // _TENS * _TENS),
}
