"""Another module holds the card, or the firmware refuses the right one."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.device_manager import DEVICE, NVIDIA_NAMED, code_of
from rigup.diagnosis.rules.driver import NO_CUDA, NVIDIA, SILENT
from rigup.diagnosis.rules.pasted.heard import MODULE_REFUSED, PROGRAM_STOPS
from rigup.machine.kinds import Driver, Gpu, KernelModule, PciDevice, Platform, Symptom, Torch, UnloadedModule

_LEFT_OUT = "nvidia-smi-no-devices"
_AT_WORK = ("nouveau-at-work-in-the-log", "nouveau-in-the-log")
_NONE_FOUND = (*NO_CUDA, "cuda-false-in-words", "cuda-false-below-its-command")
_CPU = "ollama-computes-on-cpu"
_NOT_LOADED = (
    "nvidia-installer-load-failed", "installer-load-error-of-no-device", "systemd-finds-no-such-module", "fallback-service-speaks", "module-not-permitted",
    "persistenced-finds-no-nodes", "udev-could-not-make-the-nodes",
)  # fmt: skip


# -- nouveau-bound
@rule("nouveau-bound", "likely")
def nouveau_has_the_card_as_a_report_says(
    card: Gpu = one(vendor="nvidia", driver="nouveau"), _wish: Symptom = seen(*SILENT, *NO_CUDA, "nvidia-smi-not-installed", "cuda-false-in-words", "program-finds-no-cuda"),
) -> Verdict:  # fmt: skip
    """inxi, lshw and their kin tell which driver has the card; CUDA was wanted."""
    return bool(card.driver)


@rule("nouveau-bound", "likely")
def nouveau_has_the_card_and_torch_sees_none(
    card: Gpu = one(vendor="nvidia", driver="nouveau"), torch: Torch = one(available=False)
) -> Verdict:
    """The same, where torch reports that it sees none."""
    return bool(card.driver) and torch.available is False


@rule("nouveau-bound", "likely")
def nouveau_is_loaded_and_cuda_is_missed(
    _nouveau: KernelModule = one(name="nouveau", loaded=True), _wish: Symptom = seen(*NO_CUDA), loaded: KernelModule | None = one(name="nvidia", loaded=True),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"), compute: Gpu | None = one(vendor="amd", integrated=False),
) -> Verdict:  # fmt: skip
    """Of the two modules the one without CUDA is in the kernel, and a program finds none."""
    return loaded is None and works is None and compute is None


@rule("nouveau-bound", "likely")
def nouveau_draws_and_cuda_is_missed(
    _draws: Symptom = seen("opengl-by-nouveau", "nouveau-in-use"), _wish: Symptom = seen(*SILENT, *NO_CUDA, "nvidia-smi-not-installed", "nvidia-smi-no-devices", "driver-could-not-load-its-module", "xorg-nvidia-module-failed")
) -> Verdict:  # fmt: skip
    """The desktop's own answer names the driver that draws it."""
    return True


