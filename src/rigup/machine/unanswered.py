"""Programs that were asked and did not answer: they hung, crashed, could not be started, or printed what is no answer."""

import re

from rigup.knowledge.patterns import compiled
from rigup.machine.facts import Silence, Unanswered
from rigup.machine.host import Answer
from rigup.machine.kinds import Gpu, KernelModule, PciDevice
from rigup.machine.reader import Run, shown
from rigup.machine.store import Facts
from rigup.machine.texts import Text

_MAKERS = {"10de": "nvidia", "1002": "amd", "8086": "intel"}
_MODULES = {"nvidia": ("nvidia", "nvidia_uvm"), "amd": ("amdgpu",), "intel": ("i915", "xe")}
_LATE = (124, 137)  # how timeout, and a program that was ended, leave
_SIGNALS = range(129, 160)  # as a shell tells of a program that a signal ended; 141 is no crash: nobody read on
_PIPE, _NOT_FOUND, _NOT_STARTED = 141, 127, 126
_SAMPLE, _NOISE = 4000, 0.1  # characters that are looked at, and which part of them may be no text
_MOST_SAID = 160


def hung(query: Run) -> Unanswered:
    """A program that was waited for in vain."""
    return Unanswered(shown(query), "hung", query.seconds, vendor=query.wakes)


def refused(query: Run, answer: Answer) -> Unanswered | None:
    """Of an answer without a body: what is not there was never asked."""
    if answer.state != "refused" or answer.why == "the device sleeps":
        return None
    if answer.exit in _LATE:
        return hung(query)
    return Unanswered(shown(query), "not-started", answer.exit, answer.why[:_MOST_SAID], query.wakes)


def spoilt(query: Run, text: Text, understood: bool) -> Unanswered | None:
    """Of an answer with a body. `understood`: a reader made something of it."""
    command, first_words = shown(query), _first_words(text.body)
    status = text.exit_status or 0
    ended_by = -status if status < 0 else status - 128 if status in _SIGNALS and status != _PIPE else 0
    if status in _LATE:
        return hung(query)
    if ended_by:
        return Unanswered(command, "crashed", ended_by, first_words, query.wakes)
    if (understood and status != _NOT_STARTED) or status == _NOT_FOUND:
        return None
    if is_noise(text.body):
        return Unanswered(command, "garbage", status, first_words, query.wakes)
    answered = not query.says or (compiled(query.says, re.MULTILINE).search(text.body) and (first_words or not status))
    if answered and status != _NOT_STARTED:  # why not, a reader may know; what it would have said, nobody
        return None
    how: Silence = "failed" if first_words and status else "garbage" if first_words else "silent"
    return Unanswered(command, how, status, first_words, query.wakes)


def unheard(facts: Facts) -> bool:
    """Whether a maker's tool did not answer where its maker's card or module is: then nobody can call that healthy."""
    return any(_is_here(unanswered.vendor, facts) for unanswered in facts.unanswered if unanswered.vendor in _MAKERS)


def _is_here(vendor: str, facts: Facts) -> bool:
    maker, modules = _MAKERS[vendor], _MODULES[_MAKERS[vendor]]
    return (
        any(device.get("vendor_id") == vendor for device in facts.of(PciDevice))
        or any(gpu.get("vendor") == maker for gpu in facts.of(Gpu))
        or any(module.get("name") in modules and module.get("loaded") for module in facts.of(KernelModule))
    )


def is_noise(body: str) -> bool:
    """Whether a tenth of what is printed, or more, is no text."""
    sample = body[:_SAMPLE]
    odd = sum(letter == "\ufffd" or not (letter.isprintable() or letter in "\n\t\r\x1b") for letter in sample)
    return odd > _NOISE * len(sample)


def _first_words(body: str) -> str:
    return next((line.strip()[:_MOST_SAID] for line in body[: 20 * _SAMPLE].splitlines() if line.strip()), "")
