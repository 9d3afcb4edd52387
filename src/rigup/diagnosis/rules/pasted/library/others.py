"""Libraries of Windows and of Intel, and the room that they want."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge.intel import release_of
from rigup.machine.kinds import Gpu, Platform, Symptom

_GIB = 1 << 30
_PROMISED = 20  # of so many parts less than one is left
_RIG = 3  # cards that make a machine one for mining


def _number(shown: str) -> int:
    return int(re.sub(r"\D", "", shown))


@rule("windows-paging-file-too-small", "likely")
def page_file_was_full(
    usage: Symptom = seen("windows-page-file-usage"),
    _failed: Symptom = seen("spawned-worker-fails-to-start", "dataloader-worker-gone", "host-allocation-refused"),
) -> Verdict:
    """The page file was used to its end, and workers did not start."""
    return 20 * int(usage.peak) >= 19 * int(usage.allocated)


@rule("windows-paging-file-too-small", "likely")
def miner_fills_what_windows_may_promise(
    symptom: Symptom = seen(tag="miner-refused"), _platform: Platform = one(system="windows"),
    counted: Symptom | None = seen("miner-counts-its-cards"), statement: Symptom | None = seen("little-main-memory-told"),
) -> Verdict:  # fmt: skip
    """Windows backs each card's memory by its own: a rig of many cards wants more than its memory and paging file."""
    return (statement is not None or (counted is not None and int(counted.count) >= _RIG)) and {"said": symptom.id}


@rule("windows-paging-file-too-small", "likely")
def miner_of_many_cards_fills_what_windows_may_promise(
    symptom: Symptom = seen(tag="miner-refused"),
    _platform: Platform = one(system="windows"),
    card: Gpu = one(vendor="nvidia"),
) -> Verdict:
    """The same, where a listing shows a card of a high number."""
    return (card.get("nvml_index") or 0) >= _RIG - 1 and {"said": symptom.id}


@rule("windows-paging-file-too-small", "likely")
def program_is_refused_a_little(
    symptom: Symptom = seen("rust-was-refused-memory", "llama-was-refused-main-memory"), _platform: Platform = one(system="windows")
) -> Verdict:  # fmt: skip
    """On Windows even a little is refused once all that memory and paging file may hold is promised."""
    return int(symptom.bytes) < _GIB and {"said": symptom.id}


@rule("windows-paging-file-too-small", "likely")
def nothing_is_left_to_promise(
    symptom: Symptom = seen("host-allocation-refused", "spawned-worker-fails-to-start", "dataloader-worker-gone", "rust-was-refused-memory", "llama-was-refused-main-memory"),
    room: Symptom = seen("windows-promises-all-it-may"),
) -> Verdict:  # fmt: skip
    """Of what Windows may promise almost nothing is left, and a program is refused."""
    return _PROMISED * _number(room.left) < _number(room.most) and {"said": symptom.id}


@rule("intel-oneapi-version-mismatch", "likely")
def another_generation_stands_in_its_folder(
    missing: Symptom = seen("oneapi-library-not-found", "ldd-oneapi-not-found", "mkl-library-not-found"), shown: Symptom = seen("oneapi-folder-shown"),
) -> Verdict:  # fmt: skip
    """The folder is of one year's base kit, and the library that is missed of another's."""
    release, wanted = (
        shown.get("release") or shown.get("other"),
        release_of(str(missing.get("base")), str(missing.get("number"))),
    )
    return wanted is not None and wanted != release and {"lib": missing.get("lib"), "have": "oneAPI " + str(release)}


@rule("intel-oneapi-version-mismatch", "likely")
def folder_has_a_file_of_another_number(
    wanted: Symptom = seen("oneapi-dll-named-alone"), located: Symptom = seen("oneapi-dll-in-a-folder")
) -> Verdict:
    """Windows numbers these files by generation: one is asked for by its name, and the same of another number lies in a folder."""
    base, number = (str(located.get(name) or located.get(name + "2")) for name in ("base", "number"))
    same = base.lower() == str(wanted.base).lower()
    return same and number != wanted.number and {"lib": _dll(wanted.base, wanted.number), "have": _dll(base, number)}


def _dll(base: str, number: str) -> str:
    return f"{base}{'' if base.lower() == 'sycl' else '.'}{number}.dll"
