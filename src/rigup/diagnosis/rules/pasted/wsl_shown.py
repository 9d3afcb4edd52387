"""Linux inside Windows, by what short pastes show: a folder, a listing, a driver's model, the words of a tool."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge import wsl
from rigup.machine.kinds import Driver, Gpu, Platform, Symptom, SystemPackage, Toolkit, Torch, Variable

_GUEST = ("wsl-detected", "wsl-kernel-named", "wsl-device-named", "wsl-folder-named")
_NONE = ("torch-no-cuda-gpus", "hip-no-device", "hip-log-no-device", "hip-device-count-hundred")
_FAILED = (
    "hsa-out-of-resources",
    "hsa-init-failed",
    "wsl-no-adapter",
    "hsa-call-failed-at",
    "hsa-init-failed-by-number",
)


# -- libcuda
@rule("wsl-libcuda-link", "likely")
def name_is_missed_beside_windows_folder(
    error: Symptom = seen("libcuda-plain-name-missing", "libcuda-of-no-name", "linker-finds-no-libcuda"), guest: Symptom = seen("wsl-folder-named", "wsl-kernel-named"),
    platform: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """The folder that only WSL has stands in the text, and the name is not found."""
    other = platform is None or error.id == "linker-finds-no-libcuda"
    return other and {"path": wsl.library_folder(), "said": error.id, "where": guest.id}


@rule("wsl-libcuda-link", "likely")
def folder_helps_when_it_is_named(said: Symptom = seen("wsl-folder-on-the-path-helps")) -> Verdict:
    """With Windows's folder on the loader's path the same program works."""
    return {"path": wsl.library_folder(), "said": said.id}


# -- ROCm
@rule("wsl-wheel-bundled-hsa-runtime", "likely")
def wheels_runtime_is_shown(
    shown: Symptom = seen("bundled-hsa-shown"), guest: Symptom | None = seen(*_GUEST), platform: Platform | None = one(wsl=2), torch: Torch | None = one(available=False),
    error: Symptom | None = seen(*_NONE), made: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """Somebody looks at the runtime in torch's own folder, in a WSL, and the program finds no GPU."""
    failed = torch is not None or error is not None
    asked = made is None or torch is not None or error is not None
    return bool(guest or platform) and failed and asked and {"said": shown.id}


@rule("wsl-wheel-bundled-hsa-runtime", "likely")
def torch_fails_beside_a_runtime_that_works(
    torch: Torch = one(available=False),
    shown: Symptom = seen("bundled-hsa-listed"),
    card: Gpu = one(vendor="amd", seen_by="rocminfo"),
) -> Verdict:
    """The system's rocminfo lists the card, torch none, and somebody looks at the runtime in the wheel."""
    return bool(torch.get("hip")) and card.get("vendor") == "amd" and {"said": shown.id}


