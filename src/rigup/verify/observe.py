"""Run the probe for each framework of an environment; a new child continues where one died."""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from rigup.verify.child import PROBE, Ended, Event, Limits, run
from rigup.verify.environment import VerifyError

Order = dict[str, Any]
Progress = Callable[[str], None]
_MOST_DEATHS = 3  # of one device, where all is to be tried
_PART = 0.8  # of the time that is left, for a framework that others come after
_RESERVE = 1.0  # seconds between the end that a child is told of and the one that it is given


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """The survey of an environment.

    Attributes:
        python: the version of its Python.
        prefix: its folder.
        packages: exact versions by name.
        frameworks: that can be measured.
        companions: packages with compiled code beside them.

    """

    python: str
    prefix: str
    packages: dict[str, str]
    frameworks: list[str]
    companions: list[str] = []


class Build(msgspec.Struct, frozen=True, kw_only=True):
    """An imported framework: its version, its build information, and the import time in seconds."""

    version: str
    seconds: float
    build: Any = None


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A device as a framework lists it; None where the framework does not report a value.

    Attributes:
        id: as the framework calls it ("cuda:0", "cpu").
        properties: all that the framework tells of it.
        planned: names of the measurements that are to be made of it.

    """

    id: str
    vendor: str | None = None
    name: str | None = None
    isa: str | None = None
    pci_address: str | None = None
    uuid: str | None = None
    properties: dict[str, Any] = {}
    planned: list[str] = []


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The record of one check.

    Attributes:
        measured: in the form of the check, whatever a framework wrote there; None where it came to no measurement.
        error: type and text of an exception.
        skipped: why the device or the build has no part of the check.
        warnings: that were given meanwhile.
        seconds: that it took.
        died: how the child ended that was at it ("hung", "memory", "signal", "status"); "" where it did not.
        number: the signal's number, or the exit status.

    """

    measured: Any = None
    error: dict[str, Any] | None = None
    skipped: str | None = None
    warnings: list[str] = []
    seconds: float = 0.0
    died: str = ""
    number: int = 0


def _listed(item: Any) -> Listed | None:
    """A device from the probe's event, by its id alone if the rest is invalid; None if it has no id."""
    try:
        return msgspec.convert(item, Listed)
    except msgspec.ValidationError:
        return Listed(id=item["id"]) if isinstance(item, dict) and isinstance(item.get("id"), str) else None


def recorded(event: Event) -> Record:
    """The record in an `end` event; an invalid one becomes a measurement without a verdict."""
    try:
        return msgspec.convert(event, Record)
    except msgspec.ValidationError:
        return Record(measured=repr(event)[:500])


class Death(NamedTuple):
    """The death of a child process.

    Attributes:
        device, check: what it was at; "" where it had not begun with any.
        why: "hung", "memory", "signal" or "status".
        number: the signal's number, or the exit status.

    """

    device: str
    check: str
    why: str
    number: int


