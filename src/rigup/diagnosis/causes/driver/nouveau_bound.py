"""The driver nouveau holds the GPU."""

from rigup.diagnosis.causes.driver.modules import USER_SPACE
from rigup.diagnosis.causes.pci import NVIDIA
from rigup.diagnosis.rule import Params, Passes, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.driver_faults import production_branch
from rigup.knowledge.gpus import driver_branch_for
from rigup.machine.kinds import Distribution, Driver, Gpu, KernelModule, PciDevice, Symptom, SystemPackage, Torch


def _of_the_driver(name: str) -> bool:
    return name.startswith((*USER_SPACE, "akmod-nvidia", "nvidia-kernel-dkms", "nvidia-open", "nvidia-dkms"))


@rule("nouveau-bound")
def nouveau_holds_the_card(
    card: PciDevice = one(vendor_id=NVIDIA, driver="nouveau"),
    compute: Gpu | None = one(vendor="amd", integrated=False),
    wish: Symptom | None = seen(tag="nvidia-driver-silent nvidia-finds-none"),
    module: KernelModule | None = one(name="nvidia"),
) -> Verdict:
    """Beside another card that computes, one that only draws the desktop may keep nouveau."""
    wanted = wish is not None or (module and module.get("built_for")) or "nvidia" in card.get("modules", ())
    return bool(wanted) or compute is None


@rule("nouveau-bound", "likely")
def nvidia_was_not_asked(
    _said: Symptom = seen("nvrm-probe-not-called"),
    other: Symptom | None = seen("nvrm-bound-to-vfio", "nvrm-bound-to-nova"),
    given_away: PciDevice | None = one(driver="vfio-pci"),
) -> Verdict:
    """NVIDIA's module was not asked: another driver was first, mostly nouveau."""
    return other is None and given_away is None


@rule("nouveau-bound", "likely")
def nouveau_is_loaded_and_nvidia_is_not(
    _smi: Symptom = seen(tag="nvidia-driver-silent"),
    nouveau: KernelModule | None = one(name="nouveau"),
    logged: Symptom | None = seen("nouveau-in-the-log"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:
    """Of the two modules the wrong one is in the kernel, or came up at boot and was not taken out."""
    is_loaded = nouveau.get("loaded", logged is not None) if nouveau else logged is not None
    return loaded is None and bool(is_loaded)


@rule("nouveau-bound", "possible")
def nouveau_came_up(
    _logged: Symptom = seen("nouveau-in-the-log"),
    compute: Gpu | None = one(vendor=("amd", "intel"), integrated=False),
    driver: Driver | None = one(vendor="nvidia"),
    module: KernelModule | None = one(name=("nouveau", "nvidia")),
    silent: Symptom | None = seen(tag="nvidia-driver-silent"),
    card: PciDevice | None = one(vendor_id=NVIDIA),
    listed: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """The kernel's log shows nouveau start the card, and that is all; where cards, modules or drivers are listed, they tell."""
    return all(other is None for other in (compute, driver, module, silent, card, listed))


@rule("nouveau-bound", "possible")
def nouveau_as_people_say(
    symptom: Symptom = seen("nouveau-in-words"),
    wish: Symptom = seen("nvidia-not-loaded-in-words", "driver-installed-in-words", tag="nvidia-driver-silent"),
    unsigned: Symptom | None = seen("module-unsigned-in-words", "module-keys-rejected-in-words"),
    driver: Driver | None = one(vendor="nvidia"),
    card: PciDevice | None = one(vendor_id=NVIDIA),
    module: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:
    """NVIDIA's driver does not come up, and the person names what came up instead."""
    shown = any(other is not None for other in (unsigned, driver, card, module))
    return not shown and {"said": symptom.id, "wish": wish.id}


@text_rule("nouveau-bound", "likely")
def nouveau_is_at_work_and_torch_sees_none(
    _log: Symptom = seen(tag="nouveau-at-work"),
    torch: Torch = one(available=False),
    loaded: KernelModule | None = one(name="nvidia", loaded=True),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:
    """As above, where a torch reports that it sees none, and is not known to be for the processor alone or for AMD."""
    other = torch.get("hip") or "+cpu" in str(torch.get("version", ""))
    return loaded is None and driver is None and not other and torch.available is False


@mends("nouveau-bound")
def installer_that_stopped(
    refused: Symptom | None = seen("nvidia-installer-nouveau"),
    named: Symptom | None = seen("installer-of-a-linux-driver-named"),
    present: Symptom | None = seen("nvidia-installer-nouveau-is-blacklisted"),
    system: Distribution | None = None,
) -> Params:
    """NVIDIA's installer stopped before it installed anything: it is run again when nouveau is gone; its files may be there already."""
    again = refused is not None and named is not None
    installer = named.installer if named is not None and again else None
    packaged = installer is not None and system is not None and bool(system.get("id"))
    return {
        "blacklisted": "nouveau" if present is not None else None,
        "installer": installer if present is not None else None,
        "unlisted": installer if present is None else None,
        "branch": str(installer).split("-")[3].partition(".")[0] if packaged else None,
        "module": None if again else "nouveau",
    }


@mends("nouveau-bound")
def module_that_is_not_there(
    knew: Params,
    card: PciDevice = one(vendor_id=NVIDIA, driver="nouveau"),
    gpu: Gpu | None = one(vendor="nvidia"),
    files: KernelModule | None = one(name="nvidia"),
    tool: Symptom | None = seen(tag="nvidia-driver-silent"),
    package: SystemPackage | None = one(state="installed", name=Passes(_of_the_driver)),
) -> Params:
    """The bus names the modules that fit the card: without NVIDIA's among them there is none to take nouveau's place, and a screen without either stays dark."""
    named = card.get("modules") or []
    there = any(str(name).startswith("nvidia") for name in named) or (files is not None and bool(files.get("built_for")))
    if not named or there or not knew.get("module"):
        return {}
    if tool is not None or package is not None:
        return {"module": None, "unbuilt": "dkms autoinstall"}
    isa = str(gpu.get("isa") or "") if gpu is not None else ""
    return {"module": None, "branch": (driver_branch_for(isa) if isa else None) or production_branch()}
