"""Sentences about failed checks."""

import math
import signal
from typing import Any

from rigup.language import _

_SHOWN = 4  # names in one sentence
_OPERATORS = 8  # of them, where each has its figure: one wrong kernel shows in many
_SHORTER = (3e-5, 2e-2)  # errors of float32 that are those of a shorter type


def died(why: str, number: int) -> str:
    """How the child ended during a check; `number` is the signal number or the exit status."""
    if why == "hung":
        return _("It hung: there was no answer within the limit of time, and the process was ended.")
    if why == "memory":
        return _("It took more main memory than the limit, and the process was ended.")
    if why == "signal":
        return _("The process was killed by signal {number} ({name}).").format(number=number, name=_named(number))
    return _("The process ended in the middle of it, with status {number}.").format(number=number)


def _named(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "?"


def elsewhere_sentence(measured: dict[str, Any]) -> str:
    """Results on another device than the one that was to compute them."""
    template = _("Results lie on another device than the one that was asked: {places}. They were moved in silence.")
    return template.format(places=_some(measured["elsewhere"]))


def wrong_sentence(names: Any) -> str:
    """Wrong exact results."""
    return _("Wrong results: {names}.").format(names=_some(names))


def copies_sentence(names: Any) -> str:
    """Copies that copy nothing, or something else."""
    template = _("A copy or an assignment does nothing, or does something else: {names}.")
    return template.format(names=_some(names))


def operators_sentence(off: list[tuple[str, float, float]], raised: list[str]) -> str:
    """Operators of a table with deviating results, and those that raised an error."""
    parts = [_off(*row) for row in off[:_OPERATORS]] + raised[: max(_OPERATORS - len(off), 0)]
    more = len(off) + len(raised) - len(parts)
    return _("Wrong results: {names}.").format(names="; ".join(parts) + (_(" and {count} more").format(count=more) if more else ""))


def _off(name: str, error: float, allowed: float) -> str:
    if math.isinf(error):
        return _("{name} has another shape or type, or holds what is no number").format(name=name) if allowed else name
    template = _("{name} is off by {error}, and rounding explains {allowed}")
    return template.format(name=name, error=f"{error:.1e}", allowed=f"{allowed:.0e}")


def inexact(part: str, error: float, allowed: float, check: str) -> str:
    """A deviation beyond the rounding of its type."""
    if math.isinf(error):
        return _("The result ({part}) has another shape, or holds what is no number.").format(part=part)
    template = _("The result ({part}) is off by {error}; rounding explains {allowed}.")
    sentence = template.format(part=part, error=f"{error:.1e}", allowed=f"{allowed:.0e}")
    if check == "matmul-float32" and _SHORTER[0] < error < _SHORTER[1]:
        return _("{first} {second}").format(first=sentence, second=_("It is as inexact as a shorter type would be."))
    return sentence


def slow(ratio: float) -> str:
    """A device too slow to have done the work."""
    template = _("It was {times} times as fast as the CPU: this device did not do the work, or is throttled.")
    return template.format(times=f"{ratio:.3f}")


def fallback_sentence(names: list[str]) -> str:
    """Operators that fell back to the CPU without an error."""
    template = _("These ran on the CPU instead, without an error: {names}.")
    return template.format(names=_some(names))


def _some(names: Any) -> str:
    listed = list(dict.fromkeys(map(str, names)))
    more = _(" and {count} more").format(count=len(listed) - _SHOWN) if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more
