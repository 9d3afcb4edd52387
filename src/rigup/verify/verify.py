"""The workflow of `rigup verify`: measure, judge, store the record; on failure ask the doctor for causes."""

import os
import time

from msgspec import structs

from rigup.diagnosis.answer import Diagnosis, examined
from rigup.diagnosis.answer import answer as diagnosed
from rigup.language import _
from rigup.machine.sources import Source, close_sources, open_source
from rigup.machine.witness import Ended as Program
from rigup.machine.witness import witnessed
from rigup.schemas import verify as schema
from rigup.verify.answer import answer
from rigup.verify.child import Limits
from rigup.verify.environment import VerifyError, interpreter, of_another
from rigup.verify.observe import Observed, Progress, Record, Seen, observe
from rigup.verify.proof import keep


def verify(
    environment: str = "",
    full: bool = False,
    devices: tuple[str, ...] = (),
    limits: Limits | None = None,
    progress: Progress = lambda _name: None,
) -> schema.Verify:
    """Verify an environment.

    Args:
        environment: as `interpreter` takes it; "" for the active one.
        full: also train, take most of the memory, multiply large matrices, compile with a toolkit.
        devices: names as the frameworks give them (`cuda:0`, `cpu`); none for all.
        limits: of each child; by default three minutes to start, one for a check, and half of the main memory.
        progress: called with the name of each framework when it is begun.

    Raises:
        VerifyError: there is no interpreter, or it cannot be asked.
        SourceError, KnowledgeError: as the doctor's.

    """
    python, began, clock = interpreter(environment, os.environ), _since_start(), time.monotonic()
    observed = observe(python, list(devices), full, limits or usual_limits(full), progress, companions=True)
    if wrong := of_another(environment, python, observed.prefix, os.environ):
        raise VerifyError(wrong)
    _expect(devices, observed)
    try:
        machine = examined(_sources(observed, began))
    finally:
        close_sources()
    judged = _judged(observed, machine, full, devices)
    return structs.replace(judged, seconds=round(time.monotonic() - clock, 1))


def _judged(observed: Observed, machine: Diagnosis, full: bool, devices: tuple[str, ...]) -> schema.Verify:
    """The answer, with the doctor's findings on failure; its record is stored, or an earlier one withdrawn."""
    doctor = diagnosed(machine)
    judged = answer(observed, doctor.machine, machine.facts, full, list(devices))
    if judged.verdict == "failed":
        found = schema.Diagnosis(findings=doctor.findings, skipped=doctor.skipped, unexplained=doctor.unexplained)
        judged = structs.replace(judged, diagnosis=found)
    kept = None if devices else keep(judged, machine.facts)  # of some devices alone nothing is kept
    return structs.replace(judged, record=kept) if kept else judged


def _expect(wanted: tuple[str, ...], observed: Observed) -> None:
    """Raise VerifyError for a requested device that no framework lists."""
    listed = [device.id for seen in observed.frameworks for device in seen.devices]
    missing = [name for name in wanted if name not in listed]
    if missing and listed:
        template = _("There is no device {name} here. The frameworks of this environment list: {names}.")
        raise VerifyError(template.format(name=missing[0], names=", ".join(dict.fromkeys(listed))))


def usual_limits(full: bool) -> Limits:
    """Default limits: half of the main memory, and time for a busy machine."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        memory = 0
    return Limits(check=300.0 if full else 60.0, memory=memory)


def _since_start() -> float:
    """Seconds since boot, as in the kernel's log."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def _sources(observed: Observed, began: float) -> list[Source]:
    """The diagnosed machine, with the output of the first failed framework and the kernel's messages of that time."""
    failed = next((seen for seen in observed.frameworks if _went_wrong(seen)), None)
    if failed is None:
        return open_source(None)
    death = failed.deaths[0] if failed.deaths else None
    status = -death.number if death and death.why == "signal" else failed.status if death else 1
    argv = (observed.python, failed.name)
    return witnessed(Program(argv, status, failed.stderr, observed.python, dict(os.environ), began))


def _went_wrong(seen: Seen) -> bool:
    records = seen.records.values()
    return bool(seen.deaths) or any(record.error is not None or _raised(record) for record in records)


def _raised(record: Record) -> bool:
    """Whether an operator of a table ended with an error."""
    return isinstance(record.measured, dict) and bool(record.measured.get("raised"))
