"""Wheels that this system or processor cannot run: its libc, its instructions."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.heard import ARM_SHOWN, INDEX_NOT_REACHED, OLLAMA_SERVED
from rigup.diagnosis.rules.pasted.reckoned import libc_told
from rigup.diagnosis.rules.pasted.unserved import COMPILED, NONE_OFFERED, offered_nothing
from rigup.diagnosis.rules.told import Told
from rigup.diagnosis.rules.wheels import ILLEGAL, libc_of
from rigup.knowledge.cuda import version_key
from rigup.knowledge.patterns import late
from rigup.knowledge.pythons import pythons, supported
from rigup.machine.kinds import Cpu, Distribution, Gpu, Platform, PythonEnv, Symptom

_FAULT = (
    "segmentation-fault",
    "segmentation-fault-signal",
    "kernel-logs-a-segfault",
    "exit-code-of-a-segfault",
    *ILLEGAL,
)
_OF_WHEELS = "2.17"  # what manylinux2014 asks for: no wheel of today is made for an older one
_OLDER_LIBC = late(r"manylinux_2_(?:\d|1\d|2[0-7])_(?:x86_64|aarch64)")


def _up_to_avx2(cpu: Cpu) -> bool:
    return "avx2" in cpu.flags and "avx512f" not in cpu.flags


def _with_avx2(flags: list[str]) -> bool:
    return "avx2" in flags


# -- glibc-too-old-for-wheel
@rule("glibc-too-old-for-wheel", "likely")
def symbols_of_a_newer_libc_are_listed(
    wanted: Symptom = seen("glibc-symbol-listed"), system: Distribution = one()
) -> Verdict:
    """A library's own list of what it wants, and the libc that is there."""
    have = str(system.get("glibc") or "")
    return bool(have) and version_key(have) < version_key(wanted.want) and {"have": have, "want": wanted.want}


@rule("glibc-too-old-for-wheel", "likely")
def offers_end_before_what_is_asked(
    said: Symptom = seen("pip-no-version"), system: Distribution | None = None, told: Symptom | None = seen("older-centos-in-words"),
    python: PythonEnv | None = None, offline: Symptom | None = seen(*INDEX_NOT_REACHED),
) -> Verdict:  # fmt: skip
    """pip offers older releases alone, or none where no wheel is made for so old a libc; the Python is not to blame."""
    have, asked = libc_told(system, told), str(said.get("asked") or "").lstrip("= ")
    if offline is not None or not have or not said.get("offered"):
        return False
    if python is not None and supported(said.name, python.version, asked.partition("+")[0]) is False:
        return False
    newest = str(said.offered).rpartition(",")[2].strip()
    none = newest == "none" and version_key(have) < version_key(_OF_WHEELS)
    older = newest != "none" and bool(asked) and version_key(newest) < version_key(asked)
    return (none or (older and version_key(have) < (2, 28))) and {"have": have, "file": said.name}


@rule("glibc-too-old-for-wheel", "likely")
def musl_has_no_wheels(
    said: Symptom = seen(*NONE_OFFERED), system: Distribution = one(id="alpine"), python: PythonEnv | None = None
) -> Verdict:
    """There is no wheel for musl, where others have one for every Python that is in use."""
    name = offered_nothing(said)
    fits = python is None or not python.knows("version") or supported(name, python.version) is not False
    return fits and bool(name and (pythons(name) or COMPILED.fullmatch(name))) and {"want": None, "have": system.id}


@rule("glibc-too-old-for-wheel", "likely")
def offered_wheels_are_for_glibc(said: Symptom = seen("uv-other-platform-only")) -> Verdict:
    """The system is built on musl, and what is offered for its processor is not."""
    found = re.fullmatch(r"musllinux_\d_\d{1,2}_(\w{3,12})", str(said.have))
    offered = found and re.search(r"manylinux\w{1,20}_" + found[1] + r"\b", str(said.offered))
    return bool(offered) and {"want": None, "have": "musl", "file": said.name}


@rule("glibc-too-old-for-wheel", "possible")
def older_libc_and_the_offer_is_cut(
    said: Symptom = seen("uv-no-platform-tag"), offer: Symptom | None = seen("uv-wheels-for-platforms")
) -> Verdict:
    """uv names what the system takes; wheels of its processor are mostly made for a newer libc."""
    return offer is None and bool(_OLDER_LIBC.fullmatch(str(said.have))) and {"have": said.have, "file": said.name}


@rule("glibc-too-old-for-wheel", "likely")
def wheel_is_for_any_python_and_was_refused(
    said: Symptom = seen("wheel-tag-refused"), platform: Platform | None = one(system=("windows", "macos")), arm: Symptom | None = seen(*ARM_SHOWN)
) -> Verdict:  # fmt: skip
    """`abi3` and `py3` serve every later Python; what is left of the tag is the libc."""
    any_python = said.get("abi") == "abi3" or str(said.get("tag")).startswith("py3")
    newer = re.match(r"manylinux_2_(2[89]|3\d|4\d)_x86_64", str(said.get("os")))
    fits = any_python and newer is not None and platform is None and arm is None
    return fits and {"want": f"2.{newer[1] if newer else ''}", "file": said.name}


