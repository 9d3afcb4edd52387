"""Answers as data, as `--json` prints them, and made of data: for tests that look at keys."""

import json
from typing import Any

import msgspec

from rigup.bench import answer as measuring
from rigup.diagnosis import answer as diagnosis
from rigup.plan import answer as planning
from rigup.schemas.bench import Bench, Figure, Watched
from rigup.schemas.doctor import Doctor
from rigup.schemas.machine import Machine
from rigup.schemas.verify import Verify
from rigup.verify import answer as proving
from rigup.verify.observe import Listed, Observed, Seen, recorded


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


def machine_of(told: dict[str, Any]) -> Machine:
    """A machine of what a test tells of it."""
    state = {"state": "expected", "because": "", "next": ""}
    cards = [{"index": place, **state, **card} for place, card in enumerate(told.get("accelerators", []))]
    return msgspec.convert({"displays": [], "drivers": [], **told, "accelerators": cards}, Machine)


def verify_of(told: dict[str, Any]) -> Verify:
    """The answer of verify of what a test tells of it."""
    lists: dict[str, Any] = {name: [] for name in ("frameworks", "companions", "devices", "not_covered")}
    where = {"prefix": "/e", "interpreter": "/e/bin/python", "python": "3.12"}
    return msgspec.convert({**lists, "mode": "quick", "environment": where, "packages": {}, "seconds": 0.0, **told}, Verify)


def verified(observed: Any, machine: dict[str, Any], *given: Any, **more: Any) -> dict[str, Any]:
    """What `rigup.verify.answer.answer` makes of what was observed, as data."""
    return as_data(proving.answer(observed, machine_of(machine), *given, **more))


def bench_of(told: dict[str, Any]) -> Bench:
    """The answer of bench of what a test tells of it."""
    where = {"prefix": "/e", "interpreter": "/e/bin/python", "python": "3.12"}
    rest: dict[str, Any] = {"mode": "quick", "packages": {}, "machine": {}, "failed": [], "drops": [], "rigup": "1"}
    rest |= {"recorded_at": "", "seconds": 1.0, "doctor": {"verdict": "healthy", "findings": []}}
    return msgspec.convert({**rest, **told, "environment": {**where, **told.get("environment", {})}}, Bench)


def figure_of(told: dict[str, Any]) -> Figure:
    """A figure of what a test tells of it."""
    return msgspec.convert(told, Figure)


def heard(devices: list[dict[str, Any]], records: dict[tuple[str, str], dict[str, Any]], name: str = "torch") -> Seen:
    """What a probe told of a framework: its devices, and what is on record of each check."""
    seen = Seen(name)
    seen.devices = msgspec.convert(devices, list[Listed])
    seen.records = {where: recorded(told) for where, told in records.items()}
    return seen


def benched(seen: Observed | Seen, machine: dict[str, Any], watched: dict[str, Any], full: bool = False) -> Bench:
    """What `rigup.bench.answer.answer` makes of what was observed on a machine."""
    observed = Observed("/e/bin/python", "3.12", "/e", {"torch": "2.13.0"}, [seen]) if isinstance(seen, Seen) else seen
    lists: dict[str, Any] = {
        name: [] for name in ("failed_verifications", "findings", "skipped", "unexplained", "near", "troubles", "unanswered")
    }
    doctor = Doctor(verdict="healthy", machine=machine_of(machine), unexplained_said=[], **lists)
    return measuring.answer(observed, doctor, msgspec.convert(watched, dict[str, Watched]), full)
