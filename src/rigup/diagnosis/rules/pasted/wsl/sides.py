"""Windows and the Linux inside it: what must be right on which of the two sides."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge import wsl
from rigup.machine.kinds import Distribution, Gpu, Platform, Symptom, SystemPackage, Torch, Variable

_WSL = (1, 2)


@rule("wsl-linux-driver-inside", "likely")
def headers_of_windows_kernel_are_asked_for(
    symptom: Symptom = seen("dkms-headers-missing"), amd: Symptom | None = seen(tag="sides-amds-module")
) -> Verdict:  # fmt: skip
    """A Linux driver is to be built for Windows's kernel, which has a driver of its own."""
    return amd is None and "microsoft" in str(symptom.get("kernel")).lower() and {"said": symptom.id}


@rule("wsl-linux-driver-inside", "likely")
def linux_tool_beside_windows_own(
    symptom: Symptom = seen("nvml-driver-not-loaded", "nvidia-smi-cannot-communicate", tag="sides-not-loaded"), card: Gpu = one(driver_model="WDDM"),
    platform: Platform | None = None, computing: Gpu | None = one(driver_model="TCC"),
) -> Verdict:  # fmt: skip
    """Windows's own table lists the card, and what answers beside it looks for a module of Linux's."""
    old = platform is not None and wsl.too_old(platform.get("version"), platform.get("release")) is not None
    return computing is None and not old and card.get("vendor", "nvidia") == "nvidia" and {"said": symptom.id}


@rule("wsl-linux-driver-inside", "likely")
def module_is_built_in_a_wsl(
    symptom: Symptom = seen("dkms-package-failed", "dkms-added-only", "dkms-build-failed", "dkms-files-of-our-driver"),
    platform: Platform = one(wsl=2),
) -> Verdict:
    """A package of a Linux driver tries to build its module for Windows's kernel."""
    named = str(symptom.get("package") or symptom.get("module") or "")
    return named.startswith("nvidia") and platform.wsl == 2 and {"packages": named, "said": symptom.id}


@rule("wsl-linux-driver-inside", "possible")
def no_device_in_a_wsl(
    platform: Platform = one(wsl=2), symptom: Symptom = seen("cuda-no-device-constant", "cuda-no-device"), mask: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
    amd: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """CUDA is there and finds no device: in WSL mostly another libcuda than the one of Windows was loaded."""
    old = wsl.too_old(None, platform.get("release")) is not None
    return not old and mask is None and amd is None and {"said": symptom.id}


@rule("wsl-libcuda-link", "possible")
def linker_misses_what_the_program_has_loaded(
    error: Symptom = seen("linker-finds-no-libcuda"), _works: Symptom = seen("tensor-on-a-device"), platform: Platform | None = None,
    system: Distribution | None = None, inside: Symptom | None = seen(tag="container-spoken-of"),
) -> Verdict:  # fmt: skip
    """CUDA works, and a kernel that is compiled on the spot finds no plain name: of a driver's packages it is WSL's that has none."""
    ubuntu = system is None or system.get("id") in ("ubuntu", None)
    return platform is None and ubuntu and inside is None and {"path": wsl.library_folder(), "said": error.id}


@rule("wsl-libcuda-link", "likely")
def driver_is_in_windows_folder_and_not_found(
    symptom: Symptom = seen("libcuda-not-found", tag="sides-libcuda"), _there: Symptom = seen("wsl-folder-has-libcuda", "wsl-tool-runs-by-its-path"), package: SystemPackage | None = one(state="installed"),
    works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """Windows's folder has the library, and a program that looks in the loader's own places finds none."""
    return (
        works is None
        and not (package and wsl.shadows(package.name))
        and {"path": wsl.library_folder(), "said": symptom.id}
    )


@rule("wsl-windows-too-old", "possible")
def engine_in_a_wsl_reaches_no_driver(
    symptom: Symptom = seen("container-cli-driver-error"), platform: Platform = one(wsl=2), card: Gpu | None = one(vendor="nvidia"), package: SystemPackage | None = one(state="installed"),
) -> Verdict:  # fmt: skip
    """NVIDIA's container tool gets no answer in a WSL; where no Linux driver is shown, Windows or its kernel is mostly from before containers."""
    ours = package is not None and wsl.shadows(package.name)
    return card is None and not ours and platform.wsl == 2 and {"said": symptom.id, "minimum": "Windows build " + wsl.minimum()[0]}  # fmt: skip


@rule("wsl-windows-too-old", "likely")
def windows_is_old_and_a_linux_shell_finds_no_driver(
    platform: Platform = one(system="windows"), shell: Symptom = seen("prompt-of-a-linux-shell"), symptom: Symptom = seen(tag="nvidia-driver-silent nvidia-finds-none"),
    far: Symptom | None = seen("ssh-typed"),
) -> Verdict:  # fmt: skip
    """Windows tells its version, and below it stands the prompt of a Linux: its own, where nobody went to another machine."""
    old = wsl.too_old(platform.version, None) is not None
    return old and far is None and {"minimum": "Windows build " + wsl.minimum()[0], "said": symptom.id, "where": shell.id}  # fmt: skip


@rule("wsl-windows-too-old", "likely")
def kernel_that_windows_tells_is_old(statement: Symptom = seen("wsl-kernel-told-by-windows")) -> Verdict:
    """`wsl --status` names the kernel that Windows starts."""
    return wsl.too_old(None, str(statement.release)) is not None and {"minimum": "Windows build " + wsl.minimum()[0], "said": statement.id}  # fmt: skip


@rule("wsl-gpu-in-tcc-mode", "likely")
def a_card_computes_only_where_windows_starts_a_wsl(
    typed: Symptom = seen("wsl-command-typed"), card: Gpu = one(driver_model="TCC"), platform: Platform | None = one(wsl=_WSL)
) -> Verdict:  # fmt: skip
    """Windows's own list has such a card, and a command asks a WSL for its GPUs."""
    return platform is None and card.get("vendor", "nvidia") == "nvidia" and {"said": typed.id}


@rule("wsl-gpu-in-tcc-mode", "likely")
def refused_beside_a_card_that_computes_only(
    card: Gpu = one(driver_model="TCC"), symptom: Symptom = seen("wsl-access-blocked", "nvidia-smi-no-handle")
) -> Verdict:  # fmt: skip
    """Windows's list has such a card, and elsewhere it is refused."""
    unknown = symptom.id == "wsl-access-blocked" or str(symptom.get("why")).startswith("Unknown Error")
    return unknown and card.get("vendor", "nvidia") == "nvidia" and {"said": symptom.id}


@rule("wsl-gpu-not-supported", "possible")
def card_that_wsl_has_not(
    card: Gpu = one(vendor="amd"), _wsl: Symptom = seen("wsl-detected"), listed: Gpu | None = one(vendor="amd", seen_by=("rocminfo", "rocm_agent_enumerator"))
) -> Verdict:  # fmt: skip
    """ROCm's runtime knows that it is in WSL, and the card is one that it leaves out there."""
    return listed is None and not card.knows("shown_isa") and wsl.chip_without_wsl(card.isa)
