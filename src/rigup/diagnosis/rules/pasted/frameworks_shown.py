"""What frameworks other than torch, and programs that compute on GPUs, show of their surroundings: releases, figures of memory, cards by name."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.memory import size
from rigup.diagnosis.rules.told import Told
from rigup.knowledge.chips import why_not
from rigup.knowledge.cuda import driver_carries, driver_minimum, version_key
from rigup.knowledge.framework_cuda import came_after, cuda_of_package
from rigup.machine.kinds import Driver, Gpu, Package, PciDevice, Platform, PythonEnv, Symptom, TensorFlow, Torch

_OUT = ("program-out-of-gpu-memory", "program-out-of-gpu-memory-in-capitals", "onnxruntime-arena-out-of-memory")
_OUT_AT_START = ("cuda-out-of-memory-constant", "cuda-out-of-memory-plain", "tf-out-of-memory", *_OUT)
_ON_A_FULL_CARD = (
    *_OUT, "tf-out-of-memory", "tensorflow-did-not-copy-to-the-gpu", "xla-request-not-met", "tensorrt-out-of-memory", "cycles-was-refused-memory",
    "torch-allocation-on-device", "memory-refused-in-a-library-of-cuda", "rmm-pool-is-exhausted", "other-programs-out-of-gpu-memory",
    "opencl-was-refused-memory", "resolve-memory-full", "lmdeploy-has-no-room",
)  # fmt: skip
_FIGURES = ("paddle-memory-figures", "julia-memory-figures")
_NO_CODE = (
    "tf-runtime-start-image-invalid", "cuda-library-call-failed", "no-kernel-image", "device-function-invalid", "ptx-invalid",
    "no-kernel-image-by-another-programs-check",
    "tf-blas-launch-failed",
)  # fmt: skip
_NO_LIBRARY = (
    "tf-no-driver-in-kernel",
    "program-finds-no-library-of-the-driver",
    "cudarc-finds-no-library-of-the-driver",
    "hashcat-finds-nothing-to-compute-on",
)
_REACHED = ("pip-connection-broken", "pip-could-not-fetch")
_COMPILED = (
    "jaxlib", "triton", "numba", "llvmlite", "onnxruntime", "onnxruntime-gpu", "xformers", "spacy", "open3d", "tensorflow-gpu",
    "tensorflow-cpu", "paddlepaddle", "paddlepaddle-gpu", "mxnet", "dgl", "faiss-gpu", "ctranslate2", "tensorrt", "cntk",
    "cntk-gpu", "mindspore-gpu", "mindspore", "numpy", "scipy", "h5py", "mediapipe", "tflite-runtime",
)  # fmt: skip
_FRAMEWORKS = (
    "tensorflow", "mxnet-cu", "dgl-cu", "jaxlib", "paddlepaddle-gpu", "cupy-cuda", "onnxruntime-gpu", "cudf-cu", "cuml-cu", "rmm-cu", "pylibraft-cu",
)  # fmt: skip
_SMALL = 1 << 30  # bytes; what a process has that came to nothing
_FULL = 0.3  # share of a card that is left where others have taken it


def _has_a_cuda(name: str) -> bool:
    return name.startswith(_FRAMEWORKS)


# -- the driver
@rule("driver-too-old-for-wheel", "likely")
def framework_wants_more_than_the_driver_carries(
    package: Package = one(name=Told(_has_a_cuda)), driver: Driver = one(vendor="nvidia"), platform: Platform | None = None,
    torch: Torch | None = one(available=True), found: TensorFlow | None = one(gpus=Told(bool)),
) -> Verdict:  # fmt: skip
    """The release, or the package's own name, tells for which CUDA it was built."""
    system = "windows" if platform is not None and platform.get("system") == "windows" else "linux"
    cuda = cuda_of_package(package.name, str(package.get("version") or ""))
    if torch or found or not cuda or driver_carries(driver.version, cuda, system) is not False:
        return False
    return {"have": driver.version, "cuda": cuda, "branch": driver_minimum(cuda, system)}


