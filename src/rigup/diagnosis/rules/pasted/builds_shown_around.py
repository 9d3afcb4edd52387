"""Builds beside their surroundings, from pieces of output: another system, the libc, the Python, TensorFlow, Windows."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge.cuda import version_key
from rigup.knowledge.pythons import pythons, tensorflow_on_windows
from rigup.machine.kinds import Distribution, Gpu, Jetson, Package, Platform, PythonEnv, Symptom, TensorFlow

_CARDS = ("graphics-card-on-a-line", "nvidia-geforce-named")
_UNREACHABLE = ("pip-connection-broken", "pip-could-not-fetch")
_TF_OF_WINDOWS = "tensorflow-intel-told"


def _is_gpu_package(name: str) -> bool:
    """Compiled for one CUDA or for GPUs: such packages have wheels for certain Pythons alone."""
    return re.search(r"-gpu$|-cu(?:da)?\d{2,3}x?$", name) is not None and not name.startswith("nvidia-")


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
    said: Symptom = seen("pip-no-version"), _python: PythonEnv = one(), offline: Symptom | None = seen(*_UNREACHABLE), alone: Symptom | None = seen("pip-single-index"),
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
