"""What a text shows, and the tables know of it, that the answer to a question can name: the holes of its sentences."""

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.abilities import Ability, abilities_named, has_ability
from rigup.knowledge.compile import PEOPLE
from rigup.knowledge.cuda import version_key
from rigup.knowledge.doctor_tables import signatures_of
from rigup.knowledge.gpu_words import gpu_in_words
from rigup.knowledge.others_cards import without_others
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.questions import Asked, spaced
from rigup.knowledge.torch_builds import TorchBuild, index_url, newest_build
from rigup.language import _
from rigup.machine.kinds import Driver, Gpu, Platform, Symptom, TensorFlow, Torch
from rigup.machine.store import Facts
from rigup.sizes import gibibytes

_CARD = lazy_regex(
    r"(?<![A-Za-z0-9.])(?:(?:nvidia|geforce|rtx|gtx|tesla|quadro|amd|radeon|rx|instinct|intel|arc|apple|titan|pro)[ -]?){0,3}"
    r"(?:[a-z]{1,2})?\d{1,4}[a-z]?(?: ?(?:ti|super|xtx|xt|gre|pro|max|ultra|ada))?(?: super)?(?![A-Za-z0-9.])",
    re.IGNORECASE,
)
_PARAMETERS = lazy_regex(r"(?<![A-Za-z0-9.])(\d{1,4}(?:[.,]\d{1,2})?) ?[bBБ](?![A-Za-z])")
_GIGABYTES = lazy_regex(r"(?<![A-Za-z0-9.])(\d{1,3}) ?(?:GB|GiB|G|ГБ|Гб)(?![A-Za-z])")
_ROOM = 0.1  # share of a card's memory that has to be left beside the weights, for the context and the buffers
_MOST_NAMES = 12  # of one question, that are looked up
_GIB = 1 << 30
_CUDNN_LONG, _CUDNN_UNIT = 90_000, 10_000  # from this number on a major release counts so much, before it a tenth


class Card(NamedTuple):
    """The cards that a question is about, all of one model; `number` of them, `vram` bytes each or 0."""

    name: str
    vendor: str
    isa: str
    vram: int
    number: int = 1


class Look(NamedTuple):
    """A question, what was seen in its text, and the cards that it is about."""

    asked: Asked
    facts: Facts
    card: Card | None


class _Precision(msgspec.Struct, frozen=True):
    """How people name a type of weights, and its row in the table of types; `usual`: "coarse" or "fine" where it is told of unasked."""

    said: str
    type: str
    usual: str = ""


class _Mixture(msgspec.Struct, frozen=True):
    name: str
    bits: float = 0.0


class Training(msgspec.Struct, frozen=True):
    """A way to train, and the bytes that it takes for each parameter beside activations."""

    id: str
    bytes: float


def look(asked: Asked, facts: Facts) -> Look:
    """What is known where a question is asked."""
    near = without_others(asked.near, "another", "aside")
    return Look(asked, facts, _named_card(near, facts) or _only_card(facts))


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


def system(seen: Look) -> str:
    """The system that the text is of: linux, wsl, windows or macos; "" where nobody tells."""
    for platform in seen.facts.of(Platform):
        if platform.get("wsl"):
            return "wsl"
        if platform.get("system"):
            return str(platform.get("system"))
    return "macos" if any(torch.get("mps_available") for torch in seen.facts.of(Torch)) else ""


def values(names: Iterable[str], seen: Look) -> dict[str, str]:
    """What fills these holes; those that nobody knows are left out."""
    known = {name: KNOWN[name](seen) for name in names if name in KNOWN}
    return {**{name: value for name, value in known.items() if value}, **seen.asked.said}


