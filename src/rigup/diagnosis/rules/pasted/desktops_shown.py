"""What Windows's device manager, a WSL and installers print, where the report around it was cut away."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.directml import DIRECTML_USED
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.knowledge import wsl
from rigup.knowledge.pythons import tensorflow_on_windows
from rigup.machine.kinds import Driver, Gpu, Platform, Symptom, SystemPackage, TensorFlow, Toolkit, Torch

_DEVICE = (
    "device-manager-code", "device-manager-code-in-chinese", "device-manager-code-in-russian", "device-manager-code-in-spanish",
    "device-manager-code-by-number", "device-manager-code-in-a-table", "device-manager-problem-by-name",
)  # fmt: skip
_BY_NAME = {
    "FAILED_INSTALL": "28", "NOT_CONFIGURED": "1", "NORMAL_CONFLICT": "12", "DISABLED": "22", "PHANTOM": "45",
    "FAILED_POST_START": "43", "UNSIGNED_DRIVER": "52", "FAILED_START": "10", "FAILED_ADD": "31", "DRIVER_FAILED_LOAD": "39",
}  # fmt: skip
_NVIDIA = ("nvidia-by-pnp", "nvidia-geforce-named", "nvidia-tx-named", "tesla-or-quadro-named")
_LAPTOP = ("laptop-card-by-name",)
_GUEST = ("virtual-machine-in-words", "guest-under-qemu-named", "guest-of-esxi-named", "guest-started-with-a-passed-card", "guest-of-proxmox-with-a-card", "guest-of-libvirt-with-a-card")  # fmt: skip
_LIBCUDA = ("cuda-driver-library-not-found", "jax-finds-no-libcuda")
_AMDS_MODULE = ("amdgpu-install-without-wsl", "amdgpu-dkms-fails-told", "dkms-loads-amds-files", "package-of-amds-module-set-up", "dpkg-leaves-amds-module")  # fmt: skip


def _code(said: Symptom) -> str:
    """The device manager's number, of which PowerShell has a name."""
    return str(said.get("code") or _BY_NAME.get(str(said.get("problem")), ""))


# -- the device manager
@rule("nvidia-driver-missing", "likely")
def device_has_no_driver(
    said: Symptom = seen(*_DEVICE), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*_NVIDIA)
) -> Verdict:
    """Windows found no driver to install for it."""
    return _code(said) in ("28", "1") and bool(card or named) and {"said": said.id}


@rule("bios-bar-settings", "likely")
def device_has_no_room(
    said: Symptom = seen(*_DEVICE), card: Gpu | None = one(integrated=False), named: Symptom | None = seen(*_NVIDIA, "intel-gpu-in-words"),
) -> Verdict:  # fmt: skip
    """The firmware gave it no range of addresses that is large enough."""
    return _code(said) == "12" and bool(card or named) and {"said": said.id, "severity": "error"}


@rule("hybrid-laptop-gpu-powered-off", "possible")
def device_is_switched_off(
    said: Symptom = seen(*_DEVICE), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*_NVIDIA), laptop: Symptom | None = seen(*_LAPTOP)
) -> Verdict:  # fmt: skip
    """Somebody, or a laptop's own tool, disabled it; in a laptop one that is not connected was switched off too."""
    off = _code(said) == "22" or (_code(said) == "45" and laptop is not None)
    return off and bool(card or named) and {"said": said.id}


@rule("gpu-fell-off-bus", "possible")
def device_is_not_connected(
    said: Symptom = seen(*_DEVICE), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*_NVIDIA), laptop: Symptom | None = seen(*_LAPTOP)
) -> Verdict:  # fmt: skip
    """Windows knows it from before, and it does not answer."""
    return _code(said) == "45" and laptop is None and bool(card or named) and {"said": said.id}


@rule("vm-passthrough-misconfigured", "likely")
def device_stopped_in_a_guest(
    said: Symptom = seen(*_DEVICE), guest: Platform | None = None, told: Symptom | None = seen(*_GUEST)
) -> Verdict:
    """The card stops itself in a guest."""
    virtual = bool(guest and guest.get("hypervisor") and not guest.get("wsl")) or told is not None
    return _code(said) == "43" and virtual and {"said": said.id}


@rule("gpu-hardware-init-failure", "possible")
def device_stopped_itself(
    said: Symptom = seen(*_DEVICE), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*_NVIDIA), guest: Platform | None = None,
    told: Symptom | None = seen(*_GUEST),
) -> Verdict:  # fmt: skip
    """The driver says that the card does not work; a fault of the card, or of the driver."""
    virtual = bool(guest and guest.get("hypervisor")) or told is not None
    return _code(said) == "43" and not virtual and bool(card or named) and {"said": said.id}


@rule("secure-boot-module-unsigned", "likely")
def device_has_an_unsigned_driver(
    said: Symptom = seen(*_DEVICE), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*_NVIDIA)
) -> Verdict:
    """Windows refuses a driver whose signature it cannot check."""
    return _code(said) == "52" and bool(card or named) and {"said": said.id}


@rule("nvidia-module-not-loaded", "possible")
def device_has_a_driver_that_does_not_load(
    said: Symptom = seen(*_DEVICE), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*_NVIDIA)
) -> Verdict:
    """A driver is installed and does not start; why, Windows does not tell."""
    return _code(said) in ("10", "31", "37", "39") and bool(card or named) and {"said": said.id}


