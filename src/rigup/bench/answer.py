"""The answer of `rigup bench`: what was measured of each device, beside its sheet, others, and this machine's past."""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType, ValidationError, convert, structs, to_builtins

from rigup.bench.records import Run
from rigup.bench.steadiness import doubt, judged, unsteady
from rigup.knowledge.speeds import Result, Sheet, data_sheet, results
from rigup.language import _
from rigup.schemas.bench import (
    Bench,
    Drop,
    Elsewhere,
    Failed,
    Figure,
    Health,
    Ill,
    MeasuredDevice,
    Sample,
    Watched,
)
from rigup.schemas.doctor import Doctor
from rigup.schemas.machine import Machine
from rigup.schemas.shared import Facts
from rigup.verify.answer import environment_of, last_line, processor
from rigup.verify.matching import matched
from rigup.verify.observe import Observed, Record, Seen
from rigup.version import __version__

_UNDER = ("platforms", "distributions", "worlds", "cpus", "memories", "drivers", "toolkits")
PRODUCTS, MEMORY = ("matmul", "matmul-by-hand"), ("memory-copy", "memory-triad", "memory-read")
"""Figures that a data sheet tells the peak of."""

_CANNOT_BE, _SHORT_SUMS = (
    1.5,
    2,
)  # times a peak; of float8 sheets reckon with sums in float32, and shorter ones are faster
BUSY = 0.5
"""Cores that others keep busy, beyond which figures of the processor tell of their work."""

_LEAST_DROP, _OF_SPREAD = 0.05, 3.0  # a drop is more than that, and more than the spread explains


class _Told(Struct, frozen=True):
    """What a measurement told: figures, the sizes that were tried before, and whether there was no time for it."""

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
    """What was measured just now, without how long it took. `watched`: what was watched, by PCI address, and "cpu"."""
    machine = doctor.machine
    devices = [_Measured(MeasuredDevice(**structs.asdict(one), results=[])) for one in machine.accelerators or []]
    cpu = _Measured(MeasuredDevice(name=processor(machine), vendor="cpu", results=[]))
    for seen in observed.frameworks:
        _add(seen, devices, cpu)
    found = [_finished(one, watched) for one in (*devices, cpu) if one.device.results or one.failed or one.cut]
    ill = [Ill(cause=one.cause, severity=one.severity, title=one.title) for one in doctor.findings]
    return Bench(
        mode="full" if full else "quick", environment=environment_of(observed), packages=observed.packages,
        machine=_facts(machine), devices=found, failed=list(_not_begun(observed)),
        doctor=Health(verdict=doctor.verdict, findings=ill), drops=[],
        recorded_at=dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), rigup=__version__, seconds=0.0,
    )  # fmt: skip


def _finished(one: _Measured, watched: dict[str, Watched]) -> MeasuredDevice:
    device = one.device
    where = "cpu" if device.vendor == "cpu" else (device.pci_address or "").lower()[-12:]
    return structs.replace(
        device, results=_beside(device), failed=one.failed or UNSET, cut=one.cut or UNSET,
        watched=watched.get(where, UNSET),
    )  # fmt: skip


def _not_begun(observed: Observed) -> Iterator[Failed]:
    """Frameworks that list nothing: they could not be imported, or took too long."""
    for seen in observed.frameworks:
        if not seen.devices:
            yield Failed(check=seen.name, because=last_line(seen.said) or ("time" if seen.over else ""))


def _facts(machine: Machine) -> dict[str, Facts]:
    """What a figure depends on, and what another machine's is compared by; without what fills pages."""
    told = {name: to_builtins(getattr(machine, name) or [], enc_hook=str) for name in _UNDER}
    return {
        name: [{key: value for key, value in fact.items() if key not in ("flags", "place")} for fact in facts]
        for name, facts in told.items()
        if facts
    }


def _add(seen: Seen, devices: list[_Measured], cpu: _Measured) -> None:
    places = matched([one for one in seen.devices if one.id != "cpu"], [one.device for one in devices])
    for one in seen.devices:
        target = cpu if one.id == "cpu" else devices[places[one.id]] if one.id in places else None
        if target is None:
            target = _Measured(MeasuredDevice(name=one.name or one.id, vendor=one.vendor or "", results=[]))
            devices.append(target)
        for (where, check), record in seen.records.items():
            if where == one.id:
                _take(target, seen.name, where, check, record)
        if seen.over:
            target.cut += [check for check in one.planned if (one.id, check) not in seen.records]