def _named_card(near: str, facts: Facts) -> Card | None:
    """The one card that the question itself names, as far as the tables know it."""
    found: dict[str, Card] = {}
    for match in list(_CARD.finditer(spaced(near)))[:_MOST_NAMES]:
        known = gpu_in_words(match[0])
        gpu = known[0] if known else None
        if gpu and (gpu.isa or gpu.source) and not match[0].isdigit() | (len(match[0]) < 2):
            found[gpu.isa or gpu.name] = Card(gpu.name, gpu.vendor, gpu.isa or "", gpu.memory_bytes or 0)
        elif gpu and gpu.isa and len(match[0]) == 4:  # people leave the maker's word out
            found[gpu.isa] = Card(gpu.name, gpu.vendor, gpu.isa, gpu.memory_bytes or 0)
    if len(found) != 1:
        return None
    card = next(iter(found.values()))
    own = _only_card(facts)
    return own if own and own.vendor == card.vendor and own.isa == card.isa else card


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
    told = [
        symptom.get("mib") for name in ("amdgpu-vram-ready", "amdgpu-gtt-ready") for symptom in facts.heard(name)[-1:]
    ]
    return sum(int(mib) for mib in told) << 20 if len(told) > 1 else 0


def _nominal(name: str) -> int:
    known = gpu_in_words(name)
    return (known[0].memory_bytes or 0) if known else 0


def _cards(seen: Look) -> str:
    """All of them: "2 × NAME"."""
    if not seen.card:
        return ""
    return seen.card.name if seen.card.number == 1 else f"{seen.card.number} × {seen.card.name}"


def _shown_memory(seen: Look) -> int:
    """Bytes of memory that a model has: those of all cards, or those that the question names."""
    if seen.card and seen.card.vram:
        return seen.card.vram * seen.card.number
    found = _GIGABYTES.search(spaced(seen.asked.near))
    return int(found[1]) * _GIB if found else 0


def _memory(seen: Look) -> str:
    found = _shown_memory(seen)
    return gibibytes(found) if found else ""


def _chip(seen: Look) -> str:
    return seen.card.isa if seen.card else ""


def _capability(seen: Look) -> str:
    """As CUDA writes it: sm_86 is 8.6."""
    digits = _chip(seen).removeprefix("sm_")
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


def _driver(seen: Look) -> dict[str, str]:
    drivers = [driver for driver in seen.facts.of(Driver) if driver.get("version")]
    if len(drivers) != 1:
        return {}
    return {"version": str(drivers[0].get("version")), "cuda": str(drivers[0].get("cuda") or "")}


def _torch(seen: Look, field: str) -> str:
    """A field of the text's only torch."""
    found = {str(torch.get(field)) for torch in seen.facts.of(Torch) if torch.get(field)}
    return found.pop() if len(found) == 1 else ""


def _works(seen: Look) -> str:
    """The torch that reaches a GPU."""
    reached = [torch for torch in seen.facts.of(Torch) if torch.get("available") or torch.get("xpu_available") or torch.get("mps_available")]  # fmt: skip
    return f"torch {reached[0].get('version') or ''}".strip() if len(reached) == 1 else ""


def _build(seen: Look) -> TorchBuild | None:
    """The newest torch for the card, and for the driver where one is shown."""
    card, where = seen.card, system(seen)
    if not card or not card.isa or where == "macos":
        return None
    driver = _driver(seen).get("version") if card.vendor == "nvidia" else None
    return newest_build(card.isa, driver=driver or None, system="windows" if where == "windows" else "linux")


def _torch_for_card(seen: Look) -> str:
    build = _build(seen)
    return f"{build.torch}+{build.variant}" if build else ""


def _pip_torch(seen: Look) -> str:
    build = _build(seen)
    if not build:
        return ""
    index = "" if build.pypi else f" --index-url {index_url(build.variant)}"
    return "pip install torch torchvision" + index


def _pythons(seen: Look) -> list[str]:
    """Versions of Python for which the newest torch for the card has wheels."""
    build = _build(seen)
    return [version for version in build.python if version[-1].isdigit()] if build else []


