"""NVIDIA's driver is not there at all."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.access import inside as from_inside
from rigup.diagnosis.rules.device_manager import DEVICE, NVIDIA_NAMED, code_of
from rigup.diagnosis.rules.driver import NVIDIA, SILENT
from rigup.diagnosis.rules.pasted.heard import CUDA_PROGRAMS_FIND_NONE, DRIVER_UNHEARD, MODULE_REFUSED
from rigup.diagnosis.rules.told import Told
from rigup.machine.kinds import (
    DkmsTree,
    Driver,
    Gpu,
    Jetson,
    JobRequest,
    KernelModule,
    PciDevice,
    Platform,
    Symptom,
    SystemPackage,
    TensorFlow,
    Torch,
    World,
)

_NO_LIBRARY = (
    "tf-no-driver-in-kernel",
    "program-finds-no-library-of-the-driver",
    "cudarc-finds-no-library-of-the-driver",
    "hashcat-finds-nothing-to-compute-on",
)


@rule("nvidia-driver-missing", "likely")
def card_on_the_bus_and_no_tool(
    card: PciDevice = one(vendor_id=NVIDIA), said: Symptom = seen("nvidia-smi-not-installed"), module: KernelModule | None = one(name=("nvidia", "nouveau", "nova_core")),
    package: SystemPackage | None = one(state="installed"), platform: Platform | None = None, torch: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """The bus has the card, nobody says what drives it, and the driver's own tool is not installed."""
    unknown = not card.knows("driver") and str(card.get("class_code", "03")).startswith("03")
    ours = package is not None and "nvidia" in package.name
    return unknown and module is None and not ours and torch is None and not inside(said) and not (platform and platform.get("wsl"))  # fmt: skip


@rule("nvidia-driver-missing", "possible")
def card_on_the_bus_and_no_module_by_that_name(
    card: PciDevice = one(vendor_id=NVIDIA), said: Symptom = seen("modprobe-module-not-found", "kmod-no-such-module", module="nvidia"), module: KernelModule | None = one(name=("nvidia", "nouveau", "nova_core")),
    silent: Symptom | None = seen(*SILENT, "dkms-build-failed", "bbswitch-off"), tree: DkmsTree | None = one(module="nvidia"), package: SystemPackage | None = one(state="installed"),
) -> Verdict:  # fmt: skip
    """The bus has the card, the kernel has no module for it, and nothing else of a driver is shown: it may be there and not built."""
    display = not card.knows("driver") and str(card.get("class_code", "03")).startswith("03")
    alone = all(part is None for part in (module, silent, tree, package))
    return display and alone and not inside(said) and {"said": said.id}


@rule("nvidia-driver-missing", "likely")
def card_that_nobody_claims(
    card: Gpu = one(vendor="nvidia", driver=None), module: KernelModule | None = one(name=("nvidia", "nouveau", "nova_core")), package: SystemPackage | None = one(state="installed"),
    wish: Symptom = seen("torch-found-no-driver", *CUDA_PROGRAMS_FIND_NONE, "nvidia-smi-not-installed", "ollama-finds-no-gpu", "tf-no-driver-in-kernel"),
) -> Verdict:  # fmt: skip
    """A report shows that no driver has the card, and what wants it finds none."""
    unclaimed = card.knows("driver") and card.driver is None and not card.get("seen_by")
    return unclaimed and module is None and package is None and not from_inside(wish)


