"""NVIDIA's driver is not there at all."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.access import inside as from_inside
from rigup.diagnosis.rules.driver import NVIDIA
from rigup.diagnosis.rules.told import Passes
from rigup.machine.kinds import (
    DkmsTree,
    Driver,
    Gpu,
    KernelModule,
    PciDevice,
    Platform,
    Symptom,
    SystemPackage,
)


@rule("nvidia-driver-missing", "possible")
def card_on_the_bus_and_no_module_by_that_name(
    card: PciDevice = one(vendor_id=NVIDIA), symptom: Symptom = seen("modprobe-module-not-found", "kmod-no-such-module", module="nvidia"), module: KernelModule | None = one(name=("nvidia", "nouveau", "nova_core")),
    silent: Symptom | None = seen("dkms-build-failed", "bbswitch-off", tag="nvidia-driver-silent"), tree: DkmsTree | None = one(module="nvidia"), package: SystemPackage | None = one(state="installed"),
) -> Verdict:  # fmt: skip
    """The bus has the card, the kernel has no module for it, and nothing else of a driver is shown: it may be there and not built."""
    display = not card.knows("driver") and str(card.get("class_code", "03")).startswith("03")
    alone = all(part is None for part in (module, silent, tree, package))
    return display and alone and not inside(symptom) and {"said": symptom.id}


@rule("nvidia-driver-missing", "likely")
def card_that_nobody_claims(
    card: Gpu = one(vendor="nvidia", driver=None), module: KernelModule | None = one(name=("nvidia", "nouveau", "nova_core")), package: SystemPackage | None = one(state="installed"),
    wish: Symptom = seen("torch-found-no-driver", "nvidia-smi-not-installed", "ollama-finds-no-gpu", "tf-no-driver-in-kernel", tag="cuda-programs-find-none"),
) -> Verdict:  # fmt: skip
    """A report shows that no driver has the card, and what wants it finds none."""
    unclaimed = card.knows("driver") and card.driver is None and not card.get("seen_by")
    return unclaimed and module is None and package is None and not from_inside(wish)


@rule("nvidia-driver-missing", "possible")
def monitor_watches_no_gpu_beside_a_card(
    _said: Symptom = seen("nvtop-has-nothing-to-watch"), card: PciDevice = one(vendor_id=NVIDIA), module: KernelModule | None = one(name="nvidia"),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The bus lists a card, and a monitor that takes any vendor's driver finds nothing to watch."""
    return module is None and driver is None and card.get("driver") in (None, "", "nvidia")


def _of_a_driver(name: str) -> bool:
    return "nvidia" in name and not name.startswith(("egl-", "lib", "linux-firmware", "nvidia-gpu-firmware"))


@rule("nvidia-driver-missing", "possible")
def bus_offers_nothing_of_nvidias_for_the_card(
    card: PciDevice = one(vendor_id=NVIDIA, driver=None), module: KernelModule | None = one(name="nvidia"), driver: Driver | None = one(vendor="nvidia"),
    symptom: Symptom | None = seen("modprobe-module-not-found", "dkms-package-failed", "nvidia-installer-load-failed", tag="nvidia-driver-silent module-refused"),
    package: SystemPackage | None = one(name=Passes(_of_a_driver), state="installed"), tree: DkmsTree | None = one(module="nvidia"),
    works: Gpu | None = one(vendor="nvidia", seen_by=("nvidia-smi", "torch", "cuda")), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """lspci knows of the kernel's own driver for the card, which has not got it, and of none of NVIDIA's."""
    offered = card.get("modules", ())
    draws = str(card.get("class_code", "03")).startswith("03")
    theirs = any(name.startswith("nvidia") and name != "nvidiafb" for name in offered)
    elsewhere = inside(card) or bool(platform and platform.get("wsl"))
    alone = all(other is None for other in (module, driver, symptom, package, tree, works))
    return alone and draws and bool(offered) and not theirs and not elsewhere
