"""No driver of Vulkan for the card is installed, so that Vulkan computes on the processor."""

from rigup.diagnosis.causes.card_names import called
from rigup.diagnosis.rule import Every, Params, Passes, Verdict, every, mends, one, rule, seen
from rigup.knowledge.gpus import architecture_of
from rigup.knowledge.vulkan import distribution_of, driver_packages, has_vulkan
from rigup.machine.kinds import Distribution, Driver, Gpu, Platform, Symptom, SystemPackage, VulkanDriver

_MAKERS = {"amd": "AMD", "intel": "Intel", "nvidia": "NVIDIA"}


@rule("vulkan-driver-missing", "likely")
def only_the_processors_driver_is_installed(
    symptom: Symptom = seen("vulkan-draws-by-the-processor-alone"),
    card: Gpu = one(vendor=tuple(_MAKERS)),
    _software: VulkanDriver = one(vendor="software"),
    amds: VulkanDriver | None = one(vendor="amd"),
    intels: VulkanDriver | None = one(vendor="intel"),
    nvidias: VulkanDriver | None = one(vendor="nvidia"),
    kernels: Driver | None = one(vendor="nvidia"),
    guest: Platform | None = one(wsl=(1, 2)),
    told: Symptom | None = seen("vulkan-is-told-the-processors-driver"),
) -> Verdict:
    """Drivers were listed, and none is for that card. NVIDIA's is missed where its kernel driver is there; a WSL has no node of a card, and a variable hides the others; a card may be a guest's, or too old."""
    if card.get("driver") in ("vfio-pci", "pci-stub") or not has_vulkan(
        card.vendor, card.get("isa"), architecture_of({"pci_id": card.get("pci_id"), "name": card.get("name")})
    ):
        return False
    own = {"amd": amds, "intel": intels, "nvidia": nvidias}[card.vendor]
    wanted = card.vendor != "nvidia" or kernels is not None
    return own is None and wanted and guest is None and told is None and {"said": symptom.id, "vendor": card.vendor, "card": called(card)}


@mends("vulkan-driver-missing")
def packages_of_the_driver(
    knew: Params,
    distribution: Distribution | None = None,
    drivers: Every[VulkanDriver] = every(VulkanDriver),
    kernels: Driver | None = one(vendor="nvidia"),
    servers: SystemPackage | None = one(
        state="installed", name=Passes(lambda name: name.startswith("nvidia-") and name.endswith("-server"))
    ),
    inside: Symptom | None = seen("vulkan-draws-by-the-processor-alone", at="container"),
) -> Params:
    """As the distribution packs it, which names of packages tell, too; of Ubuntu's for servers the same edition.

    NVIDIA's own comes into a container from its host, where graphics is among what it may do.
    """
    vendor = str(knew.get("vendor"))
    if vendor == "nvidia" and inside is not None:
        return {"capabilities": "-e NVIDIA_DRIVER_CAPABILITIES=all"}
    family = str((distribution and distribution.get("id")) or distribution_of(frozenset(driver.name for driver in drivers)))
    branch = str(kernels.get("version") or "").partition(".")[0] if kernels is not None else ""
    packages = driver_packages(vendor, family)
    if not packages or (vendor == "nvidia" and not branch):
        return {"maker": _MAKERS.get(vendor)}
    return {"packages": ", ".join(packages).replace("{branch}", branch + ("-server" if servers is not None else ""))}