@rule("nvidia-driver-missing", "likely")
def windows_draws_by_its_own_driver(
    _basic: Symptom = seen("basic-display-adapter-alone"), card: Symptom = seen("nvidia-by-pnp"), driver: Driver | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """The card is driven by what Windows has for every card."""
    return driver is None and {"said": card.id}


@rule("nvidia-driver-missing", "likely")
def library_of_the_driver_is_missing(
    said: Symptom = seen("nvcuda-not-found"), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*_NVIDIA), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """nvcuda.dll comes with the driver and with nothing else."""
    return driver is None and bool(card or named) and {"said": said.id}


@rule("no-gpu-present", "possible")
def library_of_the_driver_is_missing_and_no_card_is_named(
    said: Symptom = seen("nvcuda-not-found"), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*_NVIDIA), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The same where nothing shows that there is a card."""
    return driver is None and card is None and named is None and {"said": said.id, "severity": "error"}


@rule("no-gpu-present", "possible")
def launcher_finds_none_beside_graphics_that_only_draw(
    said: Symptom = seen("webui-torch-no-gpu"), own: Symptom = seen("intel-drawing-chip-named"), card: Gpu | None = one(vendor=("nvidia", "amd")),
    named: Symptom | None = seen(*_NVIDIA),
) -> Verdict:  # fmt: skip
    """The only graphics that anybody names are a processor's own."""
    return card is None and named is None and {"said": said.id, "own": own.id, "severity": "error"}


@rule("nvidia-driver-missing", "possible")
def card_is_listed_and_its_tool_is_not_there(
    said: Symptom = seen("nvidia-smi-not-installed"), _system: Platform = one(system="windows"), card: Gpu = one(vendor="nvidia"), driver: Driver | None = one(vendor="nvidia"),
    works: Torch | None = one(available=True), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """Windows's driver brings the tool with it, and puts it on the path since many years."""
    told = driver is not None and driver.knows("version")
    return works is None and guest is None and not told and bool(card.get("name")) and {"said": said.id}


@rule("vm-without-gpu-passthrough", "likely")
def windows_lists_a_guests_adapter(
    _shown: Symptom = seen("adapter-of-vmware-in-windows", "adapter-of-virtualbox-in-windows", "adapter-of-parallels-in-windows"), wish: Symptom = seen(*NO_CUDA, *SILENT, "nvidia-smi-not-installed"),
    gpu: Gpu | None = None,
) -> Verdict:  # fmt: skip
    """A program wants CUDA, and the only adapter is one that a hypervisor makes up."""
    return gpu is None and {"said": wish.id}


@rule("directml-op-cpu-fallback", "likely")
def private_device_lacks_an_operator(
    said: Symptom = seen("private-device-has-no-operator"), _where: Symptom = seen("directml-imported", "directml-spoken-of", "directml-used", *DIRECTML_USED)
) -> Verdict:  # fmt: skip
    """To torch DirectML is a device of somebody's own; not all operations are written for it."""
    return {"operator": None, "said": said.id, "severity": "error"}


@rule("tensorflow-windows-no-gpu", "possible")
def build_on_windows_says_that_it_has_none(
    answered: TensorFlow = one(built_with_cuda=False), platform: Platform = one(system="windows")
) -> Verdict:
    """Somebody asked the build what it has; whether there is a card nobody shows."""
    release = str(answered.get("version") or "")
    return platform.get("wsl") is None and tensorflow_on_windows(release) is False


@rule("extension-without-platform-build", "likely")
def collectives_of_linux_are_asked_for(
    said: Symptom = seen("nccl-is-not-built-in"), platform: Platform = one(system=("windows", "macos"))
) -> Verdict:
    """NCCL is made for Linux; other systems have gloo."""
    return platform.get("wsl") is None and {"name": "nccl", "platform": platform.system, "said": said.id}


# -- WSL
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


@rule("wsl-gpu-in-tcc-mode", "likely")
def refused_where_a_model_is_shown(
    shown: Symptom = seen("driver-model-tcc"), said: Symptom = seen("wsl-access-blocked", "nvidia-smi-no-handle"), card: Gpu | None = one(driver_model="TCC")
) -> Verdict:  # fmt: skip
    """A piece of Windows's report has the model, and elsewhere the card is refused."""
    unknown = said.id == "wsl-access-blocked" or str(said.get("why")).startswith("Unknown Error")
    return card is None and unknown and {"said": shown.id}


@rule("wsl-rocm-release-not-supported", "possible")
def runtime_gets_nowhere_in_a_wsl(
    said: Symptom = seen("wsl-detected"), _error: Symptom = seen("hsa-out-of-resources"), rocm: Toolkit = one(name="rocm"), card: Gpu | None = one(vendor="amd"),
    refused: Symptom | None = seen("wsl-gpu-unsupported"),
) -> Verdict:  # fmt: skip
    """A release is installed that the table does not know from WSL; without any the same is said where there is no card of AMD's."""
    return refused is None and card is None and wsl.rocm_supported(rocm.version) is not True and {"said": said.id}


@rule("wsl-wheel-bundled-hsa-runtime", "possible")
def runtime_lists_the_card_and_torch_does_not(
    _platform: Platform = one(wsl=2), card: Gpu = one(vendor="amd", seen_by="rocminfo"), torch: Torch = one(available=False), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """ROCm works in this WSL; which torch it is nobody tells."""
    told = torch.get("cuda") or "+c" in str(torch.get("version"))
    return nvidia is None and not told and bool(card.get("name")) and {"said": card.name}
