"""Secure Boot keeps the driver's module out."""

from rigup.diagnosis.causes.driver.modules import NOVA
from rigup.diagnosis.causes.pci import NVIDIA
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen
from rigup.knowledge.distributions import kernels_builder
from rigup.knowledge.driver_recipes import module_key
from rigup.machine.kinds import Distribution, DkmsBuild, DkmsTree, Driver, GraphicsSwitch, KernelModule, PciDevice, Platform, Symptom


@rule("secure-boot-module-unsigned", "likely")
def kernel_refuses_some_module(
    _refused: Symptom = seen("module-key-unavailable", "lockdown-unsigned-module"),
    _smi: Symptom = seen("rock-module-not-loaded", tag="nvidia-driver-silent nvidia-finds-none"),
) -> Verdict:
    """The kernel's log names no module; that the driver is silent tells."""
    return True


@rule("secure-boot-module-unsigned", "likely")
def module_is_there_and_secure_boot_is_on(
    platform: Platform = one(secure_boot=True),
    _card: PciDevice = one(vendor_id=NVIDIA, driver=None),
    module: KernelModule = one(name="nvidia"),
    tree: DkmsTree = one(registered=True),
    loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:
    """Built here for this kernel, kept out by nobody else, and not loaded. A distribution signs what it builds itself."""
    built = platform.release in module.built_for and tree.module.startswith("nvidia")
    return built and loaded is None and not module.get("blacklisted")


@rule("secure-boot-module-unsigned", "likely")
def driver_silent_under_secure_boot(
    platform: Platform = one(secure_boot=True),
    smi: Symptom = seen(tag="nvidia-driver-silent"),
    module: KernelModule | None = one(name="nvidia"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True),
    other: PciDevice | None = one(vendor_id=NVIDIA, driver=("nouveau", "vfio-pci", *NOVA)),
    switch: GraphicsSwitch | None = one(mode="integrated"),
) -> Verdict:
    """Secure Boot is on and the driver's module does not answer; a module that was not built is another matter."""
    release = platform.get("release")
    missing = module and release and module.get("built_for") and release not in module.get("built_for")
    hidden = missing or other is not None or switch is not None or (module and module.get("blacklisted"))
    return loaded is None and not hidden and not inside(smi) and not platform.get("wsl")


@rule("secure-boot-module-unsigned", "possible")
def unsigned_as_people_say(
    symptom: Symptom = seen("module-unsigned-in-words", "module-keys-rejected-in-words"),
    wish: Symptom = seen("nvidia-not-loaded-in-words", "module-keys-rejected-in-words", "nouveau-in-words", tag="nvidia-driver-silent"),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:
    """The person says that the module has no signature which the kernel takes, and that it is not loaded."""
    return driver is None and {"said": symptom.id, "wish": wish.id}


@mends("secure-boot-module-unsigned")
def key_of_the_distribution(
    system: Distribution | None = None,
    platform: Platform | None = None,
    tree: DkmsTree | None = one(registered=True),
    build: DkmsBuild | None = None,
) -> Params:
    """Where its tools keep the key that signs what is built on the machine; the kernel's release tells whose they are, too."""
    name = str((system and system.get("id")) or kernels_builder(str((platform and platform.get("release")) or "")).like)
    key, newest = module_key(name, by_dkms=tree is not None or build is not None)
    return {"key": key or None, "keys": newest or None}


@mends("secure-boot-module-unsigned")
def key_that_is_shown(shown: Symptom = seen("module-key-file-listed", "module-key-file-named")) -> Params:
    """The file itself, where the text names it."""
    folder = str(shown.get("folder") or "")
    file = str(shown.file)
    return {"key": f"{folder.rstrip('/')}/{file}" if folder else file, "keys": None}
