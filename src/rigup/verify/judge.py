"""Judge measurements: pure functions from records to checks. Errors are relative to the size of the expected values."""

import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from msgspec import UNSET

from rigup.language import _
from rigup.schemas.verify import Check
from rigup.verify.observe import Record
from rigup.verify.words import (
    copies_sentence,
    died,
    elsewhere_sentence,
    fallback_sentence,
    inexact,
    operators_sentence,
    slow,
    wrong_sentence,
)

Measured = dict[str, Any]
# How far a result may be off: some hundred roundings of the type, an order of magnitude beyond what good devices do.
_TYPES = {"float64": 1e-12, "float32": 2e-5, "tf32": 8e-3, "float16": 1.5e-2, "bfloat16": 5e-2, "float8": 5e-2}
_SINGLE = 2e-4  # operators in float32, whose terms are added up in many orders
_OPERATORS = {
    "float64": 1e-10,
    "complex128": 1e-10,
    "float32": 1e-4,
    "complex64": 1e-4,
    "float16": 1e-2,
    "bfloat16": 5e-2,
    "float8": 0.1,
}  # of operators whose part ends with the type; functions are no single rounding
_STEP = 2e-3  # a whole step of training
# What one operator of a table may be off by, in units of the wanted values' size; a row of a table may give it more room.
_OPERATOR = {"float64": 1e-12, "complex128": 1e-12, "float32": 1e-5, "complex64": 1e-5, "float16": 2.5e-3, "bfloat16": 2e-2}
_SHORT = 2 / 3  # the power of that room in a type whose own rounding outweighs the sums
_ACCURACY = 0.9  # that the small network must reach; chance has 0.1
_KEPT = 0.25  # of what was made may still be held, by allocators that keep some for reuse
_ROOM = 32 << 20  # bytes that a process may grow by for other reasons
_TAKEN = 0.9  # of what was asked for must show in the device's counters
_SLOWEST = 0.05  # times the CPU's rate
_SIGNS = ("same_bits", "cpu_time", "host_memory")
_BUSY, _IDLE = 0.7, 0.5  # of the processor's time that the same would have taken there
_TAKEN_BY_HOST = 0.8  # of what was put on the device
_FALLBACK = re.compile(
    r"operator '?(?P<name>[\w:.]{1,80})'? [^\n]{0,80}?fall[\w ]{0,10} back to run on the CPU|"
    r"(?P<whole>[^\n]{0,80}\bfall(?:ing|s)? back to (?:the )?CPU[^\n]{0,80})",
    re.IGNORECASE,
)
_STATISTICS = {
    "mean": (0.0, 0.02),
    "deviation": (1.0, 0.02),
    "least": (0.0, 1e-3),
    "most": (1.0, 1e-3),
    "middle": (0.5, 0.006),
    "kept": (1.0, 0.02),
}


class Judged(NamedTuple):
    """A verdict; `passed` is None where there is none."""

    passed: bool | None
    measured: Any = None
    expected: Any = None
    because: str = ""


def judge(name: str, record: Record) -> Check:
    """The check for one record of the probe."""
    judged = _judged(name, record)
    return Check(
        name=name,
        passed=UNSET if judged.passed is None else judged.passed,
        seconds=round(record.seconds, 3),
        measured=UNSET if judged.measured is None else judged.measured,
        expected=UNSET if judged.expected is None else judged.expected,
        because=judged.because or UNSET,
    )


def _judged(name: str, record: Record) -> Judged:
    if record.died:
        return Judged(False, {"ended_by": record.died, "number": record.number}, None, died(record.died, record.number))
    if isinstance(record.measured, dict) and record.measured.get("over"):
        return Judged(None, None, None, _("Its time was over before all was tried."))
    if record.skipped is not None:
        return Judged(None, None, None, record.skipped)
    try:
        return _by_error_or_kind(name, record)
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError):  # a framework wrote between our lines
        return Judged(False, {"answer": repr(record.measured)[:500]}, None, _("The probe's answer cannot be read."))


