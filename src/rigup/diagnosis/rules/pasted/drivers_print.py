"""What drivers' and laptop tools' own messages show together with who has the card."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA, NVIDIA, SILENT
from rigup.machine.kinds import Driver, Gpu, KernelModule, PciDevice, Symptom, Torch

_AT_WORK = ("nouveau-at-work-in-the-log", "nouveau-in-the-log")
_UNKNOWN = ("cuda-999", "cuda-999-constant", "cuda-999-runtime", "cuinit-returns-999", "cuda-999-number", "ggml-cuda-unknown-error")  # fmt: skip
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


@rule("nouveau-bound", "likely")
def switcher_saw_nouveau_loaded(
    said: Symptom = seen("gpu-manager-sees-nouveau-loaded"), loaded: KernelModule | None = one(name="nvidia", loaded=True), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """Its log is of one start; what answers now has the card."""
    return loaded is None and works is None and said.values()


@rule("kernel-module-not-built", "likely")
def switcher_found_no_module(
    said: Symptom = seen("gpu-manager-finds-no-module"), loaded: KernelModule | None = one(name="nvidia", loaded=True), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """As above, where no module was there for that kernel."""
    return loaded is None and works is None and said.values()


@rule("gpu-needs-legacy-driver", "likely")
def installer_leaves_cards_to_an_older_branch(
    said: Symptom = seen("installer-names-legacy-cards"), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi")
) -> Verdict:
    """The installer's own word; an old card beside one that the driver lists may well be left."""
    return {**said.values(), **({"severity": "note"} if works else {})}


# -- asleep, switched off, cut into parts
@rule("uvm-broken-after-suspend", "possible")
def machine_was_to_sleep_without_the_drivers_services(
    said: Symptom = seen("sleep-refused-without-its-services"), failed: Symptom = seen(*_UNKNOWN, *NO_CUDA)
) -> Verdict:
    """The driver refuses such a sleep and goes on; a program that CUDA fails tells that it did not."""
    return {**said.values(), "error": failed.id}


@rule("hybrid-laptop-gpu-powered-off", "likely")
def wrapper_put_the_card_off_the_bus(
    said: Symptom = seen("xrun-takes-the-card-off-the-bus"), _missed: Symptom = seen(*SILENT, *NO_CUDA), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """nvidia-xrun does so whenever its session ends; somebody wants the card outside of one."""
    return driver is None and {**said.values(), "tool": "nvidia-xrun"}


@rule("mig-enabled-without-instance", "possible")
def mode_is_on_that_should_be_off(
    said: Symptom = seen("mig-parted-finds-the-mode-on"), _failed: Symptom = seen(*NO_CUDA)
) -> Verdict:
    """A tool compares the mode with what was asked for; that programs find no device tells that no part was made."""
    return said.values()


# -- no driver
@rule("nvidia-driver-missing", "likely")
def operator_waits_for_a_driver(
    said: Symptom = seen("operator-finds-no-driver-in-its-root"),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:
    """The operator tries again until its driver's pod is ready; one that was answered at last has waited well."""
    return works is None and said.values()


@rule("nvidia-driver-missing", "possible")
def monitor_watches_no_gpu_beside_a_card(
    _said: Symptom = seen("nvtop-has-nothing-to-watch"), card: PciDevice = one(vendor_id=NVIDIA), module: KernelModule | None = one(name="nvidia"),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The bus lists a card, and a monitor that takes any vendor's driver finds nothing to watch."""
    return module is None and driver is None and card.get("driver") in (None, "", "nvidia")
