"""Build the answer of `rigup bench`: each device's figures with its data sheet, published results and earlier runs."""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType, ValidationError, convert, structs, to_builtins

from rigup.bench.records import Run
from rigup.bench.steadiness import doubt, judged, unsteady
from rigup.knowledge.speeds import Result, Sheet, data_sheet, results
from rigup.language import _
from rigup.schemas.bench import Bench, Drop, Elsewhere, Failed, Figure, Health, Ill, MeasuredDevice, Sample, Watched
from rigup.schemas.doctor import Doctor
from rigup.schemas.machine import Machine
from rigup.schemas.shared import Facts
from rigup.verify.answer import environment_of, last_line, processor
from rigup.verify.matching import matched
from rigup.verify.observe import Observed, Record, Seen
from rigup.version import __version__

_UNDER = ("platforms", "distributions", "worlds", "cpus", "memories", "drivers", "toolkits")
PRODUCTS, MEMORY = ("matmul", "matmul-by-hand"), ("memory-copy", "memory-triad", "memory-read")
"""Figures for which a data sheet gives a peak."""

_CANNOT_BE, _SHORT_SUMS = (1.5, 2)  # times a peak; of float8 sheets reckon with sums in float32, and shorter ones are faster
BUSY = 0.5
"""Cores that others keep busy, beyond which figures of the processor tell of their work."""

_LEAST_DROP, _OF_SPREAD = 0.05, 3.0  # a drop is more than that, and more than the spread explains


class _Reply(Struct, frozen=True):
    """The reply of one measurement: figures, the sweep over sizes, and whether time ran out."""

    results: list[dict[str, Any]] = []
    sweep: list[Sample] = []
    cut: Any = False


class _Measured:
    """A device while its figures are gathered."""

    def __init__(self, device: MeasuredDevice) -> None:
        self.device = device
        self.failed: list[Failed] = []
        self.cut: list[str] = []


def answer(observed: Observed, doctor: Doctor, watched: dict[str, Watched], full: bool) -> Bench:
    """The answer without its duration. `watched`: sensor summaries by PCI address, and "cpu"."""
    machine = doctor.machine
    devices = [_Measured(MeasuredDevice(**structs.asdict(device), results=[])) for device in machine.accelerators or []]
    cpu = _Measured(MeasuredDevice(name=processor(machine), vendor="cpu", results=[]))
    for seen in observed.frameworks:
        _add(seen, devices, cpu)
    found = [_finished(measured, watched) for measured in (*devices, cpu) if measured.device.results or measured.failed or measured.cut]
    ill = [Ill(cause=finding.cause, severity=finding.severity, title=finding.title) for finding in doctor.findings]
    return Bench(
        mode="full" if full else "quick",
        environment=environment_of(observed),
        packages=observed.packages,
        machine=_facts(machine),
        devices=found,
        failed=list(_not_begun(observed)),
        doctor=Health(verdict=doctor.verdict, findings=ill),
        drops=[],
        recorded_at=dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        rigup=__version__,
        seconds=0.0,
    )


def _finished(measured: _Measured, watched: dict[str, Watched]) -> MeasuredDevice:
    device = measured.device
    where = "cpu" if device.vendor == "cpu" else (device.pci_address or "").lower()[-12:]
    return structs.replace(
        device, results=_compared(device), failed=measured.failed or UNSET, cut=measured.cut or UNSET, watched=watched.get(where, UNSET)
    )


def _not_begun(observed: Observed) -> Iterator[Failed]:
    """Frameworks without devices: import failed, or took too long."""
    for seen in observed.frameworks:
        if not seen.devices:
            yield Failed(check=seen.name, because=last_line(seen.stderr) or ("time" if seen.over else ""))


def _facts(machine: Machine) -> dict[str, Facts]:
    """Machine facts that figures depend on and are compared by, without the long ones."""
    listed = {name: to_builtins(getattr(machine, name) or [], enc_hook=str) for name in _UNDER}
    return {
        name: [{key: value for key, value in fact.items() if key not in ("flags", "place")} for fact in facts]
        for name, facts in listed.items()
        if facts
    }


def _add(seen: Seen, devices: list[_Measured], cpu: _Measured) -> None:
    places = matched([listed for listed in seen.devices if listed.id != "cpu"], [measured.device for measured in devices])
    for listed in seen.devices:
        target = cpu if listed.id == "cpu" else devices[places[listed.id]] if listed.id in places else None
        if target is None:
            target = _Measured(MeasuredDevice(name=listed.name or listed.id, vendor=listed.vendor or "", results=[]))
            devices.append(target)
        for (where, check), record in seen.records.items():
            if where == listed.id:
                _take(target, seen.name, where, check, record)
        if seen.over:
            target.cut += [check for check in listed.planned if (listed.id, check) not in seen.records]