@rule("wsl-rocm-release-not-supported", "likely")
def release_has_no_runtime_for_wsl(
    rocm: Toolkit = one(name="rocm"), guest: Symptom = seen(*_GUEST), error: Symptom = seen(*_FAILED), card: Gpu | None = one(vendor="amd"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """ROCm's tools fail in a WSL, and the release is not one that AMD made for it; which card it is need not be told."""
    old = card is not None and wsl.chip_without_wsl(card.get("isa") or "")
    return (
        not old
        and other is None
        and wsl.rocm_supported(rocm.version) is False
        and {"said": error.id, "where": guest.id}
    )


@rule("wsl-rocm-release-not-supported", "likely")
def package_for_wsl_is_not_installed(
    said: Symptom = seen("wsl-runtime-package-not-there"),
    error: Symptom = seen(*_FAILED, "hip-no-device", "torch-no-cuda-gpus"),
) -> Verdict:
    """What AMD makes for WSL is a package of its own, and the list shows that it is not there."""
    return {"said": said.id, "error": error.id}


# -- NVIDIA
@rule("wsl-linux-driver-inside", "likely")
def module_is_built_in_a_wsl(
    said: Symptom = seen("dkms-package-failed", "dkms-added-only", "dkms-build-failed"), platform: Platform = one(wsl=2)
) -> Verdict:
    """A package of a Linux driver tries to build its module for Windows's kernel."""
    named = str(said.get("package") or said.get("module") or "")
    return named.startswith("nvidia") and platform.wsl == 2 and {"packages": named, "said": said.id}


@rule("wsl-gpu-in-tcc-mode", "likely")
def card_computes_only_in_a_guest(
    shown: Symptom = seen("driver-model-tcc"), guest: Symptom | None = seen(*_GUEST, "wsl-command-typed"), platform: Platform | None = one(wsl=2),
    card: Gpu | None = one(driver_model="TCC"),
) -> Verdict:  # fmt: skip
    """A piece of Windows's report has the model, and the rest comes from a WSL."""
    return card is None and bool(guest or platform) and {"said": shown.id}


# -- the first generation
@rule("wsl-windows-too-old", strength="likely")
def first_generation_is_spoken_of(
    _spoken: Symptom = seen("wsl-first-in-words", "wsl-first-in-small-letters"), platform: Platform | None = one(wsl=2),
    said: Symptom = seen("torch-found-no-driver", "torch-no-cuda-gpus", "cuda-no-device", "nvidia-smi-cannot-communicate", "nvidia-smi-not-installed"),
) -> Verdict:  # fmt: skip
    """The same where only the person's words tell of it."""
    return platform is None and {"distribution": "Ubuntu", "minimum": "WSL 2", "said": said.id}


@rule("wsl-libcuda-link", "likely")
def driver_is_in_windows_folder_and_not_found(
    said: Symptom = seen("cuda-driver-library-not-found", "libcuda-not-found"), _there: Symptom = seen("wsl-folder-has-libcuda"), package: SystemPackage | None = one(state="installed"),
    works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """Windows's folder has the library, and a program that looks in the loader's own places finds none."""
    return (
        works is None
        and not (package and wsl.shadows(package.name))
        and {"path": wsl.library_folder(), "said": said.id}
    )


# -- Windows, its libraries and a guest
@rule("wsl-windows-too-old", "likely")
def old_windows_and_its_command(
    platform: Platform = one(system="windows"), typed: Symptom = seen("wsl-command-typed")
) -> Verdict:
    """Somebody at a prompt of such a Windows works with WSL."""
    return wsl.too_old(platform.version, None) is not None and {"minimum": "Windows build " + wsl.minimum()[0], "said": typed.id}  # fmt: skip


@rule("wsl-gpu-in-tcc-mode", "likely")
def refused_beside_a_card_that_computes_only(
    card: Gpu = one(driver_model="TCC"), said: Symptom = seen("wsl-access-blocked", "nvidia-smi-no-handle")
) -> Verdict:  # fmt: skip
    """Windows's list has such a card, and elsewhere it is refused."""
    unknown = said.id == "wsl-access-blocked" or str(said.get("why")).startswith("Unknown Error")
    return unknown and card.get("vendor", "nvidia") == "nvidia" and {"said": said.id}


@rule("wsl-libcuda-link", "likely")
def copies_and_no_link(
    said: Symptom = seen("libcuda-first-name-not-loaded"), _platform: Platform = one(wsl=2)
) -> Verdict:
    """Windows's folder has the library, and the loader does not find it."""
    return {"path": wsl.library_folder(), "said": said.id}


@rule("wsl-linux-driver-inside", "possible")
def no_device_in_a_wsl(
    platform: Platform = one(wsl=2), said: Symptom = seen("cuda-no-device-constant", "cuda-no-device"), mask: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
    amd: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """CUDA is there and finds no device: in WSL mostly another libcuda than the one of Windows was loaded."""
    old = wsl.too_old(None, platform.get("release")) is not None
    return not old and mask is None and amd is None and {"said": said.id}


@rule("wsl-linux-driver-inside", "likely")
def linux_tool_looks_for_a_module(_platform: Platform = one(wsl=2), said: Symptom = seen("nvml-driver-not-loaded")) -> Verdict:  # fmt: skip
    """Windows's own tool has no module to look for."""
    return {"said": said.id}


@rule("wsl-linux-driver-inside", "likely")
def somebody_loads_a_module_there(
    said: Symptom = seen("wsl-has-no-such-module"), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"), driver: Driver | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """Who loads NVIDIA's module in WSL takes it for a Linux of its own; where the card answers, it was a mere try."""
    return works is None and driver is None and {"said": said.id, "packages": "nvidia-*"}


@rule("wsl-gpu-not-supported", "possible")
def card_that_wsl_has_not(
    card: Gpu = one(vendor="amd"), _wsl: Symptom = seen("wsl-detected"), listed: Gpu | None = one(vendor="amd", seen_by=("rocminfo", "rocm_agent_enumerator"))
) -> Verdict:  # fmt: skip
    """ROCm's runtime knows that it is in WSL, and the card is one that it leaves out there."""
    return listed is None and not card.knows("shown_isa") and wsl.chip_without_wsl(card.isa)


@rule("wsl-wheel-bundled-hsa-runtime", "possible")
def wheel_finds_none_in_a_wsl(
    _platform: Platform = one(wsl=2), said: Symptom = seen("torch-no-cuda-gpus", runtime="HIP"), refused: Symptom | None = seen("hsa-out-of-resources", "wsl-gpu-unsupported", "rock-module-not-loaded"),
    card: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """A torch for ROCm is there, and nothing says that the card or the release is at fault."""
    return refused is None and card is None and {"said": said.id}
