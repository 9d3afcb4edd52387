"""The time budget of this process, and the share of each measurement."""

from __future__ import annotations

import functools
import math
import time
from typing import Any, Callable, Dict, Iterator, Tuple

Device = Dict[str, Any]
Check = Callable[[Device], Any]
Wish = Tuple[str, float, Callable[..., Any]]
_LEAST = 0.04  # of what a measurement would like to have: with less it tells nothing
_given = {"end": math.inf, "only": (), "devices": 0, "model": ""}  # type: Dict[str, Any]


def give(order: dict[str, Any]) -> None:
    """Apply the order: seconds from now, requested measurements and devices."""
    _given["end"] = time.perf_counter() + order.get("seconds", math.inf)
    _given["only"], _given["devices"] = tuple(order.get("only", ())), len(order.get("devices") or ())
    _given["model"] = order.get("model", "")


def given(name: str) -> Any:
    """Another field of the order."""
    return _given[name]


def left() -> float:
    """Seconds until the deadline; infinite without one."""
    return float(_given["end"]) - time.perf_counter()


def planned(count: int, wishes: list[Wish]) -> Iterator[tuple[str, Check]]:
    """Checks of one device, each with the part of its wish that the time allows.

    Args:
        count: devices that the framework lists; each has its share of the time, and the next gets what one leaves.
        wishes: name, seconds that it would like to have, and what measures, given a device and `part` (1 for all).

    """
    devices = _given["devices"] or count
    end = time.perf_counter() + left() / max(devices, 1)
    _given["devices"] = max(devices - 1, 1)
    chosen = [wish for wish in wishes if not _given["only"] or wish[0] in _given["only"]]
    for place, (name, _seconds, act) in enumerate(chosen):
        wanted = sum(wish[1] for wish in chosen[place:])
        part = min(1.0, (end - time.perf_counter()) / wanted)
        yield name, cut if part < _LEAST else functools.partial(act, part=part)


def names(wishes: list[Wish]) -> list[str]:
    """Names of the measurements to run."""
    return [wish[0] for wish in wishes if not _given["only"] or wish[0] in _given["only"]]


def cut(_device: Device) -> dict[str, Any]:
    """The result of a measurement for which no time was left."""
    return {"results": [], "cut": True}
