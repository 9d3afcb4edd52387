"""What a text shows, and the tables know of it, that the answer to a question can name: the holes of its sentences."""

import math
import re
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

from rigup.diagnosis.at_work import explained_message, proof_of_work
from rigup.diagnosis.builds_asked import OF_BUILDS
from rigup.diagnosis.buying_asked import OF_BUYING
from rigup.diagnosis.capacity_asked import OF_CAPACITY
from rigup.diagnosis.cards_named import named_cards
from rigup.diagnosis.faults_asked import OF_FAULTS
from rigup.diagnosis.links_asked import OF_LINKS
from rigup.diagnosis.looking import Card, Look, chip, system
from rigup.diagnosis.model_asked import OF_MODELS, shown_memory, size_of
from rigup.diagnosis.supply_asked import OF_SUPPLY
from rigup.diagnosis.training_asked import OF_TRAINING
from rigup.knowledge.abilities import Ability, abilities_named, has_ability
from rigup.knowledge.compile import PEOPLE
from rigup.knowledge.doctor_tables import signatures_of
from rigup.knowledge.gpu_words import gpu_in_words
from rigup.knowledge.others_cards import without_others
from rigup.knowledge.questions import Asked, spaced
from rigup.knowledge.rocm import override_for
from rigup.knowledge.speeds import data_sheet
from rigup.language import _
from rigup.machine.kinds import Driver, Gpu, Platform, Symptom, TensorFlow, Torch
from rigup.machine.store import Facts
from rigup.schemas.shared import Finding
from rigup.sizes import gibibytes

_REST, _PEAKS = 200, 1.25  # watts of a machine beside its cards, and the share for short peaks
_HALF = 0.6  # of a card's memory, that leaves room for a larger batch
_NEAR = 0.8  # share of the greater of two rates from which they are about equal
_LONGEST_PROOF = 90  # characters that are quoted


def look(asked: Asked, facts: Facts, found: tuple[Finding, ...] = ()) -> Look:
    """What is known where a question is asked."""
    # Rows of their own order tell of the machine that is shown.
    named = None if asked.row.last else _named_card(without_others(asked.near, "another", "aside"), facts)
    return Look(asked, facts, named or _only_card(facts), found)


def shown_names(facts: Facts) -> str:
    """Names of the programs that spoke, and of the cards, frameworks and systems that they showed."""
    heard = signatures_of({str(symptom.id) for symptom in facts.of(Symptom)})
    names = {row.program for row in heard if row.program not in PEOPLE and "," not in row.program}
    names |= {str(gpu.get(field)) for gpu in facts.of(Gpu) for field in ("name", "vendor", "seen_by") if gpu.get(field)}
    names |= {"torch ROCm" if torch.get("hip") else "torch" for torch in facts.of(Torch)}
    names |= {f"nvidia-smi driver {driver.get('cuda')}" for driver in facts.of(Driver) if driver.get("cuda")}
    names |= {str(torch.get("cuda")) for torch in facts.of(Torch) if torch.get("cuda")}
    names |= {"driver" for _driver in facts.of(Driver)} | {"TensorFlow" for _one in facts.of(TensorFlow)}
    names |= {"WSL" if one.get("wsl") else str(one.get("system") or "") for one in facts.of(Platform)}
    return " ".join(sorted(names))


def maker(seen: Look) -> str:
    """Whose cards the question is about, "" where nobody tells."""
    if seen.card:
        return seen.card.vendor
    makers = {str(gpu.get("vendor")) for gpu in seen.facts.of(Gpu) if gpu.get("vendor")}
    torches = seen.facts.of(Torch)
    makers |= {"apple"} if system(seen) == "macos" else set()
    makers |= {"amd"} if any(torch.get("hip") for torch in torches) else set()
    makers |= {"nvidia"} if any(torch.get("cuda") for torch in torches) else set()
    return makers.pop() if len(makers) == 1 else ""


def values(names: Iterable[str], seen: Look) -> dict[str, str]:
    """What fills these holes; those that nobody knows are left out."""
    known = {name: KNOWN[name](seen) for name in names if name in KNOWN}
    return {**{name: value for name, value in known.items() if value}, **seen.asked.said}


def _named_card(near: str, facts: Facts) -> Card | None:
    """The one card that the question itself names, or the last of several of one chip."""
    cards = named_cards(near)
    if len({card.isa or card.name for card in cards}) != 1:
        return None
    own = _only_card(facts)
    return own if own and own.vendor == cards[-1].vendor and own.isa == cards[-1].isa else cards[-1]


