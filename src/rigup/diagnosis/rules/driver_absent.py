"""NVIDIA's driver that is not there: switched off on purpose, not loaded, not installed."""

from rigup.diagnosis.rule import Every, Verdict, every, lacks, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.driver import NVIDIA
from rigup.diagnosis.rules.told import (
    ON_THE_PROCESSOR,
)
from rigup.machine.kinds import (
    Driver,
    DriverLibrary,
    Gpu,
    GraphicsSwitch,
    KernelModule,
    PciDevice,
    Platform,
    Symptom,
    Torch,
    UnloadedModule,
)


# -- switched off on purpose
@rule("hybrid-laptop-gpu-powered-off")
def tool_took_the_card_away(
    switch: GraphicsSwitch = one(mode="integrated"), loaded: KernelModule | None = one(name="nvidia", loaded=True)
) -> Verdict:
    """What switches the graphics is set to the integrated one."""
    return loaded is None and {"tool": switch.tool}


@rule("hybrid-laptop-gpu-powered-off")
def bbswitch_turned_it_off(
    _said: Symptom = seen("bbswitch-off", "bbswitch-card-off"),
    _lost: Symptom = seen(
        "gpu-fallen-off", "xid-79", "gpu-d3cold-inaccessible", tag="nvidia-driver-silent nvidia-finds-none"
    ),
) -> Verdict:
    """The card is gone because bbswitch cut its power."""
    return {"tool": "bbswitch"}


@rule("hybrid-laptop-gpu-powered-off", "likely")
def lost_where_a_tool_switches_it(
    _tool: Symptom = seen("bbswitch-configured", "bumblebee-cannot-access"),
    _lost: Symptom = seen("gpu-fallen-off", "xid-79", "gpu-d3cold-inaccessible"),
) -> Verdict:
    """The card does not answer on a machine where bbswitch takes its power and gives it back."""
    return {"tool": "bbswitch"}


# -- not loaded
@rule("nvidia-module-not-loaded", "likely")
def no_module_answers(
    smi: Symptom = seen(tag="nvidia-driver-silent"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True), lent: PciDevice | None = one(vendor_id=NVIDIA, driver="vfio-pci"),
    free: PciDevice | None = one(vendor_id=NVIDIA, driver=None), platform: Platform | None = None,
    mounted: Symptom | None = seen("driver-files-mounted-by-hand"), cardless: Symptom | None = seen(tag="no-such-card no-dedicated"),
    looked: Symptom | None = seen(tag="display-list-without-nvidia"),
) -> Verdict:  # fmt: skip
    """nvidia-smi is installed and finds no driver in the kernel; a card kept for a guest wants none, nor a container with its files.

    Nor does a machine whose owner says that it has no such card: a package may have brought nvidia-smi.
    """
    kept = (lent is not None and free is None) or any(other is not None for other in (mounted, cardless, looked))
    return loaded is None and not kept and not inside(smi) and not (platform and platform.get("wsl"))


