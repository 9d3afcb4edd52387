"""Windows and the Linux inside it: what must be right on which of the two sides."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.diagnosis.rules.pasted.heard import CONTAINERS_TOLD, WSL_NAMED, WSL_SPOKEN_OF
from rigup.knowledge import wsl
from rigup.machine.kinds import Distribution, Driver, Gpu, Platform, Symptom, SystemPackage, Torch, Variable

_LIBCUDA = (
    "cuda-driver-library-not-found",
    "jax-finds-no-libcuda",
    "program-finds-no-library-of-the-driver",
    "cudarc-finds-no-library-of-the-driver",
)
_AMDS_MODULE = ("amdgpu-install-without-wsl", "amdgpu-dkms-fails-told", "dkms-loads-amds-files", "package-of-amds-module-set-up", "dpkg-leaves-amds-module")  # fmt: skip
_NOT_LOADED = ("nvml-driver-not-loaded-constant", "container-cli-driver-not-loaded")
_WSL = (1, 2)
_BOARDS = ("armv7l", "aarch64")


# -- wsl-linux-driver-inside
@rule("wsl-linux-driver-inside", "likely")
def one_program_sees_the_card_and_another_none(
    error: Symptom = seen("cuda-no-device-constant", "cuda-no-device"), _torch: Torch = one(available=True), wsl: Platform | None = one(wsl=2),
    spoken: Symptom | None = seen(*WSL_SPOKEN_OF),
) -> Verdict:  # fmt: skip
    """torch takes Windows's library, the other program one that a Linux driver brought."""
    return bool(wsl or spoken) and not inside(error) and {"said": error.id}


@rule("wsl-linux-driver-inside", "likely")
def libcuda_of_a_linux_driver_is_listed(
    said: Symptom = seen("wsl-libcuda-of-a-linux-driver", "tool-of-a-linux-package"), platform: Platform = one(wsl=2)
) -> Verdict:
    """Windows's own is a plain file in a folder of its own, and carries no version in its name."""
    return platform.wsl == 2 and {"said": said.id}


@rule("wsl-linux-driver-inside", "likely")
def installer_of_linux_loads_no_module(
    said: Symptom = seen("nvidia-installer-load-failed"), platform: Platform = one(wsl=2)
) -> Verdict:
    """NVIDIA's installer for Linux was run in a WSL."""
    return platform.wsl == 2 and {"said": said.id}


@rule("wsl-linux-driver-inside", "likely")
def build_for_windows_kernel_was_skipped(
    said: Symptom = seen("wsl-driver-build-skipped"), amd: Symptom | None = seen(*_AMDS_MODULE)
) -> Verdict:  # fmt: skip
    """A package of a Linux driver came to Windows's kernel."""
    return amd is None and {"said": said.id}


@rule("wsl-linux-driver-inside", "likely")
def headers_of_windows_kernel_are_asked_for(
    said: Symptom = seen("dkms-headers-missing"), amd: Symptom | None = seen(*_AMDS_MODULE)
) -> Verdict:  # fmt: skip
    """A Linux driver is to be built for Windows's kernel, which has a driver of its own."""
    return amd is None and "microsoft" in str(said.get("kernel")).lower() and {"said": said.id}


@rule("wsl-linux-driver-inside", "likely")
def tool_of_linux_stands_first(
    said: Symptom = seen("nvidia-smi-is-installed"), _silent: Symptom = seen(*SILENT), platform: Platform = one(wsl=2)
) -> Verdict:
    """Windows's own lies in its folder; the one that is found came with a package, and asks a module."""
    return platform.wsl == 2 and {"said": said.id}


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


@rule("wsl-linux-driver-inside", "likely")
def module_is_built_in_a_wsl(
    said: Symptom = seen("dkms-package-failed", "dkms-added-only", "dkms-build-failed", "dkms-files-of-our-driver"),
    platform: Platform = one(wsl=2),
) -> Verdict:
    """A package of a Linux driver tries to build its module for Windows's kernel."""
    named = str(said.get("package") or said.get("module") or "")
    return named.startswith("nvidia") and platform.wsl == 2 and {"packages": named, "said": said.id}


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