def _sheet_of(card: Card) -> str:
    sheet = data_sheet(card.name, card.vram or None)
    if not sheet or not sheet.bandwidth:
        return ""
    rate = sheet.rates.get("bfloat16") or sheet.rates.get("float16") or sheet.rates.get("float32")
    parts = [gibibytes(card.vram) if card.vram else "", f"{sheet.bandwidth / 1e9:.0f} GB/s", f"{rate / 1e12:.0f} TFLOP/s" if rate else ""]
    parts += [f"{sheet.watts:.0f} W"] if sheet.watts else []
    return f"{card.name}: " + ", ".join(filter(None, parts))


def _alike(seen: Look) -> str:
    """Two rates that the text tells of the same work on two cards, where they are near each other: no data sheet says more of them."""
    own, others = (float(seen.asked.said.get(name, "0")) for name in ("rate", "others"))
    is_near = min(own, others) >= _NEAR * max(own, others) > 0
    return f"{own:g} / {others:g} {seen.asked.said.get('unit', '')}".strip() if is_near else ""


def _seconds(clock: str) -> float:
    """Of 09:58.120 or 01:02:03.0."""
    return sum(float(part) * 60**place for place, part in enumerate(clock.split(":")[::-1])) if clock else 0.0


def _transcribing(seen: Look) -> str:
    """Minutes that speech of the length that is asked about takes, at the pace that the text shows."""
    said = seen.asked.said
    took = sum(float(said.get(name, "0")) * seconds for name, seconds in (("took_h", 3600), ("took_m", 60), ("took_s", 1)))
    lasted = _seconds(said.get("spoken", ""))
    wanted = float(said.get("hours", "0").replace(",", ".")) * 60 + float(said.get("minutes", "0"))
    return f"{wanted * took / lasted:.0f}" if took and lasted and wanted else ""


def _override(seen: Look, right: bool) -> str:
    """The override that the chip needs, where it is the one that is set, or where it is another."""
    row = override_for(chip(seen)) if chip(seen).startswith("gfx") else None
    own = seen.asked.said.get("override", "")
    return row.value or "" if row and own and (row.value == own) is right else ""


def _is_like(card: Card, other: Card) -> bool:
    """Whether two names may mean one product: a chip and the number of both are the same."""
    return card.isa == other.isa and re.findall(r"\d{3,4}", card.name) == re.findall(r"\d{3,4}", other.name)


def _sheets(seen: Look) -> str:
    """The data sheets of the cards that a question compares, the text's own among them where it names one alone."""
    cards, own = named_cards(seen.asked.near), _only_card(seen.facts)
    compared = [own, *cards] if own and len(cards) == 1 and not _is_like(own, cards[0]) else cards
    told = [sheet for card in compared if (sheet := _sheet_of(card))]
    return "; ".join(told) if len(told) > 1 else ""


def _only_card(facts: Facts) -> Card | None:
    """All cards of the text that compute, where they are of one model."""
    cards = [gpu for gpu in facts.of(Gpu) if gpu.get("name") and gpu.get("vendor")]
    own = [gpu for gpu in cards if not gpu.get("integrated")] or cards
    if len({str(gpu.get("name")) for gpu in own}) != 1:
        return None
    first = own[0]
    lent = _lent(facts) if first.get("integrated") else 0
    vram = lent or min((int(gpu.get("vram") or 0) for gpu in own), default=0) or _nominal(str(first.get("name")))
    return Card(str(first.get("name")), str(first.get("vendor")), str(first.get("isa") or ""), vram, len(own))


def _lent(facts: Facts) -> int:
    """Bytes that amdgpu tells a processor's graphics have: what the BIOS sets aside, and what main memory lends."""
    told = [symptom.get("mib") for name in ("amdgpu-vram-ready", "amdgpu-gtt-ready") for symptom in facts.heard(name)[-1:]]
    return sum(int(mib) for mib in told) << 20 if len(told) > 1 else 0


def _nominal(name: str) -> int:
    known = gpu_in_words(name)
    return (known[0].memory_bytes or 0) if known else 0


def _cards(seen: Look) -> str:
    """All of them: "2 × NAME"."""
    if not seen.card:
        return ""
    return seen.card.name if seen.card.number == 1 else f"{seen.card.number} × {seen.card.name}"


def _devices_each(seen: Look) -> int:
    """As how many devices programs list one of the cards, in the mode of partitions that the text shows; 0 where it is one."""
    known = gpu_in_words(seen.card.name) if seen.card else None
    each = dict(known[0].devices).get(seen.asked.said.get("mode", ""), 1) if known else 1
    return each if each > 1 else 0