class Seen:
    """The events of one framework's children, gathered."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.about: Build | None = None
        self.devices: list[Listed] = []
        self.listed = self.done = False
        self.records: dict[tuple[str, str], Record] = {}
        self.deaths: list[Death] = []
        self.left: set[str] = set()  # devices whose checks were given up
        self.over = False  # whether it was ended because its time was
        self.stderr = b""
        self.status = 0
        self._at: tuple[str, str] = ("", "")

    def hear(self, event: Event) -> None:
        """Take one event of the probe."""
        event_name = event["say"]
        if event_name == "ready":
            self.about = msgspec.convert(event, Build)
        elif event_name == "devices":
            self.devices, self.listed = [*filter(None, map(_listed, event.get("devices", [])))], True
        elif event_name == "begin":
            self._at = (str(event.get("device")), str(event.get("check")))
        elif event_name == "end":
            self.records[self._at], self._at = recorded(event), ("", "")
        elif event_name == "done":
            self.done = True

    def died(self, ended: Ended) -> None:
        """Record how a child ended before its `done` event."""
        why = ended.why or ("signal" if ended.status < 0 else "status")
        self.deaths.append(Death(*self._at, why, abs(ended.status)))
        if self._at[0]:
            self.records[self._at] = Record(died=why, number=abs(ended.status), seconds=ended.seconds)
        self._at = ("", "")

    def ended_by_time(self) -> None:
        """Record that the time limit ended the child; this is no failure of the device."""
        self.over = True

    def give_up(self, full: bool) -> None:
        """Give up a device whose checks killed children: after the first death, in full mode after several."""
        last = self.deaths[-1].device
        if not full or sum(death.device == last for death in self.deaths) >= _MOST_DEATHS:
            self.left.add(last)

    def remaining(self, wanted: list[str]) -> list[str]:
        """Ids of devices with checks still to run."""
        return [device.id for device in self.devices if device.id not in self.left and (not wanted or device.id in wanted)]


class Observed(NamedTuple):
    """An environment: its packages, and the gathered events of each framework."""

    python: str
    version: str
    prefix: str
    packages: dict[str, str]
    frameworks: list[Seen]
    companions: list[Seen] = []  # noqa: RUF012  (never changed)


def observe(
    python: str,
    wanted: list[str],
    full: bool,
    limits: Limits,
    progress: Progress = lambda _name: None,
    only: tuple[str, ...] = (),
    probe: Path = PROBE,
    frameworks: tuple[str, ...] = (),
    also: tuple[str, ...] = (),
    more: Order | None = None,
    companions: bool = False,
) -> Observed:
    """Measure all frameworks of an environment.

    Args:
        python: its interpreter.
        wanted: devices by the framework's names; [] for all.
        full: whether to try all that can be tried.
        limits: of each child; where they name an end, each framework has most of the time that is left to it.
        progress: called with each framework's name.
        probe: the program that measures.
        only: names of checks; () for all.
        frameworks: those that are wanted; () for all.
        also: what is measured in any case, as a program that lies outside of the environment.
        more: what the program is ordered beside that.
        companions: whether packages with compiled code beside a framework are to be measured too.

    Raises:
        VerifyError: the interpreter cannot be asked.

    """
    survey = _survey(python, limits._replace(until=math.inf))
    names = [framework for framework in survey.frameworks if not frameworks or framework in frameworks]
    names += [framework for framework in also if framework not in names]
    order = {"full": full, "devices": wanted, **({"only": only} if only else {}), **(more or {})}
    seen = [_framework(name, python, order, _part(limits, name == names[-1]), probe, progress) for name in names]
    beside_them = survey.companions if companions else []
    order |= {"companion": True}
    further = [_framework(name, python, order, limits, probe, progress) for name in beside_them]
    return Observed(python, survey.python, survey.prefix, survey.packages, seen, further)


def _part(limits: Limits, last: bool) -> Limits:
    """The deadline of one framework: all remaining time for the last, most of it for any other."""
    now = time.monotonic()
    return limits if last else limits._replace(until=now + (limits.until - now) * _PART)


def _survey(python: str, limits: Limits) -> Survey:
    events: list[Event] = []
    try:
        ended = run(python, {"survey": True}, limits, events.append)
    except OSError as error:
        raise VerifyError(_cannot(python, error.strerror or str(error))) from error
    found = next((event for event in events if event["say"] == "survey"), None)
    if found is None:
        words = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        raise VerifyError(_cannot(python, words[-1][:300] if words else f"exit status {ended.status}"))
    return msgspec.convert(found, Survey)


def _cannot(python: str, why: str) -> str:
    from rigup.language import _

    template = _("{python} could not be asked: {why}. Name the interpreter of an environment with Python 3.8 or later.")
    return template.format(python=python, why=why)


def _framework(name: str, python: str, order: Order, limits: Limits, probe: Path, progress: Progress) -> Seen:
    """Run children for one framework until each device is finished or given up."""
    progress(name)
    seen, wanted = Seen(name), order["devices"]
    order = {**order, "framework": name}
    while not seen.done:
        ended = run(python, {**order, **_time(limits)}, limits, seen.hear, probe)
        seen.stderr, seen.status = seen.stderr + ended.stderr, seen.status or ended.status
        if seen.done or ended.why == "over":
            seen.ended_by_time() if not seen.done else None
            break
        seen.died(ended)
        if not seen.deaths[-1].device:
            break  # it died of the import, or between checks: a new child would do the same
        seen.give_up(order["full"])
        order = {**order, "devices": seen.remaining(wanted), "done": sorted(map(list, seen.records))}
        if not order["devices"]:
            break
    return seen


def _time(limits: Limits) -> Order:
    """The time budget in the child's order: it ends by itself shortly before its deadline."""
    left = limits.until - time.monotonic()
    return {"seconds": max(left - _RESERVE, 0.0)} if math.isfinite(left) else {}
