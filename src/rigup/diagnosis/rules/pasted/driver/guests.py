"""Guests to which no card was handed through."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.driver import NVIDIA
from rigup.machine.kinds import Gpu, PciDevice, Platform, Symptom, Torch


@rule("vm-without-gpu-passthrough", "likely")
def guest_draws_by_a_made_up_display(
    _shown: Symptom = seen("made-up-display-of-qemu", "made-up-display-virtio"), guest: Platform | None = None, torch: Torch | None = one(available=False), wish: Symptom | None = seen(tag="nvidia-driver-silent nvidia-finds-none rocm-has-no-module"),
    gpu: Gpu | None = one(vendor=("nvidia", "amd")), card: PciDevice | None = one(vendor_id=(NVIDIA, "1002")),
) -> Verdict:  # fmt: skip
    """A display that QEMU makes up is the only one, and CUDA or ROCm was wanted."""
    intended = wish is not None or (
        torch is not None and "+cpu" not in str(torch.get("version")) and torch.get("cuda", "?") is not None
    )
    return gpu is None and card is None and intended and not (guest and guest.get("wsl"))