def _boards(seen: Look) -> str:
    """How many cards the devices are that the text lists."""
    each, number = _devices_each(seen), seen.card.number if seen.card else 0
    return str(number // each) if each and number >= each and number % each == 0 else ""


def _memory(seen: Look) -> str:
    found = shown_memory(seen)
    return gibibytes(found) if found else ""


def _capability(seen: Look) -> str:
    """As CUDA writes it: sm_86 is 8.6."""
    digits = chip(seen).removeprefix("sm_")
    return f"{digits[:-1]}.{digits[-1]}" if digits.isdigit() and len(digits) > 1 else ""


def _named_abilities(seen: Look, can: bool) -> list[Ability]:
    card = seen.card
    if not card:
        return []
    rows = abilities_named(spaced(seen.asked.near))
    return [row for row in rows if has_ability(row, card.vendor, card.isa) is can]


def _can(seen: Look) -> str:
    return ", ".join(row.name for row in _named_abilities(seen, can=True))


def _lacks(seen: Look) -> str:
    return "; ".join(_(row.lack) for row in _named_abilities(seen, can=False))


def _works(seen: Look) -> str:
    """The torch that reaches a GPU."""
    reached = [
        torch for torch in seen.facts.of(Torch) if torch.get("available") or torch.get("xpu_available") or torch.get("mps_available")
    ]
    return f"torch {reached[0].get('version') or ''}".strip() if len(reached) == 1 else ""


def _less_power(seen: Look) -> str:
    """Watts: four fifths of what the card is allowed now."""
    limit = seen.asked.said.get("limit", "")
    return str(int(limit) * 4 // 50 * 10) if limit.isdecimal() else ""


def _used_with_room(seen: Look) -> str:
    """MiB in use, where that leaves room for a batch that is larger by half."""
    used, whole = (seen.asked.said.get(name, "") for name in ("used", "whole"))
    return used if used.isdecimal() and whole.isdecimal() and int(used) < _HALF * int(whole) else ""


def _supply(more: int) -> Callable[[Look], str]:
    """Watts of a supply for the cards, so many more of them, and the rest of the machine."""

    def watts(seen: Look) -> str:
        limit, number = seen.asked.said.get("limit", ""), seen.card.number if seen.card else 0
        need = (int(limit) * (number + more) + _REST) * _PEAKS if limit.isdecimal() and number else 0
        return str(math.ceil(need / 50) * 50) if need else ""

    return watts


def _short_supply(seen: Look) -> str:
    """The watts of the supply that the text names, where the cards want more."""
    has, wanted = seen.asked.said.get("has", ""), _supply(0)(seen)
    return has if has and wanted and int(has) < int(wanted) else ""


def _kinds(seen: Look) -> str:
    """Several models of cards."""
    names = {str(gpu.get("name")) for gpu in seen.facts.of(Gpu) if gpu.get("name") and not gpu.get("integrated")}
    return ", ".join(sorted(names)) if len(names) > 1 else ""


KNOWN: dict[str, Callable[[Look], Any]] = {
    "card": lambda seen: seen.card and seen.card.name,
    "cards": _cards,
    "product": lambda seen: seen.card.name.rpartition("[")[2].rstrip("]") if seen.card else "",
    "kinds": _kinds,
    "devices": lambda seen: str(seen.card.number) if seen.card else "",
    "devices_each": lambda seen: str(_devices_each(seen) or ""),
    "boards": _boards,
    "chip": chip,
    "capability": _capability,
    "memory": _memory,
    "memory_each": lambda seen: size_of(seen.card.vram) if seen.card and seen.card.number > 1 else "",
    "can": _can,
    "lacks": _lacks,
    "works": _works,
    "watts": _less_power,
    "sheets": _sheets,
    "alike": _alike,
    "proof": lambda seen: textwrap.shorten(proof_of_work(seen.facts), _LONGEST_PROOF, placeholder=" …"),
    "explained": lambda seen: textwrap.shorten(explained_message(seen.facts), _LONGEST_PROOF, placeholder=" …"),
    "transcribing": _transcribing,
    "right_override": lambda seen: _override(seen, right=True),
    "other_override": lambda seen: _override(seen, right=False),
    "used_with_room": _used_with_room,
    "supply": _supply(0),
    "short_supply": _short_supply,
    "supply_of_more": _supply(1),
    "wanted_type": lambda seen: (seen.asked.said.get("wanted") or seen.asked.said.get("type", "")).lower(),
    **OF_BUILDS,
    **OF_MODELS,
    **OF_BUYING,
    **OF_CAPACITY,
    **OF_LINKS,
    **OF_SUPPLY,
    **OF_FAULTS,
    **OF_TRAINING,
}
