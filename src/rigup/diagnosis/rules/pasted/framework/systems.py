"""Wheels that this system or processor cannot run: its libc, its instructions."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.reckoned import known_libc
from rigup.diagnosis.rules.pasted.unserved import COMPILED, offered_nothing
from rigup.diagnosis.rules.wheels import libc_of
from rigup.knowledge.cuda import version_key
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.pythons import pythons, supported
from rigup.machine.kinds import Cpu, Distribution, Gpu, Platform, PythonEnv, Symptom

_OF_WHEELS = "2.17"  # what manylinux2014 asks for: no wheel of today is made for an older one
_OLDER_LIBC = lazy_regex(r"manylinux_2_(?:\d|1\d|2[0-7])_(?:x86_64|aarch64)")


def up_to_avx2(cpu: Cpu) -> bool:
    """Whether a processor has AVX2 and nothing after it."""
    return "avx2" in cpu.flags and "avx512f" not in cpu.flags


def with_avx2(flags: list[str]) -> bool:
    """Whether AVX2 is among the flags."""
    return "avx2" in flags


@rule("glibc-too-old-for-wheel", "likely")
def symbols_of_a_newer_libc_are_listed(
    wanted: Symptom = seen("glibc-symbol-listed"), system: Distribution = one()
) -> Verdict:
    """A library's own list of what it wants, and the libc that is there."""
    have = str(system.get("glibc") or "")
    return bool(have) and version_key(have) < version_key(wanted.want) and {"have": have, "want": wanted.want}


@rule("glibc-too-old-for-wheel", "likely")
def offers_end_before_what_is_asked(
    symptom: Symptom = seen("pip-no-version"), system: Distribution | None = None, statement: Symptom | None = seen("older-centos-in-words"),
    python: PythonEnv | None = None, offline: Symptom | None = seen(tag="pip-index-not-reached"),
) -> Verdict:  # fmt: skip
    """pip offers older releases alone, or none where no wheel is made for so old a libc; the Python is not to blame."""
    have, asked = known_libc(system, statement), str(symptom.get("asked") or "").lstrip("= ")
    if offline is not None or not have or not symptom.get("offered"):
        return False
    if python is not None and supported(symptom.name, python.version, asked.partition("+")[0]) is False:
        return False
    newest = str(symptom.offered).rpartition(",")[2].strip()
    none = newest == "none" and version_key(have) < version_key(_OF_WHEELS)
    older = newest != "none" and bool(asked) and version_key(newest) < version_key(asked)
    return (none or (older and version_key(have) < (2, 28))) and {"have": have, "file": symptom.name}


@rule("glibc-too-old-for-wheel", "likely")
def musl_has_no_wheels(
    symptom: Symptom = seen(tag="pip-offers-none"),
    system: Distribution = one(id="alpine"),
    python: PythonEnv | None = None,
) -> Verdict:
    """There is no wheel for musl, where others have one for every Python that is in use."""
    name = offered_nothing(symptom)
    fits = python is None or not python.knows("version") or supported(name, python.version) is not False
    return fits and bool(name and (pythons(name) or COMPILED.fullmatch(name))) and {"want": None, "have": system.id}


@rule("glibc-too-old-for-wheel", "likely")
def offered_wheels_are_for_glibc(symptom: Symptom = seen("uv-other-platform-only")) -> Verdict:
    """The system is built on musl, and what is offered for its processor is not."""
    match = re.fullmatch(r"musllinux_\d_\d{1,2}_(\w{3,12})", str(symptom.have))
    offered = match and re.search(r"manylinux\w{1,20}_" + match[1] + r"\b", str(symptom.offered))
    return bool(offered) and {"want": None, "have": "musl", "file": symptom.name}


@rule("glibc-too-old-for-wheel", "possible")
def older_libc_and_the_offer_is_cut(
    symptom: Symptom = seen("uv-no-platform-tag"), offer: Symptom | None = seen("uv-wheels-for-platforms")
) -> Verdict:
    """uv names what the system takes; wheels of its processor are mostly made for a newer libc."""
    return (
        offer is None
        and bool(_OLDER_LIBC.fullmatch(str(symptom.have)))
        and {"have": symptom.have, "file": symptom.name}
    )


@rule("glibc-too-old-for-wheel", "likely")
def wheel_is_for_any_python_and_was_refused(
    symptom: Symptom = seen("wheel-tag-refused"), platform: Platform | None = one(system=("windows", "macos")), arm: Symptom | None = seen(tag="arm-shown")
) -> Verdict:  # fmt: skip
    """`abi3` and `py3` serve every later Python; what is left of the tag is the libc."""
    any_python = symptom.get("abi") == "abi3" or str(symptom.get("tag")).startswith("py3")
    newer = re.match(r"manylinux_2_(2[89]|3\d|4\d)_x86_64", str(symptom.get("os")))
    fits = any_python and newer is not None and platform is None and arm is None
    return fits and {"want": f"2.{newer[1] if newer else ''}", "file": symptom.name}


@rule("glibc-too-old-for-wheel", "likely")
def wheel_that_was_asked_for_is_for_a_newer_libc(
    symptom: Symptom = seen("wheel-with-a-tag-is-installed"), system: Distribution = one()
) -> Verdict:
    """The file's name tells for which libc it was made, and the system's is older."""
    have, wanted = libc_of(system), [int(minor) for minor in re.findall(r"manylinux_2_(\d{1,2})", str(symptom.os))]
    older = bool(have and wanted) and have != "musl" and version_key(have) < (2, min(wanted))
    return older and {"want": f"2.{min(wanted)}", "have": have, "file": symptom.name}


@rule("cpu-instruction-set-missing", "possible")
def engine_takes_no_gpu_beside_such_a_processor(
    _program: Symptom = seen("ollama-named"), cpu: Cpu = one(), card: Gpu = one(vendor=("nvidia", "amd")), served: Symptom | None = seen("ggml-finds-devices", tag="ollama-served"),
) -> Verdict:  # fmt: skip
    """What is built of llama.cpp for GPUs is compiled with AVX, the engine's own part too."""
    flags = cpu.get("flags") or []
    return served is None and "sse2" in flags and "avx" not in flags and bool(card.vendor) and {"want": "AVX"}