@rule("nvidia-module-not-loaded", "likely")
def looked_for_in_vain(
    _module: UnloadedModule = one(name="nvidia"), _wish: Symptom = seen("nvidia-smi-no-devices", tag="nvidia-finds-none"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """A program wants CUDA, and the list of modules has no nvidia."""
    return loaded is None


@rule("nvidia-module-not-loaded", "likely")
def tensorflow_finds_no_module(
    symptom: Symptom = seen("tf-no-driver-in-kernel"), platform: Platform | None = None, gpu: Gpu | None = one(vendor="nvidia"),
    _error: Symptom = seen("cuda-no-device", "cuda-no-device-constant", "cuda-999", "cuda-999-constant"),
) -> Verdict:  # fmt: skip
    """The driver's library answered, so it is installed. Without that, TensorFlow says the same of a machine with no GPU."""
    return gpu is None and not inside(symptom) and not (platform and platform.get("wsl"))


@rule("nvidia-module-not-loaded", "likely")
def kernel_did_not_take_it(
    _said: Symptom = seen("nvidia-installer-load-failed", "nvrm-unsupported-by-release"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True), works: Gpu | None = one(vendor="nvidia", driver="nvidia"),
) -> Verdict:  # fmt: skip
    """The installer built a module that does not load, or the module says that it does not know this card."""
    return loaded is None and works is None


@rule("nvidia-module-not-loaded")
def module_lies_there(
    platform: Platform, _card: PciDevice = one(vendor_id=NVIDIA, driver=None), module: KernelModule = one(name="nvidia"),
    modules: Every[KernelModule] = every(KernelModule),
) -> Verdict:  # fmt: skip
    """The module is built for this kernel, no driver has the card, and the module is not among the loaded ones."""
    loaded = any(other.name == "nvidia" and other.get("loaded") for other in modules)
    return platform.release in module.built_for and not loaded and not platform.get("wsl")


# -- not installed
_LISTED = (
    "pci_address",
    "uuid",
    "nvml_index",
    "runtime_index",
    "seen_by",
)  # what only a program that sees the card tells


@rule("nvidia-driver-missing")
def nothing_of_a_driver_is_there(
    card: PciDevice = one(vendor_id=NVIDIA, driver=None), modules: Every[KernelModule] = every(KernelModule, name="nvidia"),
    libraries: Every[DriverLibrary] = lacks(DriverLibrary), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """A card, no driver that has it, no module, no library."""
    offered = any(name.startswith("nvidia") and name != "nvidiafb" for name in card.get("modules", ()))
    built = any(module.get("built_for") or module.get("loaded") for module in modules)
    return (
        _draws(card) and not offered and not built and not inside(libraries) and not (platform and platform.get("wsl"))
    )


@rule("nvidia-driver-missing", "likely")
def card_without_driver_or_tool(
    card: PciDevice = one(vendor_id=NVIDIA, driver=None), symptom: Symptom = seen("nvidia-smi-not-installed"), module: KernelModule | None = one(name="nvidia"),
    platform: Platform | None = None,
) -> Verdict:  # fmt: skip
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
    symptom: Symptom = seen("torch-found-no-driver"), gpu: Gpu | None = None, card: PciDevice | None = None,
    driver: Driver | None = None, platform: Platform | None = None, board: Symptom | None = seen("raspberry-board-named", "directml-spoken-of", tag="other-accelerators"), asked_cpu: Symptom | None = seen("processor-asked-for-by-an-option"),
) -> Verdict:  # fmt: skip
    """torch asked for the driver's version and got none; nobody has shown a driver or the bus, at most named a card."""
    elsewhere = inside(symptom) or (platform and (platform.get("wsl") or platform.get("system") == "macos"))
    named = gpu is None or (gpu.get("vendor") == "nvidia" and not any(map(gpu.knows, _LISTED)))
    return named and all(other is None for other in (card, driver, board, asked_cpu)) and not elsewhere


@rule("nvidia-driver-missing", "possible")
def program_found_no_library_of_the_driver(
    symptom: Symptom = seen("nvidia-smi-no-library", "nvml-library-not-found", "libcuda-not-found", "cuda-driver-library-not-found", "program-finds-no-library-of-the-driver", "cudarc-finds-no-library-of-the-driver"), gpu: Gpu | None = None, card: PciDevice | None = None,
    driver: Driver | None = None, torch: Torch | None = None, platform: Platform | None = None, plain: Symptom | None = seen(ON_THE_PROCESSOR, "vllm-platform-found", tag="no-gpu-told other-accelerators"),
) -> Verdict:  # fmt: skip
    """The library by which tools ask the driver is nowhere; where other cards or a working torch are shown, it is noise."""
    elsewhere = inside(symptom) or (
        platform and (platform.get("wsl") or platform.get("system") in ("macos", "windows"))
    )
    return all(other is None for other in (gpu, card, driver, torch, plain)) and not elsewhere


def _draws(card: PciDevice) -> bool:
    return str(card.get("class_code", "03")).startswith("03")