def _take(target: _Measured, framework: str, device: str, check: str, record: Record) -> None:
    """One measurement: its figures, how it failed, or that there was no time for it."""
    if record.died or record.error is not None:
        said = (record.error or {}).get("text") or record.died
        target.failed.append(Failed(check=check, because=str(said)[:300]))
    try:
        told = convert(record.measured or {}, _Told)
        for one in told.results:
            swept = {"sweep": told.sweep} if one.get("name") == "matmul" and told.sweep else {}
            figure = {"framework": framework, "device": device, **one, **swept}
            target.device.results.append(convert(figure, Figure))
    except ValidationError:
        target.failed.append(Failed(check=check, because=_("The probe's answer cannot be read.")))
    else:
        target.cut += [check] if told.cut else []


# -- beside what it is compared with -----------------------------------------------------------------


def _beside(device: MeasuredDevice) -> list[Figure]:
    """Whether each figure is steady, its share of the sheet's peak, and what others measured; all by its median."""
    name = device.name or ""
    sheet = data_sheet(name, device.memory.vram or None if device.memory else None)
    others = results(name, "cpu" if device.vendor == "cpu" else "gpu")
    return [_of_others(_of_sheet(_steadied(one), sheet), others) for one in device.results]


def _steadied(one: Figure) -> Figure:
    return structs.replace(one, steady=not unsteady(one), unsteady=unsteady(one)) if judged(one) else one


def _of_sheet(one: Figure, sheet: Sheet | None) -> Figure:
    peak = peak_of(sheet, one)
    if sheet is None or not peak:
        return one
    share = round(one.median / peak, 4)
    return structs.replace(
        one, peak=peak, share_of_peak=share, peak_source=sheet.source, implausible=implausible(one, share) or UNSET
    )


def _of_others(one: Figure, others: Sequence[Result]) -> Figure:
    same = [
        Elsewhere(rate=other.rate, conditions=other.conditions, source=other.source)
        for other in others
        if (other.name, other.type) == (one.name, one.type or "")
    ]
    return structs.replace(one, others=same) if same else one


def peak_of(sheet: Sheet | None, one: Figure) -> float | None:
    """What the sheet tells of a figure, in the figure's unit; None where it tells nothing."""
    if sheet is None:
        return None
    if one.name in MEMORY:
        return sheet.bandwidth
    return sheet.rates.get(one.type or "") if one.name in PRODUCTS else None


def implausible(one: Figure, share: float) -> bool:
    """Whether a figure is beyond what any clock explains: it was not waited for, or the sheet is another device's."""
    most = _CANNOT_BE * (_SHORT_SUMS if one.type == "float8" else 1)
    return share > most


def drops(now: Bench, before: Sequence[Run]) -> list[Drop]:
    """Figures that are lower than the best this machine reached before in the same environment, by more than spread explains."""
    found = []
    for device in now.devices:
        if device.vendor == "cpu" and (now.busy_cores or 0) > BUSY:
            continue
        for one in device.results:
            best = max((other for run in before for other in _same(run, device, one)), key=good, default=None)
            if best is None:
                continue
            lost = 1 - good(one) / good(best)
            chance = max(_OF_SPREAD * max(one.spread or 0.0, best.spread or 0.0), doubt(one), doubt(best))
            if lost > max(_LEAST_DROP, chance):
                found.append(
                    Drop(device=known(device.name), name=one.name, type=known(one.type), was=best.median, is_=one.median,
                         unit=one.unit, lost=round(lost, 3))
                )  # fmt: skip
    return found


def known(told: str | UnsetType) -> str | None:
    """A text, or None where there is none."""
    return None if told is UNSET else told


def good(one: Figure) -> float:
    """More is better: of what is told in seconds, its inverse."""
    return 1 / one.median if one.unit == "s" else one.median


def _same(run: Run, device: MeasuredDevice, one: Figure) -> Iterator[Figure]:
    for other in run.devices:
        if (other.name, other.pci_address) == (device.name, device.pci_address):
            yield from (told for told in other.results if same_figure(one, told))


def same_figure(one: Figure, other: Figure) -> bool:
    """Whether both measured one thing; a table's figures tell no framework."""
    both = (one.name, one.type or "", one.unit) == (other.name, other.type or "", other.unit)
    return both and (not other.framework or other.framework == one.framework)
