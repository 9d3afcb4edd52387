"""AMD's kernel side as threads show it: cards that do not start or come back, nodes that cannot be opened, and pools that programs miscount."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.driver_guest import on_first_bus
from rigup.diagnosis.rules.memory import GIB, size
from rigup.diagnosis.rules.rocm import left
from rigup.knowledge.driver_faults import firmware_fault
from rigup.machine.kinds import Account, DeviceNode, Gpu, KfdNode, Memory, PciDevice, Platform, Symptom

_MIB = 1 << 20
_NO_FILE = ("amdgpu-block-without-its-file", "amdgpu-refuses-without-firmware")
_NOT_UP = ("amdgpu-block-not-started", "amdgpu-security-processor-silent", "amdgpu-power-processor-not-up")
_NOT_BACK = ("amdgpu-block-not-resumed", "amdgpu-power-processor-silent", "amdgpu-rings-do-not-answer", "amdgpu-reset-in-vain", "amdgpu-recovery-failed", "amdgpu-ring-reset-in-vain", "amdgpu-registers-not-reached")  # fmt: skip
_SCHEDULER = ("mes-no-answer", "mes-no-response")
_GUESTS = ("guest-in-words", "guest-named-in-words", "virtual-machine-in-words", "passthrough-in-words", "passed-through-in-words", "virsh-in-words", "hypervisor-detected", "virtualisation-detected")  # fmt: skip
_COUNTS = ("llama-counts-so-much-on-rocm", "llama-total-of-rocm", "llama-finds-little-device-memory", "planner-tells-the-gpus-memory", "planner-tells-a-chips-memory", "server-tells-its-largest-pool")  # fmt: skip


# -- a card that the driver does not start
@rule("amdgpu-not-loaded", "likely")
def driver_gives_up_for_want_of_firmware(
    said: Symptom = seen(*_NO_FILE), node: KfdNode | None = None, bound: PciDevice | None = one(driver="amdgpu"), served: Symptom | None = seen("kfd-added-device"),
) -> Verdict:  # fmt: skip
    """A block of the card has no file to be started with. Where the card is served, that was another start."""
    return node is None and bound is None and served is None and {"said": said.id}


@rule("gpu-hardware-init-failure", "possible")
def block_of_the_card_does_not_start(
    said: Symptom = seen(*_NOT_UP), file: Symptom | None = seen("amdgpu-firmware-file-missing", *_NO_FILE), guest: Platform | None = None, told: Symptom | None = seen(*_GUESTS),
    served: Symptom | None = seen("kfd-added-device"),
) -> Verdict:  # fmt: skip
    """One of the card's own processors does not come up, and its files are there."""
    virtual = told is not None or bool(guest and guest.get("hypervisor"))
    return file is None and served is None and not virtual and {"said": said.id}