def _by_error_or_kind(name: str, record: Record) -> Judged:
    """The verdict by the recorded error, by results on another device, or by the kind of check."""
    if record.error is not None:
        return Judged(False, record.error, None, _first_line(record.error))
    measured = record.measured
    if measured.get("elsewhere"):
        return Judged(False, {"elsewhere": measured["elsewhere"]}, {"elsewhere": []}, elsewhere_sentence(measured))
    return _of_kind(name)(name, measured)


def _of_kind(name: str) -> Callable[[str, Measured], Judged]:
    kinds = {"random": _random, "memory": _memory, "evidence": _evidence, "training": _training}
    return kinds.get(name, _exact_and_near)


def _first_line(error: dict[str, Any]) -> str:
    text = str(error.get("text", "")).strip().splitlines()
    return str(error.get("type")) + (": " + text[0] if text else "")


def _operators(measured: Measured) -> Judged:
    """Judge each operator of a table by type and direction; the largest deviations come first."""
    operators = [_Operator(*case) for case in measured["cases"]]
    bad = _each_first(sorted((row for row in operators if not row.share <= 1), key=lambda row: -row.share))
    raised = [" ".join(map(str, row[:3])) + ": " + str(row[3]) for row in measured.get("raised", [])]
    more = {key: measured[key] for key in ("without", "left") if measured.get(key)}
    if bad or raised:
        failed = [*dict.fromkeys([*(row.name for row in bad), *raised])]
        shown = {"failed": failed, "operators": len(operators), **more}
        if bad:
            shown |= {"error": bad[0].error, "of": bad[0].name}
        if raised:
            shown["type"] = str(measured["raised"][0][3]).partition(":")[0]
        expected = {"error": bad[0].allowed if bad else 0.0, "failed": []}
        return Judged(False, shown, expected, operators_sentence([(row.name, row.error, row.allowed) for row in bad], raised))
    worst = max(operators, key=lambda row: row.share, default=None)
    if worst is None:
        return Judged(None, more or None, None, _("Nothing of it can be computed on this device."))
    return Judged(True, {"error": worst.error, "of": worst.name, "operators": len(operators), **more}, {"error": worst.allowed})


def _each_first(bad: "list[_Operator]") -> "list[_Operator]":
    """Order failures: the worst of each operator first, so that one operator's many failures do not hide another's."""
    firsts = {row.name.partition(" ")[0]: row for row in reversed(bad)}
    return sorted(bad, key=lambda row: firsts[row.name.partition(" ")[0]] is not row)


class _Operator:
    """One operator in one type and one direction.

    Attributes:
        name: with type, direction, and where the error is the largest.
        error: in units of the wanted values' size.
        allowed: what rounding explains.

    """

    def __init__(self, name: str, dtype: str, way: str, error: Any, where: str, factor: float) -> None:
        self.name = f"{name} {way} in {dtype}" + (f" ({where})" if where else "")
        self.error, self.allowed = (
            _number(error),
            _OPERATOR.get(dtype, 0.0) * (factor**_SHORT if dtype in ("float16", "bfloat16") else factor),
        )

    @property
    def share(self) -> float:
        """The error relative to the allowed one; infinite for a wrong exact result."""
        return self.error / self.allowed if self.allowed else math.inf if self.error else 0.0


def _exact_and_near(name: str, measured: Measured) -> Judged:
    """Judge exact results and results with a tolerance."""
    wrong = [str(part) for part in measured.get("wrong") or []]
    if wrong and measured.get("copies"):
        return Judged(False, {"wrong": wrong}, {"wrong": []}, copies_sentence(wrong))
    if "cases" in measured and not wrong:
        return _operators(measured)
    errors = {**measured.get("errors", {}), **_samples(measured), **_halves(measured)}
    allowed = {part: _allowed(name, part) for part in errors}
    bad = {part: error for part, error in errors.items() if not _number(error) <= allowed[part]}
    if bad:
        return _inexact(name, bad, allowed, wrong)
    if wrong:
        return Judged(False, {"wrong": wrong}, {"wrong": []}, wrong_sentence(_each_kind_first(wrong)))
    if not errors:
        return Judged(True, {key: measured[key] for key in ("compiler", "direct") if key in measured} or None)
    worst = max(errors, key=lambda part: _number(errors[part]) / allowed[part])
    return Judged(True, {"error": errors[worst], "of": worst}, {"error": allowed[worst]})


