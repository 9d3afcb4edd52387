"""The kernel's side of AMD's cards: not loaded, without KFD, with a firmware that hangs, without atomics."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.diagnosis.rules.pasted.heard import (
    AMD_PROGRAMS_FIND_NONE,
    AMDGPU_LACKS_FIRMWARE,
    AMDGPU_NOT_BACK,
    AMDGPU_NOT_UP,
    AMDGPU_SCHEDULER_SILENT,
    BOXES_NAMED,
    CONTAINERS_SPOKEN_OF,
    KFD_DENIED,
    KFD_REFUSED,
    ROCM,
    ROCM_HAS_NO_MODULE,
    WSL_SEEN,
)
from rigup.diagnosis.rules.rocm import left
from rigup.knowledge.driver_faults import firmware_fault
from rigup.knowledge.lifecycle import wants_atomics
from rigup.machine.kinds import Account, DeviceNode, Gpu, KernelModule, KfdNode, PciDevice, Platform, Symptom

_AMD = "1002"
_GROUPS = ("render", "video")
_EARLY = ("processor-before-ryzen", "processor-core-before-haswell", "processor-xeon-before-haswell")
_FAILS = (
    "hsa-out-of-resources",
    "hsa-call-failed-by-number",
    "hip-no-device",
    "hip-init-failed",
    "kfd-fence-never-came",
)
_REFUSED = ("kfd-chip-not-supported", "kfd-asic-not-supported", "kfd-device-unknown", "kfd-never-had-the-chip")


# -- amdgpu-not-loaded
@rule("amdgpu-not-loaded", "likely")
def driver_gives_up_for_want_of_firmware(
    said: Symptom = seen(*AMDGPU_LACKS_FIRMWARE), node: KfdNode | None = None, bound: PciDevice | None = one(driver="amdgpu"), served: Symptom | None = seen("kfd-added-device"),
) -> Verdict:  # fmt: skip
    """A block of the card has no file to be started with. Where the card is served, that was another start."""
    return node is None and bound is None and served is None and {"said": said.id}


@rule("amdgpu-not-loaded", "likely")
def monitors_find_no_amdgpu(
    said: Symptom = seen("monitors-miss-amds-driver"), card: Gpu | None = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen("nvidia-geforce-named"),
) -> Verdict:  # fmt: skip
    """They say themselves that there may be no such card: beside another maker's there is none."""
    return (card is not None or (other is None and named is None)) and said.values()


@rule("amdgpu-not-loaded", "possible")
def starter_finds_no_agent(
    said: Symptom = seen("sdnext-finds-no-agent"), card: Gpu | None = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen("nvidia-geforce-named"),
) -> Verdict:  # fmt: skip
    """It asks ROCm whenever its tools are there, whoever made the card."""
    return (card is not None or (other is None and named is None)) and said.values()


