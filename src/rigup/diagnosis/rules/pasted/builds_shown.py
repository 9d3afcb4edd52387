"""Builds, from pieces of output that show it in passing: a card's name, a signal's number, what worked otherwise."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.told import Told
from rigup.diagnosis.rules.wheels import ILLEGAL
from rigup.knowledge.chips import age_beside, why_not
from rigup.knowledge.cuda import version_key
from rigup.knowledge.gpus import one_gpu
from rigup.knowledge.pythons import pythons, tensorflow_on_windows
from rigup.knowledge.torch_builds import build, builds
from rigup.machine.kinds import (
    Cpu,
    Distribution,
    Gpu,
    Jetson,
    Package,
    Platform,
    PythonEnv,
    SearchPath,
    Symptom,
    TensorFlow,
    Toolkit,
    Torch,
    Variable,
)

_CARDS = ("graphics-card-on-a-line", "nvidia-geforce-named")
_NO_IMAGE_ELSEWHERE = (
    "no-kernel-image-in-library", "ggml-no-kernel-image", "ggml-archs", "own-words-no-kernel-image", "runtime-call-no-kernel-image",
    "source-file-no-kernel-image", "bitsandbytes-symbol-not-found", "no-kernel-image-in-compiled-module",
)  # fmt: skip
_SYMBOLS = ("cuda-symbol-undefined", "cuda-symbol-not-defined-at-link-time")
_UNREACHABLE = ("pip-connection-broken", "pip-could-not-fetch")
_TF_OF_WINDOWS = "tensorflow-intel-told"
_FAULT = ("segmentation-fault", "segmentation-fault-signal", "kernel-logs-a-segfault", *ILLEGAL)


def _is_gpu_package(name: str) -> bool:
    """Compiled for one CUDA or for GPUs: such packages have wheels for certain Pythons alone."""
    return re.search(r"-gpu$|-cu(?:da)?\d{2,3}x?$", name) is not None and not name.startswith("nvidia-")


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
    gpu: Gpu = one(vendor="nvidia"), _said: Symptom = seen("no-kernel-image", "cudnn-call-failed-on-the-device"), torch: Torch = one(),
    works: Torch | None = one(available=False), library: Symptom | None = seen(*_NO_IMAGE_ELSEWHERE),
) -> Verdict:  # fmt: skip
    """No build of that release, or of that CUDA, has code for the card; what it compiles from PTX fails in cuDNN."""
    return works is None and library is None and _age(gpu.isa, torch) == "newer-chip"


@rule("gpu-arch-newer-than-wheel", "likely")
def card_is_not_among_the_code(
    said: Symptom = seen("card-not-among-torchs-code", "capability-beside-the-code-list"),
    gpu: Gpu = one(vendor="nvidia"),
) -> Verdict:
    """A list of what torch was built for, and the capability beside it."""
    return _beside(said, gpu.isa) == "newer-chip"


@rule("gpu-arch-older-than-wheel", "likely")
def card_is_below_the_code(
    said: Symptom = seen("card-not-among-torchs-code", "capability-beside-the-code-list"),
    gpu: Gpu = one(vendor="nvidia"),
) -> Verdict:
    """The same from the other side."""
    return _beside(said, gpu.isa) == "older-chip"


def _beside(said: Symptom, isa: str) -> str:
    code = re.findall(r"(?:sm|compute)_\d{2,3}", str(said.code))
    return age_beside(why_not(isa, code), code) or ""


def _isa(card: Symptom) -> str:
    row = one_gpu(str(card.name))
    return row.isa if row and row.vendor == "nvidia" else ""


def _age(isa: str, torch: Torch) -> str:
    """Whether the card lies before or after what this torch was built for; "" where it is served, or nobody knows."""
    if not isa or torch.get("hip"):
        return ""
    code = list(torch.get("code") or []) or _code_of(torch)
    return age_beside(why_not(isa, code), code) or "" if code else ""


def _code_of(torch: Torch) -> list[str]:
    """All that the builds of a release have; a release from before the table has what the oldest one in it has, at most."""
    release = str(torch.get("version") or "").partition("+")[0]
    if not release:
        return []
    known = [row for row in builds() if row.code and row.cuda]
    mine = [row for row in known if row.torch == release]
    oldest = min(known, key=lambda row: version_key(row.torch)).torch
    if not mine and version_key(release) < version_key(oldest):
        mine = [row for row in known if row.torch == oldest]
    return sorted({code for row in mine for code in row.code})


@rule("binary-arch-missing", "likely")
def compiled_for_one_architecture(
    _told: Symptom = seen("nvcc-told-one-architecture"), _said: Symptom = seen("device-function-invalid"), amd: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """What was compiled for one architecture has no function for the card that is there."""
    return amd is None


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


# -- cuDNN
@rule("cudnn-version-incompatible", "likely")
def dnn_library_beside_another_release(
    _said: Symptom = seen("tf-dnn-not-initialised"), cudnn: Package = one(manager="conda", name="cudnn"),
    _tf: Package = one(name=("tensorflow", "tensorflow-gpu"), manager="pip"),
) -> Verdict:  # fmt: skip
    """pip's TensorFlow and conda's cuDNN: nobody matched the one with the other."""
    return {"found": cudnn.version}


# -- another system
@rule("extension-without-platform-build", "likely")
def wheel_of_another_system(
    said: Symptom = seen("wheel-tag-refused"),
    platform: Platform = one(system="windows"),
    python: PythonEnv | None = None,
) -> Verdict:
    """`linux_x86_64` in a wheel's name, on Windows; the Python fits or is not told."""
    tag = str(said.tag).split(".")[0]
    fits = python is None or not tag.startswith("cp") or tag == "cp" + "".join(str(python.version).split(".")[:2])
    return platform.get("wsl") is None and "linux" in str(said.os) and fits and {"name": said.name}


