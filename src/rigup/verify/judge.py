"""What was measured, judged: pure, from records to checks. Errors are in units of the wanted values' size."""

import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from rigup.language import _
from rigup.verify.words import died, elsewhere_said, fallback_said, inexact, slow, wrong_said

Record = dict[str, Any]
Check = dict[str, Any]
# How far a result may be off: some hundred roundings of the type, an order of magnitude beyond what good devices do.
_TYPES = {"float64": 1e-12, "float32": 2e-5, "tf32": 8e-3, "float16": 1.5e-2, "bfloat16": 5e-2, "float8": 5e-2}
_SINGLE = 2e-4  # operators in float32, whose terms are added up in many orders
_STEP = 2e-3  # a whole step of training
_ACCURACY = 0.9  # that the small network must reach; chance has 0.1
_KEPT = 0.25  # of what was made may still be held, by allocators that keep some for reuse
_ROOM = 32 << 20  # bytes that a process may grow by for other reasons
_TAKEN = 0.9  # of what was asked for must show in the device's counters
_SLOWEST = 0.05  # times the CPU's rate
_FALLBACK = re.compile(
    r"operator '?(?P<name>[\w:.]{1,80})'? [^\n]{0,80}?fall[\w ]{0,10} back to run on the CPU|"
    r"(?P<whole>[^\n]{0,80}\bfall(?:ing|s)? back to (?:the )?CPU[^\n]{0,80})",
    re.IGNORECASE,
)
_STATISTICS = {"mean": (0.0, 0.02), "deviation": (1.0, 0.02), "least": (0.0, 1e-3), "most": (1.0, 1e-3),
               "middle": (0.5, 0.006), "kept": (1.0, 0.02)}  # fmt: skip


class Judged(NamedTuple):
    """A judgement: None where it cannot be told."""

    passed: bool | None
    measured: Any = None
    expected: Any = None
    because: str = ""


def judge(name: str, record: Record) -> Check:
    """One check of the contract, from what the probe recorded of it."""
    told = _judged(name, record)
    made = {"name": name, "passed": told.passed, "measured": told.measured, "expected": told.expected,
            "seconds": round(float(record.get("seconds", 0.0)), 3), "because": told.because}  # fmt: skip
    return {key: value for key, value in made.items() if value is not None and (key != "because" or value)}


def _judged(name: str, record: Record) -> Judged:
    if "died" in record:
        return Judged(False, {"ended_by": record["died"], "number": record["number"]}, None, died(record))
    if "skipped" in record:
        return Judged(None, None, None, str(record["skipped"]))
    try:
        return _told(name, record)
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError):  # a framework wrote between our lines
        return Judged(False, {"answer": repr(record)[:500]}, None, _("The probe's answer cannot be read."))


def _told(name: str, record: Record) -> Judged:
    """As the probe told it, whatever it told."""
    if "error" in record:
        return Judged(False, record["error"], None, _first_line(record["error"]))
    measured = record["measured"]
    if measured.get("elsewhere"):
        return Judged(False, {"elsewhere": measured["elsewhere"]}, {"elsewhere": []}, elsewhere_said(measured))
    return _of_kind(name)(name, measured)


def _of_kind(name: str) -> Callable[[str, Record], Judged]:
    kinds = {"random": _random, "memory": _memory, "evidence": _evidence, "training": _training}
    return kinds.get(name, _exact_and_near)


def _first_line(error: Record) -> str:
    text = str(error.get("text", "")).strip().splitlines()
    return str(error.get("type")) + (": " + text[0] if text else "")


def _exact_and_near(name: str, measured: Record) -> Judged:
    """What has one right answer, and what may be off by so much."""
    wrong = measured.get("wrong")
    if wrong:
        return Judged(False, {"wrong": wrong}, {"wrong": []}, wrong_said(wrong))
    errors = {**measured.get("errors", {}), **_samples(measured), **_halves(measured)}
    allowed = {part: _allowed(name, part) for part in errors}
    bad = {part: error for part, error in errors.items() if not _number(error) <= allowed[part]}
    if bad:
        worst = max(bad, key=lambda part: _number(bad[part]))
        told = inexact(worst, _number(bad[worst]), allowed[worst], name)
        return Judged(False, {"error": bad[worst], "of": worst}, {"error": allowed[worst]}, told)
    if not errors:
        return Judged(True, {key: measured[key] for key in ("compiler", "direct") if key in measured} or None)
    worst = max(errors, key=lambda part: _number(errors[part]) / allowed[part])
    return Judged(True, {"error": errors[worst], "of": worst}, {"error": allowed[worst]})


def _samples(measured: Record) -> Record:
    return {"samples": measured["samples"]} if "samples" in measured else {}


def _halves(measured: Record) -> Record:
    return {"half " + name: error for name, error in measured.get("half", {}).items()}


