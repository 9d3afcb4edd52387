"""Templates over what a rule was called with. What cannot be filled in is left out."""

import re
from collections.abc import Iterable
from typing import Any

from rigup.knowledge.doctor_tables import signatures_of
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Fact
from rigup.machine.texts import is_prose, is_typed
from rigup.schemas.shared import Evidence

_HOLE = lazy_regex(r"\{(\w+)(?:\.(\w+))?\}")


def filled(template: str, params: dict[str, Any]) -> str | None:
    """The text with every hole filled, or None. Only facts' fields and plain values can be named."""
    missing = False

    def fill(hole: re.Match[str]) -> str:
        nonlocal missing
        text_of_hole = value(hole[1], hole[2], params)
        missing = missing or text_of_hole is None
        return text_of_hole or ""

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


def holes(template: str) -> set[tuple[str, str | None]]:
    """The names that a template wants."""
    return {(hole[1], hole[2]) for hole in _HOLE.finditer(template)}


def flat(params: dict[str, Any]) -> dict[str, str]:
    """Plain values by name, facts' fields as name.field: what a step's holes may be filled with."""
    texts = {name: text for name in params if (text := value(name, None, params)) is not None}
    for name, held in params.items():
        if isinstance(held, Fact):
            texts |= {
                name + "_" + field: text for field in held.fields if (text := value(name, field, params)) is not None
            }
    return texts


def answered(evidence: list[Evidence], cause: str) -> list[Evidence]:
    """Evidence without what somebody only typed, where an answer is among it: messages that decide first, what people write last."""
    answers = [line for line in evidence if not is_typed(line.value or "")]
    said = {line.fact.removeprefix("symptom ") for line in evidence}
    deciding = {"symptom " + row.id for row in signatures_of(said) if row.means == cause}
    kept = answers if any(line.value for line in answers) else evidence
    return sorted(kept, key=lambda line: (is_prose(line.value or ""), line.fact not in deciding))
