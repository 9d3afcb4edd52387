"""The program uses instructions that this processor does not offer."""

from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.conda_forge import channel
from rigup.knowledge.program_builds import PlainBuild, never_had_avx, plain_builds
from rigup.machine.kinds import Cpu, Gpu, Package, Platform, Symptom

_EMULATED = ("QEMU", "KVM")
_GUESTS = "guest-processor-made-up"


@rule("cpu-instruction-set-missing", "likely")
def library_wants_avx(
    symptom: Symptom = seen("jaxlib-wants-avx"),
    chip: Gpu | None = one(vendor="apple"),
    named: Symptom | None = seen("apple-chip-named", "macos-named", "mac-named"),
) -> Verdict:
    """Elsewhere the processor, or what a virtual machine shows of it, is at fault."""
    return chip is None and named is None and {"said": symptom.id}


@rule("cpu-instruction-set-missing")
def tensorflow_wants_more(
    symptom: Symptom = seen("tf-instructions-missing"),
    chip: Gpu | None = one(vendor="apple"),
    named: Symptom | None = seen("apple-chip-named"),
) -> Verdict:
    """It names what it was compiled for; under Rosetta it is the build that is another processor's."""
    return chip is None and named is None and {"want": symptom.get("want")}


@rule("cpu-instruction-set-missing")
def processor_lacks_what_wheels_use(_said: Symptom = seen(tag="illegal-instruction"), cpu: Cpu = one()) -> Verdict:
    """No AVX or AVX2: what today's wheels are compiled for."""
    missing = next((name for name in ("avx", "avx2") if name not in cpu.flags), None)  # without the first there is no second
    return "sse2" in cpu.flags and missing is not None and {"want": missing.upper()}


@rule("cpu-instruction-set-missing", "likely")
def killed_by_an_instruction(
    _said: Symptom = seen(tag="illegal-instruction"),
    cpu: Cpu | None = None,
    tile: Symptom | None = seen("amx-tile-load", "amx-frame", "swift-ended-itself"),
) -> Verdict:
    """The processor refused an instruction; which ones it has is not told."""
    return tile is None and (cpu is None or not cpu.knows("flags"))


@text_rule("cpu-instruction-set-missing", "possible")
def engine_takes_no_gpu_beside_such_a_processor(
    _program: Symptom = seen("ollama-named"),
    cpu: Cpu = one(),
    card: Gpu = one(vendor=("nvidia", "amd")),
    served: Symptom | None = seen("ggml-finds-devices", tag="ollama-served"),
) -> Verdict:
    """What is built of llama.cpp for GPUs is compiled with AVX, the engine's own part too."""
    flags = cpu.get("flags") or []
    return served is None and "sse2" in flags and "avx" not in flags and bool(card.vendor) and {"want": "AVX"}


@mends("cpu-instruction-set-missing")
def where_the_instructions_are_hidden(
    knew: Params,
    platform: Platform | None = None,
    cpu: Cpu | None = None,
    guests: Symptom | None = seen(_GUESTS, "guest-processor-named", "guest-processor-of-a-level-named"),
    numbered: Symptom | None = seen("proxmox-guest-numbered"),
) -> Params:
    """A guest is shown less than its processor has; on a machine of one's own there is nothing to be shown."""
    emulated = cpu is not None and any(mark in str(cpu.get("model") or "") for mark in _EMULATED)
    guest = emulated or guests is not None or bool(platform and platform.get("hypervisor"))
    bare = platform is not None and platform.knows("hypervisor") and not guest
    want = str(knew.get("want") or knew.get("need") or "")
    return {
        "numbered": numbered.guest if guest and numbered else None,
        "guest": "guest" if guest and not numbered else None,
        "perhaps": None if guest or bare or (cpu is not None and never_had_avx(str(cpu.get("model") or ""))) else "perhaps",
        "want": (want.upper() if want.isalnum() else want) or None,
        "bare_want": (want.upper() if want.isalnum() else want) or None,
        "any_build": "older",
    }


@mends("cpu-instruction-set-missing")
def package_of_the_program(knew: Params, package: Package) -> Params:
    """What was installed, where a row knows it."""
    return _of(knew, next((row for row in plain_builds() if package.name in row.packages), None))


@mends("cpu-instruction-set-missing")
def program_that_speaks(knew: Params, symptom: Symptom = seen(*(said for row in plain_builds() for said in row.says))) -> Params:
    """By its own words, or the command that starts it."""
    return _of(knew, next((row for row in plain_builds() if symptom.id in row.says), None))


@mends("cpu-instruction-set-missing")
def library_that_faulted(knew: Params, fault: Symptom = seen("kernel-invalid-opcode")) -> Params:
    """The kernel names the file in which it was."""
    lib = str(fault.get("lib") or "")
    return _of(knew, next((row for row in plain_builds() if lib.startswith(tuple(row.libs) or ("/",))), None))


def _of(knew: Params, row: PlainBuild | None) -> Params:
    """Builds that do without AVX do without all that came after it."""
    if row is None or "AVX" not in str(knew.get("want") or "AVX"):
        return {}
    conda = row.conda or None
    return {
        "conda": conda,
        "channel": channel(),
        "environment": f"{conda}-without-avx" if conda else None,
        "elsewhere": "AVX" if conda else None,
        "plain_program": row.program if row.option else None,
        "option": row.option or None,
        "engine": row.program if row.newer else None,
        "newer": row.newer or None,
        "bare_want": None,
        "any_build": None,
    }


def up_to_avx2(cpu: Cpu) -> bool:
    """Whether a processor has AVX2 and nothing after it."""
    return "avx2" in cpu.flags and "avx512f" not in cpu.flags


def with_avx2(flags: list[str]) -> bool:
    """Whether AVX2 is among the flags."""
    return "avx2" in flags
