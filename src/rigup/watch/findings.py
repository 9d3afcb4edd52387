"""What is wrong right now, as findings like the doctor's: rules are functions over what was sampled, texts stand apart."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from msgspec import UNSET

from rigup.schemas.shared import Evidence, Finding, Severity
from rigup.schemas.watch import Watch, WatchedGpu, WatchedProcess
from rigup.watch.finding_texts import text_of
from rigup.watch.history import History, Point, key_of, memory_of, memory_share

_BUSY = 0.5  # share of time from which on a GPU works
_IDLE = 0.01
_STEADY = 3  # samples in which something must hold before it is told, where there are so many
_LONG = 300.0  # seconds that a GPU is held and idle before it is told
_HELD = 256 * 1024**2  # bytes from which on a process holds a GPU
_GROWING = 600.0  # seconds over which memory must have grown
_FULL = 0.98
_CORE = 0.9
_HARMFUL = ("temperature", "current", "hardware", "external", "reliability", "other")


class Match(NamedTuple):
    """What a rule found: the words of its text, and the evidence as (dotted path, value, source)."""

    subject: str
    words: dict[str, Any]
    evidence: list[tuple[str, str, str]]
    severity: Severity | None = None


Rule = Callable[[Watch, History], Iterator[Match]]
RULES: dict[str, tuple[Severity, Rule]] = {}


def rule(cause: str, severity: Severity) -> Callable[[Rule], Rule]:
    """Enter a rule under its cause."""

    def entered(function: Rule) -> Rule:
        RULES[cause] = (severity, function)
        return function

    return entered


def findings(history: History) -> list[Finding]:
    """All that the rules find in the last sample and those before it; errors first."""
    sample = history.last
    if sample is None:
        return []
    found = [
        _finding(cause, match, severity)
        for cause, (severity, function) in RULES.items()
        for match in function(sample, history)
    ]
    return sorted(found, key=lambda finding: ("error", "warning", "note").index(finding.severity))


def _finding(cause: str, match: Match, severity: Severity) -> Finding:
    text = text_of(cause, match.words)
    return Finding(
        cause=cause, severity=match.severity or severity, title=text.title, subject=match.subject, place="", confidence="certain",
        guess=False, because=text.meaning, make_sure="", in_vain="", mends=text.mends, explains=[], fixes=[],
        evidence=[Evidence(fact=path, value=value, source=source, line=None) for path, value, source in match.evidence],
    )  # fmt: skip


def _seen(gpu: WatchedGpu, path: str, value: object) -> tuple[str, str, str]:
    return path, str(value), gpu.source.get(path, "")


def name_of(gpu: WatchedGpu) -> str:
    """A GPU as a sentence calls it."""
    return f"GPU {gpu.index}" + (f" ({gpu.name})" if gpu.name is not UNSET else "")


def _steady(history: History, gpu: WatchedGpu) -> bool:
    """Whether it was throttled in all of the last samples, as far as there are any."""
    known = [value for value in history.recent(gpu, "throttled", _STEADY) if value is not None]
    return bool(known) and all(known)


@rule("gpu-lost", "error")
def _lost(sample: Watch, _history: History) -> Iterator[Match]:
    for gpu in sample.gpus:
        if gpu.state == "lost":
            because = gpu.because if gpu.because is not UNSET else ""
            yield Match(key_of(gpu), {"gpu": name_of(gpu), "because": because}, [_seen(gpu, "state", because)])


@rule("xid", "warning")
def _xid(sample: Watch, _history: History) -> Iterator[Match]:
    for gpu in sample.gpus:
        codes = sorted({xid.code for xid in gpu.errors.xid}) if gpu.errors.xid is not UNSET else []
        if codes:
            words = ", ".join(map(str, codes))
            yield Match(key_of(gpu), {"gpu": name_of(gpu), "codes": words}, [_seen(gpu, "errors.xid", words)])


@rule("memory-errors", "error")
def _memory_errors(sample: Watch, _history: History) -> Iterator[Match]:
    for gpu in sample.gpus:
        count = gpu.errors.ecc_uncorrected
        if count is not UNSET and count:
            yield Match(
                key_of(gpu), {"gpu": name_of(gpu), "count": count}, [_seen(gpu, "errors.ecc_uncorrected", count)]
            )


@rule("memory-remap-pending", "warning")
def _remap(sample: Watch, _history: History) -> Iterator[Match]:
    for gpu in sample.gpus:
        if gpu.errors.remap_pending is True:
            yield Match(key_of(gpu), {"gpu": name_of(gpu)}, [_seen(gpu, "errors.remap_pending", True)])


@rule("throttled", "warning")
def _throttled(sample: Watch, history: History) -> Iterator[Match]:
    """At its power limit every GPU arrives that works; that is worth a note where somebody lowered the limit."""
    for gpu in sample.gpus:
        reasons = gpu.throttle if gpu.throttle is not UNSET else []
        harmful = [reason for reason in reasons if reason in _HARMFUL]
        if harmful and _steady(history, gpu):
            evidence = [_seen(gpu, "throttle", ", ".join(reasons))]
            if gpu.temperature.limit is not UNSET and (hot := _hottest(gpu)) is not None:
                evidence.append(_seen(gpu, "temperature." + hot[0], f"{hot[1]:g}"))
            yield Match(key_of(gpu), {"gpu": name_of(gpu), "reasons": ", ".join(harmful)}, evidence)


def _hottest(gpu: WatchedGpu) -> tuple[str, float] | None:
    heat = {"edge": gpu.temperature.edge, "junction": gpu.temperature.junction}
    known = {name: value for name, value in heat.items() if value is not UNSET}
    return max(known.items(), key=lambda pair: pair[1]) if known else None


@rule("power-limit-lowered", "note")
def _lowered(sample: Watch, history: History) -> Iterator[Match]:
    for gpu in sample.gpus:
        limit, usual = gpu.power.limit, gpu.power.limit_default
        at_limit = gpu.throttle is not UNSET and "power" in gpu.throttle and _steady(history, gpu)
        if at_limit and limit is not UNSET and usual is not UNSET and limit < usual * 0.99:
            words = {"gpu": name_of(gpu), "limit": f"{limit:.0f}", "usual": f"{usual:.0f}"}
            yield Match(
                key_of(gpu), words, [_seen(gpu, "power.limit", limit), _seen(gpu, "power.limit_default", usual)]
            )


@rule("link-narrower-than-card", "warning")
def _narrow(sample: Watch, history: History) -> Iterator[Match]:
    """Lanes do not change with load; the speed does, so that a slow link counts only while the GPU works."""
    for gpu in sample.gpus:
        pcie = gpu.pcie
        if gpu.state != "active" or gpu.integrated is True:
            continue
        if pcie.width is not UNSET and pcie.width_max is not UNSET and 0 < pcie.width < pcie.width_max:
            words = {"gpu": name_of(gpu), "have": f"x{pcie.width}", "want": f"x{pcie.width_max}"}
            evidence = [_seen(gpu, "pcie.width", pcie.width), _seen(gpu, "pcie.width_max", pcie.width_max)]
            yield Match(key_of(gpu), words, evidence, "note" if 2 * pcie.width >= pcie.width_max else None)
        elif pcie.speed is not UNSET and pcie.speed_max is not UNSET and pcie.speed < pcie.speed_max:
            busy = history.recent(gpu, "gpu", _STEADY)
            if len(busy) == _STEADY and all(share is not None and share >= _BUSY for share in busy):
                words = {
                    "gpu": name_of(gpu),
                    "have": f"{pcie.speed / 1e9:g} GT/s",
                    "want": f"{pcie.speed_max / 1e9:g} GT/s",
                }
                yield Match(
                    key_of(gpu),
                    words,
                    [_seen(gpu, "pcie.speed", pcie.speed), _seen(gpu, "pcie.speed_max", pcie.speed_max)],
                    "note",
                )


@rule("memory-almost-full", "note")
def _full(sample: Watch, _history: History) -> Iterator[Match]:
    for gpu in sample.gpus:
        share = memory_share(gpu)
        if share is not None and share >= _FULL and gpu.integrated is not True:
            yield Match(
                key_of(gpu),
                {"gpu": name_of(gpu), "share": f"{share:.0%}"},
                [_seen(gpu, "memory.vram.used", f"{share:.3f}")],
            )


def _of_process(process: WatchedProcess, path: str, value: object) -> tuple[str, str, str]:
    return path, str(value), f"process {process.pid}"


def _called(process: WatchedProcess) -> str:
    return f"{process.name} ({process.pid})" if process.name is not UNSET else str(process.pid)


@rule("memory-leak", "warning")
def _leak(sample: Watch, history: History) -> Iterator[Match]:
    """Memory that never falls and grew in each third of the time: a cache that fills stops growing."""
    for process in sample.processes:
        points = history.life(process)
        if len(points) < 6 or points[-1].at - points[0].at < _GROWING:
            continue
        third = len(points) // 3
        marks = [points[0].memory, points[third].memory, points[2 * third].memory, points[-1].memory]
        falls = any(later.memory < earlier.memory for earlier, later in pairwise(points))
        grown = marks[-1] - marks[0]
        if not falls and all(a < b for a, b in pairwise(marks)) and grown >= max(_HELD, marks[0] // 10):
            minutes = (points[-1].at - points[0].at) / 60
            words = {"process": _called(process), "grown": f"{grown / 1024**3:.1f}", "minutes": f"{minutes:.0f}"}
            yield Match(str(process.pid), words, [_of_process(process, "memory", f"{marks[0]} … {marks[-1]}")])


def _idle_for(points: list[Point]) -> float:
    """Seconds since when the GPU was idle without a break; 0 where that is not known."""
    began = None
    for point in points:
        if point.busy is None or point.busy > _IDLE:
            began = None
        elif began is None:
            began = point.at
    return points[-1].at - began if points and began is not None else 0.0


@rule("gpu-asked-for-and-idle", "note")
def _idle(sample: Watch, history: History) -> Iterator[Match]:
    yield from _held_and_idle(sample, history, on_cpu=False)


@rule("works-on-the-cpu", "warning")
def _on_cpu(sample: Watch, history: History) -> Iterator[Match]:
    """It holds a GPU that does nothing, while at least a core is busy with it."""
    yield from _held_and_idle(sample, history, on_cpu=True)


def _held_and_idle(sample: Watch, history: History, on_cpu: bool) -> Iterator[Match]:
    for process in sample.processes:
        points = history.life(process)
        idle = _idle_for(points)
        if memory_of(process) < _HELD or idle < _LONG:
            continue
        cores = [point.cpu for point in points if point.at >= points[-1].at - idle and point.cpu is not None]
        works = bool(cores) and sum(cores) / len(cores) >= _CORE
        if works == on_cpu:
            words = {
                "process": _called(process), "minutes": f"{idle / 60:.0f}", "memory": f"{memory_of(process) / 1024**3:.1f}",
                "gpus": ", ".join(str(part.index) for part in process.gpus),
            }  # fmt: skip
            yield Match(
                str(process.pid),
                words,
                [_of_process(process, "utilisation.gpu", 0), _of_process(process, "memory", memory_of(process))],
            )
