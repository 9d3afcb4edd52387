"""Builds, from pieces of output that show it in passing: a card's name, a signal's number, what worked otherwise."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.library import wanted_by_what_was_compiled
from rigup.diagnosis.rules.told import Told
from rigup.diagnosis.rules.wheels import ILLEGAL
from rigup.knowledge.chips import age_beside, why_not
from rigup.knowledge.cuda import version_key
from rigup.knowledge.gpus import one_gpu
from rigup.knowledge.torch_builds import build, builds
from rigup.machine.kinds import Cpu, Gpu, Package, SearchPath, Symptom, Toolkit, Torch, Variable

_NOT_OF_ONES_OWN = (
    "torch-named",
    "rocm-named",
    "rocm-named-in-lower-case",
    "rocm-named-with-a-capital",
    "gfx-named",
    "amd-radeon-named",
    "amd-rx-named",
)
_NO_IMAGE_ELSEWHERE = (
    "no-kernel-image-in-library", "ggml-no-kernel-image", "ggml-archs", "own-words-no-kernel-image", "runtime-call-no-kernel-image",
    "source-file-no-kernel-image", "bitsandbytes-symbol-not-found", "no-kernel-image-in-compiled-module",
    "no-kernel-image-by-another-programs-check", "no-kernel-image-by-name-and-number",
)  # fmt: skip
_SYMBOLS = ("cuda-symbol-undefined", "cuda-symbol-not-defined-at-link-time")
_FAULT = (
    "segmentation-fault",
    "segmentation-fault-signal",
    "kernel-logs-a-segfault",
    "exit-code-of-a-segfault",
    *ILLEGAL,
)


def _is_of_nvidia(name: str) -> bool:
    return re.fullmatch(r"nvidia-[a-z-]{3,30}-cu\d{2,3}", name) is not None


# -- torch and the card
@rule("gpu-arch-older-than-wheel", "likely")
def older_card_on_a_line(
    card: Symptom = seen("graphics-card-on-a-line"), _said: Symptom = seen("no-kernel-image"), torch: Torch = one(),
    known: Gpu | None = None, library: Symptom | None = seen(*_NO_IMAGE_ELSEWHERE),
) -> Verdict:  # fmt: skip
    """Somebody names his card beside torch's version, and torch has no code for it."""
    return known is None and library is None and _age(_isa(card), torch) == "older-chip"


@rule("gpu-arch-newer-than-wheel", "likely")
def newer_card_on_a_line(
    card: Symptom = seen("graphics-card-on-a-line"), _said: Symptom = seen("no-kernel-image"), torch: Torch = one(),
    known: Gpu | None = None, library: Symptom | None = seen(*_NO_IMAGE_ELSEWHERE),
) -> Verdict:  # fmt: skip
    """The same for a card that came after the build."""
    return known is None and library is None and _age(_isa(card), torch) == "newer-chip"


@rule("gpu-arch-newer-than-wheel", "likely")
def card_came_after_the_release(
    gpu: Gpu = one(vendor="nvidia"), _said: Symptom = seen("no-kernel-image", "cudnn-call-failed-on-the-device", "cublas-call-failed-on-the-device"), torch: Torch = one(),
    works: Torch | None = one(available=False), library: Symptom | None = seen(*_NO_IMAGE_ELSEWHERE),
) -> Verdict:  # fmt: skip
    """No build of that release, or of that CUDA, has code for the card; what it compiles from PTX fails in cuDNN."""
    return works is None and library is None and _age(gpu.isa, torch) == "newer-chip"


@rule("gpu-arch-newer-than-wheel", "likely")
def card_is_not_among_the_code(
    said: Symptom = seen(
        "card-not-among-torchs-code", "capability-beside-the-code-list", "capability-above-the-code-list"
    ),
    gpu: Gpu = one(vendor="nvidia"),
) -> Verdict:
    """A list of what torch was built for, and the capability beside it."""
    return _beside(said, gpu.isa) == "newer-chip"


@rule("gpu-arch-older-than-wheel", "likely")
def card_is_below_the_code(
    said: Symptom = seen(
        "card-not-among-torchs-code", "capability-beside-the-code-list", "capability-above-the-code-list"
    ),
    gpu: Gpu = one(vendor="nvidia"),
) -> Verdict:
    """The same from the other side."""
    return _beside(said, gpu.isa) == "older-chip"