def _less_power(seen: Look) -> str:
    """Watts: four fifths of what the card is allowed now."""
    limit = seen.asked.said.get("limit", "")
    return str(int(limit) * 4 // 50 * 10) if limit.isdecimal() else ""


def _parameters(seen: Look) -> float:
    """Of the model that is asked about, in thousand millions; 0 where none is named."""
    found = _PARAMETERS.search(spaced(seen.asked.near))
    return float(found[1].replace(",", ".")) if found else 0.0


def _type(seen: Look) -> str:
    rows = tables.rows("questions", "precision", _Precision)
    near = spaced(seen.asked.near)
    return next((row.type for row in rows if re.search(row.said, near, re.IGNORECASE)), "")


def _weights(seen: Look, of: str) -> int:
    """Bytes of the model's weights in a type; 0 where model or type is not named."""
    bits = next((row.bits for row in tables.rows("gguf_types", "file_type", _Mixture) if row.name == of), 0.0)
    return int(_parameters(seen) * 1e9 * bits / 8)


def _size(count: float) -> str:
    return gibibytes(int(count)) if count else ""


def _left(seen: Look, low: float, high: float) -> int:
    """Bytes of memory that the weights leave, where that is so much of all memory; 0 where it is not."""
    weights, have = _weights(seen, _type(seen) or _usual("coarse")), _shown_memory(seen)
    left = have - weights
    return left if weights and have and low * have <= left < high * have else 0


def _usual(which: str) -> str:
    """The type that is told of where none is named: the coarse one, or the fine one."""
    return next(row.type for row in tables.rows("questions", "precision", _Precision) if row.usual == which)


def _trained(way: str) -> Callable[[Look], str]:
    def bytes_of(seen: Look) -> str:
        rows = tables.rows("questions", "training", Training)
        return _size(next(row.bytes for row in rows if row.id == way) * _parameters(seen) * 1e9)

    return bytes_of


def _older_cuda(seen: Look) -> str:
    """The CUDA of torch, where the driver's is newer."""
    own, drivers = _torch(seen, "cuda"), _driver(seen).get("cuda", "")
    return own if own and drivers and version_key(drivers) >= version_key(own) else ""


def _cudnn(seen: Look) -> str:
    """cuDNN's release, which torch tells as one number: 90100 is 9.1.0, 8902 is 8.9.2."""
    number = int(seen.asked.said.get("cudnn_number", "0"))
    unit = _CUDNN_UNIT if number >= _CUDNN_LONG else _CUDNN_UNIT // 10
    return f"{number // unit}.{number % unit // 100}.{number % 100}" if number else ""


def _kinds(seen: Look) -> str:
    """Several models of cards."""
    names = {str(gpu.get("name")) for gpu in seen.facts.of(Gpu) if gpu.get("name") and not gpu.get("integrated")}
    return ", ".join(sorted(names)) if len(names) > 1 else ""


KNOWN: dict[str, Callable[[Look], Any]] = {
    "card": lambda seen: seen.card and seen.card.name,
    "cards": _cards,
    "kinds": _kinds,
    "chip": _chip,
    "capability": _capability,
    "memory": _memory,
    "memory_each": lambda seen: _size(seen.card.vram) if seen.card and seen.card.number > 1 else "",
    "can": _can,
    "lacks": _lacks,
    "driver": lambda seen: _driver(seen).get("version"),
    "driver_cuda": lambda seen: _driver(seen).get("cuda"),
    "torch": lambda seen: _torch(seen, "version"),
    "torch_cuda": lambda seen: _torch(seen, "cuda"),
    "older_cuda": _older_cuda,
    "works": _works,
    "torch_for_card": _torch_for_card,
    "pip_torch": _pip_torch,
    "parameters": lambda seen: f"{_parameters(seen):g}" if _parameters(seen) else "",
    "type": _type,
    "weights": lambda seen: _size(_weights(seen, _type(seen))),
    "weights_coarse": lambda seen: "" if _type(seen) else _size(_weights(seen, _usual("coarse"))),
    "weights_fine": lambda seen: "" if _type(seen) else _size(_weights(seen, _usual("fine"))),
    "coarse": lambda _seen: _usual("coarse"),
    "fine": lambda _seen: _usual("fine"),
    "pythons": lambda seen: ", ".join(_pythons(seen)),
    "python": lambda seen: known[len(known) // 2] if (known := _pythons(seen)) else "",
    "watts": _less_power,
    "cudnn": _cudnn,
    "left": lambda seen: _size(_left(seen, _ROOM, 1)),
    "hardly_left": lambda seen: _size(_left(seen, 0, _ROOM)),
    "short_of": lambda seen: _size(-_left(seen, -1e9, 0)),
    "trained_full": _trained("full"),
    "trained_lora": _trained("lora"),
    "trained_qlora": _trained("qlora"),
}