def _inexact(name: str, bad: Measured, allowed: dict[str, float], wrong: list[str]) -> Judged:
    """The largest deviation with its size, and the names of all other failures."""
    worst = max(bad, key=lambda part: _number(bad[part]))
    sentence = inexact(worst, _number(bad[worst]), allowed[worst], name)
    others = _each_kind_first([*wrong, *(part for part in bad if part != worst)])
    if not others:
        return Judged(False, {"error": bad[worst], "of": worst}, {"error": allowed[worst]}, sentence)
    shown = {"error": bad[worst], "of": worst, "failed": [worst, *others]}
    because = _("{first} {second}").format(first=sentence, second=wrong_sentence(others))
    return Judged(False, shown, {"error": allowed[worst], "failed": []}, because)


def _each_kind_first(names: list[str]) -> list[str]:
    """Order names: one of each operator first, so that an operator that fails in every type does not hide another."""
    firsts = {part.partition(" ")[0]: part for part in reversed(names)}
    return sorted(names, key=lambda part: firsts[part.partition(" ")[0]] is not part)


def _samples(measured: Measured) -> Measured:
    return {"samples": measured["samples"]} if "samples" in measured else {}


def _halves(measured: Measured) -> Measured:
    return {"half " + name: error for name, error in measured.get("half", {}).items()}


def _allowed(name: str, part: str) -> float:
    dtype = part.rpartition(" ")[2]
    if dtype in _OPERATORS:
        return {**_OPERATORS, **_TYPES}[dtype] if name.startswith("matmul-") else _OPERATORS[dtype]
    if name.startswith("matmul-"):
        return _TYPES.get(name.partition("-")[2], _SINGLE)
    if part.startswith("half "):
        return 2 * _TYPES.get(part.partition(" ")[2], _SINGLE)
    return _STEP if name == "training-step" else _SINGLE


def _number(value: Any) -> float:
    """The value as a float; infinity for what is no finite number."""
    plain = value if isinstance(value, int | float) else math.inf
    return math.inf if math.isnan(plain) else float(plain)


def _random(_name: str, measured: Measured) -> Judged:
    """Judge random numbers: their distribution, equal for one seed, different for another."""
    statistics = measured.get("statistics", {})
    off = [name for name, (right, room) in _STATISTICS.items() if not abs(_number(statistics.get(name)) - right) <= room]
    off += [str(part) for part in measured.get("wrong", [])]
    off += [] if measured.get("repeats") else ["repeats"]
    off += [] if measured.get("differs") else ["differs"]
    expected = {name: right for name, (right, _room) in _STATISTICS.items()}
    return Judged(not off, statistics, expected, wrong_sentence(off) if off else "")


def _memory(_name: str, measured: Measured) -> Judged:
    """Judge memory: contents are read back as written, and freed memory is returned, once and repeatedly."""
    if measured.get("wrong"):
        return Judged(False, {"wrong": measured["wrong"]}, {"wrong": []}, wrong_sentence(measured["wrong"]))
    asked, leak = measured.get("asked", 0), measured.get("leak", {})
    kept = _growth(measured.get("before", {}), measured.get("after", {}))
    grown = max((_number(size) for name, size in leak.get("grown", {}).items() if name != "used"), default=0.0)
    shown = {"taken": asked, "kept": kept, "made": leak.get("made"), "grown": grown}
    expected = {"kept": 0, "grown": 0}
    if grown > max(leak.get("made", 0) * _KEPT, _ROOM / 2):
        template = _("Memory leaks: {size} MiB of the {made} MiB that were computed and dropped are still held.")
        return Judged(False, shown, expected, template.format(size=_mib(grown), made=_mib(leak["made"])))
    if kept > max(asked * _KEPT, _ROOM):
        template = _("Memory is not given back: {size} MiB of {asked} MiB are still held after they were freed.")
        return Judged(False, shown, expected, template.format(size=_mib(kept), asked=_mib(asked)))
    return Judged(True, shown, expected)