@rule("wsl-linux-driver-inside", "likely")
def program_looks_for_nodes_of_linux(
    said: Symptom = seen("trace-misses-nvidias-node", "persistenced-finds-no-nodes"), platform: Platform = one(wsl=2), works: Torch | None = one(available=True)
) -> Verdict:  # fmt: skip
    """Windows hands its cards in by a node of its own; a tool or service that looks for NVIDIA's came with a Linux driver."""
    return works is None and platform.wsl == 2 and not inside(said) and {"said": said.id}


@rule("wsl-linux-driver-inside", "possible")
def package_of_linux_was_installed_in_a_wsl(
    typed: Symptom = seen("wsl-driver-package-installed"), platform: Platform = one(wsl=2), works: Torch | None = one(available=True),
    card: Gpu | None = one(seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """Nothing fails in the text; it is what makes things fail there."""
    return works is None and card is None and platform.wsl == 2 and not inside(typed) and {"said": typed.id}


@rule("wsl-linux-driver-inside", "likely")
def library_of_linux_beside_windows_own_fails(
    library: Symptom = seen("wsl-libcuda-of-a-linux-driver"), _folder: Symptom = seen("wsl-folder-has-libcuda"), said: Symptom = seen("ollama-driver-init-failed", *NO_CUDA),
) -> Verdict:  # fmt: skip
    """Only a WSL has that folder; beside its library lies one with a driver's release in its name, and CUDA does not start."""
    return not inside(said) and {"said": library.id}


# -- wsl-libcuda-link
@rule("wsl-libcuda-link", "likely")
def program_finds_no_libcuda(
    said: Symptom = seen(*_LIBCUDA), guest: Platform | None = one(wsl=2), folder: Symptom | None = seen("wsl-folder-named", "wsl-kernel-named"),
    package: SystemPackage | None = one(state="installed"),
) -> Verdict:  # fmt: skip
    """Programs that look for the plain name, or in the loader's own places, find nothing in a WSL."""
    return bool(guest or folder) and not (package and "nvidia" in package.name) and {"said": said.id}


@rule("wsl-libcuda-link", "likely")
def windows_folder_is_not_on_the_path(
    said: Symptom = seen("nvidia-smi-not-installed"), _there: Symptom = seen("wsl-tool-runs-by-its-path")
) -> Verdict:
    """By its whole path the tool runs."""
    return {"said": said.id}


@rule("wsl-libcuda-link", "possible")
def linker_misses_what_the_program_has_loaded(
    error: Symptom = seen("linker-finds-no-libcuda"), _works: Symptom = seen("tensor-on-a-device"), platform: Platform | None = None,
    system: Distribution | None = None, inside: Symptom | None = seen(*CONTAINERS_TOLD),
) -> Verdict:  # fmt: skip
    """CUDA works, and a kernel that is compiled on the spot finds no plain name: of a driver's packages it is WSL's that has none."""
    ubuntu = system is None or system.get("id") in ("ubuntu", None)
    return platform is None and ubuntu and inside is None and {"path": wsl.library_folder(), "said": error.id}


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


@rule("wsl-libcuda-link", "likely")
def driver_is_in_windows_folder_and_not_found(
    said: Symptom = seen("libcuda-not-found", *_LIBCUDA), _there: Symptom = seen("wsl-folder-has-libcuda", "wsl-tool-runs-by-its-path"), package: SystemPackage | None = one(state="installed"),
    works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """Windows's folder has the library, and a program that looks in the loader's own places finds none."""
    return (
        works is None
        and not (package and wsl.shadows(package.name))
        and {"path": wsl.library_folder(), "said": said.id}
    )


@rule("wsl-libcuda-link", "likely")
def copies_and_no_link(
    said: Symptom = seen("libcuda-first-name-not-loaded"), _platform: Platform = one(wsl=2)
) -> Verdict:
    """Windows's folder has the library, and the loader does not find it."""
    return {"path": wsl.library_folder(), "said": said.id}


# -- wsl-windows-too-old
@rule("wsl-windows-too-old")
def kernel_of_wsl_wants_an_update(
    said: Symptom = seen("wsl-kernel-wants-an-update", "wsl-wants-its-kernel-in-words"),
    works: Torch | None = one(available=True),
) -> Verdict:
    """Windows's own word; where torch computes by now, the update was made."""
    return works is None and said.values()


@rule("wsl-windows-too-old", "possible")
def engine_in_a_wsl_reaches_no_driver(
    said: Symptom = seen("container-cli-driver-error"), platform: Platform = one(wsl=2), card: Gpu | None = one(vendor="nvidia"), package: SystemPackage | None = one(state="installed"),
) -> Verdict:  # fmt: skip
    """NVIDIA's container tool gets no answer in a WSL; where no Linux driver is shown, Windows or its kernel is mostly from before containers."""
    ours = package is not None and wsl.shadows(package.name)
    return card is None and not ours and platform.wsl == 2 and {"said": said.id, "minimum": "Windows build " + wsl.minimum()[0]}  # fmt: skip


@rule("wsl-windows-too-old", "likely")
def windows_is_old_and_a_linux_shell_finds_no_driver(
    platform: Platform = one(system="windows"), shell: Symptom = seen("prompt-of-a-linux-shell"), said: Symptom = seen(*SILENT, *NO_CUDA),
    far: Symptom | None = seen("ssh-typed"),
) -> Verdict:  # fmt: skip
    """Windows tells its version, and below it stands the prompt of a Linux: its own, where nobody went to another machine."""
    old = wsl.too_old(platform.version, None) is not None
    return old and far is None and {"minimum": "Windows build " + wsl.minimum()[0], "said": said.id, "where": shell.id}  # fmt: skip


@rule("wsl-windows-too-old", "likely")
def first_wsl_looks_for_a_module(
    _folder: Symptom = seen("modules-of-the-first-wsl"), said: Symptom = seen("kernel-takes-no-modules", "modprobe-module-not-found", "kmod-no-such-module", "old-modprobe-finds-no-such-module", *SILENT), arm: Platform | None = one(architecture=_BOARDS),
) -> Verdict:  # fmt: skip
    """WSL 1 named itself so at first; boards of those years had such kernels too, and none of them NVIDIA's tool."""
    return arm is None and {"minimum": "WSL 2", "said": said.id}


@rule("wsl-windows-too-old", strength="likely")
def first_generation_is_spoken_of(
    _spoken: Symptom = seen("wsl-first-in-words", "wsl-first-in-small-letters"), platform: Platform | None = one(wsl=2),
    said: Symptom = seen("torch-found-no-driver", "torch-no-cuda-gpus", "cuda-no-device", "nvidia-smi-cannot-communicate", "nvidia-smi-not-installed"),
) -> Verdict:  # fmt: skip
    """The same where only the person's words tell of it."""
    return platform is None and {"distribution": "Ubuntu", "minimum": "WSL 2", "said": said.id}


@rule("wsl-windows-too-old", "likely")
def old_windows_and_its_command(
    platform: Platform = one(system="windows"), typed: Symptom = seen("wsl-command-typed")
) -> Verdict:
    """Somebody at a prompt of such a Windows works with WSL."""
    return wsl.too_old(platform.version, None) is not None and {"minimum": "Windows build " + wsl.minimum()[0], "said": typed.id}  # fmt: skip


@rule("wsl-windows-too-old", "likely")
def kernel_that_windows_tells_is_old(told: Symptom = seen("wsl-kernel-told-by-windows")) -> Verdict:
    """`wsl --status` names the kernel that Windows starts."""
    return wsl.too_old(None, str(told.release)) is not None and {"minimum": "Windows build " + wsl.minimum()[0], "said": told.id}  # fmt: skip


# -- wsl-gpu-in-tcc-mode
@rule("wsl-gpu-in-tcc-mode", "likely")
def refused_where_a_model_is_shown(
    shown: Symptom = seen("driver-model-tcc"), said: Symptom = seen("wsl-access-blocked", "nvidia-smi-no-handle"), card: Gpu | None = one(driver_model="TCC")
) -> Verdict:  # fmt: skip
    """A piece of Windows's report has the model, and elsewhere the card is refused."""
    unknown = said.id == "wsl-access-blocked" or str(said.get("why")).startswith("Unknown Error")
    return card is None and unknown and {"said": shown.id}


@rule("wsl-gpu-in-tcc-mode", "likely")
def card_computes_only_as_people_say(
    said: Symptom = seen("tcc-in-words"), platform: Platform | None = one(wsl=(1, 2)), spoken: Symptom | None = seen("wsl-lived-in", "wsl-in-small-letters"),
    drawing: Gpu | None = one(driver_model="WDDM"), reached: Symptom | None = seen("wddm-reached-in-words"),
) -> Verdict:  # fmt: skip
    """Somebody speaks of WSL and of the mode in which Windows keeps a card to itself."""
    return bool(platform or spoken) and drawing is None and reached is None and {"said": said.id}


@rule("wsl-gpu-in-tcc-mode", "likely")
def a_card_computes_only_where_windows_starts_a_wsl(
    typed: Symptom = seen("wsl-command-typed"), card: Gpu = one(driver_model="TCC"), platform: Platform | None = one(wsl=_WSL)
) -> Verdict:  # fmt: skip
    """Windows's own list has such a card, and a command asks a WSL for its GPUs."""
    return platform is None and card.get("vendor", "nvidia") == "nvidia" and {"said": typed.id}


@rule("wsl-gpu-in-tcc-mode", "likely")
def program_started_in_wsl_from_windows_finds_none(
    _typed: Symptom = seen("wsl-command-typed"), error: Symptom = seen(*NO_CUDA), card: Gpu = one(driver_model="TCC"), drawing: Gpu | None = one(driver_model="WDDM"),
) -> Verdict:  # fmt: skip
    """Windows's own list has the card by the model that WSL cannot use, and a program that is started there finds none."""
    return drawing is None and card.get("vendor", "nvidia") == "nvidia" and {"said": error.id}


@rule("wsl-gpu-in-tcc-mode", "likely")
def card_computes_only_in_a_guest(
    shown: Symptom = seen("driver-model-tcc"), guest: Symptom | None = seen(*WSL_NAMED, "wsl-command-typed"), platform: Platform | None = one(wsl=2),
    card: Gpu | None = one(driver_model="TCC"),
) -> Verdict:  # fmt: skip
    """A piece of Windows's report has the model, and the rest comes from a WSL."""
    return card is None and bool(guest or platform) and {"said": shown.id}


@rule("wsl-gpu-in-tcc-mode", "likely")
def refused_beside_a_card_that_computes_only(
    card: Gpu = one(driver_model="TCC"), said: Symptom = seen("wsl-access-blocked", "nvidia-smi-no-handle")
) -> Verdict:  # fmt: skip
    """Windows's list has such a card, and elsewhere it is refused."""
    unknown = said.id == "wsl-access-blocked" or str(said.get("why")).startswith("Unknown Error")
    return unknown and card.get("vendor", "nvidia") == "nvidia" and {"said": said.id}


# -- wsl-gpu-not-supported
@rule("wsl-gpu-not-supported", "possible")
def not_found_in_wsl(
    card: Gpu = one(vendor="amd"), _wsl: Symptom = seen("wsl-lived-in"), _said: Symptom = seen("gpu-not-seen-told"),
    found: Gpu | None = one(vendor="amd", seen_by="rocminfo"),
) -> Verdict:  # fmt: skip
    """Told in a sentence: chips before the first generation and processors' graphics are those that WSL lacks."""
    return found is None and (wsl.chip_without_wsl(card.isa) or card.get("integrated") is True)


@rule("wsl-gpu-not-supported", "possible")
def torch_finds_none_where_wsl_is_spoken_of(
    card: Gpu = one(vendor="amd"), _spoken: Symptom = seen("wsl-lived-in"), said: Symptom = seen("torch-no-cuda-gpus", "hip-no-device"),
) -> Verdict:  # fmt: skip
    """A chip that ROCm's own documents leave out there."""
    return (wsl.chip_without_wsl(card.isa) or card.get("integrated") is True) and {"said": said.id}


@rule("wsl-gpu-not-supported", "possible")
def card_that_wsl_has_not(
    card: Gpu = one(vendor="amd"), _wsl: Symptom = seen("wsl-detected"), listed: Gpu | None = one(vendor="amd", seen_by=("rocminfo", "rocm_agent_enumerator"))
) -> Verdict:  # fmt: skip
    """ROCm's runtime knows that it is in WSL, and the card is one that it leaves out there."""
    return listed is None and not card.knows("shown_isa") and wsl.chip_without_wsl(card.isa)