@rule("glibc-too-old-for-wheel", "likely")
def wheel_that_was_asked_for_is_for_a_newer_libc(
    said: Symptom = seen("wheel-with-a-tag-is-installed"), system: Distribution = one()
) -> Verdict:
    """The file's name tells for which libc it was made, and the system's is older."""
    have, wanted = libc_of(system), [int(minor) for minor in re.findall(r"manylinux_2_(\d{1,2})", str(said.os))]
    older = bool(have and wanted) and have != "musl" and version_key(have) < (2, min(wanted))
    return older and {"want": f"2.{min(wanted)}", "have": have, "file": said.name}


@rule("glibc-too-old-for-wheel", "likely")
def refused_wheel_is_not_for_musl(
    said: Symptom = seen("wheel-tag-refused"), system: Distribution = one(id="alpine")
) -> Verdict:
    """`manylinux` means glibc."""
    return str(said.get("os")).startswith("manylinux") and {
        "want": None,
        "have": "musl",
        "file": said.name,
        "distro": system.id,
    }


@rule("glibc-too-old-for-wheel", "likely")
def library_of_glibc_beside_musl(
    _libc: Symptom = seen("musl-is-the-libc-that-is-listed"), said: Symptom = seen("onnxruntime-says-no-reason")
) -> Verdict:
    """ldd resolves a library that was made for glibc by musl, and the program that loads it gives no reason."""
    return {"want": None, "have": "musl", "said": said.id}


# -- cpu-instruction-set-missing
@rule("cpu-instruction-set-missing", "likely")
def ended_with_the_number_of_the_signal(
    _said: Symptom = seen("exit-code-of-an-illegal-instruction"), cpu: Cpu | None = None, amx: Symptom | None = seen("amx-frame", "amx-tile-load")
) -> Verdict:  # fmt: skip
    """132 is 128 and the number of SIGILL."""
    flags = list(cpu.get("flags") or []) if cpu is not None else []
    return amx is None and not {"avx", "avx2", "avx512f"} <= set(flags)


@rule("cpu-instruction-set-missing", "likely")
def fault_at_an_instruction_of_avx512(
    _said: Symptom = seen(*ILLEGAL), _at: Symptom = seen("avx512-at-the-fault"), cpu: Cpu = one()
) -> Verdict:
    """AVX2 is there; what faulted is of AVX-512, which is not."""
    return _up_to_avx2(cpu) and {"want": "AVX512F"}


@rule("cpu-instruction-set-missing", "possible")
def fault_at_an_instruction_that_nobody_shows(_said: Symptom = seen(*ILLEGAL), cpu: Cpu = one()) -> Verdict:
    """AVX2 is there, and more than AVX2 is not: a build for newer processors is the likeliest reason."""
    return _up_to_avx2(cpu) and {"want": "AVX512F"}


@rule("cpu-instruction-set-missing", "possible")
def shell_tells_of_an_illegal_instruction(
    said: Symptom = seen("illegal-hardware-instruction"), mac: Symptom | None = seen("apple-chip-named", "apple-silicon-in-words", "apple-chip-in-words")
) -> Verdict:  # fmt: skip
    """zsh's words for the same signal."""
    return mac is None and {"said": said.id}


@rule("cpu-instruction-set-missing", "possible")
def engine_takes_no_gpu_beside_such_a_processor(
    _program: Symptom = seen("ollama-named"), cpu: Cpu = one(), card: Gpu = one(vendor=("nvidia", "amd")), served: Symptom | None = seen(*OLLAMA_SERVED, "ggml-finds-devices"),
) -> Verdict:  # fmt: skip
    """What is built of llama.cpp for GPUs is compiled with AVX, the engine's own part too."""
    flags = cpu.get("flags") or []
    return served is None and "sse2" in flags and "avx" not in flags and bool(card.vendor) and {"want": "AVX"}


@rule("cpu-instruction-set-missing", "likely")
def guest_was_given_a_made_up_processor(
    _said: Symptom = seen(*ILLEGAL), guest: Symptom = seen("guest-processor-made-up"), cpu: Cpu | None = one(flags=Told(_with_avx2)),
) -> Verdict:  # fmt: skip
    """QEMU's plainest processors have neither AVX nor AVX2, whatever the host has."""
    return cpu is None and {"want": "AVX, AVX2", "said": guest.id}


# -- amx-build-broken
@rule("amx-build-broken", "likely")
def works_with_amx_turned_off(
    _off: Symptom = seen("amx-turned-off"), fault: Symptom = seen(*_FAULT), _cpu: Symptom = seen("amx-among-the-flags", "server-processor-with-amx")
) -> Verdict:  # fmt: skip
    """It faults, and somebody builds it again without AMX on a processor that has it."""
    return {"said": fault.id}


@rule("amx-build-broken", "likely")
def fault_after_weights_were_repacked(
    _repacked: Symptom = seen("weights-repacked"), fault: Symptom = seen(*_FAULT), _cpu: Symptom = seen("amx-among-the-flags", "server-processor-with-amx")
) -> Verdict:  # fmt: skip
    """Repacking serves AMX there; without it the same runs."""
    return {"said": fault.id}


@rule("amx-build-broken", "likely")
def kernel_logs_a_fault_beside_amx(
    _buffer: Symptom = seen("amx-buffer", "amx-frame"), fault: Symptom = seen("kernel-logs-a-segfault")
) -> Verdict:
    """Weights lie in AMX's form, and the kernel logs the fault."""
    return {"said": fault.id}