def _allowed(name: str, part: str) -> float:
    if name.startswith("matmul-"):
        return _TYPES.get(name.partition("-")[2], _SINGLE)
    if part.startswith("half "):
        return 2 * _TYPES.get(part.partition(" ")[2], _SINGLE)
    return _STEP if name == "training-step" else _SINGLE


def _number(value: Any) -> float:
    """A number; what is none counts as infinitely wrong."""
    plain = value if isinstance(value, int | float) else math.inf
    return math.inf if math.isnan(plain) else float(plain)


def _random(_name: str, measured: Record) -> Judged:
    """Distributed as they should be, the same from one seed, others from another."""
    told = measured.get("statistics", {})
    off = [name for name, (right, room) in _STATISTICS.items() if not abs(_number(told.get(name)) - right) <= room]
    off += [] if measured.get("repeats") else ["repeats"]
    off += [] if measured.get("differs") else ["differs"]
    expected = {name: right for name, (right, _room) in _STATISTICS.items()}
    return Judged(not off, told, expected, wrong_said(off) if off else "")


def _memory(_name: str, measured: Record) -> Judged:
    """What was written is read, and what was taken is given back, once and many times."""
    if measured.get("wrong"):
        return Judged(False, {"wrong": measured["wrong"]}, {"wrong": []}, wrong_said(measured["wrong"]))
    asked, leak = measured.get("asked", 0), measured.get("leak", {})
    kept = _growth(measured.get("before", {}), measured.get("after", {}))
    grown = max((_number(one) for name, one in leak.get("grown", {}).items() if name != "used"), default=0.0)
    shown = {"taken": asked, "kept": kept, "made": leak.get("made"), "grown": grown}
    expected = {"kept": 0, "grown": 0}
    if grown > max(leak.get("made", 0) * _KEPT, _ROOM / 2):
        said = _("Memory leaks: {size} MiB of the {made} MiB that were computed and dropped are still held.")
        return Judged(False, shown, expected, said.format(size=_mib(grown), made=_mib(leak["made"])))
    if kept > max(asked * _KEPT, _ROOM):
        said = _("Memory is not given back: {size} MiB of {asked} MiB are still held after they were freed.")
        return Judged(False, shown, expected, said.format(size=_mib(kept), asked=_mib(asked)))
    return Judged(True, shown, expected)


def _growth(before: Record, after: Record) -> float:
    """The most by which a counter of this process grew; what the whole card counts is others' as well."""
    return max((after.get(name, 0) - value for name, value in before.items() if name != "used"), default=0)


def _mib(size: float) -> int:
    return round(size / 2**20)


def _evidence(_name: str, measured: Record) -> Judged:
    """The device's counters moved, its clock ran, and it was not absurdly slow."""
    taken, asked = measured.get("taken", {}), measured.get("asked", 0)
    ratio = _number(measured.get("rate", 0)) / max(_number(measured.get("cpu_rate", 1)), 1e-9)
    events = measured.get("events") or {}
    shown = {"taken": taken, "asked": asked, "times_the_cpu": round(ratio, 2), "rate": measured.get("rate"), **events}
    expected = {"taken": asked, "times_the_cpu": _SLOWEST}
    if taken and max(map(_number, taken.values())) < asked * _TAKEN:
        said = _("The device's memory did not grow by what was put there: the work was done elsewhere.")
        return Judged(False, shown, expected, said)
    if "device" in events and not _number(events["device"]) > 0:
        return Judged(False, shown, expected, _("The device's own clock did not move while it was to compute."))
    if ratio < _SLOWEST:
        return Judged(False, shown, expected, slow(ratio))
    if not taken and ratio < 1:
        told = _("It tells no counters and was no faster than the CPU: whether it did the work cannot be told.")
        return Judged(None, shown, expected, told)
    return Judged(True, shown, expected)


def _training(_name: str, measured: Record) -> Judged:
    reached = measured.get("accuracy", 0.0)
    if isinstance(reached, int | float) and _ACCURACY <= reached <= 1:
        return Judged(True, measured, {"accuracy": _ACCURACY})
    said = _("The network learnt to tell {reached} of the test pictures; {wanted} is expected.")
    told = said.format(reached=f"{100 * min(_number(reached), 1):.0f} %", wanted=f"{100 * _ACCURACY:.0f} %")
    return Judged(False, measured, {"accuracy": _ACCURACY}, told)


def fallbacks(records: dict[str, Record]) -> Check | None:
    """The check that no operator ran on the CPU in silence, from the warnings of all; None where there were none."""
    found = sorted({said for record in records.values() for said in _fell_back(record)})
    if not found:
        return None
    return {"name": "no-fallback", "passed": False, "measured": {"operators": found}, "expected": {"operators": []},
            "seconds": 0.0, "because": fallback_said(found)}  # fmt: skip


def _fell_back(record: Record) -> Iterator[str]:
    for warning in record.get("warnings", []):
        for hit in _FALLBACK.finditer(str(warning)):
            yield (hit["name"] or hit["whole"]).strip()
