"""Libraries of Windows and of Intel, and the room that they want."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.heard import MINER_REFUSED
from rigup.knowledge.intel import release_of
from rigup.machine.kinds import Gpu, Package, Platform, Symptom, Torch

_GIB = 1 << 30
_PROMISED = 20  # of so many parts less than one is left
_SYCL_PARTS = ("intel-sycl-rt", "intel-cmplr-lib-rt", "dpcpp-cpp-rt")  # of the compiler, as pip has it
_RIG = 3  # cards that make a machine one for mining


def _number(shown: str) -> int:
    return int(re.sub(r"\D", "", shown))


# -- windows-paging-file-too-small
@rule("windows-paging-file-too-small", "likely")
def page_file_was_full(
    usage: Symptom = seen("windows-page-file-usage"),
    _failed: Symptom = seen("spawned-worker-fails-to-start", "dataloader-worker-gone", "host-allocation-refused"),
) -> Verdict:
    """The page file was used to its end, and workers did not start."""
    return 20 * int(usage.peak) >= 19 * int(usage.allocated)


@rule("windows-paging-file-too-small")
def commit_ended_before_the_memory(
    said: Symptom = seen("host-allocation-refused"), left: Symptom = seen("windows-virtual-memory-left")
) -> Verdict:
    """Physical memory is free and virtual memory is not: Windows refuses at the commit limit."""
    free, virtual = _number(left.physical), _number(left.left)
    return virtual < 1024 and free > 4 * virtual and {"said": said.id}


@rule("windows-paging-file-too-small", "likely")
def miner_fills_what_windows_may_promise(
    said: Symptom = seen(*MINER_REFUSED), _platform: Platform = one(system="windows"),
    counted: Symptom | None = seen("miner-counts-its-cards"), told: Symptom | None = seen("little-main-memory-told"),
) -> Verdict:  # fmt: skip
    """Windows backs each card's memory by its own: a rig of many cards wants more than its memory and paging file."""
    return (told is not None or (counted is not None and int(counted.count) >= _RIG)) and {"said": said.id}


@rule("windows-paging-file-too-small", "likely")
def miner_of_many_cards_fills_what_windows_may_promise(
    said: Symptom = seen(*MINER_REFUSED), _platform: Platform = one(system="windows"), card: Gpu = one(vendor="nvidia")
) -> Verdict:
    """The same, where a listing shows a card of a high number."""
    return (card.get("nvml_index") or 0) >= _RIG - 1 and {"said": said.id}


@rule("windows-paging-file-too-small", "possible")
def miner_gets_no_memory_on_windows(
    said: Symptom = seen("miner-built-no-data-set"), _platform: Platform = one(system="windows")
) -> Verdict:
    """The card is large enough for it to begin; what Windows may promise mostly is not."""
    return {"said": said.id}


@rule("windows-paging-file-too-small", "likely")
def program_is_refused_a_little(
    said: Symptom = seen("rust-was-refused-memory", "llama-was-refused-main-memory"), _platform: Platform = one(system="windows")
) -> Verdict:  # fmt: skip
    """On Windows even a little is refused once all that memory and paging file may hold is promised."""
    return int(said.bytes) < _GIB and {"said": said.id}


@rule("windows-paging-file-too-small", "likely")
def nothing_is_left_to_promise(
    said: Symptom = seen("host-allocation-refused", "spawned-worker-fails-to-start", "dataloader-worker-gone", "rust-was-refused-memory", "llama-was-refused-main-memory"),
    room: Symptom = seen("windows-promises-all-it-may"),
) -> Verdict:  # fmt: skip
    """Of what Windows may promise almost nothing is left, and a program is refused."""
    return _PROMISED * _number(room.left) < _number(room.most) and {"said": said.id}


# -- windows-runtime-dll-missing
@rule("windows-runtime-dll-missing", "likely")
def library_of_hips_does_not_load(
    said: Symptom = seen("python-misses-hips-library"),
    other: Gpu | None = one(vendor="nvidia"),
    own: Gpu | None = one(vendor="amd"),
) -> Verdict:
    """A program that tries one library after the other goes on to that of another maker's card."""
    return (other is None or own is not None) and said.values()


@rule("windows-runtime-dll-missing", "likely")
def tensorflows_own_part_is_not_loaded(
    said: Symptom = seen("dll-load-failed-of-old"), _where: Symptom = seen("tf-native-part-not-loaded"), found: Symptom | None = seen("tf-library-not-loaded", "cudnn-not-located"),
) -> Verdict:  # fmt: skip
    """Older Pythons do not say which part it was; the line above tells that it is TensorFlow's."""
    return found is None and {"said": said.id}


# -- intel-oneapi-version-mismatch
@rule("intel-oneapi-version-mismatch", "likely")
def another_generation_stands_in_its_folder(
    missing: Symptom = seen("oneapi-library-not-found", "ldd-oneapi-not-found", "mkl-library-not-found"), shown: Symptom = seen("oneapi-folder-shown"),
) -> Verdict:  # fmt: skip
    """The folder is of one year's base kit, and the library that is missed of another's."""
    there, wanted = (
        shown.get("release") or shown.get("other"),
        release_of(str(missing.get("base")), str(missing.get("number"))),
    )
    return wanted is not None and wanted != there and {"lib": missing.get("lib"), "have": "oneAPI " + str(there)}


@rule("intel-oneapi-version-mismatch", "likely")
def folder_has_a_file_of_another_number(
    wanted: Symptom = seen("oneapi-dll-named-alone"), there: Symptom = seen("oneapi-dll-in-a-folder")
) -> Verdict:
    """Windows numbers these files by generation: one is asked for by its name, and the same of another number lies in a folder."""
    base, number = (str(there.get(name) or there.get(name + "2")) for name in ("base", "number"))
    same = base.lower() == str(wanted.base).lower()
    return same and number != wanted.number and {"lib": _dll(wanted.base, wanted.number), "have": _dll(base, number)}


def _dll(base: str, number: str) -> str:
    return f"{base}{'' if base.lower() == 'sycl' else '.'}{number}.dll"


@rule("intel-oneapi-version-mismatch", "likely")
def python_has_the_runtime_of_another_year(
    wanted: Symptom = seen("oneapi-dll-named-alone"), part: Package = one(name=_SYCL_PARTS), missed: Symptom = seen("oneapi-dll-not-found", "oneapi-dlls-not-found", "oneapi-dll-missed", "windows-finds-no-library-of-oneapi")
) -> Verdict:  # fmt: skip
    """A file of one year's generation is missed, and pip or conda brought another year's."""
    year = release_of("lib" + str(wanted.base).lower(), str(wanted.number))
    other = year is not None and not str(part.version).startswith(year)
    return other and {"lib": _dll(wanted.base, wanted.number), "have": f"{part.name} {part.version}", "said": missed.id}


# -- intel-oneapi-runtime-missing
@rule("intel-oneapi-runtime-missing", "likely")
def kit_is_not_known_to_the_shell(
    said: Symptom = seen("oneapi-is-not-activated", "oneapi-script-not-there"), torch: Torch | None = one(available=True), works: Torch | None = one(xpu_available=True),
    ready: Symptom | None = seen("oneapi-environment-loaded"),
) -> Verdict:  # fmt: skip
    """A program was to load oneAPI's environment, and its script is not there or was not run. Newer torch brings its own parts and does without."""
    return torch is None and works is None and ready is None and {"said": said.id}
