"""Which of several cards is to be bought: what the named work takes, beside the memory and the bandwidth of each."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from rigup.diagnosis.capacity_asked import trained
from rigup.diagnosis.cards_named import named_cards
from rigup.diagnosis.looking import Card, Look
from rigup.diagnosis.model_asked import PARAMETERS, asked_tokens, likely_bytes, size_of
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.questions import spaced
from rigup.knowledge.speeds import data_sheet
from rigup.machine.kinds import Gpu

_GIB = 1 << 30
_QLORA, _LORA = lazy_regex(r"\bqlora\b|\b4[ -]?bit\b[^.?!\n]{0,30}(?:train|tun)"), lazy_regex(r"\blora\b")
_TRAIN = lazy_regex(r"\btrain|\bfine-?tun|训练|微调|обуч|\bentren|\btrainier|\bentraîn|\btrein")
_RUN = lazy_regex(r"\b(?:run(?:ning)?|inference|chat|serve|answer|t/s|tok/s|ollama|llama\.cpp|vllm)\b|推理|запуск|инференс")
_STEP, _TOKENS, _BILLIONS = 2.5 * _GIB, 2048, 7  # bytes beside weights, of a step of tokens, of a model in billions
_ENGINE = 1.5 * _GIB  # bytes that an engine takes beside weights, with a context of usual length
_ROOM, _EDGE = 0.9, 1.1  # shares of a card's memory up to which work has room, and up to which it is at the edge
_FASTER = 1.2  # times the bandwidth from which one memory is told to be faster


class _Choice(NamedTuple):
    """Cards that have room for the work, are at their edge, and are too small."""

    room: list[Card]
    edge: list[Card]
    small: list[Card]


def _bandwidth(card: Card) -> float:
    sheet = data_sheet(card.name, card.vram or None)
    return (sheet.bandwidth or 0.0) if sheet else 0.0


def _offered(seen: Look) -> list[Card]:
    """The named cards that the machine has not, with memory and bandwidth."""
    own = {str(gpu.get("name")) for gpu in seen.facts.of(Gpu)}
    known = [card for card in named_cards(seen.asked.near) if card.vram and _bandwidth(card)]
    new = [card for card in known if card.name not in own]
    return new if len(new) > 1 else known


def _way(said: str) -> str:
    """How a model is trained, as it is named; "" where nothing is said of training."""
    return "qlora" if _QLORA.search(said) else "lora" if _LORA.search(said) else "full" if _TRAIN.search(said) else ""


def _need(seen: Look) -> float:
    """Bytes that the largest named model takes, to be trained or to answer; 0 where none is named."""
    said = spaced(seen.asked.near)
    size = max((float(found[1].replace(",", ".")) for found in PARAMETERS.finditer(said)), default=0.0)
    if not size:
        return 0.0
    way = _way(said.lower()) or ("" if _RUN.search(said) else _way(seen.asked.said.get("way", "").lower()))
    if not way:
        return likely_bytes(seen, size) + _ENGINE
    tokens = max(asked_tokens(seen), _TOKENS)
    return trained(way, size) + _STEP * tokens / _TOKENS * math.sqrt(size / _BILLIONS)


def _choice(seen: Look) -> _Choice | None:
    """None where no work is named, or less than two cards."""
    need, cards = _need(seen), _offered(seen)
    if not need or len(cards) < 2:
        return None
    room = [card for card in cards if need <= _ROOM * card.vram]
    edge = [card for card in cards if _ROOM * card.vram < need <= _EDGE * card.vram]
    return _Choice(room, edge, [card for card in cards if card not in room and card not in edge])


def _names(cards: list[Card]) -> str:
    return ", ".join(card.name for card in cards)


def _fastest(cards: list[Card]) -> str:
    """The one whose memory is faster than that of the others; "" where they are about alike."""
    rates = sorted(cards, key=_bandwidth, reverse=True)
    is_faster = len(rates) == 1 or (rates and _bandwidth(rates[0]) >= _FASTER * _bandwidth(rates[1]))
    return rates[0].name if is_faster else ""


def _of_choice(holds: Callable[[_Choice], bool], value: Callable[[_Choice], str]) -> Callable[[Look], str]:
    return lambda seen: value(choice) if (choice := _choice(seen)) and holds(choice) else ""


def _larger(seen: Look) -> str:
    """Where no work is named: the card with more memory than every other."""
    cards = sorted(_offered(seen), key=lambda card: card.vram, reverse=True)
    return cards[0].name if len(cards) > 1 and not _need(seen) and cards[0].vram > cards[1].vram else ""


def _faster_of_equal(seen: Look) -> str:
    """Where no work is named: of cards with as much memory that with the faster one."""
    cards = _offered(seen)
    return _fastest(cards) if len(cards) > 1 and not _need(seen) and len({card.vram for card in cards}) == 1 else ""


def _larger_and_faster(seen: Look) -> str:
    return larger if (larger := _larger(seen)) and _fastest(_offered(seen)) == larger else ""


OF_BUYING: dict[str, Callable[[Look], Any]] = {
    "need_of_work": lambda seen: size_of(_need(seen)),
    "alone_with_room": _of_choice(lambda one: len(one.room) == 1, lambda one: _names(one.room)),
    "too_small": _of_choice(lambda one: bool(one.small or one.edge), lambda one: _names([*one.edge, *one.small])),
    "all_with_room": _of_choice(lambda one: len(one.room) > 1 and not (one.small or one.edge), lambda one: _names(one.room)),
    "faster_of_room": _of_choice(lambda one: len(one.room) > 1, lambda one: _fastest(one.room)),
    "at_edge_alone": _of_choice(lambda one: not one.room and bool(one.edge), lambda one: _names(one.edge)),
    "none_with_room": _of_choice(lambda one: not one.room and not one.edge, lambda one: _names(one.small)),
    "larger_card": _larger,
    "faster_of_equal": _faster_of_equal,
    "larger_and_faster": _larger_and_faster,
}