def _beside(said: Symptom, isa: str) -> str:
    code = re.findall(r"(?:sm|compute)_\d{2,3}", str(said.code))
    return age_beside(why_not(isa, code), code) or ""


def _isa(card: Symptom) -> str:
    row = one_gpu(str(card.name))
    return (row.isa or "") if row and row.vendor == "nvidia" else ""


def _age(isa: str, torch: Torch) -> str:
    """Whether the card lies before or after what this torch was built for; "" where it is served, or nobody knows."""
    if not isa or torch.get("hip"):
        return ""
    code = list(torch.get("code") or []) or _code_of(torch)
    return (age_beside(why_not(isa, code), code) or "") if code else ""


def _code_of(torch: Torch) -> list[str]:
    """All that the builds of a release have; one from before the table has what the oldest CUDA in it has, at most."""
    release, cuda = str(torch.get("version") or "").partition("+")[0], torch.get("cuda")
    known = [row for row in builds() if row.code and row.cuda]
    mine = [row for row in known if row.torch == release]
    if release and not mine and version_key(release) < min(version_key(row.torch) for row in known):
        cuda = cuda or min((row.cuda for row in known), key=version_key)
        mine = known
    return sorted({code for row in mine if cuda in (None, row.cuda) for code in row.code})


@rule("binary-arch-missing", "likely")
def compiled_for_one_architecture(
    _told: Symptom = seen("nvcc-told-one-architecture"), _said: Symptom = seen("device-function-invalid"), amd: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """What was compiled for one architecture has no function for the card that is there."""
    return amd is None


@rule("binary-arch-missing", "possible")
def function_is_invalid_in_a_build_of_ones_own(
    _said: Symptom = seen("device-function-invalid"), other: Symptom | None = seen(*_NOT_OF_ONES_OWN), torch: Torch | None = None, amd: Gpu | None = one(vendor="amd"),
    released: Package | None = one(name=("torch", "tensorflow", "tensorflow-gpu", "cupy")),
) -> Verdict:  # fmt: skip
    """A wheel has a card's code or its framework says which it lacks; of a program that somebody compiled, nobody knows."""
    return other is None and torch is None and amd is None and released is None


# -- no code for any GPU
@rule("cpu-only-torch", "likely")
def conda_plans_a_cpu_build_and_a_program_wants_cuda(
    _plan: Symptom = seen("conda-plans-cpu-build"), _wanted: Symptom = seen("yolo-invalid-cuda", "torch-not-compiled-with-cuda", "lightning-accelerator-unavailable"),
    torch: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """What conda installs is for processors, and a program asks for CUDA."""
    return torch is None


@rule("cpu-only-torch", "likely")
def lightning_wants_a_gpu_of_a_cpu_build(
    _said: Symptom = seen("lightning-accelerator-unavailable"), shown: Symptom = seen("torch-cpu-version-told"), torch: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """The version names the build, and the trainer finds no accelerator."""
    return torch is None and bool(shown.version)


# -- the processor
@rule("cpu-instruction-set-missing", "likely")
def ended_with_the_number_of_the_signal(
    _said: Symptom = seen("exit-code-of-an-illegal-instruction"), cpu: Cpu | None = None, amx: Symptom | None = seen("amx-frame", "amx-tile-load")
) -> Verdict:  # fmt: skip
    """132 is 128 and the number of SIGILL."""
    flags = list(cpu.get("flags") or []) if cpu is not None else []
    return amx is None and not {"avx", "avx2", "avx512f"} <= set(flags)


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


# -- packages and libraries
@rule("pip-cuda-mix", "likely")
def linker_of_another_minor_than_torch(
    package: Package = one(name=Told(_is_of_nvidia)), torch: Torch = one(), said: Symptom = seen(*_SYMBOLS)
) -> Verdict:
    """nvJitLink counts as CUDA does: another minor than torch's is of another CUDA."""
    row = build(str(torch.get("version"))) if torch.get("version") else None
    cuda = str(torch.get("cuda") or (row.cuda if row else "") or "")
    mine = ".".join(str(package.version).split(".")[:2])
    apart = package.name.startswith("nvidia-nvjitlink") and bool(cuda) and version_key(mine) != version_key(cuda)
    return apart and {"one": package.name, "symbol": said.symbol}


@rule("pip-cuda-mix", "likely")
def pip_names_another_release(
    told: Symptom = seen("pip-check-nvidia-package"), _said: Symptom = seen(*_SYMBOLS, "cuda-library-not-found")
) -> Verdict:
    """pip says that a library is not the one that torch asks for, and torch misses a symbol."""
    return {"one": told.package}


@rule("pip-cuda-mix", "likely")
def one_library_twice(
    one_of: Package = one(name=Told(_is_of_nvidia)), other: Package = one(name=Told(_is_of_nvidia)), _said: Symptom = seen(*_SYMBOLS)
) -> Verdict:  # fmt: skip
    """`nvidia-cublas-cu11` and `nvidia-cublas-cu117` bring one file."""
    same = one_of.name.rpartition("-cu")[0] == other.name.rpartition("-cu")[0] and one_of.name < other.name
    return same and one_of.get("env") == other.get("env") and {"one": one_of.name, "other": other.name}


@rule("library-clash-ld-library-path", "likely")
def torchs_library_is_led_elsewhere(
    _asked: Symptom = seen("ldd-of-torchs-library"), shown: Symptom = seen("ldd-cuda-library"), way: Variable | None = one(name="LD_LIBRARY_PATH"),
    path: SearchPath | None = one(variable="LD_LIBRARY_PATH"), module: Symptom | None = seen("environment-module-of-cuda"),
) -> Verdict:  # fmt: skip
    """ldd of torch's own library ends in a folder of another toolkit, and the way there is shown."""
    return bool(way or path or module) and {"folder": shown.path, "lib": shown.lib}


@rule("library-clash-ld-library-path", "likely")
def nccl_of_another_cuda(
    banner: Symptom = seen("nccl-banner"), torch: Torch = one(cuda=Told(bool)), way: Symptom = seen("module-of-nccl-listed", "environment-module-of-cuda")
) -> Verdict:  # fmt: skip
    """NCCL says of which CUDA it is, torch is of another major, and a module brought it."""
    other = str(banner.cuda).partition(".")[0] != str(torch.cuda).partition(".")[0]
    return other and {"folder": way.module, "lib": "libnccl.so.2"}


# -- compiling
@rule("nvcc-differs-from-torch-cuda", "likely")
def symbol_of_a_newer_minor(
    told: Symptom = seen("detected-cuda-of-another-minor"), _said: Symptom = seen("symbol-unknown-to-this-toolkit")
) -> Verdict:
    """torch's headers use what a minor release added; torch calls the difference harmless."""
    return version_key(told.have) < version_key(told.want) and {"have": told.have, "want": told.want}


@rule("nvcc-differs-from-torch-cuda", "likely")
def extension_fails_with_another_compiler(
    _failed: Symptom = seen("extension-not-built", "torchs-check-of-the-compiler"), torch: Torch = one(cuda=Told(bool)), toolkit: Toolkit | None = one(name="cuda"),
    nvcc: Symptom | None = seen("nvcc-answers"),
) -> Verdict:  # fmt: skip
    """torch's own builder failed, and the only nvcc that is shown is of another major."""
    have = str((toolkit.get("version") if toolkit else None) or (nvcc.version if nvcc else ""))
    return bool(have) and have.partition(".")[0] != str(torch.cuda).partition(".")[0] and {"want": torch.cuda}


@rule("nvcc-differs-from-torch-cuda", "likely")
def compiled_by_that_nvcc_and_its_library_is_wanted(
    said: Symptom = seen("cuda-library-not-found"), nvcc: Symptom = seen("nvcc-answers"), torch: Torch = one(cuda=Told(bool))
) -> Verdict:  # fmt: skip
    """What asks for the library was compiled by the nvcc that is shown, and torch is of another CUDA."""
    return wanted_by_what_was_compiled(said, nvcc, torch) and {"want": torch.cuda}