def _take(target: _Measured, framework: str, device: str, check: str, record: Record) -> None:
    """One measurement: its figures, how it failed, or that there was no time for it."""
    if record.died or record.error is not None:
        reason = (record.error or {}).get("text") or record.died
        target.failed.append(Failed(check=check, because=str(reason)[:300]))
    try:
        reply = convert(record.measured or {}, _Reply)
        for result in reply.results:
            swept = {"sweep": reply.sweep} if result.get("name") == "matmul" and reply.sweep else {}
            figure = {"framework": framework, "device": device, **result, **swept}
            target.device.results.append(convert(figure, Figure))
    except ValidationError:
        target.failed.append(Failed(check=check, because=_("The probe's answer cannot be read.")))
    else:
        target.cut += [check] if reply.cut else []


# -- beside what it is compared with -----------------------------------------------------------------


def _compared(device: MeasuredDevice) -> list[Figure]:
    """Annotate each figure by its median: steadiness, share of the data sheet's peak, published results."""
    name = device.name or ""
    sheet = data_sheet(name, device.memory.vram or None if device.memory else None)
    others = results(name, "cpu" if device.vendor == "cpu" else "gpu")
    return [_of_others(_of_sheet(_steadied(result), sheet), others) for result in device.results]


def _steadied(result: Figure) -> Figure:
    return structs.replace(result, steady=not unsteady(result), unsteady=unsteady(result)) if judged(result) else result


def _of_sheet(result: Figure, sheet: Sheet | None) -> Figure:
    peak = peak_of(sheet, result)
    if sheet is None or not peak:
        return result
    share = round(result.median / peak, 4)
    return structs.replace(
        result, peak=peak, share_of_peak=share, peak_source=sheet.source, implausible=implausible(result, share) or UNSET
    )


def _of_others(result: Figure, others: Sequence[Result]) -> Figure:
    same = [
        Elsewhere(rate=other.rate, conditions=other.conditions, source=other.source)
        for other in others
        if (other.name, other.type) == (result.name, result.type or "")
    ]
    return structs.replace(result, others=same) if same else result


def peak_of(sheet: Sheet | None, result: Figure) -> float | None:
    """The data sheet's peak for a figure, in the figure's unit; None if it gives none."""
    if sheet is None:
        return None
    if result.name in MEMORY:
        return sheet.bandwidth
    return sheet.rates.get(result.type or "") if result.name in PRODUCTS else None


def implausible(result: Figure, share: float) -> bool:
    """Whether a figure exceeds the peak by more than any clock explains: an unsynchronised measurement, or a wrong sheet."""
    most = _CANNOT_BE * (_SHORT_SUMS if result.type == "float8" else 1)
    return share > most


def drops(now: Bench, before: Sequence[Run]) -> list[Drop]:
    """Figures below this machine's best in the same environment by more than the spread explains."""
    found = []
    for device in now.devices:
        if device.vendor == "cpu" and (now.busy_cores or 0) > BUSY:
            continue
        for result in device.results:
            best = max((other for run in before for other in _past_results(run, device, result)), key=good, default=None)
            if best is None:
                continue
            lost = 1 - good(result) / good(best)
            chance = max(_OF_SPREAD * max(result.spread or 0.0, best.spread or 0.0), doubt(result), doubt(best))
            if lost > max(_LEAST_DROP, chance):
                found.append(
                    Drop(
                        device=known(device.name),
                        name=result.name,
                        type=known(result.type),
                        was=best.median,
                        is_=result.median,
                        unit=result.unit,
                        lost=round(lost, 3),
                    )
                )
    return found


def known(value: str | UnsetType) -> str | None:
    """A text, or None where there is none."""
    return None if value is UNSET else value


def good(result: Figure) -> float:
    """The value for which more is better: the inverse of seconds."""
    return 1 / result.median if result.unit == "s" else result.median


def _past_results(run: Run, device: MeasuredDevice, result: Figure) -> Iterator[Figure]:
    for other in run.devices:
        if (other.name, other.pci_address) == (device.name, device.pci_address):
            yield from (past for past in other.results if same_figure(result, past))


def same_figure(result: Figure, other: Figure) -> bool:
    """Whether both figures measure the same thing; figures of tables have no framework."""
    both = (result.name, result.type or "", result.unit) == (other.name, other.type or "", other.unit)
    return both and (not other.framework or other.framework == result.framework)
