"""Templates over what a rule was called with. What cannot be filled in is left out."""

import re
from collections.abc import Iterable
from typing import Any

from rigup.knowledge.compile import PEOPLE
from rigup.knowledge.doctor_tables import CauseText, signatures_of
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Fact
from rigup.machine.texts import is_typed
from rigup.schemas.shared import Evidence

_HOLE = lazy_regex(r"\{(\??)(\w+)(?:\.(\w+))?\}")
_BARE = lazy_regex(r"[\[(]?(?:True|False|None|\d{1,4}|\w{1,20}:)[\])]?")  # what tells nothing without its question
_PARAGRAPH = 100  # characters
_STOP = lazy_regex(r"[^\W\d][.!?] [^\W\d_]")  # where a sentence follows another
_ASKED = {  # of which answers are bare words
    "Torch.available": "torch.cuda.is_available()",
    "Torch.devices": "torch.cuda.device_count()",
    "Torch.cuda": "torch.version.cuda",
    "Torch.hip": "torch.version.hip",
    "Torch.xpu_available": "torch.xpu.is_available()",
    "Torch.mps_available": "torch.backends.mps.is_available()",
}
_SAID = "symptom "  # how evidence names what was heard


def filled(template: str, params: dict[str, Any]) -> str | None:
    """The text with every hole filled, or None. Only facts' fields and plain values can be named; {?name} must be known and is not said."""
    missing = False

    def fill(hole: re.Match[str]) -> str:
        nonlocal missing
        text_of_hole = value(hole[2], hole[3], params)
        missing = missing or text_of_hole is None
        return "" if hole[1] else text_of_hole or ""

    text = _HOLE.sub(fill, template)
    return None if missing else text


def value(name: str, field: str | None, params: dict[str, Any]) -> str | None:
    """What stands for {name} or {name.field}; None for what is unknown, absent or empty."""
    held = params.get(name)
    if field:
        reading = held.fields.get(field) if isinstance(held, Fact) else None
        held = reading.value if reading else None
    if isinstance(held, list | tuple | set | frozenset):
        return ", ".join(map(str, held)) or None
    return None if held is None or isinstance(held, Fact) or held == "" else str(held)


def fullest(templates: Iterable[str], params: dict[str, Any]) -> str | None:
    """The first template that can be filled."""
    return next((text for template in templates if (text := filled(template, params)) is not None), None)


def meaning_of(text: CauseText | None, params: dict[str, Any]) -> str:
    """What a cause means with what was found."""
    return (text and fullest([*text.meaning_where, text.meaning], params)) or ""


def in_vain_of(text: CauseText | None, params: dict[str, Any]) -> str:
    """What does not help against a cause with what was found."""
    return (text and fullest([*text.in_vain_where, text.in_vain], params)) or ""


def holes(template: str) -> set[tuple[str, str | None]]:
    """The names that a template wants."""
    return {(hole[2], hole[3]) for hole in _HOLE.finditer(template)}


def flat(params: dict[str, Any]) -> dict[str, str]:
    """Plain values by name, facts' fields as name_field where nothing plain has that name: what a step's holes may be filled with."""
    texts: dict[str, str] = {}
    for name, held in params.items():
        if isinstance(held, Fact):
            texts |= {name + "_" + field: text for field in held.fields if (text := value(name, field, params)) is not None}
    return texts | {name: text for name in params if (text := value(name, None, params)) is not None}


def answered(evidence: list[Evidence], cause: str) -> list[Evidence]:
    """The evidence that decides: messages that mean the cause first, then what programs say; what somebody only typed, or a bare word, is left out where more is there."""
    rows = {row.id: row for row in signatures_of({line.fact.removeprefix(_SAID) for line in evidence})}
    peoples = {id_ for id_, row in rows.items() if row.program in PEOPLE}
    deciding = {_SAID + row.id for row in rows.values() if row.means == cause}
    telling = [line for line in evidence if _tells(line, line.fact.removeprefix(_SAID) in peoples)]
    if not any(line.value for line in telling):
        return evidence
    return sorted(telling, key=lambda line: (_rank(line, line.fact.removeprefix(_SAID) in peoples), line.fact not in deciding))


def _tells(line: Evidence, peoples: bool) -> bool:
    """Whether it is more than a typed command, a bare word or a paragraph of somebody's."""
    value = line.value or ""
    prose = len(value) > _PARAGRAPH and (peoples or (not line.fact.startswith(_SAID) and _STOP.search(value)))
    bare = _BARE.fullmatch(value.strip()) and line.fact not in _ASKED
    return not (is_typed(value) or bare or prose)


def _rank(line: Evidence, peoples: bool) -> int:
    """What programs say and show, what people say, what our tables know."""
    return 2 if line.source.startswith("knowledge/") else int(peoples)


def quoted(line: Evidence) -> str:
    """What a person is shown of it: a bare answer with its question; "" for what was looked for in vain."""
    value = line.value or ""
    asked = _ASKED.get(line.fact) if _BARE.fullmatch(value.strip()) else None
    return f"{asked}: {value}" if asked else ": ".join(value.splitlines())