@rule("amdgpu-not-loaded", "likely")
def trace_finds_no_node(
    said: Symptom = seen("kfd-not-there-by-a-trace"), box: Symptom | None = seen("container-root-prompt"), wsl: Platform | None = one(wsl=(1, 2)),
    served: Symptom | None = seen("kfd-added-device", "kfd-did-not-add-the-device"), other: Symptom | None = seen("nvidias-node-opened-by-a-trace"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """No driver has made it. Programs for any maker's card try it first, and go on to NVIDIA's."""
    elsewhere = other is not None or nvidia is not None
    return not elsewhere and box is None and wsl is None and served is None and not inside(said) and {"said": said.id}


@rule("amdgpu-not-loaded", "likely")
def module_is_kept_from_loading(
    said: Symptom = seen(*AMD_PROGRAMS_FIND_NONE), module: KernelModule = one(name="amdgpu", blacklisted=True), loaded: KernelModule | None = one(name="amdgpu", loaded=True),
    nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A file of modprobe's forbids it."""
    return loaded is None and nvidia is None and bool(module.blacklisted) and {"said": said.id}


@rule("amdgpu-not-loaded", "possible")
def node_is_missing_in_a_persons_words(
    said: Symptom = seen("kfd-missing-told"), boxed: Symptom | None = seen(*BOXES_NAMED, *CONTAINERS_SPOKEN_OF), loaded: KernelModule | None = one(name="amdgpu", loaded=True),
    platform: Platform | None = one(system="windows"),
) -> Verdict:  # fmt: skip
    """The kernel's compute driver makes the node; a host without it has none that drives the card."""
    return boxed is None and loaded is None and platform is None and {"said": said.id}


@rule("amdgpu-not-loaded", "possible")
def compute_driver_is_told_as_absent(
    said: Symptom = seen("amdkfd-not-loaded-told"), loaded: KernelModule | None = one(name="amdgpu", loaded=True)
) -> Verdict:
    """Since long the compute driver is a part of amdgpu."""
    return loaded is None and {"said": said.id}


@rule("amdgpu-not-loaded", "likely")
def kernels_log_has_no_word_of_it(
    _log: Symptom = seen("kernels-log-without-amdgpu"), said: Symptom = seen(*ROCM_HAS_NO_MODULE), card: PciDevice = one(vendor_id="1002"), loaded: KernelModule | None = one(name="amdgpu", loaded=True),
) -> Verdict:  # fmt: skip
    """The bus shows a card of AMD's, and amdgpu said nothing since the start."""
    return loaded is None and not card.get("driver") and not inside(said) and {"said": said.id}


@rule("amdgpu-not-loaded", "likely")
def booted_without_graphics_drivers(
    said: Symptom = seen("kernel-booted-with-nomodeset"), wish: Symptom | None = seen(*ROCM_HAS_NO_MODULE), card: Gpu | None = one(vendor="amd"), row: PciDevice | None = one(vendor_id="1002"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The kernel was told not to start any graphics driver, and AMD's is wanted."""
    return any(part is not None for part in (wish, card, row)) and other is None and {"said": said.id}


@rule("amdgpu-not-loaded", "possible")
def booted_without_graphics_drivers_alone(
    said: Symptom = seen("kernel-booted-with-nomodeset"), other: Gpu | None = None, row: PciDevice | None = None, silent: Symptom | None = seen(*SILENT, *NO_CUDA),
) -> Verdict:  # fmt: skip
    """The line alone: NVIDIA's own driver does not heed it, amdgpu and the kernel's others do."""
    return other is None and row is None and silent is None and {"said": said.id}


@rule("amdgpu-not-loaded", "likely")
def card_was_not_started_for_want_of_firmware(
    _file: Symptom = seen("amdgpu-firmware-file-missing"),
    said: Symptom = seen("amdgpu-init-fatal", "amdgpu-probe-failed"),
    node: KfdNode | None = None,
    bound: PciDevice | None = one(driver="amdgpu"),
) -> Verdict:
    """The driver gave the card up: a file of its firmware is not there. Where it has the card now, that was another start."""
    return node is None and bound is None and {"said": said.id}


@rule("amdgpu-not-loaded", "possible")
def opencl_has_a_platform_and_no_device(
    said: Symptom = seen("clinfo-of-amd-lists-nothing"), loaded: KernelModule | None = one(name="amdgpu", loaded=True), node: KfdNode | None = None,
    kfd: DeviceNode | None = one(path="/dev/kfd"), other: Symptom | None = seen(*KFD_DENIED, "kfd-added-device", "rocminfo-with-sudo-lists", "root-sees-the-gpu", "rocm-smi-row-shown", *WSL_SEEN),
    guest: Platform | None = one(wsl=2),
) -> Verdict:  # fmt: skip
    """AMD's OpenCL is installed and finds no device: the kernel's side is missing, or closed."""
    shown = loaded is not None or node is not None or kfd is not None or other is not None
    return not shown and guest is None and not inside(said) and {"said": said.id}


@rule("amdgpu-not-loaded", "likely")
def node_cannot_be_handed_in_as_the_module_is_barred(
    said: Symptom = seen("docker-no-kfd"), _barred: KernelModule = one(name="amdgpu", blacklisted=True),
    loaded: KernelModule | None = one(name="amdgpu", loaded=True),
) -> Verdict:  # fmt: skip
    """An engine finds no /dev/kfd on its host, and there a list keeps amdgpu from loading."""
    return loaded is None and {"said": said.id}


# -- kfd-gpu-not-supported
@rule("kfd-gpu-not-supported", "likely")
def kfd_did_not_take_the_device(
    said: Symptom = seen("kfd-did-not-add-the-device"), served: Symptom | None = seen("kfd-added-device"), node: KfdNode | None = None,
    queues: Symptom | None = seen("kfd-queue-manager-not-started"),
) -> Verdict:  # fmt: skip
    """amdkfd knows the chip, and something about this machine keeps it from it: mostly the IOMMU of an early processor."""
    return served is None and node is None and queues is None and {"chip": said.get("device"), "said": said.id}


@rule("kfd-gpu-not-supported", "likely")
def kfd_cannot_serve_a_process(
    said: Symptom = seen("kfd-at-a-bad-address"), served: Symptom | None = seen("kfd-added-device"), card: Gpu | None = one(vendor="amd", integrated=False),
) -> Verdict:  # fmt: skip
    """The node is there and opens for nobody: the device behind it is one that amdkfd cannot serve."""
    return served is None and card is None and not inside(said) and {"said": said.id}


@rule("kfd-gpu-not-supported", "possible")
def processors_graphics_have_no_node(
    said: Symptom = seen("kfd-has-no-memory-for-it"), inner: Gpu = one(vendor="amd", integrated=True), served: Symptom | None = seen("kfd-added-device"),
    card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """The same of a processor's graphics, which have no slot."""
    return served is None and card is None and bool(inner.integrated) and {"said": said.id, "chip": inner.get("name")}


@rule("kfd-gpu-not-supported", "possible")
def processor_with_graphics_has_no_node(
    said: Symptom = seen("kfd-has-no-memory-for-it"), graphics: Symptom = seen("processor-has-graphics"), card: Gpu | None = one(integrated=False),
    served: Symptom | None = seen("kfd-added-device"),
) -> Verdict:  # fmt: skip
    """The same where only the processor's name tells of them."""
    return card is None and served is None and {"said": said.id, "chip": graphics.get("name")}


@rule("kfd-gpu-not-supported", "likely")
def runtime_lists_no_chip_that_kfd_never_had(
    said: Symptom = seen("rocminfo-lists-the-processor-alone"), chip: Symptom = seen("kfd-never-had-the-chip"), served: Symptom | None = seen("kfd-added-device"),
) -> Verdict:  # fmt: skip
    """The list ends with the processor, and the card is of an architecture that amdkfd never had."""
    return served is None and {"said": said.id, "chip": chip.get("chip")}


@rule("kfd-gpu-not-supported", "likely")
def kfd_has_no_node_of_a_chip_it_never_had(
    chip: Symptom = seen("kfd-never-had-the-chip"), said: Symptom = seen("kfd-lists-no-gpu")
) -> Verdict:
    """The kernel lists the processor alone, and the card is of the first architecture."""
    return {"chip": chip.get("chip"), "said": said.id}


@rule("kfd-gpu-not-supported", "likely")
def refused_card_of_its_own(
    said: Symptom = seen("kfd-asic-not-supported"), card: Gpu = one(vendor="amd", integrated=False), served: Symptom | None = seen("kfd-added-device"),
) -> Verdict:  # fmt: skip
    """Beside another maker's card: what is refused is no processor's graphics, but a card that is meant for computing."""
    return served is None and {"chip": card.get("name"), "said": said.id}


@rule("kfd-gpu-not-supported", "possible")
def one_of_two_is_refused(
    said: Symptom = seen("kfd-device-unknown"), _served: Symptom = seen("kfd-added-device"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """The kernel takes one card and refuses the other, which may only draw."""
    return other is None and {"chip": said.get("device"), "severity": "warning"}


@rule("kfd-gpu-not-supported", "likely")
def processor_alone_beside_a_chip_it_never_had(
    chip: Symptom = seen("kfd-never-had-the-chip"), said: Symptom = seen("rocminfo-processor-only"), served: Symptom | None = seen("kfd-added-device"),
    guest: Symptom | None = seen("wsl-detected"), listed: Gpu | None = one(seen_by=("rocminfo", "rocm_agent_enumerator")),
) -> Verdict:  # fmt: skip
    """rocminfo answers and lists the processor only; the card is of an architecture on none of amdkfd's lists."""
    return served is None and guest is None and listed is None and {"chip": chip.get("chip"), "said": said.id}


# -- amd-firmware-regression
@rule("amd-firmware-regression", "likely")
def fault_of_a_block_after_new_firmware(
    _new: Symptom = seen("firmware-upgrade-logged"), said: Symptom = seen("desktop-cannot-open-the-card", *AMDGPU_NOT_UP, *AMDGPU_NOT_BACK, *AMDGPU_SCHEDULER_SILENT), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """What the package manager did stands beside a part of the card that does not answer."""
    return nvidia is None and {"said": said.id}


@rule("amd-firmware-regression", "likely")
def firmware_of_that_chip_is_known_bad(
    shown: Symptom = seen("firmware-package-shown"), card: Gpu = one(vendor="amd"), said: Symptom = seen("amdgpu-power-processor-resumes", "desktop-cannot-open-the-card", *AMDGPU_NOT_UP, *AMDGPU_NOT_BACK, *AMDGPU_SCHEDULER_SILENT),
) -> Verdict:  # fmt: skip
    """The package that is told is on the list for this chip, and the card is not well."""
    version = str(shown.get("version"))
    return firmware_fault(package=version, isa=card.isa) and {"firmware": version, "said": said.id}


@rule("amd-firmware-regression", "likely")
def somebody_goes_back_to_older_firmware(
    back: Symptom = seen("firmware-taken-back"), _ours: Symptom = seen("amd-radeon-named", "amd-rx-named", "amd-xt-named", "amdgpu-ring-timeout", "gpu-memory-access-fault", *AMDGPU_NOT_UP, *AMDGPU_NOT_BACK, *AMDGPU_SCHEDULER_SILENT),
    nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """An older package of firmware is asked for by name, on a machine with a Radeon."""
    return nvidia is None and {"firmware": back.get("version"), "said": back.id}


@rule("amd-firmware-regression", "likely")
def faults_with_firmware_known_bad(
    shown: Symptom = seen("firmware-package-shown"), fault: Symptom = seen("gpu-memory-access-fault", "amdgpu-ring-timeout", "gpu-hang-told"), card: Gpu = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """The package that is asked for is on the list for this chip."""
    bad = firmware_fault(package=str(shown.get("version")), isa=card.isa)
    return bad and {"firmware": shown.get("version"), "said": fault.id}


@rule("amd-firmware-regression", "possible")
def faults_after_new_firmware(
    _new: Symptom = seen("firmware-upgrade-logged"), fault: Symptom = seen("gpu-memory-access-fault", "amdgpu-ring-timeout", "gpu-hang-told"),
    nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Somebody shows what the package manager did, beside a fault that firmware may cause."""
    return nvidia is None and {"said": fault.id}


@rule("amd-firmware-regression", "likely")
def hang_with_a_version_that_is_told(
    told: Symptom = seen("mes-version-told"), _hang: Symptom = seen("gpu-hang-told", "gpu-memory-access-fault")
) -> Verdict:
    """A person names the scheduler's firmware and what it does."""
    bad = bool(firmware_fault("MES", told.get("version", "")))
    return bad and {"firmware": "MES " + told.get("version", "")}


@rule("amd-firmware-regression", "possible")
def hang_with_another_version(
    told: Symptom = seen("mes-version-told"), _hang: Symptom = seen("gpu-hang-told", "gpu-memory-access-fault")
) -> Verdict:
    """The same with a version of which nothing is known."""
    return {"firmware": "MES " + told.get("version", "")}


@rule("amd-firmware-regression", "likely")
def firmware_is_blamed(
    _told: Symptom = seen("firmware-blamed"), card: Gpu | None = one(vendor="amd"), rocm: Symptom | None = seen(*ROCM), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """It began, or ended, with another package of firmware."""
    return card is not None or (rocm is not None and other is None)


@rule("amd-firmware-regression", "likely")
def firmware_is_blamed_for_a_fault(
    _told: Symptom = seen("new-firmware-blamed"), fault: Symptom = seen("gpu-memory-access-fault"),
) -> Verdict:  # fmt: skip
    """The same of what only ROCm prints."""
    return {"said": fault.id}


@rule("amd-firmware-regression", "likely")
def hangs_with_firmware_known_bad(
    shown: Symptom = seen("firmware-package-shown"),
    fault: Symptom = seen("gpu-hardware-exception"),
    card: Gpu = one(vendor="amd"),
) -> Verdict:
    """The package that is shown is on the list for this chip, and the card hangs."""
    bad = firmware_fault(package=str(shown.get("version")), isa=card.isa)
    return bad and {"firmware": shown.get("version"), "said": fault.id}


# -- pcie-atomics-missing
@rule("pcie-atomics-missing", "likely")
def kfd_has_no_card_of_those_that_want_atomics(
    said: Symptom = seen("kfd-has-no-memory-for-it"), card: Gpu = one(vendor="amd", integrated=False), served: Symptom | None = seen("kfd-added-device"),
    told: Symptom | None = seen("kfd-chip-not-supported", "kfd-asic-not-supported", "kfd-never-had-the-chip"),
) -> Verdict:  # fmt: skip
    """amdkfd took no card, and refuses to be opened; chips before Vega are left out where the slot completes no atomics."""
    return served is None and told is None and left(card.isa) and {"said": said.id}


@rule("pcie-atomics-missing", "likely")
def kfd_has_no_card(
    said: Symptom = seen("kfd-has-no-memory-for-it"), served: Symptom | None = seen("kfd-added-device"), inner: Gpu | None = one(vendor="amd", integrated=True),
    graphics: Symptom | None = seen("processor-has-graphics"),
    told: Symptom | None = seen("kfd-chip-not-supported", "kfd-asic-not-supported", "kfd-never-had-the-chip", "kfd-did-not-add-the-device"),
) -> Verdict:  # fmt: skip
    """The same where nobody names the card."""
    alone = inner is None and graphics is None
    return alone and served is None and told is None and not inside(said) and {"said": said.id}


@rule("pcie-atomics-missing", "likely")
def a_cards_own_lines_show_them_off(
    card: PciDevice = one(vendor_id=_AMD, atomics=False), gpu: Gpu = one(vendor="amd", integrated=False)
) -> Verdict:
    """An excerpt that does not show the driver; amdgpu asks for atomics at every start."""
    return not card.knows("driver") and gpu.get("pci_address") == card.address


@rule("pcie-atomics-missing", "likely")
def processor_is_older_than_what_the_chip_wants(
    early: Symptom = seen(*_EARLY), card: Gpu = one(vendor="amd", integrated=False), said: Symptom = seen(*_FAILS), served: Symptom | None = seen("kfd-added-device"),
    told: Symptom | None = seen(*_REFUSED, *KFD_REFUSED), who: Account | None = None, guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """The chip wants atomics of the slot, and no root port completed them before Haswell and Ryzen."""
    member = who is None or who.get("uid") == 0 or any(group in who.groups for group in _GROUPS)
    clear = served is None and told is None and guest is None and member and not inside(said)
    return clear and wants_atomics(str(card.get("isa"))) and {"said": said.id, "why": early.id}


@rule("pcie-atomics-missing", "likely")
def queue_never_answers_on_an_early_processor(
    said: Symptom = seen("kfd-fence-never-came", "kfd-queues-not-preempted"), early: Symptom = seen(*_EARLY), card: Gpu | None = one(vendor="amd"), served: Symptom | None = seen("kfd-added-device"),
) -> Verdict:  # fmt: skip
    """Before amdkfd asked for atomics it took such a card, and its first queue never came to an end."""
    return (
        served is None and (card is None or wants_atomics(str(card.get("isa")))) and {"said": said.id, "why": early.id}
    )