@rule("nvidia-driver-missing", "likely")
def installer_offers_one_and_there_is_no_tool(
    _offers: Symptom = seen("ubuntu-drivers-offers"), said: Symptom = seen("nvidia-smi-not-installed", "torch-found-no-driver"), module: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """Ubuntu's tool lists drivers for the card, and none is there."""
    return module is None and not inside(said)


@rule("nvidia-driver-missing", "possible")
def container_engine_finds_nothing_of_a_driver(
    said: Symptom = seen("apptainer-no-nv-files"), gpu: Gpu | None = one(seen_by=Told(bool)), driver: Driver | None = one(vendor="nvidia"), platform: Platform | None = None,
    jetson: Jetson | None = None, module: KernelModule | None = one(name="nvidia", loaded=True), job: JobRequest | None = None,
    wish: Symptom | None = seen(*DRIVER_UNHEARD, "engine-finds-no-nvidia-smi", "tf-no-driver-in-kernel", "program-finds-no-cuda", "torch-not-compiled-with-cuda", "nvidia-smi-no-library", "libcuda-not-found"),
    none: TensorFlow | None = one(gpus=0), torch: Torch | None = one(available=False),
    other: Symptom | None = seen("jetson-in-words", "tegra-in-words", "orin-in-words", "slurm-told", "slurm-told-in-small-letters"),
) -> Verdict:  # fmt: skip
    """As above, on a host: neither its programs nor its libraries are there, and a program wants them."""
    elsewhere = platform is not None and (platform.get("wsl") or platform.get("hypervisor"))
    wanted = any(part is not None for part in (wish, none, torch))
    return (
        wanted
        and all(part is None for part in (gpu, driver, jetson, module, job, other))
        and not elsewhere
        and {"said": said.id}
    )


@rule("nvidia-driver-missing", "likely")
def device_has_no_driver(
    said: Symptom = seen(*DEVICE), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*NVIDIA_NAMED)
) -> Verdict:
    """Windows found no driver to install for it."""
    return code_of(said) in ("28", "1") and bool(card or named) and {"said": said.id}


