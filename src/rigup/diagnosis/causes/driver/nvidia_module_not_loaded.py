"""The NVIDIA kernel module is not loaded."""

from rigup.diagnosis.causes.pci import NVIDIA
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen, text_rule
from rigup.machine.kinds import Driver, Gpu, KernelModule, PciDevice, Platform, Symptom, UnloadedModule


@rule("nvidia-module-not-loaded", "likely")
def no_module_answers(
    smi: Symptom = seen(tag="nvidia-driver-silent"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True),
    lent: PciDevice | None = one(vendor_id=NVIDIA, driver="vfio-pci"),
    free: PciDevice | None = one(vendor_id=NVIDIA, driver=None),
    platform: Platform | None = None,
    mounted: Symptom | None = seen("driver-files-mounted-by-hand"),
    cardless: Symptom | None = seen(tag="no-such-card no-dedicated"),
    looked: Symptom | None = seen(tag="display-list-without-nvidia"),
) -> Verdict:
    """nvidia-smi is installed and finds no driver in the kernel; a card kept for a guest wants none, nor a container with its files.

    Nor does a machine whose owner says that it has no such card: a package may have brought nvidia-smi.
    """
    kept = (lent is not None and free is None) or any(other is not None for other in (mounted, cardless, looked))
    return loaded is None and not kept and not inside(smi) and not (platform and platform.get("wsl"))


@rule("nvidia-module-not-loaded", "likely")
def looked_for_in_vain(
    _module: UnloadedModule = one(name="nvidia"),
    _wish: Symptom = seen("nvidia-smi-no-devices", tag="nvidia-finds-none"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:
    """A program wants CUDA, and the list of modules has no nvidia."""
    return loaded is None


@rule("nvidia-module-not-loaded", "likely")
def tensorflow_finds_no_module(
    symptom: Symptom = seen("tf-no-driver-in-kernel"),
    platform: Platform | None = None,
    gpu: Gpu | None = one(vendor="nvidia"),
    _error: Symptom = seen("cuda-no-device", "cuda-no-device-constant", "cuda-999", "cuda-999-constant"),
) -> Verdict:
    """The driver's library answered, so it is installed. Without that, TensorFlow says the same of a machine with no GPU."""
    return gpu is None and not inside(symptom) and not (platform and platform.get("wsl"))


@rule("nvidia-module-not-loaded", "likely")
def kernel_did_not_take_it(
    _said: Symptom = seen("nvidia-installer-load-failed", "nvrm-unsupported-by-release"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True),
    works: Gpu | None = one(vendor="nvidia", driver="nvidia"),
) -> Verdict:
    """The installer built a module that does not load, or the module says that it does not know this card."""
    return loaded is None and works is None


@rule("nvidia-module-not-loaded")
def module_lies_there(
    platform: Platform,
    _card: PciDevice = one(vendor_id=NVIDIA, driver=None),
    module: KernelModule = one(name="nvidia"),
    modules: Every[KernelModule] = every(KernelModule),
) -> Verdict:
    """The module is built for this kernel, no driver has the card, and the module is not among the loaded ones."""
    loaded = any(other.name == "nvidia" and other.get("loaded") for other in modules)
    return platform.release in module.built_for and not loaded and not platform.get("wsl")


@rule("nvidia-module-not-loaded", "possible")
def setup_tool_gets_no_answer(
    symptom: Symptom = seen("nvidia-xconfig-no-answer"),
    driver: Driver | None = one(vendor="nvidia"),
    module: KernelModule | None = one(name=("nvidia", "nouveau")),
    card: PciDevice | None = one(vendor_id=NVIDIA),
) -> Verdict:
    """NVIDIA's own tool of setup asks the driver, and gets nothing."""
    return driver is None and module is None and card is None and not inside(symptom)


@rule("nvidia-module-not-loaded", "possible")
def switcher_loads_no_driver(
    symptom: Symptom = seen("bumblebee-loads-no-driver", "optimus-manager-loads-no-module"),
    driver: Driver | None = one(vendor="nvidia"),
    module: KernelModule | None = one(name=("nvidia", "nouveau"), loaded=True),
    why: Symptom | None = seen(
        "bbswitch-off", "bbswitch-card-off", "dkms-build-failed", "bumblebee-module-not-made", "modprobe-module-not-found"
    ),
) -> Verdict:
    """The service of a laptop with two cards asked for the module of the second, and did not get it."""
    return driver is None and module is None and why is None and not inside(symptom)


@rule("nvidia-module-not-loaded", "possible")
def not_loaded_as_people_say(
    symptom: Symptom = seen("nvidia-not-loaded-in-words"),
    driver: Driver | None = one(vendor="nvidia"),
    card: PciDevice | None = one(vendor_id=NVIDIA),
    module: KernelModule | None = one(name=("nvidia", "nouveau")),
    other: Symptom | None = seen("nouveau-in-words", "module-unsigned-in-words"),
) -> Verdict:
    """Nothing but the person's words; what the module met is not shown."""
    return all(shown is None for shown in (driver, card, module, other)) and not inside(symptom)


@text_rule("nvidia-module-not-loaded", "likely")
def module_was_built_and_nobody_loaded_it(
    _card: PciDevice = one(vendor_id=NVIDIA, driver=None),
    module: KernelModule = one(name="nvidia", loaded=False),
    _gone: UnloadedModule = one(name="nvidia"),
    platform: Platform | None = None,
    others: Every[KernelModule] = every(KernelModule, loaded=True),
) -> Verdict:
    """No driver has the card, the list of modules has no nvidia, and modinfo finds its file; of which kernel, nobody says."""
    known = platform is not None and platform.knows("release")
    foreign = any(other.name in ("nouveau", "vfio_pci") for other in others)
    return not known and not foreign and bool(module.built_for)
