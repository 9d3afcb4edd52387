"""Extensions that were built without a GPU's part, or for another framework."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.heard import ARM_SHOWN, INDEX_NOT_REACHED, JETSONS_IN_WORDS, OF_AMDS, OURS
from rigup.diagnosis.rules.pasted.unserved import (
    COMPILED,
    NONE_OFFERED,
    is_of_another_system,
    nothing_offered,
    offered_nothing,
)
from rigup.diagnosis.rules.told import MACS, Told
from rigup.knowledge.pythons import pythons, supported
from rigup.machine.kinds import Gpu, Jetson, Package, Platform, PythonEnv, Symptom, Torch

_NVIDIA = ("nvidia-tx-named", "nvidia-geforce-named")
_FOR_CUDA = ("bitsandbytes-for-cpu", "bitsandbytes-setup-failed", "bitsandbytes-finds-no-runtime", "bitsandbytes-looks-for-cuda", "xformers-built-without-cuda", "xformers-has-no-operator")  # fmt: skip
_NOT_LINUX = ("windows", "macos")
# What a wheel's tag says of the system, and what a system calls itself.
_TAGS = (("win", "windows"), ("macosx", "macos"), ("manylinux", "linux"), ("musllinux", "linux"), ("linux", "linux"))
_MACHINES = {"amd64": "x86_64", "aarch64": "arm64"}
# Packages with compiled code that were long made for Intel's processors alone.
_INTEL_ONLY = re.compile(
    r"triton|onnxruntime-gpu|tensorflow-gpu|xformers|faiss-gpu[\w-]{0,10}|bitsandbytes|decord|torch-tensorrt|paddlepaddle-gpu|flash-attn-3|open3d|mxnet-cu\d{2,3}|cupy-cuda1[01]\w{1,2}|auto-gptq|exllamav2"
)


# -- extension-without-platform-build
@rule("extension-without-platform-build", "likely")
def extension_is_for_cuda_alone(
    said: Symptom = seen(*_FOR_CUDA), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*OF_AMDS),
    other: Gpu | None = one(vendor="nvidia"), nvidia: Symptom | None = seen(*_NVIDIA),
) -> Verdict:  # fmt: skip
    """The wheel has code for CUDA and for processors, and the GPU is AMD's."""
    ours = card is not None or named is not None
    name = "xformers" if said.id.startswith("xformers") else "bitsandbytes"
    return ours and other is None and nvidia is None and {"name": name, "said": said.id}