@rule("nouveau-bound", "likely")
def vulkan_goes_by_nouveau_and_cuda_is_missed(
    _draws: Symptom = seen("vulkan-by-nvk", "opengl-by-nouveau", "nouveau-in-use"), wish: Symptom | None = seen(*_NONE_FOUND, *SILENT, *PROGRAM_STOPS, "nvidia-smi-not-installed", "jax-has-no-platform-of-gpus", "program-finds-no-cuda", _CPU),
    torch: Torch | None = one(available=False), loaded: KernelModule | None = one(name="nvidia", loaded=True), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Mesa's drivers for NVIDIA's cards stand on nouveau in the kernel; a program for CUDA finds none."""
    return loaded is None and driver is None and (wish is not None or (torch is not None and "+cpu" not in str(torch.get("version"))))  # fmt: skip


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


@rule("nouveau-bound", "likely")
def switcher_saw_nouveau_loaded(
    said: Symptom = seen("gpu-manager-sees-nouveau-loaded"), loaded: KernelModule | None = one(name="nvidia", loaded=True), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """Its log is of one start; what answers now has the card."""
    return loaded is None and works is None and said.values()


@rule("nouveau-bound", "likely")
def nouveau_has_the_card_beside_nvidias_package(
    card: Gpu = one(vendor="nvidia", driver="nouveau"), _wish: Symptom = seen("nvidia-package-newest", _CPU)
) -> Verdict:
    """NVIDIA's package is installed, or a program computes on the processor, and nouveau has the card."""
    return bool(card.driver)


@rule("nouveau-bound", "likely")
def nouveau_is_named_where_nvidia_fails(
    _nouveau: Symptom = seen("nouveau-row-alone", "nouveau-in-the-log"), _wish: Symptom = seen("nvidia-installer-load-failed", "nvidia-smi-none-in-words", "nvidia-smi-no-devices", *SILENT),
    loaded: KernelModule | None = one(name="nvidia", loaded=True), gone: UnloadedModule | None = one(name="nouveau"),
) -> Verdict:  # fmt: skip
    """The list of modules, or the log, has nouveau, and NVIDIA's own programs fail."""
    return loaded is None and gone is None


@rule("nouveau-bound", "possible")
def nouveau_was_searched_for_and_is_loaded(
    _searched: Symptom = seen("modules-searched-for-nouveau"), _nouveau: KernelModule = one(name="nouveau", loaded=True),
    nvidia: KernelModule | None = one(name="nvidia"), driver: Driver | None = one(vendor="nvidia"), told: Symptom | None = seen(*SILENT, *NO_CUDA),
    card: Gpu | None = one(vendor=("amd", "intel")), works: Torch | None = one(available=True), used: Gpu | None = one(seen_by=("nvidia-smi", "torch", "cuda")),
) -> Verdict:  # fmt: skip
    """Who searches the modules for it wants to know whether it is in NVIDIA's way; it is loaded, and no more is shown."""
    return all(other is None for other in (nvidia, driver, told, card, works, used))


@rule("nouveau-bound", "likely")
def nouveau_is_loaded_and_the_drivers_service_fails(
    _nouveau: KernelModule = one(name="nouveau", loaded=True), _failed: Symptom = seen("persistenced-finds-no-nodes", "driver-could-not-load-its-module", "xorg-nvidia-module-failed"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Of the two modules nouveau is loaded, and a part of NVIDIA's driver that is installed finds no card."""
    return loaded is None and driver is None


@rule("nouveau-bound", "likely")
def nvidia_was_not_asked_and_the_head_is_cut(
    _said: Symptom = seen("nvrm-says-who-may-own-the-card"), head: Symptom | None = seen("nvrm-probe-not-called", "nvrm-bound-to-vfio", "nvrm-bound-to-nova"),
    given: PciDevice | None = one(driver="vfio-pci"),
) -> Verdict:  # fmt: skip
    """The rest of NVIDIA's message that another driver was first, which is mostly nouveau."""
    return head is None and given is None


@rule("nouveau-bound", "likely")
def module_did_not_load_beside_nouveau(
    _nouveau: KernelModule = one(name="nouveau", loaded=True), _failed: Symptom = seen("nvidia-installer-load-failed", "installer-load-error-of-no-device", "module-finds-no-device", "nvidia-smi-no-devices"),
    loaded: KernelModule | None = one(name="nvidia", loaded=True), refused: Symptom | None = seen(*MODULE_REFUSED, "module-key-rejected", "installer-load-error-of-the-key"),
) -> Verdict:  # fmt: skip
    """nouveau is among the loaded modules, and NVIDIA's did not come up."""
    return loaded is None and refused is None


@rule("nouveau-bound", "likely")
def report_names_nouveau(
    card: Gpu = one(vendor="nvidia", driver="nouveau"), compute: Gpu | None = one(vendor=("amd", "intel"), integrated=False), driver: Driver | None = one(vendor="nvidia"),
    module: KernelModule | None = one(name="nvidia", loaded=True), row: PciDevice | None = one(vendor_id=NVIDIA),
) -> Verdict:  # fmt: skip
    """inxi or lshw tells the driver of the only card that could compute; where lspci tells it too, that is read."""
    return all(other is None for other in (compute, driver, module, row)) and bool(card.driver)


@rule("nouveau-bound", "likely")
def nouveau_has_the_card_that_the_module_wants(
    _log: Symptom = seen("nouveau-at-work-in-the-log", "nouveau-in-the-log"), said: Symptom = seen("module-finds-no-device", "nvrm-finds-no-card"), loaded: KernelModule | None = one(name="nvidia", loaded=True),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The kernel's log shows nouveau at work on a card, and NVIDIA's module finds none that is free."""
    return loaded is None and driver is None and {"said": said.id}


# -- nova-core-bound
@rule("nova-core-bound")
def nova_is_loaded_and_the_driver_is_silent(
    _nova: KernelModule = one(name="nova_core", loaded=True), smi: Symptom = seen(*SILENT, _LEFT_OUT), loaded: KernelModule | None = one(name="nvidia", loaded=True)
) -> Verdict:  # fmt: skip
    """Of the two modules the one that does not compute is in the kernel."""
    return loaded is None and not inside(smi)


@rule("nova-core-bound", "likely")
def nova_is_loaded_and_nvidia_is_not(
    _nova: KernelModule = one(name="nova_core", loaded=True), loaded: KernelModule | None = one(name="nvidia", loaded=True),
    _wish: Symptom = seen("module-finds-no-device", "nvidia-installer-load-failed", _CPU, *NO_CUDA),
) -> Verdict:  # fmt: skip
    """The kernel's new driver is there, and the one that computes is not."""
    return loaded is None


# -- secure-boot-module-unsigned
@rule("secure-boot-module-unsigned", "likely")
def device_has_an_unsigned_driver(
    said: Symptom = seen(*DEVICE), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*NVIDIA_NAMED)
) -> Verdict:
    """Windows refuses a driver whose signature it cannot check."""
    return code_of(said) == "52" and bool(card or named) and {"said": said.id}


@rule("secure-boot-module-unsigned", "likely")
def signature_is_not_trusted_and_nvidia_is_not_there(
    _refused: Symptom = seen("module-signature-untrusted", "module-key-unavailable"), gone: UnloadedModule | None = one(name="nvidia"),
    silent: Symptom | None = seen("persistenced-finds-no-nodes", *SILENT), loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """The kernel refuses a module for its key, and NVIDIA's is not there."""
    return loaded is None and (gone is not None or silent is not None) and {"module": "nvidia"}


@rule("secure-boot-module-unsigned", "likely")
def some_module_is_refused_under_secure_boot(
    _refused: Symptom = seen("module-key-unavailable", "lockdown-unsigned-module"), platform: Platform = one(secure_boot=True), loaded: KernelModule | None = one(name="nvidia", loaded=True),
    works: Gpu | None = one(seen_by=("nvidia-smi", "rocminfo", "rocm-smi", "amd-smi")),
) -> Verdict:  # fmt: skip
    """The kernel's log names no module; Secure Boot is on, and NVIDIA's is not loaded. A driver that answers was let in."""
    return loaded is None and works is None and platform.secure_boot


@rule("secure-boot-module-unsigned", "possible")
def some_signature_is_not_trusted_under_secure_boot(
    _refused: Symptom = seen("module-signature-untrusted"), platform: Platform = one(secure_boot=True), loaded: KernelModule | None = one(name="nvidia", loaded=True),
    works: Gpu | None = one(seen_by=("nvidia-smi", "rocminfo", "rocm-smi", "amd-smi")),
) -> Verdict:  # fmt: skip
    """As above, where only the signature is spoken of: it may be another module's."""
    return loaded is None and works is None and platform.secure_boot


@rule("secure-boot-module-unsigned", "likely")
def some_module_is_refused_and_ours_is_not_there(
    _refused: Symptom = seen(*MODULE_REFUSED), _gone: Symptom = seen(*_NOT_LOADED), loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """The kernel refuses a module for its key without its name; an installer, or a loader, says that NVIDIA's did not load."""
    return loaded is None and {"module": "nvidia"}


@rule("secure-boot-module-unsigned", "likely")
def dialog_for_the_key_was_shown(
    _dialog: Symptom = seen("secure-boot-dialog"), silent: Symptom = seen(*SILENT), loaded: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """The package asked for a password for its key, which is to be typed again at the next start, and NVIDIA's module does not answer."""
    return loaded is None and not inside(silent) and {"module": "nvidia"}


@rule("secure-boot-module-unsigned", "likely")
def loading_is_not_permitted_to_root(
    said: Symptom = seen("module-not-permitted"), root: Symptom | None = seen("loaded-by-root"), platform: Platform | None = one(secure_boot=True),
) -> Verdict:  # fmt: skip
    """Root may load modules, and a kernel that is locked down says this of unsigned ones; without root it says it of all."""
    return (root is not None or platform is not None) and not inside(said) and {"module": said.get("module")}


@rule("secure-boot-module-unsigned", "likely")
def key_is_not_enrolled_and_the_module_is_not_there(
    said: Symptom = seen("machine-owners-key-is-not-enrolled"), gone: KernelModule | None = one(name="nvidia", loaded=False), silent: Symptom | None = seen(*SILENT),
    loaded: KernelModule | None = one(name="nvidia", loaded=True), off: Platform | None = one(secure_boot=False),
) -> Verdict:  # fmt: skip
    """mokutil does not find the key among those that the firmware lets in, and NVIDIA's module is not loaded."""
    return loaded is None and off is None and (gone is not None or silent is not None) and not inside(said) and {"module": "nvidia"}  # fmt: skip


@rule("secure-boot-module-unsigned", "possible")
def loading_is_not_permitted(
    said: Symptom = seen("module-not-permitted"), root: Symptom | None = seen("loaded-by-root")
) -> Verdict:
    """Nobody tells who asked."""
    return root is None and not inside(said) and {"module": said.get("module")}