@rule("extension-without-platform-build", "likely")
def folder_of_libraries_for_linux(
    _said: Symptom = seen("no-valid-windows-program"), shown: Symptom = seen("libraries-of-linux-listed")
) -> Verdict:
    """Windows refuses the file, and the folder holds libraries for Linux."""
    return {"said": shown.id}


@rule("extension-without-platform-build", "likely")
def nothing_of_triton_for_windows(
    said: Symptom = seen("pip-no-version"), platform: Platform = one(system="windows"), offline: Symptom | None = seen(*_UNREACHABLE)
) -> Verdict:  # fmt: skip
    """Its makers publish it for Linux alone."""
    named = said.name in ("triton", "vllm", "deepspeed") and said.get("offered") in ("none", "", None)
    return offline is None and named and platform.get("wsl") is None and {"name": said.name}


@rule("extension-without-platform-build", "likely")
def vllm_without_unixs_modules(
    said: Symptom = seen("module-of-unix-alone"), platform: Platform = one(system="windows")
) -> Verdict:
    """The module belongs to Unix; the program that imports it was never made for Windows."""
    return platform.get("wsl") is None and {"name": said.module}


@rule("extension-without-platform-build", "likely")
def library_of_another_processor(
    said: Symptom = seen("library-for-another-processor"), arm: Symptom | None = seen("processor-of-arm-answers", "aarch64-in-words"), jetson: Jetson | None = None,
) -> Verdict:  # fmt: skip
    """`file` names the processor that a library was compiled for, and the machine has another."""
    return said.machine == "x86-64" and bool(arm or jetson) and {"name": said.name}


# -- the libc
@rule("glibc-too-old-for-wheel", "likely")
def symbols_of_a_newer_libc_are_listed(
    wanted: Symptom = seen("glibc-symbol-listed"), system: Distribution = one()
) -> Verdict:
    """A library's own list of what it wants, and the libc that is there."""
    have = str(system.get("glibc") or "")
    return bool(have) and version_key(have) < version_key(wanted.want) and {"have": have, "want": wanted.want}


# -- the Python
@rule("python-version-without-wheels", "likely")
def gpu_package_is_offered_later_only(
    said: Symptom = seen("pip-no-version"), python: PythonEnv = one(), offline: Symptom | None = seen(*_UNREACHABLE)
) -> Verdict:
    """A compiled package whose Pythons no table lists: all that this Python is offered is newer than what was asked for."""
    asked, first = str(said.get("asked") or ""), str(said.get("offered") or "").partition(",")[0].strip()
    alone = asked.startswith("==") and _is_gpu_package(said.name) and not pythons(said.name) and offline is None
    later = first not in ("", "none") and version_key(asked.lstrip("= ")) < version_key(first)
    return alone and later and {"name": said.name, "have": python.version}


@rule("python-version-without-wheels", "possible")
def gpu_package_is_not_offered(
    said: Symptom = seen("pip-no-version"), python: PythonEnv = one(), offline: Symptom | None = seen(*_UNREACHABLE), alone: Symptom | None = seen("pip-single-index"),
) -> Verdict:  # fmt: skip
    """Nothing at all is offered of such a package; the Python is told beside it."""
    nothing = said.get("offered") == "none" and offline is None and alone is None
    return nothing and _is_gpu_package(said.name) and not pythons(said.name) and {"name": said.name}


