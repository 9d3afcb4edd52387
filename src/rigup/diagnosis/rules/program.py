"""Programs: which devices they let themselves see, in which order, and how their ranks reach each other."""

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.knowledge.torch_builds import reads_mask_at_import
from rigup.machine.kinds import (
    CardCount,
    Gpu,
    JobRequest,
    KernelParameter,
    Launch,
    Mask,
    NetInterface,
    Symptom,
    Torch,
    Variable,
)

CUDA_MASK = "CUDA_VISIBLE_DEVICES"
DEVICE_MASKS = (CUDA_MASK, "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_NONE = ("", "-1", "none", "None")


def chosen(value: str) -> list[str]:
    """The devices that a mask names, one by one."""
    return [part.strip() for part in value.split(",")]


def counted(mask: Variable, cards: CardCount) -> bool:
    """Whether a mask counts these cards: CUDA's NVIDIA's, the others AMD's."""
    return bool(cards.vendor == ("nvidia" if mask.name == CUDA_MASK else "amd"))


# -- masks
@rule("cuda-visible-devices-wrong")
def mask_names_a_device_that_is_not_there(
    mask: Variable = one(name=DEVICE_MASKS), cards: CardCount = one(mig=False)
) -> Verdict:
    """Of 0-based indices one lies beyond the last card: that card and all behind it are hidden."""
    parts = chosen(mask.value or "")
    beyond = [part for part in parts if part.isdigit() and int(part) >= cards.count]
    shown = ",".join(str(index) for index in range(cards.count))
    severity = "error" if parts[0] in beyond else "warning"
    return (
        bool(beyond)
        and counted(mask, cards)
        and {"name": mask.name, "count": cards.count, "valid": shown, "severity": severity}
    )


@rule("cuda-visible-devices-wrong", "likely")
def mask_names_more_than_torch_has_counted(
    _nothing: Symptom = seen(tag="no-device"), mask: Variable = one(name=DEVICE_MASKS), torch: Torch = one(available=True), cards: CardCount | None = None
) -> Verdict:  # fmt: skip
    """A program finds none behind its mask, and torch without the mask has counted fewer than that."""
    first, count = chosen(mask.value or "")[0], torch.devices
    beyond = first.isdigit() and 0 < count <= int(first)
    shown = ",".join(str(index) for index in range(count))
    return cards is None and beyond and {"name": mask.name, "count": count, "valid": shown, "severity": "error"}


@rule("cuda-visible-devices-wrong", "likely")
def mask_names_a_device_of_another_job(
    mask: Variable = one(name=DEVICE_MASKS),
    cards: CardCount = one(mig=False),
    _job: Variable = one(name="SLURM_JOB_ID"),
) -> Verdict:
    """The node has more cards than the job may use: those that it may are counted from 0, and fewer."""
    first, usable = chosen(mask.value or "")[0], cards.get("usable") or 0
    beyond = first.isdigit() and usable <= int(first) < cards.count
    shown = ",".join(str(index) for index in range(usable))
    return beyond and usable > 0 and counted(mask, cards) and {"name": mask.name, "count": usable, "valid": shown}


@rule("cuda-visible-devices-wrong")
def mask_names_an_unknown_uuid(mask: Variable = one(name=DEVICE_MASKS), cards: CardCount = one(mig=False)) -> Verdict:
    """A UUID, or its beginning, that no card has."""
    first = chosen(mask.value or "")[0]
    unknown = first.startswith("GPU-") and not any(uuid.startswith(first) for uuid in cards.uuids)
    known = counted(mask, cards) and bool(cards.uuids) and len(cards.uuids) == cards.count
    return unknown and known and {"name": mask.name, "valid": cards.uuids[0]}


@rule("cuda-visible-devices-wrong")
def mask_hides_all_and_the_program_finds_none(
    _nothing: Symptom = seen(tag="no-device"), mask: Variable = one(name=DEVICE_MASKS, value=_NONE), card: Gpu | None = None,
    passed: Symptom | None = seen("pytest-passed"), typed: Symptom | None = seen("mask-emptied-for-one-command"), logged: Symptom | None = seen("tf-start-finds-no-device"),
    ended: Symptom | None = seen("python-ended-with-an-exception", "ended-by-signal", "segmentation-fault", "segmentation-fault-signal"),
) -> Verdict:  # fmt: skip
    """An empty mask, or -1, and a program that wanted a GPU; tests that passed so, and one command that went on after TensorFlow's line, were meant to run without."""
    intended = typed is not None and logged is not None and ended is None
    return passed is None and not intended and {"name": mask.name, "value": mask.value, "seen": card is not None}


@rule("cuda-visible-devices-wrong")
def mask_hides_all_cards(
    mask: Variable = one(name=DEVICE_MASKS, value=_NONE, at="shell service unit kernel"),
    card: Gpu = one(vendor=("nvidia", "amd")),
    own: Mask | None = None,
) -> Verdict:
    """What every program of that place gets; a program that hides the GPUs from itself means to."""
    maker = "nvidia" if mask.name == CUDA_MASK else "amd"
    return card.vendor == maker and own is None and {"name": mask.name, "value": mask.value}


@rule("cuda-visible-devices-wrong", "possible")
def mask_of_unseen_cards(
    _nothing: Symptom = seen(tag="no-device"),
    mask: Variable = one(name=DEVICE_MASKS),
    card: Gpu | None = None,
) -> Verdict:
    """An index above the first, and no device; how many there are, nobody has seen."""
    first = chosen(mask.value or "")[0]
    return card is None and first.isdigit() and int(first) > 0 and {"name": mask.name, "valid": "0"}


@rule("cuda-visible-devices-wrong", "possible")
def mask_is_taken_from_a_variable(
    _nothing: Symptom = seen("cuda-no-device", "cuda-no-device-constant", "torch-no-cuda-gpus"), mask: Symptom = seen("mask-from-a-variable"),
    card: Gpu = one(vendor="nvidia"), set_: Variable | None = one(name=CUDA_MASK),
) -> Verdict:  # fmt: skip
    """A line copied as it stands: where the shell does not know that variable, the mask is empty and hides every card."""
    return set_ is None and bool(card.get("name")) and {"name": CUDA_MASK, "value": "$" + str(mask.variable)}


@rule("cuda-visible-devices-wrong", "likely")
def mask_names_fewer_than_start(
    mask: Variable = one(name=DEVICE_MASKS), want: Launch = one(), _clash: Symptom = seen(tag="gpu-count-beyond")
) -> Verdict:
    """More processes are started than the mask leaves devices: one looks beyond, or two meet."""
    named = chosen(mask.value or "")
    few = bool(mask.value) and mask.value not in _NONE and len(named) < want.devices
    return few and {"name": mask.name}


@rule("cuda-visible-devices-wrong", "possible")
def mask_renumbers(
    mask: Variable = one(name=DEVICE_MASKS),
    _beyond: Symptom = seen("cuda-invalid-ordinal"),
    job: JobRequest | None = None,
) -> Verdict:
    """What a mask leaves is counted from 0 again: an index of the whole machine lies beyond."""
    named = chosen(mask.value or "")
    return job is None and all(part.isdigit() for part in named) and {"name": mask.name}


@rule("cuda-visible-devices-wrong", "possible")
def program_masks_by_what_it_is_told(
    mask: Mask, _beyond: Symptom = seen("cuda-invalid-ordinal"), job: JobRequest | None = None
) -> Verdict:
    """It sets the mask from a setting of its own, and then uses an index that the mask has renumbered."""
    return job is None and not mask.value[:1].isdigit() and {"name": mask.variable}


@rule("cuda-visible-devices-wrong", "possible")
def number_of_no_device(
    _beyond: Symptom = seen("cuda-invalid-ordinal"), mask: Variable | None = one(name=DEVICE_MASKS), own: Mask | None = None, want: Launch | None = None, job: JobRequest | None = None,
) -> Verdict:  # fmt: skip
    """The message alone: a program asks for a number that none of the devices it sees has."""
    return mask is None and own is None and want is None and job is None and {"ordinal": "invalid device ordinal"}


@rule("cuda-visible-devices-wrong", "likely")
def number_beyond_its_own_mask(mask: Mask, asked: Symptom = seen("device-index-in-a-program")) -> Verdict:
    """A program leaves itself some devices, which are counted from 0, and asks for one by its old number."""
    named = chosen(mask.value)
    return all(part.isdigit() for part in named) and int(asked.index) >= len(named) and {"name": mask.variable}


@rule("cuda-visible-devices-set-too-late", "likely")
def mask_set_after_cuda_started(mask: Mask) -> Verdict:
    """The program's own order of things."""
    return bool(mask.get("after")) and {"name": mask.variable, "after": mask.after.rstrip("(")}


@rule("cuda-visible-devices-set-too-late", "likely")
def device_count_and_mask_disagree(
    _wrong: Symptom = seen("torch-device-beyond-count"), mask: Mask | None = None
) -> Verdict:
    """torch counts by the variable as it is now, CUDA as it was."""
    return mask is not None and {"name": mask.variable}


@rule("cuda-visible-devices-set-too-late", "likely")
def program_counts_more_than_its_mask_names(mask: Mask, gpu: Gpu) -> Verdict:
    """The program lists a device whose number lies beyond all that it says to have left itself."""
    named = chosen(mask.value)
    beyond = all(part.isdigit() for part in named) and gpu.runtime_index >= len(named)
    return beyond and {"name": mask.variable}


@rule("cuda-visible-devices-set-too-late", "likely")
def release_that_reads_the_mask_at_its_import(mask: Mask, torch: Torch) -> Verdict:
    """The table knows releases that look at the variable when they are imported, and never again."""
    reads = reads_mask_at_import(torch.version)
    return mask.imported == "torch" and reads and {"name": mask.variable, "after": "import torch"}


@rule("cuda-initialised-before-fork", "likely")
def worker_cannot_start_cuda(
    _worker: Symptom = seen("worker-process-failed", "worker-loop-failed"),
    _refused: Symptom = seen(
        "cuda-initialization-error", "cupy-forked-after-cuda", "cuda-not-initialized", "cuinit-returns-3"
    ),
) -> Verdict:
    """In the parent CUDA works; in a copy of it it does not."""
    return True


@rule("cuda-device-order-differs")
def two_cards_change_places(
    gpu: Gpu,
    other: Gpu,
    order: Variable | None = one(name="CUDA_DEVICE_ORDER"),
    mask: Variable | None = one(name=CUDA_MASK),
) -> Verdict:
    """One comes first in one list and second in the other; a mask of one's own may well reorder."""
    if gpu is other or (order and order.value == "PCI_BUS_ID") or (mask and mask.value and not _ascending(mask.value)):
        return False
    crossed = gpu.nvml_index < other.nvml_index and gpu.runtime_index > other.runtime_index
    return crossed and gpu.name != other.name


def _ascending(mask: str) -> bool:
    parts = chosen(mask)
    return all(part.isdigit() for part in parts) and [int(part) for part in parts] == sorted(
        int(part) for part in parts
    )


# -- direct traffic between GPUs


@rule("nccl-p2p-blocked-by-acs-iommu")
def redirected_and_hung(acs: Symptom = seen("acs-redirects"), _hung: Symptom = seen(tag="iommu-fault")) -> Verdict:
    """ACS is on, and what it breaks is broken."""
    return bool(acs.get("redirect"))


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def told_and_hung(_told: Symptom = seen(tag="acs-between"), _hung: Symptom = seen(tag="iommu-fault")) -> Verdict:
    """ACS is on in part, or RCCL warns of an IOMMU without pass-through: alone that is no fault."""
    return True


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def told_and_avoided(
    _told: Symptom = seen(tag="acs-between"), _around: Variable = one(name="NCCL_P2P_DISABLE", value="1")
) -> Verdict:
    """The same, and somebody goes around direct traffic already."""
    return True


@rule("nccl-p2p-blocked-by-acs-iommu", "possible")
def only_acs_is_shown(_acs: Symptom = seen("acs-redirects"), card: Gpu | None = None) -> Verdict:
    """Somebody shows these lines alone, out of a long list: they are what he asks about."""
    return card is None


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def first_collective_hangs_behind_an_iommu(
    hung: Symptom = seen("nccl-collective-timeout", number="1"),
    iommu: KernelParameter = one(name=("amd_iommu", "intel_iommu")),
    pass_through: KernelParameter | None = one(name="iommu"),
    cards: CardCount | None = None,
) -> Verdict:
    """The very first one, with an IOMMU that is switched on and translates, and several cards in the machine."""
    through = pass_through is not None and pass_through.get("running") == "pt"
    return (
        iommu.running == "on" and not through and (cards is None or cards.count > 1) and {"number": hung.get("number")}
    )


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def translated_and_wrong(
    hung: Symptom = seen("p2p-data-wrong", "iommu-page-fault", "dmar-fault"),
    broken: Symptom = seen("nccl-collective-timeout", "p2p-data-wrong"),
    pass_through: KernelParameter | None = one(name="iommu"),
) -> Verdict:
    """The IOMMU reports faults, or direct copies arrive wrong, while the kernel lets it translate."""
    through = pass_through is not None and pass_through.get("running") == "pt"
    return not through and hung.id != broken.id


# -- between nodes
_IFNAME = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME")
_INNER = ("lo", "docker", "virbr", "br-", "cni")


@rule("multinode-wrong-interface", "likely")
def inner_interface_refused(
    used: Symptom = seen("nccl-uses-loopback", "nccl-uses-bridge"), _refused: Symptom = seen("nccl-connection-refused")
) -> Verdict:
    """Loopback or a bridge is in use, and a peer turns us away."""
    return {"address": used.get("address")}


@rule("multinode-wrong-interface")
def named_interface_is_not_there(
    wish: Variable = one(name=_IFNAME), all_interfaces: Every[NetInterface] = every(NetInterface)
) -> Verdict:
    """A name begins an interface's; after "=" it is one's whole name; after "^" it is to be avoided."""
    value = wish.value or ""
    names = [interface.name for interface in all_interfaces]
    if not names or not value or value.startswith("^"):
        return False
    exact = value.startswith("=") or wish.name.startswith("GLOO")
    wanted = [part for part in value.removeprefix("=").split(",") if part]
    interfaces = [
        name
        for name in names
        for part in wanted
        if (name == part if exact else name.startswith(part.partition(":")[0]))
    ]
    return not interfaces and {"wanted": value}


@rule("multinode-wrong-interface", "likely")
def inner_interface_is_named_and_fails(
    wish: Variable = one(name=_IFNAME),
    _failed: Symptom = seen("nccl-connection-refused", "nccl-collective-timeout", "rendezvous-timed-out"),
    job: JobRequest | None = None,
) -> Verdict:
    """The ranks are told to speak through loopback or a bridge, and do not meet."""
    value = (wish.value or "").removeprefix("=")
    several = job is None or (job.get("nodes") or 2) > 1
    return value.startswith(_INNER) and several and {"address": value}


@rule("multinode-wrong-interface", "likely")
def gloo_fell_back_and_failed(
    _fallback: Symptom = seen("gloo-falls-back-to-loopback"), _failed: Symptom = seen("gloo-mesh-failed")
) -> Verdict:
    """The name of the node leads to no address of its own, so that its peers are told to speak to themselves."""
    return True
