"""Windows has no more memory to promise: the paging file is too small."""

import re

from rigup.diagnosis.causes.memory_sizes import GIB
from rigup.diagnosis.rule import Params, Verdict, mends, one, seen, text_rule
from rigup.machine.kinds import Gpu, Platform, Symptom

_PROMISED = 20  # of so many parts less than one is left
_RIG = 3  # cards that make a machine one for mining


@text_rule("windows-paging-file-too-small", "likely")
def page_file_was_full(
    usage: Symptom = seen("windows-page-file-usage"),
    _failed: Symptom = seen("spawned-worker-fails-to-start", "dataloader-worker-gone", "host-allocation-refused"),
) -> Verdict:
    """The page file was used to its end, and workers did not start."""
    return 20 * int(usage.peak) >= 19 * int(usage.allocated)


@text_rule("windows-paging-file-too-small", "likely")
def miner_fills_what_windows_may_promise(
    symptom: Symptom = seen(tag="miner-refused"),
    _platform: Platform = one(system="windows"),
    counted: Symptom | None = seen("miner-counts-its-cards"),
    statement: Symptom | None = seen("little-main-memory-told"),
) -> Verdict:
    """Windows backs each card's memory by its own: a rig of many cards wants more than its memory and paging file."""
    return (statement is not None or (counted is not None and int(counted.count) >= _RIG)) and {"said": symptom.id}


@text_rule("windows-paging-file-too-small", "likely")
def miner_of_many_cards_fills_what_windows_may_promise(
    symptom: Symptom = seen(tag="miner-refused"), _platform: Platform = one(system="windows"), card: Gpu = one(vendor="nvidia")
) -> Verdict:
    """The same, where a listing shows a card of a high number."""
    return (card.get("nvml_index") or 0) >= _RIG - 1 and {"said": symptom.id}


@text_rule("windows-paging-file-too-small", "likely")
def program_is_refused_a_little(
    symptom: Symptom = seen("rust-was-refused-memory", "llama-was-refused-main-memory"), _platform: Platform = one(system="windows")
) -> Verdict:
    """On Windows even a little is refused once all that memory and paging file may hold is promised."""
    return int(symptom.bytes) < GIB and {"said": symptom.id}


def _number(shown: str) -> int:
    return int(re.sub(r"\D", "", shown))


@text_rule("windows-paging-file-too-small", "likely")
def nothing_is_left_to_promise(
    symptom: Symptom = seen(
        "host-allocation-refused",
        "spawned-worker-fails-to-start",
        "dataloader-worker-gone",
        "rust-was-refused-memory",
        "llama-was-refused-main-memory",
    ),
    room: Symptom = seen("windows-promises-all-it-may"),
) -> Verdict:
    """Of what Windows may promise almost nothing is left, and a program is refused."""
    return _PROMISED * _number(room.left) < _number(room.most) and {"said": symptom.id}


@mends("windows-paging-file-too-small")
def who_asks_for_the_promise(
    mapped: Symptom | None = seen("windows-commit-limit-rust"),
    worker: Symptom | None = seen("spawned-worker-fails-to-start", "dataloader-worker-gone", "worker-process-failed"),
) -> Params:
    """One program that maps a file of weights has no workers that could be fewer."""
    alone = mapped is not None and worker is None
    return {"maps": "file" if alone else None, "workers": None if alone else "its own"}
