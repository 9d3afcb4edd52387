"""Extensions that were built without a GPU's part, or for another framework."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.unserved import (
    COMPILED,
    nothing_offered,
    offered_nothing,
)
from rigup.knowledge.pythons import pythons, supported
from rigup.machine.kinds import Gpu, Platform, PythonEnv, Symptom, Torch

_TORCH_INDEX = re.compile(r"https://download\.pytorch\.org/whl/(?:nightly/|test/)?(?P<kind>rocm|cu|xpu)[\d.]*")
# What a wheel's tag says of the system, and what a system calls itself.
_TAGS = (("win", "windows"), ("macosx", "macos"), ("manylinux", "linux"), ("musllinux", "linux"), ("linux", "linux"))
_MACHINES = {"amd64": "x86_64", "aarch64": "arm64"}
# Packages with compiled code that were long made for Intel's processors alone.
_INTEL_ONLY = re.compile(
    r"triton|onnxruntime-gpu|tensorflow-gpu|xformers|faiss-gpu[\w-]{0,10}|bitsandbytes|decord|torch-tensorrt|paddlepaddle-gpu|flash-attn-3|open3d|mxnet-cu\d{2,3}|cupy-cuda1[01]\w{1,2}|auto-gptq|exllamav2"
)


@rule("extension-without-platform-build", "likely")
def extension_is_for_cuda_alone(
    symptom: Symptom = seen(tag="bitsandbytes-for-cuda"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(tag="of-amds"),
    other: Gpu | None = one(vendor="nvidia"), nvidia: Symptom | None = seen(tag="nvidia-card-spoken-of"),
) -> Verdict:  # fmt: skip
    """The wheel has code for CUDA and for processors, and the GPU is AMD's."""
    ours = card is not None or named is not None
    name = "xformers" if symptom.id.startswith("xformers") else "bitsandbytes"
    return ours and other is None and nvidia is None and {"name": name, "said": symptom.id}


@rule("extension-without-platform-build", "likely")
def nothing_of_triton_for_windows(
    symptom: Symptom = seen("pip-no-version"), platform: Platform = one(system="windows"), offline: Symptom | None = seen(tag="pip-index-not-reached")
) -> Verdict:  # fmt: skip
    """Its makers publish it for Linux alone."""
    named = symptom.name in ("triton", "vllm", "deepspeed") and symptom.get("offered") in ("none", "", None)
    return offline is None and named and platform.get("wsl") is None and {"name": symptom.name}


@rule("extension-without-platform-build", "likely")
def phone_has_no_wheels(
    symptom: Symptom = seen(tag="pip-offers-none"), _phone: Symptom = seen("android-system-shown")
) -> Verdict:
    """Wheels for Linux are not for Android, whose libraries are others."""
    name = offered_nothing(symptom)
    return bool(name and (pythons(name) or COMPILED.fullmatch(name))) and {"name": symptom.name, "platform": "Android"}


@rule("extension-without-platform-build")
def refused_wheel_is_for_another_machine(
    symptom: Symptom = seen("wheel-tag-refused"), platform: Platform = one(system=("linux", "macos", "windows"))
) -> Verdict:
    """`manylinux1_x86_64` on a processor of another kind, `win_amd64` on Linux."""
    tag = str(symptom.get("os"))
    system = next((name for start, name in _TAGS if tag.startswith(start)), "")
    machine = next((arch for arch in ("x86_64", "amd64", "arm64", "aarch64") if tag.endswith(arch)), "")
    mine = str(platform.get("architecture") or "")
    other = bool(machine and mine) and _MACHINES.get(machine, machine) != _MACHINES.get(mine.lower(), mine)
    return bool(system) and (system != platform.system or other) and {"name": symptom.name, "platform": platform.system}


@rule("extension-without-platform-build", "likely")
def nothing_is_offered_to_intels_macs(
    symptom: Symptom = seen("uv-no-platform-tag"), offer: Symptom | None = seen("uv-wheels-for-platforms"), chip: Gpu | None = one(vendor="apple"),
    named: Symptom | None = seen("apple-chip-named", "apple-chip-in-words", "apple-silicon-in-words"),
) -> Verdict:  # fmt: skip
    """Who asks is built for Intel's processors, and nobody tells of Apple's chip, on which that would be the wrong Python."""
    asks = re.fullmatch(r"macosx_\d{2}_\d{1,2}_x86_64", str(symptom.have)) is not None
    served = offer is not None and re.search(r"\bmacosx_\w{3,12}_(?:x86_64|universal2)\b", str(offer.offered))
    return asks and not served and chip is None and named is None and {"name": symptom.name}


@rule("extension-without-platform-build", "likely")
def offered_wheels_are_for_other_processors(symptom: Symptom = seen("uv-other-platform-only")) -> Verdict:
    """Wheels for Linux are offered, and none for this processor."""
    match = re.fullmatch(r"(?:many|musl)linux_\d_\d{1,2}_(\w{3,12})", str(symptom.have))
    return bool(match) and "linux" in str(symptom.offered) and not re.search(r"_" + str(match and match[1]) + r"\b", str(symptom.offered)) and {"name": symptom.name}  # fmt: skip


@rule("extension-without-platform-build", "likely")
def package_is_not_made_for_this_processor(
    symptom: Symptom = seen(tag="pip-offers-none"), _arm: Symptom = seen(tag="arm-shown"), offline: Symptom | None = seen(tag="pip-index-not-reached"), python: PythonEnv | None = None,
    platform: Platform | None = one(system=("windows", "macos")),
) -> Verdict:  # fmt: skip
    """uname names ARM's processor, and pip is offered nothing of a package that is made for Intel's."""
    name = nothing_offered(symptom)
    aside = offline is not None or platform is not None
    wrong = python is not None and python.knows("version") and supported(name, python.version) is False
    return not aside and not wrong and bool(_INTEL_ONLY.fullmatch(name)) and {"name": symptom.name}


@rule("extension-without-platform-build", "likely")
def index_is_of_linux_alone(
    symptom: Symptom = seen("pip-no-version", offered="none"), index: Symptom = seen("index-url-of-torch", "pip-single-index"), offline: Symptom | None = seen(tag="pip-index-not-reached"),
    platform: Platform = one(system=("windows", "macos")),
) -> Verdict:  # fmt: skip
    """pytorch.org has its builds for ROCm for Linux, and for CUDA and XPU none for Macs: another number in the address changes nothing."""
    match = _TORCH_INDEX.search(str(index.get("index")))
    lacks = match is not None and (match["kind"] == "rocm" or platform.system == "macos")
    own = str(symptom.name).partition("=")[0] in ("torch", "torchvision", "torchaudio")
    return (
        offline is None
        and platform.get("wsl") is None
        and own
        and lacks
        and {"name": match and match[0], "index": index.id}
    )


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
