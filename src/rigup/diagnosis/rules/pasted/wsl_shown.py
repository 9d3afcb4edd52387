"""Linux inside Windows, by what short pastes show: a folder, a listing, a driver's model, the words of a tool."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge import wsl
from rigup.machine.kinds import Gpu, Platform, Symptom, SystemPackage, Toolkit, Torch

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
