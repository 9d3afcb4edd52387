"""No NVIDIA driver is installed for the card that is there."""

from rigup.diagnosis.causes.pci import NVIDIA
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Every, Params, Passes, Verdict, every, lacks, mends, one, rule, seen, text_rule
from rigup.knowledge.driver_faults import production_branch
from rigup.knowledge.gpus import driver_branch_for
from rigup.machine.kinds import DkmsTree, Driver, DriverLibrary, Gpu, KernelModule, PciDevice, Platform, Symptom, SystemPackage, Torch

_LISTED = ("pci_address", "uuid", "nvml_index", "runtime_index", "seen_by")  # what only a program that sees the card tells


@rule("nvidia-driver-missing", strength="likely")
def neither_engine_nor_host_has_the_driver(
    _error: Symptom = seen("container-cli-no-nvml-library"),
    absent: Symptom = seen("nvidia-smi-not-installed"),
    driver: Driver | None = one(vendor="nvidia"),
    guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:
    """The driver's library is not found by what hands it in, nor its tool by the host's shell."""
    return driver is None and guest is None and not absent.place.world.startswith("container") and {"said": absent.id}


def _draws(card: PciDevice) -> bool:
    return str(card.get("class_code", "03")).startswith("03")


@rule("nvidia-driver-missing")
def nothing_of_a_driver_is_there(
    card: PciDevice = one(vendor_id=NVIDIA, driver=None),
    modules: Every[KernelModule] = every(KernelModule, name="nvidia"),
    libraries: Every[DriverLibrary] = lacks(DriverLibrary),
    platform: Platform | None = None,
) -> Verdict:
    """A card, no driver that has it, no module, no library."""
    offered = any(name.startswith("nvidia") and name != "nvidiafb" for name in card.get("modules", ()))
    built = any(module.get("built_for") or module.get("loaded") for module in modules)
    return _draws(card) and not offered and not built and not inside(libraries) and not (platform and platform.get("wsl"))


@rule("nvidia-driver-missing", "likely")
def card_without_driver_or_tool(
    card: PciDevice = one(vendor_id=NVIDIA, driver=None),
    symptom: Symptom = seen("nvidia-smi-not-installed"),
    module: KernelModule | None = one(name="nvidia"),
    platform: Platform | None = None,
) -> Verdict:
    """A card, no driver that has it, and no nvidia-smi."""
    offered = any(name.startswith("nvidia") and name != "nvidiafb" for name in card.get("modules", ()))
    built = module and (module.get("built_for") or module.get("loaded"))
    return _draws(card) and not offered and not built and not inside(symptom) and not (platform and platform.get("wsl"))


@rule("nvidia-driver-missing")
def windows_drives_the_card_itself(
    card: Gpu = one(vendor="nvidia", driver="basicdisplay"), driver: Driver | None = one(vendor="nvidia")
) -> Verdict:
    """Windows's basic display driver has the card, and no driver of NVIDIA's is there."""
    return driver is None and bool(card.driver)


@rule("nvidia-driver-missing", "possible")
def program_found_no_driver(
    symptom: Symptom = seen("torch-found-no-driver"),
    gpu: Gpu | None = None,
    card: PciDevice | None = None,
    driver: Driver | None = None,
    platform: Platform | None = None,
    board: Symptom | None = seen("raspberry-board-named", "directml-spoken-of", tag="other-accelerators"),
    asked_cpu: Symptom | None = seen("processor-asked-for-by-an-option"),
) -> Verdict:
    """torch asked for the driver's version and got none; nobody has shown a driver or the bus, at most named a card."""
    elsewhere = inside(symptom) or (platform and (platform.get("wsl") or platform.get("system") == "macos"))
    named = gpu is None or (gpu.get("vendor") == "nvidia" and not any(map(gpu.knows, _LISTED)))
    return named and all(other is None for other in (card, driver, board, asked_cpu)) and not elsewhere


@rule("nvidia-driver-missing", "possible")
def program_found_no_library_of_the_driver(
    symptom: Symptom = seen(
        "nvidia-smi-no-library",
        "nvml-library-not-found",
        "libcuda-not-found",
        "cuda-driver-library-not-found",
        "program-finds-no-library-of-the-driver",
        "cudarc-finds-no-library-of-the-driver",
    ),
    gpu: Gpu | None = None,
    card: PciDevice | None = None,
    driver: Driver | None = None,
    torch: Torch | None = None,
    platform: Platform | None = None,
    plain: Symptom | None = seen("vllm-on-the-processor", "vllm-platform-found", tag="no-gpu-told other-accelerators"),
) -> Verdict:
    """The library by which tools ask the driver is nowhere; where other cards or a working torch are shown, it is noise."""
    elsewhere = inside(symptom) or (platform and (platform.get("wsl") or platform.get("system") in ("macos", "windows")))
    return all(other is None for other in (gpu, card, driver, torch, plain)) and not elsewhere


@text_rule("nvidia-driver-missing", "possible")
def card_on_the_bus_and_no_module_by_that_name(
    card: PciDevice = one(vendor_id=NVIDIA),
    symptom: Symptom = seen("modprobe-module-not-found", "kmod-no-such-module", module="nvidia"),
    module: KernelModule | None = one(name=("nvidia", "nouveau", "nova_core")),
    silent: Symptom | None = seen("dkms-build-failed", "bbswitch-off", tag="nvidia-driver-silent"),
    tree: DkmsTree | None = one(module="nvidia"),
    package: SystemPackage | None = one(state="installed"),
) -> Verdict:
    """The bus has the card, the kernel has no module for it, and nothing else of a driver is shown: it may be there and not built."""
    display = not card.knows("driver") and str(card.get("class_code", "03")).startswith("03")
    alone = all(part is None for part in (module, silent, tree, package))
    return display and alone and not inside(symptom) and {"said": symptom.id}


@text_rule("nvidia-driver-missing", "likely")
def card_that_nobody_claims(
    card: Gpu = one(vendor="nvidia", driver=None),
    module: KernelModule | None = one(name=("nvidia", "nouveau", "nova_core")),
    package: SystemPackage | None = one(state="installed"),
    wish: Symptom = seen(
        "torch-found-no-driver", "nvidia-smi-not-installed", "ollama-finds-no-gpu", "tf-no-driver-in-kernel", tag="cuda-programs-find-none"
    ),
) -> Verdict:
    """A report shows that no driver has the card, and what wants it finds none."""
    unclaimed = card.knows("driver") and card.driver is None and not card.get("seen_by")
    return unclaimed and module is None and package is None and not inside(wish)


@text_rule("nvidia-driver-missing", "possible")
def monitor_watches_no_gpu_beside_a_card(
    _said: Symptom = seen("nvtop-has-nothing-to-watch"),
    card: PciDevice = one(vendor_id=NVIDIA),
    module: KernelModule | None = one(name="nvidia"),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:
    """The bus lists a card, and a monitor that takes any vendor's driver finds nothing to watch."""
    return module is None and driver is None and card.get("driver") in (None, "", "nvidia")


def _of_a_driver(name: str) -> bool:
    return "nvidia" in name and not name.startswith(("egl-", "lib", "linux-firmware", "nvidia-gpu-firmware"))


@text_rule("nvidia-driver-missing", "possible")
def bus_offers_nothing_of_nvidias_for_the_card(
    card: PciDevice = one(vendor_id=NVIDIA, driver=None),
    module: KernelModule | None = one(name="nvidia"),
    driver: Driver | None = one(vendor="nvidia"),
    symptom: Symptom | None = seen(
        "modprobe-module-not-found", "dkms-package-failed", "nvidia-installer-load-failed", tag="nvidia-driver-silent module-refused"
    ),
    package: SystemPackage | None = one(name=Passes(_of_a_driver), state="installed"),
    tree: DkmsTree | None = one(module="nvidia"),
    works: Gpu | None = one(vendor="nvidia", seen_by=("nvidia-smi", "torch", "cuda")),
    platform: Platform | None = None,
) -> Verdict:
    """lspci knows of the kernel's own driver for the card, which has not got it, and of none of NVIDIA's."""
    offered = card.get("modules", ())
    draws = str(card.get("class_code", "03")).startswith("03")
    theirs = any(name.startswith("nvidia") and name != "nvidiafb" for name in offered)
    elsewhere = inside(card) or bool(platform and platform.get("wsl"))
    alone = all(other is None for other in (module, driver, symptom, package, tree, works))
    return alone and draws and bool(offered) and not theirs and not elsewhere


@mends("nvidia-driver-missing")
def branch_to_install(gpu: Gpu | None = one(vendor="nvidia")) -> Params:
    """The last branch that drives the chip, or the long-lived one of today, which drives most."""
    isa = gpu.get("isa") if gpu is not None else None
    return {"branch": (isa and driver_branch_for(isa)) or production_branch()}
