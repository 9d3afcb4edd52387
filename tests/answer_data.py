"""The doctor's and the planner's answers as data, as `--json` prints them: for tests that look at keys."""

import json
from typing import Any

import msgspec

from rigup.diagnosis import answer as diagnosis
from rigup.plan import answer as planning
from rigup.schemas.doctor import Doctor


def as_data(answer: Any) -> Any:
    """An answer, or whatever it is made of, as plain values."""
    return json.loads(msgspec.json.encode(answer, enc_hook=str))


def typed(answer: dict[str, Any]) -> Doctor:
    """The doctor's answer of its data again, for renderers."""
    return msgspec.convert(answer, Doctor)


def diagnose(*given: Any) -> dict[str, Any]:
    """What `rigup.diagnosis.answer.diagnose` says, as data."""
    return as_data(diagnosis.diagnose(*given))


def diagnosed(*given: Any) -> dict[str, Any]:
    """What `rigup.diagnosis.answer.diagnosed` says, as data."""
    return as_data(diagnosis.diagnosed(*given))


def answer(diagnosis_of: Any) -> dict[str, Any]:
    """What `rigup.diagnosis.answer.answer` makes of a diagnosis, as data."""
    return as_data(diagnosis.answer(diagnosis_of))


def plan_of(choice: Any, link: int = 0) -> dict[str, Any]:
    """What `rigup.plan.answer.answer` makes of a choice, as data."""
    return as_data(planning.answer(choice, link))
