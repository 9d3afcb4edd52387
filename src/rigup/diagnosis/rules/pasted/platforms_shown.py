"""Desktops, laptops and modules by what threads about them show: Macs, Windows, WSL, Intel's GPUs, Jetsons."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge import wsl
from rigup.knowledge.apple import is_older
from rigup.knowledge.cuda import version_key
from rigup.knowledge.torch_builds import builds
from rigup.machine.kinds import Cpu, Gpu, Jetson, Platform, PythonEnv, Symptom, SystemPackage, Torch

_APPLE = ("apple-chip-named", "apple-gpu-cores-shown", "mac-named")
_MODULE = ("jetpack-of-an-image", "tegra-kernel-shown", "l4t-package-shown", "jetson-image-named")
_NOT_LOADED = ("nvml-driver-not-loaded-constant", "container-cli-driver-not-loaded")
_NO_LIBRARY = ("container-cli-no-driver-library", "container-cli-driver-error", "container-cli-no-nvml-library")


# -- Macs
@rule("mps-inside-linux-container", "likely")
def container_of_a_mac_looks_for_another_card(
    said: Symptom = seen("torch-found-no-driver", "torch-not-compiled-with-cuda", "torch-no-cuda-gpus"), box: Symptom | None = seen("compose-line-of-a-service", "compose-log", "container-entered"),
    mac: Symptom | None = seen("apple-chip-named", "mac-named", "macos-named"), cpu: Cpu | None = None, nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The log is a container's, and the machine a Mac: nothing of its GPU is in there."""
    apple = mac is not None or (cpu is not None and "Apple" in str(cpu.get("model")))
    inner = box is not None or said.place.world.startswith("container")
    return nvidia is None and apple and inner and {"said": said.id}


@rule("mps-x86-python-under-rosetta", "likely")
def wheel_that_the_system_takes_is_refused(
    said: Symptom = seen("wheel-tag-refused"), platform: Platform = one(system="macos"), named: Symptom | None = seen(*_APPLE),
    chip: Gpu | None = one(vendor="apple"), env: PythonEnv | None = None, cpu: Cpu | None = None,
) -> Verdict:  # fmt: skip
    """The file is for Apple's chips and for a system like this one, and for this Python: what asks is built for Intel's."""
    form = re.fullmatch(r"macosx_(\d{2})_(\d{1,2})_arm64", str(said.get("os")))
    new = form is not None and not is_older(platform.version, f"{form[1]}.{form[2]}")
    apple = named is not None or chip is not None or (cpu is not None and "Apple" in str(cpu.get("model")))
    return new and apple and _takes(env, str(said.get("tag"))) and {"chip": chip and chip.get("name"), "seen": said.get("os")}  # fmt: skip


def _takes(env: PythonEnv | None, tag: str) -> bool:
    """Whether a wheel's tag is for the Python that is told, or none is told."""
    version = str(env.get("version") or "") if env is not None else ""
    return not version or tag == "cp" + "".join(version.split(".")[:2])


@rule("mps-x86-python-under-rosetta", "likely")
def releases_end_where_those_for_intels_macs_do(
    said: Symptom = seen("pip-no-version", name=("torch", "Torch")), _chip: Symptom = seen("apple-chip-in-words", "apple-chip-in-brackets", "apple-silicon-in-words", *_APPLE)
) -> Verdict:  # fmt: skip
    """torch was made for Intel's Macs up to a release, and pip is offered none after it on a Mac with Apple's chip."""
    offered = re.findall(r"\d[\w.]{0,20}", str(said.get("offered") or ""))
    last = max((one_build.torch for one_build in builds("macos", "x86_64")), key=version_key, default="")
    return bool(offered) and offered[-1] == last and {"chip": None, "seen": last}


