"""What the probe saw of every framework in an environment, with a new child for what a dead one left undone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rigup.verify.child import PROBE, Ended, Event, Limits, run
from rigup.verify.environment import VerifyError

Record = dict[str, Any]
Progress = Callable[[str], None]
_MOST_DEATHS = 3  # of one device, where all is to be tried


class Death(NamedTuple):
    """A child that did not come to its end.

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
    """What was seen of one framework."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.about: Record = {}
        self.devices: list[Record] = []
        self.listed = self.done = False
        self.records: dict[tuple[str, str], Record] = {}
        self.deaths: list[Death] = []
        self.left: set[str] = set()  # devices whose checks were given up
        self.said = b""
        self.status = 0
        self._at: tuple[str, str] = ("", "")

    def hear(self, event: Event) -> None:
        """Take one thing that the probe says."""
        what = event["say"]
        if what == "ready":
            self.about = {name: value for name, value in event.items() if name != "say"}
        elif what == "devices":
            self.devices, self.listed = [one for one in event.get("devices", []) if "id" in one], True
        elif what == "begin":
            self._at = (str(event.get("device")), str(event.get("check")))
        elif what == "end":
            self.records[self._at], self._at = event, ("", "")
        elif what == "done":
            self.done = True

    def died(self, ended: Ended) -> None:
        """Note how a child ended that had not said that it was done."""
        why = ended.why or ("signal" if ended.status < 0 else "status")
        self.deaths.append(Death(*self._at, why, abs(ended.status)))
        if self._at[0]:
            self.records[self._at] = {"died": why, "number": abs(ended.status), "seconds": ended.seconds}
        self._at = ("", "")

    def give_up(self, full: bool) -> None:
        """Leave a device alone whose check killed a child: at once, or after some where all is to be tried."""
        last = self.deaths[-1].device
        if not full or sum(death.device == last for death in self.deaths) >= _MOST_DEATHS:
            self.left.add(last)

    def remaining(self, wanted: list[str]) -> list[str]:
        """Devices that are still to be judged, wholly or in part."""
        return [one["id"] for one in self.devices if one["id"] not in self.left and (not wanted or one["id"] in wanted)]


class Observed(NamedTuple):
    """An environment: its packages, and what was seen of each framework."""

    python: str
    version: str
    prefix: str
    packages: dict[str, str]
    frameworks: list[Seen]


def observe(
    python: str, wanted: list[str], full: bool, limits: Limits, progress: Progress = lambda _name: None,
    only: tuple[str, ...] = (), probe: Path = PROBE, frameworks: tuple[str, ...] = (),
) -> Observed:  # fmt: skip
    """Measure all that an environment has.

    Args:
        python: its interpreter.
        wanted: devices by the framework's names; [] for all.
        full: whether to try all that can be tried.
        limits: of each child.
        progress: called with each framework's name.
        only: names of checks; () for all.
        probe: the program that measures.
        frameworks: those that are wanted; () for all.

    Raises:
        VerifyError: the interpreter cannot be asked.

    """
    survey = _survey(python, limits)
    seen = []
    for name in [one for one in survey["frameworks"] if not frameworks or one in frameworks]:
        progress(name)
        seen.append(
            _framework(
                name, python, {"full": full, "devices": wanted, **({"only": only} if only else {})}, limits, probe
            )
        )
    return Observed(python, survey["python"], survey["prefix"], survey["packages"], seen)


def _survey(python: str, limits: Limits) -> Record:
    heard: list[Event] = []
    try:
        ended = run(python, {"survey": True}, limits, heard.append)
    except OSError as error:
        raise VerifyError(_cannot(python, error.strerror or str(error))) from error
    found = next((event for event in heard if event["say"] == "survey"), None)
    if found is None:
        words = ended.said.decode("utf-8", "replace").strip().splitlines()
        raise VerifyError(_cannot(python, words[-1][:300] if words else f"exit status {ended.status}"))
    return found


def _cannot(python: str, why: str) -> str:
    from rigup.language import _

    told = _("{python} could not be asked: {why}. Name the interpreter of an environment with Python 3.8 or later.")
    return told.format(python=python, why=why)


def _framework(name: str, python: str, order: Record, limits: Limits, probe: Path = PROBE) -> Seen:
    """One framework, child after child, until each device is judged or given up."""
    seen, wanted = Seen(name), order["devices"]
    order = {**order, "framework": name}
    while not seen.done:
        ended = run(python, order, limits, seen.hear, probe)
        seen.said, seen.status = seen.said + ended.said, seen.status or ended.status
        if seen.done:
            break
        seen.died(ended)
        if not seen.deaths[-1].device:
            break  # it died of the import, or between checks: a new child would do the same
        seen.give_up(order["full"])
        order = {**order, "devices": seen.remaining(wanted), "done": sorted(map(list, seen.records))}
        if not order["devices"]:
            break
    return seen
