"""What drivers' and laptop tools' own messages show together with who has the card."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA, NVIDIA, SILENT
from rigup.machine.kinds import Driver, Gpu, KernelModule, PciDevice, Symptom, Torch

_AT_WORK = ("nouveau-at-work-in-the-log", "nouveau-in-the-log")
_NONE_FOUND = (*NO_CUDA, "cuda-false-in-words", "cuda-false-below-its-command")


# -- who has the card
@rule("nouveau-bound", "likely")
def nouveau_starts_before_nvidia(
    _found: Symptom = seen("installer-finds-nouveau-in-the-initramfs"), _silent: Symptom = seen(*SILENT, "nvidia-installer-load-failed"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """The installer saw nouveau among what starts first, and NVIDIA's driver did not come up."""
    return loaded is None


@rule("nouveau-bound", "likely")
def nouveau_is_loaded_where_nvidia_gets_no_card(
    _said: Symptom = seen("registers-claimed-by-another-driver", "bumblebee-loads-no-module"), _nouveau: KernelModule = one(name="nouveau", loaded=True),
    loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """NVIDIA's module does not get the card's registers, or does not load, and nouveau is loaded."""
    return loaded is None


@rule("nouveau-bound", "likely")
def nouveau_is_at_work_and_cuda_finds_none(
    _log: Symptom = seen(*_AT_WORK), _none: Symptom = seen(*_NONE_FOUND), loaded: KernelModule | None = one(name="nvidia", loaded=True),
    driver: Driver | None = one(vendor="nvidia"), other: Gpu | None = one(vendor=("amd", "intel"), integrated=False),
) -> Verdict:  # fmt: skip
    """The kernel's log shows nouveau at work on the card, and a program for CUDA finds none."""
    return loaded is None and driver is None and other is None


@rule("nouveau-bound", "likely")
def nouveau_is_at_work_and_torch_sees_none(
    _log: Symptom = seen(*_AT_WORK), torch: Torch = one(available=False), loaded: KernelModule | None = one(name="nvidia", loaded=True),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """As above, where a torch reports that it sees none, and is not known to be for the processor alone or for AMD."""
    other = torch.get("hip") or "+cpu" in str(torch.get("version", ""))
    return loaded is None and driver is None and not other and torch.available is False


@rule("vm-passthrough-misconfigured", "likely")
def module_finds_the_card_given_to_a_guest(
    _said: Symptom = seen("nvrm-bound-to-vfio"), wanted: Symptom = seen(*NO_CUDA),
    other: PciDevice | None = one(vendor_id=NVIDIA, driver=("nvidia", "nouveau")),
) -> Verdict:  # fmt: skip
    """vfio-pci has the card for a guest, and here a program wants it."""
    return other is None and {"said": wanted.id}


# -- no driver
@rule("nvidia-driver-missing", "possible")
def monitor_watches_no_gpu_beside_a_card(
    _said: Symptom = seen("nvtop-has-nothing-to-watch"), card: PciDevice = one(vendor_id=NVIDIA), module: KernelModule | None = one(name="nvidia"),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The bus lists a card, and a monitor that takes any vendor's driver finds nothing to watch."""
    return module is None and driver is None and card.get("driver") in (None, "", "nvidia")