@rule("nvidia-driver-missing", "likely")
def windows_draws_by_its_own_driver(
    _basic: Symptom = seen("basic-display-adapter-alone"), card: Symptom = seen("nvidia-by-pnp"), driver: Driver | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """The card is driven by what Windows has for every card."""
    return driver is None and {"said": card.id}


@rule("nvidia-driver-missing", "likely")
def library_of_the_driver_is_missing(
    said: Symptom = seen("nvcuda-not-found"), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*NVIDIA_NAMED), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """nvcuda.dll comes with the driver and with nothing else."""
    return driver is None and bool(card or named) and {"said": said.id}


@rule("nvidia-driver-missing", "possible")
def card_is_listed_and_its_tool_is_not_there(
    said: Symptom = seen("nvidia-smi-not-installed"), _system: Platform = one(system="windows"), card: Gpu = one(vendor="nvidia"), driver: Driver | None = one(vendor="nvidia"),
    works: Torch | None = one(available=True), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """Windows's driver brings the tool with it, and puts it on the path since many years."""
    told = driver is not None and driver.knows("version")
    return works is None and guest is None and not told and bool(card.get("name")) and {"said": said.id}


@rule("nvidia-driver-missing", "likely")
def operator_waits_for_a_driver(
    said: Symptom = seen("operator-finds-no-driver-in-its-root"),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:
    """The operator tries again until its driver's pod is ready; one that was answered at last has waited well."""
    return works is None and said.values()


@rule("nvidia-driver-missing", "possible")
def monitor_watches_no_gpu_beside_a_card(
    _said: Symptom = seen("nvtop-has-nothing-to-watch"), card: PciDevice = one(vendor_id=NVIDIA), module: KernelModule | None = one(name="nvidia"),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The bus lists a card, and a monitor that takes any vendor's driver finds nothing to watch."""
    return module is None and driver is None and card.get("driver") in (None, "", "nvidia")


@rule("nvidia-driver-missing", "likely")
def mac_with_a_card_of_nvidia_lacks_its_driver(
    said: Symptom = seen("torch-found-no-driver"), platform: Platform = one(system="macos"), named: Gpu = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """macOS draws by itself; CUDA on such a Mac needs NVIDIA's own driver beside it."""
    return {"said": said.id, "card": named.get("name"), "system": platform.get("release")}


@rule("nvidia-driver-missing", "possible")
def tensorflow_finds_no_driver_beside_a_card(
    said: Symptom = seen("tf-libcuda-not-loaded", "libcuda-not-found", *_NO_LIBRARY), card: PciDevice = one(vendor_id="10de"), driver: Driver | None = one(vendor="nvidia"),
    platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """The bus lists a card, the loader finds no library of the driver's, and no driver bound is shown."""
    guest = platform is not None and platform.get("wsl") is not None
    return driver is None and not guest and not card.get("driver") and not inside(said) and {"said": said.id}


@rule("nvidia-driver-missing", "likely")
def package_is_not_installed_and_the_card_is_there(
    _none: Symptom = seen("driver-package-not-installed"), card: PciDevice = one(vendor_id=NVIDIA), module: KernelModule | None = one(name="nvidia", loaded=True),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """The bus has the card, and the package manager knows of no driver that is installed."""
    return module is None and works is None and not card.get("driver")


@rule("nvidia-driver-missing", "possible")
def report_names_no_driver(
    card: Gpu = one(vendor="nvidia", driver=None), driver: Driver | None = one(vendor="nvidia"), module: KernelModule | None = one(name=("nvidia", "nouveau")),
    row: PciDevice | None = one(vendor_id=NVIDIA), said: Symptom | None = seen(*SILENT, *MODULE_REFUSED, "nvidia-smi-not-installed", "inxi-offers-nvidias"),
    package: SystemPackage | None = one(state="installed"), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """inxi or lshw finds a card that no driver has claimed, and nothing of NVIDIA's is shown."""
    elsewhere = bool(platform and platform.get("wsl"))
    return all(other is None for other in (driver, module, row, said, package)) and not elsewhere and card.driver is None  # fmt: skip


@rule("nvidia-driver-missing", "likely")
def listed_card_and_no_program_of_the_driver(
    card: PciDevice = one(vendor_id=NVIDIA), _gone: Symptom = seen("which-finds-no-nvidia-smi"), module: KernelModule | None = one(name=("nvidia", "nouveau")),
    package: SystemPackage | None = one(state="installed"), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """The bus shows a card, and nvidia-smi is not on the path."""
    elsewhere = bool(platform and platform.get("wsl")) or inside(card)
    return module is None and package is None and not elsewhere and not card.get("driver")


@rule("nvidia-driver-missing", "likely")
def server_searches_the_drivers_library(
    said: Symptom = seen("ollama-searches-nvcuda-in-vain"), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen("nvidia-geforce-named", "nvidia-tx-named", "tesla-or-quadro-named"),
) -> Verdict:  # fmt: skip
    """nvcuda.dll lies in Windows's folder as soon as a driver is installed."""
    return bool(card or named) and {"said": said.id}


@rule("nvidia-driver-missing", "likely")
def shell_offers_the_tool_and_a_card_is_named(
    said: Symptom = seen("nvidia-tool-offered-by-the-shell"), card: Gpu = one(vendor="nvidia"), driver: Driver | None = one(vendor="nvidia"),
    package: SystemPackage | None = one(state="installed"), platform: Platform | None = None, box: World | None = one(at="container"),
    board: Jetson | None = None, works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """Ubuntu's shell would have to install the package that every driver comes with; somebody names his card. A Jetson has no such tool."""
    elsewhere = from_inside(said) or box is not None or (platform is not None and platform.get("wsl"))
    if board is not None or works is not None:
        return False
    ours = package is not None and "nvidia" in package.name
    return driver is None and not ours and not elsewhere and not card.get("seen_by") and card.get("driver") is None


def _of_a_driver(name: str) -> bool:
    return "nvidia" in name and not name.startswith(("egl-", "lib", "linux-firmware", "nvidia-gpu-firmware"))


@rule("nvidia-driver-missing", "possible")
def bus_offers_nothing_of_nvidias_for_the_card(
    card: PciDevice = one(vendor_id=NVIDIA, driver=None), module: KernelModule | None = one(name="nvidia"), driver: Driver | None = one(vendor="nvidia"),
    said: Symptom | None = seen(*SILENT, *MODULE_REFUSED, "modprobe-module-not-found", "dkms-package-failed", "nvidia-installer-load-failed"),
    package: SystemPackage | None = one(name=Told(_of_a_driver), state="installed"), tree: DkmsTree | None = one(module="nvidia"),
    works: Gpu | None = one(vendor="nvidia", seen_by=("nvidia-smi", "torch", "cuda")), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """lspci knows of the kernel's own driver for the card, which has not got it, and of none of NVIDIA's."""
    offered = card.get("modules", ())
    draws = str(card.get("class_code", "03")).startswith("03")
    theirs = any(name.startswith("nvidia") and name != "nvidiafb" for name in offered)
    elsewhere = inside(card) or bool(platform and platform.get("wsl"))
    alone = all(other is None for other in (module, driver, said, package, tree, works))
    return alone and draws and bool(offered) and not theirs and not elsewhere