@rule("python-version-without-wheels", "possible")
def index_had_nothing_for_a_recent_python(
    said: Symptom = seen("pip-no-version"), python: PythonEnv = one(), index: Symptom = seen("pip-looks-in"), offline: Symptom | None = seen(*_UNREACHABLE),
    mac: Platform | None = one(system="macos"),
) -> Verdict:  # fmt: skip
    """torch's own index had nothing; wheels for the newest Pythons came there months after them."""
    nothing = said.name == "torch" and said.get("offered") == "none" and not said.get("asked")
    recent = version_key(python.version)[:2] in [version_key(row)[:2] for row in pythons("torch")[:3]]
    return nothing and recent and offline is None and mac is None and bool(index) and {"have": python.version}


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
    made = re.fullmatch(r"libcudart\.so\.(\d{1,2}\.\d)", str(said.lib))
    other = str(nvcc.version).partition(".")[0] != str(torch.cuda).partition(".")[0]
    return bool(made) and other and str(said.lib).endswith(str(nvcc.version)) and {"want": torch.cuda}


# -- TensorFlow
@rule("tensorflow-windows-no-gpu", "likely")
def package_of_windows_and_somebody_names_a_card(
    package: Package = one(name="tensorflow-intel"), card: Symptom | None = seen(*_CARDS), toolkit: Symptom | None = seen("cuda-toolkit-under-windows-named"),
    answered: TensorFlow | None = one(built_with_cuda=False),
) -> Verdict:  # fmt: skip
    """pip installs this package on Windows alone; a card, or CUDA's toolkit, stands beside it."""
    meant = bool(card or toolkit or answered)
    return tensorflow_on_windows(package.version) is False and meant and {"version": package.version}


@rule("tensorflow-windows-no-gpu", "likely")
def release_of_windows_and_somebody_names_cuda(
    answered: TensorFlow = one(), platform: Platform = one(system="windows"), card: Symptom | None = seen(*_CARDS),
    toolkit: Symptom | None = seen("cuda-toolkit-under-windows-named"), known: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A release without CUDA there, and what a GPU would need beside it."""
    without = tensorflow_on_windows(str(answered.get("version") or "")) is False
    return without and platform.get("wsl") is None and bool(card or toolkit or known)


@rule("tensorflow-cpu-build", "likely")
def says_no_to_cuda_and_somebody_names_a_card(
    answered: TensorFlow = one(built_with_cuda=False), _card: Symptom = seen(*_CARDS), platform: Platform | None = one(system=("windows", "macos")),
    intel: Symptom | None = seen(_TF_OF_WINDOWS),
) -> Verdict:  # fmt: skip
    """Built without CUDA, where a card is named."""
    return platform is None and intel is None and {"version": answered.get("version")}


@rule("tensorflow-cpu-build", "likely")
def plain_package_on_amd(
    _said: Symptom = seen("tf-built-without-rocm"),
    _card: Gpu = one(vendor="amd"),
    rocm: Package | None = one(name="tensorflow-rocm"),
) -> Verdict:
    """For AMD's cards there is a package of its own; this one was built without ROCm."""
    return rocm is None


@rule("tensorflow-cpu-build", "likely")
def package_for_processors_on_a_line(
    said: Symptom = seen("tensorflow-cpu-on-a-line"), _card: Symptom = seen(*_CARDS), platform: Platform | None = one(system=("windows", "macos")),
) -> Verdict:  # fmt: skip
    """The package's name says it, and a card is named on the same page."""
    return platform is None and {"version": said.version}


@rule("tensorflow-cpu-build", "likely")
def archs_package_for_processors(
    _package: Symptom = seen("tensorflow-of-arch-for-processors"), answered: TensorFlow = one(gpus=0)
) -> Verdict:
    """Arch has another package with CUDA; this one lists no GPU."""
    return {"version": answered.get("version")}


# -- Windows
@rule("windows-paging-file-too-small", "likely")
def page_file_was_full(
    usage: Symptom = seen("windows-page-file-usage"),
    _failed: Symptom = seen("spawned-worker-fails-to-start", "dataloader-worker-gone"),
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


def _number(shown: str) -> int:
    return int(re.sub(r"\D", "", shown))