@rule("driver-too-old-for-wheel", "likely")
def runtime_of_a_newer_major_than_the_drivers(
    said: Symptom = seen(
        "driver-api-beside-runtime",
        "cuda-driver-beside-runtime",
        "darknet-runtime-beside-driver",
        "julia-runtime-beside-driver",
        "gromacs-driver-beside-runtime",
    ),
) -> Verdict:
    """Both versions stand in one line; within one major from 11 on the difference is harmless."""
    carries, wants = _release(str(said.carries)), _release(str(said.wants))
    apart = carries[0] < wants[0] or (carries < wants and wants[0] < 11)
    return carries[0] > 0 and apart and {"have": said.carries, "cuda": said.wants}


def _release(told: str) -> tuple[int, int]:
    """`10.2` and `10020` alike."""
    if told.isdigit():
        return int(told) // 1000, int(told) % 1000 // 10
    return (*version_key(told), 0, 0)[0], (*version_key(told), 0, 0)[1]


@rule("nvidia-driver-missing", "possible")
def tensorflow_finds_no_driver_beside_a_card(
    said: Symptom = seen("tf-libcuda-not-loaded", "libcuda-not-found", *_NO_LIBRARY), card: PciDevice = one(vendor_id="10de"), driver: Driver | None = one(vendor="nvidia"),
    platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """The bus lists a card, the loader finds no library of the driver's, and no driver bound is shown."""
    guest = platform is not None and platform.get("wsl") is not None
    return driver is None and not guest and not card.get("driver") and not inside(said) and {"said": said.id}


# -- code for the card
@rule("gpu-arch-newer-than-wheel", "likely")
def framework_is_older_than_the_card(
    package: Package = one(name=Told(_has_a_cuda)), gpu: Gpu = one(vendor="nvidia"), said: Symptom = seen(*_NO_CODE)
) -> Verdict:
    """The CUDA that the release was built with does not know the card."""
    cuda = cuda_of_package(package.name, str(package.get("version") or ""))
    return bool(cuda) and came_after(gpu.isa, str(cuda)) and {"said": said.id, "have": package.get("version")}


@rule("gpu-arch-newer-than-wheel", "likely")
def tensorflow_is_older_than_the_card(
    answered: TensorFlow = one(), gpu: Gpu = one(vendor="nvidia"), said: Symptom = seen(*_NO_CODE)
) -> Verdict:
    """The same where TensorFlow itself told its release."""
    cuda = cuda_of_package("tensorflow-gpu", str(answered.version))
    return bool(cuda) and came_after(gpu.isa, str(cuda)) and {"said": said.id, "have": answered.version}


@rule("gpu-arch-newer-than-wheel", "likely")
def release_on_a_line_is_older_than_the_card(
    release: Symptom = seen("tensorflow-release-on-a-line"),
    gpu: Gpu = one(vendor="nvidia"),
    said: Symptom = seen(*_NO_CODE),
) -> Verdict:
    """Somebody names TensorFlow's release among what he has."""
    cuda = cuda_of_package("tensorflow-gpu", str(release.version))
    return bool(cuda) and came_after(gpu.isa, str(cuda)) and {"said": said.id, "have": release.version}


@rule("binary-arch-missing", "likely")
def detectron2_has_no_code_for_the_card(
    flags: Symptom = seen("detectron2-code-list"),
    gpu: Gpu = one(vendor="nvidia"),
    _said: Symptom = seen("no-kernel-image"),
) -> Verdict:
    """Its own report lists what it was compiled for, and the card beside it."""
    code = [f"sm_{digits}" for digits in re.findall(r"\d{2,3}", str(flags.code).replace(".", ""))]
    return bool(code) and why_not(gpu.isa, code) is not None and {"package": "detectron2"}


@rule("binary-arch-missing", "likely")
def tensorflow_compiled_for_it_in_vain(
    _jit: Symptom = seen("tf-jit-from-ptx"), said: Symptom = seen("tf-launch-handle-invalid")
) -> Verdict:
    """No machine code for the card, and what was compiled for it cannot be started."""
    return {"package": "tensorflow", "said": said.id}


# -- memory
@rule("oom-model-too-large", "possible")
def program_says_that_memory_is_out(
    said: Symptom = seen(*_OUT), told: Symptom | None = seen(*_FIGURES), start: Symptom | None = seen("tf-free-memory-at-start", "program-asks-for-a-larger-pagefile-by-name"),
) -> Verdict:  # fmt: skip
    """What the message says; it does not tell whose the memory is."""
    return told is None and start is None and {"said": said.id}


@rule("gpu-memory-held-by-others", "likely")
def program_starts_on_a_full_card(said: Symptom = seen(*_ON_A_FULL_CARD), gpu: Gpu = one(vendor="nvidia")) -> Verdict:
    """nvidia-smi shows that most of the card is taken."""
    wanted = size(said.get("wanted")) or 0.0
    return gpu.memory_used > 0.8 * gpu.vram and wanted < gpu.vram and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def little_is_free_before_it_starts(
    said: Symptom = seen("tf-free-memory-at-start", "tf-free-memory-at-start-of-old"),
    _out: Symptom = seen(*_OUT_AT_START),
) -> Verdict:
    """TensorFlow tells what is free before it takes anything itself."""
    total, free = size(said.total), size(said.free)
    return bool(total) and (free or 0) < _FULL * (total or 0) and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def figures_show_others(said: Symptom = seen(*_FIGURES)) -> Verdict:
    """The process itself holds next to nothing, and next to nothing is free."""
    return _own(said) < _SMALL and _free(said) < _SMALL and {"severity": "error"}


@rule("oom-model-too-large", "likely")
def figures_show_the_work_itself(said: Symptom = seen(*_FIGURES)) -> Verdict:
    """Most of what is in use belongs to the process that asks for more."""
    return _own(said) >= _SMALL and _own(said) > _free(said) and {"said": said.id}


def _own(said: Symptom) -> float:
    return max(size(said.get("reserved")) or 0.0, size(said.get("allocated")) or 0.0)


def _free(said: Symptom) -> float:
    total, used = size(said.get("total")), size(said.get("used"))
    return (total or 0.0) - (used or 0.0) if total else size(said.get("free")) or 0.0


# -- builds
@rule("tensorflow-windows-no-gpu", "likely")
def package_for_windows_counts_none(
    package: Package = one(name="tensorflow-intel"), answered: TensorFlow = one(gpus=0), plugin: Package | None = one(name="tensorflow-directml-plugin"),
) -> Verdict:  # fmt: skip
    """pip installs tensorflow-intel on native Windows alone, and somebody asked for the GPUs."""
    return plugin is None and answered.gpus == 0 and {"version": package.get("version")}


@rule("cpu-only-torch", "likely")
def extension_wants_torch_with_cuda(
    _said: Symptom = seen("tcnn-finds-no-capability", "xformers-finds-no-cuda"),
    shown: Package | None = one(name="torch"),
    torch: Torch | None = one(),
) -> Verdict:
    """The extension's own setup asks torch for the card, and this torch has no CUDA."""
    version = str((torch.get("version") if torch else None) or (shown.get("version") if shown else None) or "")
    return version.endswith("+cpu") and {"have": version}


@rule("python-version-without-wheels", "likely")
def release_is_older_than_all_that_is_offered(
    said: Symptom = seen("pip-no-version"), offline: Symptom | None = seen(*_REACHED), python: PythonEnv | None = None
) -> Verdict:
    """A compiled package, asked for by a release that lies before all that the index has for this Python."""
    asked, offered = _asked(said), str(said.get("offered") or "").split(",")[0].strip()
    known = said.name.lower().replace("_", "-") in _COMPILED and offered not in ("", "none")
    older = bool(asked) and version_key(asked) < version_key(offered)
    return (
        offline is None and known and older and {"name": said.name, "have": python.get("version") if python else None}
    )


def _asked(said: Symptom) -> str:
    asked = str(said.get("asked") or "")
    return asked.lstrip("= ") if asked.startswith("==") and "," not in asked else ""


# -- a card for one process
@rule("compute-mode-exclusive", "likely")
def kaldi_finds_every_card_taken(
    _said: Symptom = seen("kaldi-no-more-unused-gpus"), busy: Symptom | None = seen("cuda-46", "cuda-46-constant"), shared: Gpu | None = one(compute_mode="Default"),
) -> Verdict:  # fmt: skip
    """Kaldi counts on cards that one process has at a time, and every one is taken."""
    return shared is None and busy is not None
