"""This virtual machine has only a virtual display."""

from rigup.diagnosis.causes.driver.other_ways import build_for_the_processor
from rigup.diagnosis.causes.grounds import ids_in
from rigup.diagnosis.causes.pci import NVIDIA
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.driver_faults import virtual_display
from rigup.machine.kinds import Gpu, PciDevice, Platform, Symptom, Torch


@rule("vm-without-gpu-passthrough")
def guest_has_a_picture_only(screen: PciDevice, _wish: Symptom = seen(tag="driver-expected"), gpu: Gpu | None = None) -> Verdict:
    """The only display is one that a hypervisor makes up."""
    return gpu is None and virtual_display(screen.get("vendor_id"), screen.get("driver"))


@rule("vm-without-gpu-passthrough")
def guest_shows_its_display(
    _shown: Symptom = seen(
        "virtual-display", "virtual-display-by-name", "virtual-display-draws", "virtual-display-in-inxi", "virtual-display-in-windows"
    ),
    _wish: Symptom = seen(tag="driver-expected"),
    gpu: Gpu | None = None,
) -> Verdict:
    """As above, told by another tool than lspci."""
    return gpu is None


@text_rule("vm-without-gpu-passthrough", "likely")
def guest_draws_by_a_made_up_display(
    _shown: Symptom = seen("made-up-display-of-qemu", "made-up-display-virtio"),
    guest: Platform | None = None,
    torch: Torch | None = one(available=False),
    wish: Symptom | None = seen(tag="nvidia-driver-silent nvidia-finds-none rocm-has-no-module"),
    gpu: Gpu | None = one(vendor=("nvidia", "amd")),
    card: PciDevice | None = one(vendor_id=(NVIDIA, "1002")),
) -> Verdict:
    """A display that QEMU makes up is the only one, and CUDA or ROCm was wanted."""
    intended = wish is not None or (torch is not None and "+cpu" not in str(torch.get("version")) and torch.get("cuda", "?") is not None)
    return gpu is None and card is None and intended and not (guest and guest.get("wsl"))


mends("vm-without-gpu-passthrough")(build_for_the_processor)


def _of_amds_tools(knew: Params) -> bool:
    """Whether ROCm's own tools alone found nothing: no framework is spoken of."""
    return any(name.startswith(("rock-", "rocm-", "rocminfo-", "amd-smi-", "amdgpu-", "hsa-")) for name in ids_in(knew))


@mends("vm-without-gpu-passthrough")
def what_hands_no_gpu_on(
    knew: Params,
    symptom: Symptom | None = seen(tag="hosted-hypervisor"),
    below: Platform | None = one(hypervisor=("oracle", "innotek", "virtualbox", "parallels")),
    torch: Torch | None = None,
    named: Symptom | None = seen("torch-named"),
    drawn: Symptom | None = seen("made-up-display-vmware", "adapter-of-vmware-in-windows", "vmwares-display-driver"),
) -> Params:
    """Programs that run machines in a window give them a display of their own, and no card."""
    hosted = symptom.get("name") if symptom is not None else below.hypervisor if below is not None else None
    vmware = drawn is not None and hosted is None
    holes: Params = {"hosted": hosted, "host": None if hosted or vmware else "host", "vmware": "vmware" if vmware else None}
    return holes if torch or named or not _of_amds_tools(knew) else {**holes, "cpu": None}
