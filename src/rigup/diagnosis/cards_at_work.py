"""Which of the cards that a text names it shows computing."""

import re
from typing import Any

from rigup.diagnosis.at_work import ENDED_WELL, SHOWN_AT_WORK, words_of
from rigup.diagnosis.rule import wordings
from rigup.knowledge.doctor_tables import signatures_of
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Torch, Variable
from rigup.machine.store import Facts

Device = dict[str, Any]
_LISTED = frozenset(wordings(tag="gpu-listed"))  # reached, which is no computation
_TAKEN = frozenset(wordings(tag="gpu-taken"))  # what such a program computes it computes there, if it does
_OF_ALL = frozenset(wordings(tag="gpus-together"))
# Whose cards a line may mean that names one of these; where it names none it may mean anybody's.
_BACKENDS = {
    "nvidia": lazy_regex(r"cuda|nvidia|tensorrt", re.IGNORECASE),
    "amd": lazy_regex(r"cuda|rocm|\bhip\b|migraphx", re.IGNORECASE),  # torch's builds for ROCm call their devices cuda
    "apple": lazy_regex(r"\bmps\b|metal|\bmtl|coreml", re.IGNORECASE),
    "intel": lazy_regex(r"\bxpu\b|sycl|openvino", re.IGNORECASE),
}
_DRAWN_BY_THE_PROCESSOR = wordings(
    "ggml-vulkan-finds-no-device", "vulkan-draws-by-the-processor-alone"
)  # what Vulkan then computes no card does
_NUMBER = lazy_regex(r"\b(?:cuda|xpu):(\d{1,2})\b")


def cards_at_work(devices: list[Device], facts: Facts) -> list[Device]:
    """Those that a program's own words show at work, or on which a run came to its end."""
    shown = SHOWN_AT_WORK - _LISTED - (frozenset() if facts.heard(*ENDED_WELL) else _TAKEN)
    return _told_of(devices, facts, shown)


def cards_reached(devices: list[Device], facts: Facts) -> list[Device]:
    """Those that a program lists, or takes for its work."""
    return _told_of(devices, facts, _LISTED | _TAKEN)


def _told_of(devices: list[Device], facts: Facts, ids: frozenset[str]) -> list[Device]:
    heard = ((row, symptom) for row in signatures_of(facts.ids & ids) for symptom in facts.heard(row.id))
    told = ((row, symptom.fields["id"].where.text + " " + words_of(row, symptom)) for row, symptom in heard)
    without_vulkan = bool(facts.heard(*_DRAWN_BY_THE_PROCESSOR))
    served = ((row, line) for row, line in told if not (without_vulkan and "vulkan" in line.lower()))
    masked = any(str(variable.get("name")).endswith("VISIBLE_DEVICES") for variable in facts.of(Variable))
    of_torch = _without_the_others_of_torch(devices, facts)
    pools = ((row, line, of_torch if "torch" in row.program else devices) for row, line in served)
    return [card for row, line, pool in pools for card in _meant(line, row.id in _OF_ALL, pool, masked)]


def _without_the_others_of_torch(devices: list[Device], facts: Facts) -> list[Device]:
    """The cards without those of the maker whose build of torch is not here: both makers' builds call their devices cuda."""
    built = {maker for torch in facts.of(Torch) for maker, field in (("amd", "hip"), ("nvidia", "cuda")) if torch.get(field)}
    other = {"amd": "nvidia", "nvidia": "amd"}.get("".join(built), "")
    return [card for card in devices if card.get("vendor") != other]


def _meant(line: str, together: bool, devices: list[Device], masked: bool) -> list[Device]:
    """The cards of which a line tells; of several that it may mean, none. Behind a mask a number tells nothing."""
    pool = [card for card in devices if str(card.get("pci_address") or card.get("name") or "\n") in line] or _of_their_maker(line, devices)
    pool = [card for card in pool if not card.get("integrated")] or pool
    number = _NUMBER.search(line)
    if len(pool) > 1 and number and not masked and len({str(card.get("name")) for card in pool}) == 1:
        pool = [card for card in pool if str(card.get("index")) == number[1]]
    return pool if together or len(pool) == 1 else []


def _of_their_maker(line: str, devices: list[Device]) -> list[Device]:
    makers = [maker for maker, words in _BACKENDS.items() if words.search(line)]
    meant = [[card for card in devices if card.get("vendor") == maker] for maker in makers] if makers else [devices]
    return next(filter(None, meant), [])