def _growth(before: Measured, after: Measured) -> float:
    """The largest growth of this process's own counters; the card's total also counts other processes."""
    return max((after.get(name, 0) - value for name, value in before.items() if name != "used"), default=0)


def _mib(size: float) -> int:
    return round(size / 2**20)


def _evidence(_name: str, measured: Measured) -> Judged:
    """Judge whether the device itself did the work, by its memory counters, its clock and its rate."""
    taken, asked = measured.get("taken", {}), measured.get("asked", 0)
    ratio = _number(measured.get("rate", 0)) / max(_number(measured.get("cpu_rate", 1)), 1e-9)
    events = measured.get("events") or {}
    shown = {"taken": taken, "asked": asked, "times_the_cpu": round(ratio, 2), "rate": measured.get("rate"), **events}
    expected = {"taken": asked, "times_the_cpu": _SLOWEST}
    if taken and max(map(_number, taken.values())) < asked * _TAKEN:
        because = _("The device's memory did not grow by what was put there: the work was done elsewhere.")
        return Judged(False, shown, expected, because)
    if "device" in events and not _number(events["device"]) > 0:
        return Judged(False, shown, expected, _("The device's own clock did not move while it was to compute."))
    if ratio < _SLOWEST:
        return Judged(False, shown, expected, slow(ratio))
    against = _against(measured)
    shown["against"] = against
    if len(against) == len(_SIGNS):
        because = _(
            "The processor did the work under this device's name: the results are its own to the last bit, its time and its memory were taken for them."
        )
        return Judged(False, shown, expected, because)
    if len(against) > 1 or not _supported(measured, ratio, against):
        return Judged(None, shown, expected, _("Nothing shows that this device did the work: whether it did cannot be told."))
    return Judged(True, shown, expected)


def _against(measured: Measured) -> list[str]:
    """Signs that the CPU did the work instead of the device; a value that was not measured is no sign."""
    grown, share = measured.get("host_grown"), measured.get("cpu_share")
    found = {
        "same_bits": measured.get("same_bits") is True,
        "cpu_time": isinstance(share, int | float) and share >= _BUSY,
        "host_memory": isinstance(grown, int | float) and grown >= measured.get("asked", 0) * _TAKEN_BY_HOST,
    }
    return [name for name in _SIGNS if found[name]]


def _supported(measured: Measured, ratio: float, against: list[str]) -> bool:
    """Whether something shows that the device did the work: too little CPU time, or memory other than the host's grew.

    Counters that a further backend keeps itself are believed where the processor's memory was measured and did not grow.
    """
    share = measured.get("cpu_share")
    # of a framework whose use of the processor was not measured, how fast it was has to do
    idle = share < _IDLE if isinstance(share, int | float) else ratio > 1
    trusted = measured.get("by_the_build", True) or (isinstance(measured.get("host_grown"), int | float) and "host_memory" not in against)
    return idle or bool(measured.get("taken") and trusted)


def _training(_name: str, measured: Measured) -> Judged:
    reached = measured.get("accuracy", 0.0)
    if isinstance(reached, int | float) and _ACCURACY <= reached <= 1:
        return Judged(True, measured, {"accuracy": _ACCURACY})
    template = _("The network learnt to tell {reached} of the test pictures; {wanted} is expected.")
    because = template.format(reached=f"{100 * min(_number(reached), 1):.0f} %", wanted=f"{100 * _ACCURACY:.0f} %")
    return Judged(False, measured, {"accuracy": _ACCURACY}, because)


def fallbacks(records: dict[str, Record]) -> Check | None:
    """The failed check for operators that fell back to the CPU, by the warnings of all records; None without such warnings."""
    found = sorted({row for record in records.values() for row in _fell_back(record)})
    if not found:
        return None
    return Check(
        name="no-fallback",
        passed=False,
        measured={"operators": found},
        expected={"operators": []},
        seconds=0.0,
        because=fallback_sentence(found),
    )


def _fell_back(record: Record) -> Iterator[str]:
    for warning in record.warnings:
        for hit in _FALLBACK.finditer(warning):
            yield (hit["name"] or hit["whole"]).strip()
