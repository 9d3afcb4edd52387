"""Whether what a question asks for has room, by the figures that the text itself shows: a longer context, a larger model to train."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from rigup.diagnosis.looking import Look
from rigup.diagnosis.model_asked import PARAMETERS, RUNTIME, asked_tokens, parameters, shape_meant, size_of, told_by_metal, usable_memory
from rigup.knowledge import tables
from rigup.knowledge.model_shapes import Shape
from rigup.knowledge.questions import spaced

_MIB, _GIB = 1 << 20, 1 << 30
_LENT, _OWN = 0.97, 0.94  # share that may be taken of what Metal lends, and of a card's memory, where driver and desktop lie too
_HALF = 2  # bytes of a weight that is not quantised
_EASY = 0.5  # share of a card up to which weights leave room for a usual batch
_BESIDE = 5 * _GIB // 2  # bytes that a step takes at least beside the weights: activations, LoRA's own weights, the context of CUDA
_OWN_AT_LEAST = (
    0.85  # share of a card's memory in use that an engine's weights and cache are, beside the context of CUDA, graphs and activations
)
_STEP = 1000  # tokens to which a length is rounded


class Training(msgspec.Struct, frozen=True):
    """A way to train, and the bytes that it takes for each parameter beside activations."""

    id: str
    bytes: float


def _figure(seen: Look, name: str) -> float:
    return float(seen.asked.said.get(name, "0"))


def _cache_of_a_cell(seen: Look) -> float:
    """Bytes that llama.cpp's cache took for one token, as it printed them; 0 where several devices share it."""
    cells = _figure(seen, "cells")
    return _figure(seen, "cache") * _MIB / cells if cells and "several" not in seen.asked.said else 0.0


def _beside_cache(seen: Look) -> float:
    """Bytes of weights and work space on the GPU."""
    lies = _figure(seen, "lies") * _MIB
    return lies + (_figure(seen, "work") * _MIB or RUNTIME) if lies else 0.0


def _limit(seen: Look) -> float:
    """Bytes that a program may take on the one GPU: what Metal lends, or the card's memory."""
    own = seen.card.vram if seen.card and seen.card.number == 1 and seen.card.vendor != "apple" else 0
    return _figure(seen, "working") * 1e6 or own


def _room(seen: Look) -> float:
    return _limit(seen) * (_LENT if _figure(seen, "working") else _OWN)


def _needs(seen: Look) -> float:
    """Bytes that the named length of context takes with all else; 0 where the text does not tell."""
    known = _cache_of_a_cell(seen) and _beside_cache(seen) and _limit(seen)
    return _cache_of_a_cell(seen) * asked_tokens(seen) + _beside_cache(seen) if known and asked_tokens(seen) else 0.0


def _needed(fits: bool) -> Callable[[Look], str]:
    return lambda seen: size_of(_needs(seen)) if (_needs(seen) <= _room(seen)) is fits else ""


def _most_cells(seen: Look) -> str:
    """Tokens of context that have room."""
    each = _cache_of_a_cell(seen)
    most = int((_room(seen) - _beside_cache(seen)) / each) // _STEP * _STEP if each else 0
    return f"{most:,}".replace(",", " ") if most > 0 else ""


def unquantised(size: float, meant: Shape | None) -> float:
    """Parameters of the table of words and of the output, in thousand millions: of the model, or at most of those of its size."""
    known = [row for row in tables.rows("model_shapes", "shape", Shape) if not row.experts and row.size.endswith("b")]
    off = min(abs(float(row.size[:-1]) - size) for row in known)
    likely = [meant] if meant else [row for row in known if abs(float(row.size[:-1]) - size) == off]
    return max(row.words * row.width * (1 if row.tied else 2) for row in likely) / 1e9


def trained(way: str, size: float, meant: Shape | None = None) -> float:
    """Bytes of weights, gradients and states; NF4 leaves the table of words and the output as they are."""
    each = next(row.bytes for row in tables.rows("questions", "training", Training) if row.id == way)
    whole = min(unquantised(size, meant), size) if way == "qlora" else 0.0
    return (each * (size - whole) + _HALF * whole) * 1e9