# -- DirectML
@rule("directml-module-missing", "likely")
def directml_is_asked_for_and_the_check_is_cudas(
    asked: Symptom = seen("directml-chosen", "directml-option"), said: Symptom = seen("webui-torch-no-gpu"),
    loaded: Symptom | None = seen("directml-loaded", "directml-device-used", "directml-default-device"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The web ui was told to use DirectML, and asked torch for CUDA all the same."""
    return loaded is None and nvidia is None and {"said": said.id, "asked": asked.id}


# -- Jetsons
@rule("container-runtime-without-jetson-support", "likely")
def library_is_looked_for_by_a_modules_image(
    module: Symptom = seen(*_MODULE), said: Symptom = seen(*_NO_LIBRARY), card: Gpu | None = one(vendor="nvidia", integrated=False),
) -> Verdict:  # fmt: skip
    """A Jetson's kernel, package or image is shown, and the container tool loads a desktop driver's library."""
    return (card is None or not card.knows("driver")) and {"said": said.id, "where": module.id}


@rule("container-runtime-without-jetson-support", "likely")
def modules_of_a_desktop_are_loaded_on_a_jetson(
    _jetson: Jetson, said: Symptom = seen("container-cli-loads-desktop-modules")
) -> Verdict:  # fmt: skip
    """A Jetson's driver is a part of its kernel, with other names."""
    return {"said": said.id}


@rule("jetson-generic-wheel", "possible")
def server_counts_no_gpu_of_a_module(_jetson: Jetson, said: Symptom = seen("torchserve-counts-no-gpus"), torch: Torch | None = one(available=True)) -> Verdict:  # fmt: skip
    """Every module has a GPU; a torch that is not NVIDIA's own does not see it."""
    return torch is None and {"said": said.id}


@rule("jetson-generic-wheel", "likely")
def onnxruntime_of_a_module_offers_no_cuda(
    said: Symptom = seen("onnxruntime-offers-no-cuda"), jetson: Jetson | None = None, spoken: Symptom | None = seen("jetson-in-words", *_MODULE),
) -> Verdict:  # fmt: skip
    """Asked for CUDA on a Jetson, onnxruntime knows the processor alone: PyPI's file for arm has nothing else."""
    return bool(jetson or spoken) and {"said": said.id, "package": "onnxruntime"}


# -- WSL
@rule("wsl-linux-driver-inside", "likely")
def server_loads_a_library_of_linux_beside_windows_own(
    said: Symptom = seen("ollama-nvml-driver"), _folder: Symptom = seen("wsl-folder-named"),
) -> Verdict:  # fmt: skip
    """ollama finds two libraries, and Linux's asks for a module that a WSL does not have."""
    return {"said": said.id, "packages": "nvidia-*"}


@rule("wsl-linux-driver-inside", "likely")
def linux_tool_beside_windows_own(
    said: Symptom = seen("nvml-driver-not-loaded", "nvidia-smi-cannot-communicate", *_NOT_LOADED), card: Gpu = one(driver_model="WDDM"),
    platform: Platform | None = None, computing: Gpu | None = one(driver_model="TCC"),
) -> Verdict:  # fmt: skip
    """Windows's own table lists the card, and what answers beside it looks for a module of Linux's."""
    old = platform is not None and wsl.too_old(platform.get("version"), platform.get("release")) is not None
    return computing is None and not old and card.get("vendor", "nvidia") == "nvidia" and {"said": said.id}


@rule("wsl-linux-driver-inside", "likely")
def program_asks_for_a_module_in_a_wsl(
    said: Symptom = seen(*_NOT_LOADED), platform: Platform | None = one(wsl=(1, 2)), spoken: Symptom | None = seen("wsl-lived-in", "wsl-in-small-letters", "wsl-kernel-named", "wsl-folder-named"),
) -> Verdict:  # fmt: skip
    """NVML as Windows brings it has no module to miss."""
    first = platform is not None and platform.wsl == 1
    old = platform is not None and wsl.too_old(platform.get("version"), platform.get("release")) is not None
    return bool(platform or spoken) and not first and not old and {"said": said.id}


@rule("wsl-linux-driver-inside", "likely")
def installer_of_a_driver_in_a_wsl(
    said: Symptom = seen("installer-of-a-linux-driver-named"), platform: Platform = one(wsl=(1, 2)), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """Somebody runs NVIDIA's installer for Linux in a WSL."""
    return works is None and platform.wsl == 2 and {"said": said.id, "packages": "nvidia-*"}


@rule("wsl-windows-too-old", "possible")
def engine_in_a_wsl_reaches_no_driver(
    said: Symptom = seen("container-cli-driver-error"), platform: Platform = one(wsl=2), card: Gpu | None = one(vendor="nvidia"), package: SystemPackage | None = one(state="installed"),
) -> Verdict:  # fmt: skip
    """NVIDIA's container tool gets no answer in a WSL; where no Linux driver is shown, Windows or its kernel is mostly from before containers."""
    ours = package is not None and wsl.shadows(package.name)
    return card is None and not ours and platform.wsl == 2 and {"said": said.id, "minimum": "Windows build " + wsl.minimum()[0]}  # fmt: skip


# -- Windows
@rule("nvidia-driver-missing", "likely")
def server_searches_the_drivers_library(
    said: Symptom = seen("ollama-searches-nvcuda-in-vain"), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen("nvidia-geforce-named", "nvidia-tx-named", "tesla-or-quadro-named"),
) -> Verdict:  # fmt: skip
    """nvcuda.dll lies in Windows's folder as soon as a driver is installed."""
    return bool(card or named) and {"said": said.id}


@rule("no-gpu-present", "possible")
def server_searches_the_library_and_no_card_is_named(
    said: Symptom = seen("ollama-searches-nvcuda-in-vain"), card: Gpu | None = None, named: Symptom | None = seen("nvidia-geforce-named", "nvidia-tx-named", "tesla-or-quadro-named"),
) -> Verdict:  # fmt: skip
    """The same where nothing shows that there is a card."""
    return card is None and named is None and {"said": said.id, "severity": "error"}
