"""The installed driver has dropped this GPU."""

from rigup.diagnosis.causes.driver.other_ways import last_branch_for_it
from rigup.diagnosis.causes.pci import NVIDIA
from rigup.diagnosis.rule import Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.cuda import version_key
from rigup.knowledge.driver_choice import branch_left_for
from rigup.knowledge.gpu_words import gpu_in_words
from rigup.knowledge.gpus import driver_branch_for
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Driver, Gpu, PciDevice, Symptom, SystemPackage

_LEFT_OUT = "nvidia-smi-no-devices"
_BRANCH = lazy_regex(r"nvidia-(?:driver|dkms|utils|kernel-source)-(\d{3})(?:-(?:server|open|server-open))?\Z")


@rule("gpu-needs-legacy-driver")
def driver_has_dropped_it(
    gpu: Gpu = one(vendor="nvidia"), driver: Driver = one(vendor="nvidia"), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi")
) -> Verdict:
    """The driver is of a later branch than the last one for this chip; where it drives another card, that may be meant."""
    last = driver_branch_for(gpu.isa)
    return (
        bool(last)
        and version_key(driver.version)[:1] > version_key(last or "")
        and not gpu.get("seen_by")
        and {"branch": last, **({"severity": "note"} if works else {})}
    )


@rule("gpu-needs-legacy-driver")
def module_leaves_a_card_to_an_older_branch(
    symptom: Symptom = seen("nvrm-legacy-gpu", "nvrm-legacy-gpu-by-address", "nvrm-ignores-a-legacy-card"),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:
    """The module's own word; an old card beside one that it drives may well be left."""
    return {**symptom.values(), **({"severity": "note"} if works else {})}


@rule("gpu-needs-legacy-driver", "likely")
def card_is_older_than_the_catalogue(
    gpu: Gpu = one(vendor="nvidia", driver=None), driver: Driver = one(vendor="nvidia"), statement: Symptom | None = seen("nvrm-legacy-gpu")
) -> Verdict:
    """The card's name tells a generation that only an older branch drives; no table has its ids any more."""
    known = None if gpu.get("isa") else gpu_in_words(gpu.name)
    last = branch_left_for(known[0].isa or "") if known else None
    later = bool(last) and version_key(driver.version)[:1] > version_key(last or "")
    return later and statement is None and not gpu.get("seen_by") and {"branch": last}


@text_rule("gpu-needs-legacy-driver", "likely")
def package_has_dropped_the_card(
    package: SystemPackage = one(state="installed"),
    gpu: Gpu = one(vendor="nvidia"),
    _said: Symptom = seen(_LEFT_OUT, "module-finds-no-device", tag="nvidia-driver-silent"),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:
    """A list of packages has a later branch than the last one that drives the card; the driver finds nothing."""
    last = driver_branch_for(gpu.isa)
    version = package.get("version", "").rpartition(":")[2]
    ours = package.name.startswith(
        ("nvidia-driver", "nvidia-utils", "nvidia-dkms", "nvidia-open", "nvidia-kernel", "akmod-nvidia", "linux-nvidia")
    ) or package.name in ("nvidia", "nvidia-lts")
    later = bool(last) and version[:1].isdigit() and version_key(version)[:1] > version_key(last or "")
    return ours and later and driver is None and not gpu.get("seen_by") and {"branch": last}


@text_rule("gpu-needs-legacy-driver", "likely")
def package_is_of_a_later_branch(
    gpu: Gpu = one(vendor="nvidia"),
    package: SystemPackage = one(state="installed"),
    _silent: Symptom = seen("nvidia-smi-no-devices", "module-finds-no-device", tag="nvidia-driver-silent"),
) -> Verdict:
    """The package's name tells the branch: later than the last one that drives the card."""
    last, named = driver_branch_for(gpu.get("isa") or ""), _BRANCH.match(package.name)
    later = last is not None and named is not None and int(named[1]) > int(last[:3])
    return later and not gpu.get("seen_by") and {"branch": last}


@text_rule("gpu-needs-legacy-driver", "likely")
def module_of_a_later_branch_leaves_the_card(
    card: PciDevice = one(vendor_id=NVIDIA, driver=None),
    gpu: Gpu = one(vendor="nvidia", driver=None),
    statement: Symptom = seen("modules-version-by-modinfo"),
    _asked: Symptom = seen("modinfo-asked-of-nvidias"),
) -> Verdict:
    """The bus offers NVIDIA's module for the card, no driver has it, and the module is later than the last branch for it."""
    last = driver_branch_for(gpu.get("isa") or "")
    return last is not None and "nvidia" in card.get("modules", ()) and int(statement.version[:3]) > int(last[:3]) and {"branch": last}


mends("gpu-needs-legacy-driver")(last_branch_for_it)