def _trained_by(way: str) -> Callable[[Look], str]:
    return lambda seen: size_of(trained(way, parameters(seen), shape_meant(seen)) if parameters(seen) else 0)


def _verdict(size: float, seen: Look) -> str:
    """Where QLoRA of a model of so many thousand million parameters has room."""
    card = seen.card
    need, own = trained("qlora", size, None), card.vram if card else 0
    if not card or not own or card.vendor not in ("nvidia", "amd"):
        return ""
    if need <= _EASY * own:
        return "easily"
    if need + _BESIDE <= own:
        return "hardly"
    return "split" if card.number > 1 and need + card.number * _BESIDE <= card.number * own else "nowhere"


def _qlora(verdict: str) -> Callable[[Look], str]:
    """The sizes that are asked of, for which this holds."""

    def sizes(seen: Look) -> str:
        said = spaced(f"{seen.asked.sentence} {seen.asked.again}")
        named = [float(found[1].replace(",", ".")) for found in PARAMETERS.finditer(said)] or list(filter(None, [parameters(seen)]))
        return ", ".join(dict.fromkeys(f"{size:g}" for size in named if _verdict(size, seen) == verdict))

    return sizes


def _all_at_once(way: str, fits: bool) -> Callable[[Look], str]:
    """What a way takes that the question names, where it has room on the one GPU, or where it has not."""
    named = re.compile(
        r"(?<![Qq])LoRA\b" if way == "lora" else r"\bfull (?:fine|param|training)|全参|全量|\bполн\w+ (?:дообуч|файнтюн)", re.IGNORECASE
    )

    def size(seen: Look) -> str:
        need = trained(way, parameters(seen), shape_meant(seen)) if parameters(seen) else 0.0
        alone = seen.card and seen.card.number == 1 and usable_memory(seen)
        known = need and alone and named.search(spaced(f"{seen.asked.near} {seen.asked.again}"))
        return size_of(need) if known and (need + _BESIDE <= usable_memory(seen)) is fits else ""

    return size


def _weights_and_cache(seen: Look) -> str:
    """GiB that an engine tells of its weights and its cache, where that is most of what the card has in use: then its memory is nobody else's."""
    own, used = _figure(seen, "loaded") + _figure(seen, "cache"), _figure(seen, "used") * _MIB / _GIB
    return f"{own:.1f}" if _OWN_AT_LEAST * used <= own <= used else ""


OF_CAPACITY: dict[str, Callable[[Look], Any]] = {
    "asked_tokens": lambda seen: f"{asked_tokens(seen):,}".replace(",", " ") if asked_tokens(seen) else "",
    "cache_then": lambda seen: size_of(_cache_of_a_cell(seen) * asked_tokens(seen)),
    "beside_cache": lambda seen: size_of(_beside_cache(seen)),
    "sum_that_fits": _needed(fits=True),
    "sum_too_large": _needed(fits=False),
    "limit": lambda seen: size_of(_limit(seen)),
    "most_cells": _most_cells,
    "weights_and_cache": _weights_and_cache,
    "lent": lambda seen: size_of(told_by_metal(seen)),
    "lora_fits": _all_at_once("lora", fits=True),
    "lora_nowhere": _all_at_once("lora", fits=False),
    "full_fits": _all_at_once("full", fits=True),
    "full_nowhere": _all_at_once("full", fits=False),
    "one_memory": lambda seen: size_of(seen.card.vram if seen.card else 0),
    "trained_full": _trained_by("full"),
    "trained_lora": _trained_by("lora"),
    "trained_qlora": _trained_by("qlora"),
    "qlora_easily": _qlora("easily"),
    "qlora_hardly": _qlora("hardly"),
    "qlora_split": _qlora("split"),
    "qlora_nowhere": _qlora("nowhere"),
}
