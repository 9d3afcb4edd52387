"""What threads about platforms show beside each other: a Mac's virtual display, a job's empty step, a detector on a module, a toolkit older than the wheel.

Each needs two things that stand in the text; where a third one tells the contrary, nothing is said.
"""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.diagnosis.rules.told import MACS, OTHER_ACCELERATORS
from rigup.knowledge.cuda import driver_minimum, version_key
from rigup.machine.kinds import Driver, Gpu, Jetson, JobRequest, Platform, Symptom, Toolkit, Torch, World

_METAL_FAILS = (
    "metal-not-created", "metal-device-null", "ggml-metal-failed", "ggml-metal-assertion", "metal-buffer-not-allocated", "metal-language-too-new",
    "mps-kernel-of-that-type-missing",
)  # fmt: skip
_MODULES = (
    "jetson-in-words",
    "tegra-in-words",
    "orin-in-words",
    "jetpack-in-capitals",
    "xavier-in-words",
    "jetpack-of-an-image",
    "tegra-kernel-shown",
)
_SLURM = ("srun-task-failed", "slurm-told", "slurm-told-in-small-letters", "batch-system-is-slurm")


# -- guests
@rule("vm-without-gpu-passthrough", "likely")
def display_of_a_mac_in_a_guest_does_not_compute(
    said: Symptom = seen(*_METAL_FAILS), shown: Symptom = seen("apple-paravirtual-named"),
) -> Verdict:  # fmt: skip
    """Apple's own name for the device that a guest is given, and a program of Metal that fails on it."""
    return {"said": said.id, "guest": shown.id}


# -- modules
@rule("jetson-generic-wheel", "likely")
def detector_computes_on_the_processor_of_a_named_module(
    said: Symptom = seen("detector-computes-on-an-arm-processor"), where: Symptom | None = seen(*_MODULES), module: Jetson | None = None,
    meant: Symptom | None = seen("processor-asked-of-a-detector"), works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """The head line is of a processor like a module's, and the text names the module."""
    return bool(where or module) and meant is None and works is None and {"said": said.id}


# -- Slurm
@rule("slurm-no-gpu-requested", "likely")
def nvidia_smi_has_no_card_to_list_in_a_step(
    said: Symptom = seen("nvidia-smi-exits-with-six"), _slurm: Symptom = seen(*_SLURM), asked: JobRequest | None = one(asked=True),
    card: Gpu | None = one(seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """6 is its word for no such thing, 9 that for no driver: the node's driver runs, and its cards are not of this job."""
    return asked is None and card is None and {"said": said.id}


# -- the driver
@rule("driver-too-old-for-wheel", "possible")
def toolkit_beside_the_wheel_is_of_older_drivers(
    torch: Torch = one(available=False), toolkit: Toolkit = one(name="cuda"), driver: Driver | None = None, card: Gpu | None = None, world: World | None = None,
    guest: Platform | None = one(wsl=(1, 2)), other: Symptom | None = seen(*SILENT, *NO_CUDA, *OTHER_ACCELERATORS, *MACS),
) -> Verdict:  # fmt: skip
    """Toolkit and driver mostly come together; what the wheel was built with wants a newer driver than the toolkit does."""
    if not torch.get("cuda") or any(known is not None for known in (driver, card, world, guest, other)):
        return False
    wanted, had = driver_minimum(str(torch.cuda)), driver_minimum(str(toolkit.version))
    return bool(wanted and had) and version_key(str(wanted)) > version_key(str(had)) and {"cuda": torch.cuda}