@rule("extension-without-platform-build", "likely")
def extension_wants_nvidias_compiler_beside_a_torch_for_rocm(
    said: Symptom = seen("flash-attention-looks-for-nvcc"), card: Gpu | None = one(vendor="amd"), built: Symptom | None = seen("torch-for-rocm-named-by-a-build", "rocm-torch-installed"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Its sources of that release are CUDA's; ROCm has no such compiler."""
    return other is None and (card is not None or built is not None) and {"name": said.get("name"), "said": said.id}


@rule("extension-without-platform-build", "likely")
def operator_is_not_in_the_build_for_rocm(
    said: Symptom = seen("extensions-operator-not-built"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*OURS),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The extension knows the operator, and has it for processors only."""
    return other is None and (card is not None or named is not None) and {"name": said.get("name"), "said": said.id}


@rule("extension-without-platform-build", "likely")
def engine_of_whisper_is_for_cuda_alone(
    said: Symptom = seen("cuda-driver-insufficient", "cuda-driver-insufficient-by-name", "cuda-no-device"), _engine: Symptom = seen("ctranslate2-named"),
    card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*OF_AMDS), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """CTranslate2's wheels have code for CUDA and for processors; torch, built for ROCm, says that there is a GPU."""
    return other is None and (card is not None or named is not None) and {"name": "ctranslate2", "said": said.id}


@rule("extension-without-platform-build", "likely")
def compiled_part_is_missing_on_amds(
    said: Symptom = seen("compiled-part-not-there"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*OF_AMDS),
    other: Gpu | None = one(vendor="nvidia"), nvidia: Symptom | None = seen(*_NVIDIA),
) -> Verdict:  # fmt: skip
    """The package is there without the part that is compiled for CUDA; for ROCm it is made in another way."""
    ours = card is not None or named is not None
    return ours and other is None and nvidia is None and {"name": said.get("name"), "said": said.id}


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
    said: Symptom = seen("pip-no-version"), platform: Platform = one(system="windows"), offline: Symptom | None = seen(*INDEX_NOT_REACHED)
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


@rule("extension-without-platform-build", "likely")
def vllm_on_another_system(
    _said: Symptom = seen("vllm-unknown-runtime"), platform: Platform = one(system=_NOT_LINUX)
) -> Verdict:
    """Its setup knows the runtimes of Linux alone."""
    return platform.get("wsl") is None and {"name": "vllm"}


@rule("extension-without-platform-build", "likely")
def cuda_extension_on_a_mac(
    said: Symptom = seen("cuda-extension-from-source", "cuda-extension-not-there"), mac: Symptom | None = seen(*MACS),
    platform: Platform | None = one(system="macos"), card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """What is written in CUDA has no build for a Mac."""
    return bool(mac or platform) and card is None and {"name": said.package}


@rule("extension-without-platform-build", "likely")
def bitsandbytes_of_cuda_on_amd(
    _said: Symptom = seen("bitsandbytes-setup-failed"), card: Gpu | None = one(vendor="amd"), torch: Torch | None = one(hip=Told(bool)),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Its setup looks for CUDA's libraries; builds of that time have none for ROCm."""
    return bool(card or torch) and other is None and {"name": "bitsandbytes"}


@rule("extension-without-platform-build", "likely")
def collectives_of_linux_are_asked_for(
    said: Symptom = seen("nccl-is-not-built-in"), platform: Platform = one(system=("windows", "macos"))
) -> Verdict:
    """NCCL is made for Linux; other systems have gloo."""
    return platform.get("wsl") is None and {"name": "nccl", "platform": platform.system, "said": said.id}


@rule("extension-without-platform-build", "likely")
def package_is_not_made_for_this_system(
    said: Symptom = seen(*NONE_OFFERED), platform: Platform = one(system=("linux", "macos", "windows")),
    part: Symptom | None = seen("cuda-part-of-tensorflow-not-offered"),
) -> Verdict:  # fmt: skip
    """pip reached its index, and there is nothing of the package for such a system; TensorFlow's own parts are its matter."""
    asked = part is None or platform.system == "macos"
    return (
        asked
        and is_of_another_system(offered_nothing(said), platform)
        and {"name": said.name, "platform": platform.system}
    )


@rule("extension-without-platform-build", "likely")
def phone_has_no_wheels(said: Symptom = seen(*NONE_OFFERED), _phone: Symptom = seen("android-system-shown")) -> Verdict:
    """Wheels for Linux are not for Android, whose libraries are others."""
    name = offered_nothing(said)
    return bool(name and (pythons(name) or COMPILED.fullmatch(name))) and {"name": said.name, "platform": "Android"}


@rule("extension-without-platform-build")
def refused_wheel_is_for_another_machine(
    said: Symptom = seen("wheel-tag-refused"), platform: Platform = one(system=("linux", "macos", "windows"))
) -> Verdict:
    """`manylinux1_x86_64` on a processor of another kind, `win_amd64` on Linux."""
    tag = str(said.get("os"))
    system = next((name for start, name in _TAGS if tag.startswith(start)), "")
    machine = next((one_ for one_ in ("x86_64", "amd64", "arm64", "aarch64") if tag.endswith(one_)), "")
    mine = str(platform.get("architecture") or "")
    other = bool(machine and mine) and _MACHINES.get(machine, machine) != _MACHINES.get(mine.lower(), mine)
    return bool(system) and (system != platform.system or other) and {"name": said.name, "platform": platform.system}


@rule("extension-without-platform-build", "likely")
def nothing_is_offered_to_intels_macs(
    said: Symptom = seen("uv-no-platform-tag"), offer: Symptom | None = seen("uv-wheels-for-platforms"), chip: Gpu | None = one(vendor="apple"),
    named: Symptom | None = seen("apple-chip-named", "apple-chip-in-words", "apple-silicon-in-words"),
) -> Verdict:  # fmt: skip
    """Who asks is built for Intel's processors, and nobody tells of Apple's chip, on which that would be the wrong Python."""
    asks = re.fullmatch(r"macosx_\d{2}_\d{1,2}_x86_64", str(said.have)) is not None
    served = offer is not None and re.search(r"\bmacosx_\w{3,12}_(?:x86_64|universal2)\b", str(offer.offered))
    return asks and not served and chip is None and named is None and {"name": said.name}


@rule("extension-without-platform-build", "likely")
def offered_wheels_are_for_other_processors(said: Symptom = seen("uv-other-platform-only")) -> Verdict:
    """Wheels for Linux are offered, and none for this processor."""
    found = re.fullmatch(r"(?:many|musl)linux_\d_\d{1,2}_(\w{3,12})", str(said.have))
    return bool(found) and "linux" in str(said.offered) and not re.search(r"_" + str(found and found[1]) + r"\b", str(said.offered)) and {"name": said.name}  # fmt: skip


@rule("extension-without-platform-build", "likely")
def package_for_another_processor(
    said: Symptom = seen("pip-no-version", "pip-no-distribution"),
    where: Symptom = seen("aarch64-in-words", *JETSONS_IN_WORDS),
) -> Verdict:
    """Its wheels with CUDA are made for x86-64 alone."""
    return (
        said.name == "onnxruntime-gpu"
        and said.get("offered", "none") in ("none", "")
        and {"name": said.name, "where": where.id}
    )


@rule("extension-without-platform-build", "likely")
def package_has_no_compiled_file(
    part: Symptom = seen("compiled-part-not-found"), _none: Symptom = seen("no-compiled-file-in-the-package")
) -> Verdict:
    """The import misses the package's compiled part, and its folder holds no such file."""
    return {"name": part.package}


@rule("extension-without-platform-build", "likely")
def compiled_part_is_for_linux(
    said: Symptom = seen("cuda-extension-not-there", "compiled-part-not-there", "compiled-part-not-found"), listed: Symptom = seen("compiled-part-of-linux-listed"), platform: Platform = one(system=("windows", "macos")),
) -> Verdict:  # fmt: skip
    """The file is there, and its name says that it was compiled for Linux: this system's Python does not look at it."""
    return platform.get("wsl") is None and {"name": said.get("package") or said.get("name") or listed.file}


@rule("extension-without-platform-build", "likely")
def package_is_not_made_for_this_processor(
    said: Symptom = seen(*NONE_OFFERED), _arm: Symptom = seen(*ARM_SHOWN), offline: Symptom | None = seen(*INDEX_NOT_REACHED), python: PythonEnv | None = None,
    platform: Platform | None = one(system=("windows", "macos")),
) -> Verdict:  # fmt: skip
    """uname names ARM's processor, and pip is offered nothing of a package that is made for Intel's."""
    name = nothing_offered(said)
    aside = offline is not None or platform is not None
    wrong = python is not None and python.knows("version") and supported(name, python.version) is False
    return not aside and not wrong and bool(_INTEL_ONLY.fullmatch(name)) and {"name": said.name}


@rule("extension-without-platform-build", "possible")
def nothing_of_triton_and_no_system_told(
    said: Symptom = seen("pip-linux-only-package"), platform: Platform | None = one(system=("linux", "windows", "macos")),
    offline: Symptom | None = seen(*INDEX_NOT_REACHED), python: PythonEnv | None = None, arm: Symptom | None = seen(*ARM_SHOWN),
) -> Verdict:  # fmt: skip
    """Who is offered nothing of it is mostly on another system than Linux."""
    aside = offline is not None or python is not None or arm is not None
    return not aside and platform is None and said.name in ("triton", "vllm", "deepspeed") and {"name": said.name}


@rule("extension-without-platform-build", "possible")
def library_of_another_system_on_linux(said: Symptom = seen("python-library-is-no-elf-file")) -> Verdict:
    """What was compiled on a Mac, or fetched as a pointer, is no file that Linux can load."""
    return not said.name.startswith(("libc.so", "libm.so", "libpthread.so")) and {"name": said.name}


# -- torch-torchvision-mismatch
@rule("torch-torchvision-mismatch", "likely")
def parts_of_torch_differ(
    said: Symptom = seen("torch-parts-mismatch-told"), _torch: Symptom = seen("torch-named", "gfx-named")
) -> Verdict:
    """A person found torch and its companions to be of different releases."""
    return {"said": said.id}


@rule("torch-torchvision-mismatch", "possible")
def torch_was_exchanged_and_torchvision_stops(
    frame: Symptom = seen("torchvision-stops-in-its-first-lines"), gone: Symptom = seen("pip-took-torch-away"), torch: Torch = one()
) -> Verdict:  # fmt: skip
    """A torch of another release was taken away, and torchvision, which was made for one of them, ends where it registers its operators."""
    return str(torch.version).partition("+")[0] != gone.old and {
        "said": frame.id,
        "companion": "torchvision",
        "have": torch.version,
    }


@rule("torch-torchvision-mismatch", "likely")
def companion_for_processors(
    companion: Package = one(manager="pip", name=("torchvision", "torchaudio")), torch: Torch = one(cuda=Told(bool)), other: Torch | None = one(cuda=None),
) -> Verdict:  # fmt: skip
    """conda names torch's toolkit in the build string, pip that of what belongs to it in the version."""
    alone = other is None and companion.get("env") == torch.get("env") and "+" not in str(torch.get("version"))
    cpu = str(companion.version).endswith("+cpu")
    return alone and cpu and {"have": torch.get("version"), "other": companion.version, "companion": companion.name}


@rule("torch-torchvision-mismatch", "likely")
def package_for_nvidia_beside_a_torch_for_rocm(said: Symptom = seen("cuda-library-not-found"), torch: Torch = one()) -> Verdict:  # fmt: skip
    """A file of CUDA's is missed by something that was built against another torch than the one that stands there."""
    return bool(torch.get("hip")) and {"lib": said.get("lib")}
