"""There is no GPU in this machine that the program could use."""

from rigup.diagnosis.causes.driver.other_ways import build_for_the_processor
from rigup.diagnosis.causes.pci import NVIDIA
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Every, Verdict, every, lacks, mends, one, rule, seen, text_rule
from rigup.knowledge.driver_faults import virtual_display
from rigup.knowledge.gpus import is_display_only
from rigup.machine.kinds import Gpu, PciDevice, Platform, Symptom, Torch, UnlistedVendor, World


def _may_compute(device: PciDevice) -> bool:
    """What is not known to be a display alone may be a GPU."""
    vendor = device.get("vendor_id")
    return not (virtual_display(vendor, device.get("driver")) or (vendor and is_display_only(vendor, device.get("device_id", ""))))


@rule("no-gpu-present")
def expected_and_not_on_the_bus(
    wish: Symptom = seen(tag="driver-expected"),
    devices: Every[PciDevice] = every(PciDevice),
    gpu: Gpu | None = None,
    platform: Platform | None = None,
) -> Verdict:
    """A program wanted a GPU, and the whole bus was looked at."""
    none = gpu is None and not any(_may_compute(device) for device in devices)
    return none and not inside(wish) and not (platform and platform.get("wsl")) and {"severity": "error"}


@text_rule("no-gpu-present", "likely")
def notebook_was_lent_without_one(
    _hosted: Symptom = seen(tag="hosted-notebook"),
    _none: Symptom = seen("nvidia-smi-not-installed"),
    gpu: Gpu | None = one(seen_by="nvidia-smi"),
    compared: Symptom | None = seen("works-on-a-lent-machine"),
    windows: Platform | None = one(system=("windows", "macos")),
) -> Verdict:
    """The service puts nvidia-smi into each session that has a GPU."""
    return gpu is None and compared is None and windows is None and {"severity": "error", "notebook": "yes"}


@rule("no-gpu-present", "likely")
def only_the_processors_own_picture(
    wish: Symptom = seen(
        "torch-found-no-driver",
        "cuda-no-device",
        "torch-no-cuda-gpus",
        "torch-not-compiled-with-cuda",
        "ollama-no-nvidia-devices",
        tag="nvidia-driver-silent",
    ),
    devices: Every[PciDevice] = every(PciDevice),
    other: Gpu | None = one(vendor=("nvidia", "amd")),
    platform: Platform | None = None,
) -> Verdict:
    """CUDA was wanted, and the bus holds only what draws the desktop."""
    drawn = bool(devices) and all(device.get("vendor_id") not in (NVIDIA, "1002", None) for device in devices)
    return drawn and other is None and not inside(wish) and not (platform and platform.get("wsl")) and {"severity": "error"}


@rule("no-gpu-present", "likely")
def report_lists_another_picture(
    _wish: Symptom = seen(
        "torch-found-no-driver",
        "torch-no-cuda-gpus",
        "cuda-no-device",
        "torch-loads-for-cuda",
        "traceback-ends-in-cuda-start",
        "traceback-ends-in-cuda-call",
    ),
    screen: Gpu = one(vendor="intel"),
    other: Gpu | None = one(vendor=("nvidia", "amd")),
    card: PciDevice | None = None,
    platform: Platform | None = None,
) -> Verdict:
    """A report of the system's graphics has only the processor's own; where lspci is shown, that tells."""
    ours = screen.get("integrated", True) and other is None and card is None
    return ours and not (platform and platform.get("wsl")) and {"severity": "error"}


@rule("no-gpu-present", "likely")
def looked_for_on_the_bus(
    _maker: UnlistedVendor = one(vendor="nvidia"),
    wish: Symptom = seen(tag="nvidia-driver-silent nvidia-finds-none"),
    card: PciDevice | None = one(vendor_id=NVIDIA),
    platform: Platform | None = None,
) -> Verdict:
    """CUDA was wanted, and lspci was asked for NVIDIA by name."""
    return card is None and not inside(wish) and not (platform and platform.get("wsl")) and {"severity": "error"}


@rule("no-gpu-present", "likely")
def installer_found_no_card(
    symptom: Symptom = seen("nvidia-installer-no-gpu"),
    gpu: Gpu | None = one(vendor="nvidia"),
    card: PciDevice | None = one(vendor_id=NVIDIA),
) -> Verdict:
    """The driver's installer looked on the bus for a card that it knows."""
    return gpu is None and card is None and not inside(symptom) and {"severity": "error"}


@rule("no-gpu-present", "possible")
def nothing_of_nvidia_was_found(
    _report: Symptom = seen("collect-env-no-cuda"),
    _wish: Symptom = seen(
        "lightning-no-gpu-backend",
        "lightning-accelerator-unavailable",
        "traceback-ends-in-cuda-start",
        "torch-loads-for-cuda",
        tag="nvidia-driver-silent nvidia-finds-none",
    ),
    gpu: Gpu | None = None,
    card: PciDevice | None = None,
) -> Verdict:
    """A report that looked for driver, cards and toolkit found none of them, and a program wanted one."""
    return gpu is None and card is None and {"severity": "error"}


@rule("no-gpu-present", "likely")
def told_to_have_no_card(
    symptom: Symptom = seen("torch-found-no-driver", tag="nvidia-finds-none"),
    statement: Symptom = seen(tag="no-gpu-told"),
    gpu: Gpu | None = None,
    card: PciDevice | None = None,
    platform: Platform | None = None,
) -> Verdict:
    """A program wanted CUDA, and the person says that there is nothing to have it on."""
    elsewhere = inside(symptom) or (platform and (platform.get("wsl") or platform.get("system") == "macos"))
    return gpu is None and card is None and not elsewhere and {"said": statement.id, "severity": "error"}


@rule("no-gpu-present", "likely")
def container_was_asked_for_one(
    world: World = one(gpu_requested=True), devices: Every[PciDevice] = lacks(PciDevice), gpu: Gpu | None = None
) -> Verdict:
    """The engine was asked for GPUs on a machine whose bus has none."""
    return gpu is None and world.gpu_requested and not inside(devices) and {"severity": "error"}


@rule("no-gpu-present", "likely")
def another_makers_card_is_to_be_emulated(
    symptom: Symptom = seen("nvidia-emulation-wished-told"),
    own: Symptom = seen("intel-drawing-chip-named"),
    card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """Somebody has a chip that only draws, and asks for an NVIDIA card made up by a program."""
    return card is None and {"said": symptom.id, "own": own.id, "severity": "error"}


@text_rule("no-gpu-present", "likely")
def cuda_is_wanted_of_a_mac(
    symptom: Symptom = seen("torch-not-compiled-with-cuda", "torch-not-linked-with-cuda"),
    mac: Symptom | None = seen(tag="macs"),
    platform: Platform | None = None,
    card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """No build for Macs has CUDA: the program asks for the wrong device, which is no fault of the machine."""
    system = platform.get("system") if platform else "macos" if mac else None
    return system == "macos" and card is None and {"said": symptom.id}


mends("no-gpu-present")(build_for_the_processor)


def is_more_known(torch: Torch | None) -> bool:
    """Whether more is known of torch than that it finds nothing."""
    return bool(torch and (torch.get("available") or torch.get("cuda") or torch.get("hip") or torch.knows("version")))