@rule("vm-passthrough-misconfigured", "possible")
def block_of_a_guests_card_does_not_start(
    said: Symptom = seen(*_NOT_UP, "amdgpu-mailbox-unanswered"), told: Symptom = seen(*_GUESTS), wsl: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """The same in a guest."""
    return wsl is None and {"said": said.id, "guest": told.id}


@rule("gpu-hardware-init-failure", "possible")
def block_of_the_card_does_not_come_back(
    said: Symptom = seen(*_NOT_BACK), scheduler: Symptom | None = seen(*_SCHEDULER), guest: Platform | None = None, told: Symptom | None = seen(*_GUESTS),
    new: Symptom | None = seen("firmware-upgrade-logged"),
) -> Verdict:  # fmt: skip
    """After a reset or a sleep; the log does not show that its scheduler's firmware is why."""
    virtual = told is not None or bool(guest and guest.get("hypervisor"))
    return scheduler is None and new is None and not virtual and {"said": said.id}


@rule("gpu-hardware-init-failure", "possible")
def card_hangs_and_loses_its_memory(
    said: Symptom = seen("amdgpu-ring-timeout"), lost: Symptom = seen("amdgpu-memory-lost-by-reset"), scheduler: Symptom | None = seen(*_SCHEDULER),
    other: Symptom | None = seen(*_NOT_BACK, "firmware-upgrade-logged", "firmware-package-shown", "mes-version-told", "amd-firmware-version"),
    told: Symptom | None = seen(*_GUESTS), back: Symptom | None = seen("amdgpu-came-back"),
) -> Verdict:  # fmt: skip
    """It must be reset as a whole; a program alone seldom brings that about."""
    return scheduler is None and other is None and told is None and back is None and {"said": said.id, "lost": lost.id}


@rule("gpu-hardware-init-failure", "possible")
def card_takes_itself_for_a_guests_part(
    said: Symptom = seen("amdgpu-mailbox-unanswered"), guest: Platform | None = None, told: Symptom | None = seen(*_GUESTS)
) -> Verdict:  # fmt: skip
    """The driver waits for a hypervisor's word that no machine of its own has."""
    return told is None and not (guest and guest.get("hypervisor")) and {"said": said.id}


@rule("gpu-fell-off-bus", "likely")
def radeons_slot_loses_its_link(
    said: Symptom = seen("slot-lost-its-link"), _left: Symptom = seen("amdgpu-leaves-the-device", "amdgpu-ring-timeout", "amdgpu-lost-from-bus", *_NOT_BACK),
) -> Verdict:  # fmt: skip
    """The port tells that the card is gone, and amdgpu feels it."""
    return {"said": said.id}


@rule("gpu-fell-off-bus", "likely")
def radeons_other_function_is_not_reached(
    said: Symptom = seen("card-function-inaccessible"), _felt: Symptom = seen("amdgpu-leaves-the-device", "amdgpu-ring-timeout", "amdgpu-pictures-wait-in-vain", *_NOT_BACK),
) -> Verdict:  # fmt: skip
    """The bus reaches no register of the card's sound, and amdgpu none of its own."""
    return {"said": said.id}


@rule("gpu-fell-off-bus", "likely")
def radeon_reads_all_ones(
    said: Symptom = seen("lspci-card-silent"), _felt: Symptom = seen("amdgpu-leaves-the-device", "amdgpu-ring-timeout", "hsa-out-of-resources", "hip-no-device", *_NOT_BACK),
) -> Verdict:  # fmt: skip
    """lspci reads nothing but ones from the card."""
    return any(word in said.get("name", "") for word in ("Radeon", "AMD", "Instinct")) and {"said": said.id}


# -- firmware
@rule("amd-firmware-regression", "likely")
def fault_of_a_block_after_new_firmware(
    _new: Symptom = seen("firmware-upgrade-logged"), said: Symptom = seen("desktop-cannot-open-the-card", *_NOT_UP, *_NOT_BACK, *_SCHEDULER), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """What the package manager did stands beside a part of the card that does not answer."""
    return nvidia is None and {"said": said.id}


@rule("amd-firmware-regression", "likely")
def firmware_of_that_chip_is_known_bad(
    shown: Symptom = seen("firmware-package-shown"), card: Gpu = one(vendor="amd"), said: Symptom = seen("amdgpu-power-processor-resumes", "desktop-cannot-open-the-card", *_NOT_UP, *_NOT_BACK, *_SCHEDULER),
) -> Verdict:  # fmt: skip
    """The package that is told is on the list for this chip, and the card is not well."""
    version = str(shown.get("version"))
    return firmware_fault(package=version, isa=card.isa) and {"firmware": version, "said": said.id}


@rule("amd-firmware-regression", "likely")
def somebody_goes_back_to_older_firmware(
    back: Symptom = seen("firmware-taken-back"), _ours: Symptom = seen("amd-radeon-named", "amd-rx-named", "amd-xt-named", "amdgpu-ring-timeout", "gpu-memory-access-fault", *_NOT_UP, *_NOT_BACK, *_SCHEDULER),
    nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """An older package of firmware is asked for by name, on a machine with a Radeon."""
    return nvidia is None and {"firmware": back.get("version"), "said": back.id}


# -- guests
@rule("vm-passthrough-misconfigured", "likely")
def guest_was_given_no_start_code(
    said: Symptom = seen("amdgpu-has-no-start-code", "guest-interrupt-not-derived"), form: Symptom | None = seen("start-code-of-another-form"), told: Symptom | None = seen(*_GUESTS),
    guest: Platform | None = None,
) -> Verdict:  # fmt: skip
    """The card in a guest has no start-up code that the driver can read: mostly a file of it must be handed on."""
    virtual = told is not None or bool(guest and guest.get("hypervisor")) or on_first_bus(said)
    return (virtual or form is not None) and {"said": said.id}


@rule("vm-passthrough-misconfigured", "likely")
def processors_graphics_have_no_start_code(
    said: Symptom = seen("amdgpu-has-no-start-code"), inner: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """A machine's own firmware holds it for them: only a guest is without."""
    return card is None and bool(inner.integrated) and {"said": said.id}


@rule("gpu-hardware-init-failure", "possible")
def card_has_no_start_code(
    said: Symptom = seen("amdgpu-has-no-start-code"), form: Symptom | None = seen("start-code-of-another-form"), told: Symptom | None = seen(*_GUESTS),
    guest: Platform | None = None, inner: Gpu | None = one(vendor="amd", integrated=True),
) -> Verdict:  # fmt: skip
    """On a machine of its own the card's own memory does not hold it, or cannot be read."""
    virtual = told is not None or form is not None or bool(guest and guest.get("hypervisor")) or on_first_bus(said)
    return inner is None and not virtual and {"said": said.id}


# -- nodes
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


@rule("container-render-group-mismatch", "likely")
def node_of_a_nameless_group_refuses(
    said: Symptom = seen("kfd-refuses-the-caller", "kfd-permission-denied"), group: Symptom = seen("node-group-without-a-name"),
) -> Verdict:  # fmt: skip
    """So are groups called that a namespace has not been given."""
    return {"said": said.id, "group": group.id}


@rule("container-render-group-mismatch", "possible")
def node_refuses_root_of_a_container(
    said: Symptom = seen("kfd-refuses-the-caller"), node: DeviceNode | None = one(path="/dev/kfd")
) -> Verdict:
    """It is there and refuses whoever asks: mostly in a container without rights of its own."""
    return {"said": said.id, "group": node.get("group") if node else None}


@rule("container-render-group-mismatch", "likely")
def plain_user_of_a_container_cannot_open_the_node(
    said: Symptom = seen("video-library-cannot-open-the-node"), user: Symptom = seen("compose-runs-as-a-plain-user"), given: Symptom = seen("compose-hands-the-nodes-on"),
) -> Verdict:  # fmt: skip
    """The nodes are handed on, the process is a plain user, and no group is added."""
    return {"said": said.id, "user": user.id, "given": given.id}


@rule("render-group-missing", "likely")
def account_without_the_nodes_group_cannot_open_it(
    said: Symptom = seen("video-library-cannot-open-the-node"), node: DeviceNode = one(), who: Account = one(), user: Symptom | None = seen("compose-runs-as-a-plain-user"),
    given: Symptom | None = seen("compose-hands-the-nodes-on"),
) -> Verdict:  # fmt: skip
    """The node belongs to a group that the account is not in."""
    render = node.path.startswith("/dev/dri/renderD") and node.mode[8:9] != "w"
    outside = user is None and given is None and not inside(said)
    return render and outside and node.group not in who.groups and who.get("uid") != 0 and {"group": node.group}


# -- a module that is there
_MISSED = ("rock-module-not-loaded", "rocm-smi-amdgpu-not-found", "amd-smi-no-driver", "amdsmi-driver-not-loaded", "amd-smi-drivers-not-loaded")  # fmt: skip


@rule("rocminfo-builtin-module", "likely")
def amdgpu_has_the_card_all_the_same(
    said: Symptom = seen(*_MISSED), card: PciDevice = one(vendor_id="1002", driver="amdgpu"), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """lspci shows the driver bound to the card that ROCm's tool misses."""
    return guest is None and not inside(said) and {"said": said.id, "address": card.get("address")}


@rule("rocminfo-builtin-module", "likely")
def amdgpu_works_all_the_same(
    said: Symptom = seen(*_MISSED), shown: Symptom = seen("amdgpu-is-initialised", "radeon-draws-by-amdgpu", "clinfo-lists-an-amd-chip"), guest: Platform | None = one(wsl=(1, 2)),
    fatal: Symptom | None = seen("amdgpu-init-fatal", *_NO_FILE),
) -> Verdict:  # fmt: skip
    """The kernel has started it, or something draws or computes by it."""
    return guest is None and fatal is None and not inside(said) and {"said": said.id, "shown": shown.id}


@rule("kfd-gpu-not-supported", "likely")
def runtime_lists_no_chip_that_kfd_never_had(
    said: Symptom = seen("rocminfo-lists-the-processor-alone"), chip: Symptom = seen("kfd-never-had-the-chip"), served: Symptom | None = seen("kfd-added-device"),
) -> Verdict:  # fmt: skip
    """The list ends with the processor, and the card is of an architecture that amdkfd never had."""
    return served is None and {"said": said.id, "chip": chip.get("chip")}


# -- pools of shared memory
@rule("apu-vram-carveout-vs-gtt", "likely")
def system_has_a_part_of_the_machines_memory(
    said: Symptom = seen("amd-ttm-tells-the-systems-memory"), inner: Gpu = one(vendor="amd", integrated=True), memory: Memory = one(), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """Much less than the machine has is left for the system, and half of that for the graphics: the rest is carved out."""
    return card is None and bool(inner.integrated) and float(said.gib) * GIB < 0.6 * memory.total and {"said": said.id}


def _told(said: Symptom) -> float:
    """Bytes that a program counts as the GPU's."""
    return float(said.mib) * _MIB if said.get("mib") is not None else size(said.get("size")) or 0.0


@rule("igpu-vram-counted-without-gtt", "likely")
def program_counts_what_the_firmware_set_aside(
    said: Symptom = seen(*_COUNTS), inner: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """Two gigabytes and less are a carve-out's, and the graphics map much more."""
    return card is None and bool(inner.integrated) and _told(said) <= 2 * GIB and {"said": said.id}


@rule("igpu-vram-counted-without-gtt", "likely")
def opencl_counts_what_the_firmware_set_aside(
    said: Symptom = seen("clinfo-tells-a-small-chips-memory"), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The same in the list of a processor's graphics themselves."""
    return card is None and int(said.bytes) <= 2 * GIB and {"said": said.id}


@rule("igpu-vram-counted-without-gtt", "likely")
def program_counts_the_smaller_pool(
    said: Symptom = seen(*_COUNTS), inner: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """Its total is no more than the carve-out, and the mapped pool is several times that."""
    return card is None and 0 < _told(said) < 1.1 * inner.vram and inner.gtt > 2.5 * inner.vram and {"said": said.id}


@rule("igpu-vram-counted-without-gtt", "likely")
def program_finds_a_part_of_the_machines_memory(
    said: Symptom = seen("llama-finds-little-device-memory"), inner: Gpu = one(vendor="amd", integrated=True), memory: Memory = one(), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """A tenth of what the machine has; half of it may be mapped."""
    return card is None and bool(inner.integrated) and _told(said) < 0.15 * memory.total and {"said": said.id}


@rule("apu-memory-miscount", "likely")
def engine_takes_shared_memory_for_the_gpus_own(
    _said: Symptom = seen("vllm-memory-taken"), inner: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False), carved: Symptom | None = seen("carve-out-told"),
) -> Verdict:  # fmt: skip
    """The engine's share is of a total that the processor uses as well."""
    told = carved is not None or (inner.knows("vram") and inner.vram > 16 * GIB)
    return card is None and bool(inner.integrated) and not told and {"severity": "error"}


@rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_takes_what_the_engine_wants(
    said: Symptom = seen("vllm-memory-taken"), inner: Gpu = one(vendor="amd", integrated=True), carved: Symptom = seen("carve-out-told"), card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """What a person has set aside in the firmware is missing from the pool that the engine maps."""
    gib = int(carved.get("gib") or carved.get("gib2") or 0)
    return card is None and bool(inner.integrated) and gib >= 16 and {"said": said.id, "severity": "error"}


@rule("apu-memory-miscount", "likely")
def program_plans_by_the_systems_free_memory(
    said: Symptom = seen("llama-counts-the-systems-free-memory"), inner: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """llama.cpp asks the system what is free, not the pools."""
    return card is None and bool(inner.integrated) and {"said": said.id}
