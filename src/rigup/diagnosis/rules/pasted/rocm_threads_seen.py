"""What ROCm's threads show beside its messages: processors that are older than what a chip asks of them, dkms that gives way, root that is refused."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.knowledge.lifecycle import wants_atomics
from rigup.machine.kinds import Account, DkmsBuild, Gpu, Platform, Symptom, Torch

_EARLY = ("processor-before-ryzen", "processor-core-before-haswell", "processor-xeon-before-haswell")
_FAILS = (
    "hsa-out-of-resources",
    "hsa-call-failed-by-number",
    "hip-no-device",
    "hip-init-failed",
    "kfd-fence-never-came",
)
_REFUSED = ("kfd-chip-not-supported", "kfd-asic-not-supported", "kfd-device-unknown", "kfd-never-had-the-chip")
_DENIED = ("kfd-permission-denied", "kfd-permission-denied-errno", "kfd-group-not-held", "rock-module-not-loaded")
_GROUPS = ("render", "video")


# -- the path to the card
@rule("pcie-atomics-missing", "likely")
def processor_is_older_than_what_the_chip_wants(
    early: Symptom = seen(*_EARLY), card: Gpu = one(vendor="amd", integrated=False), said: Symptom = seen(*_FAILS), served: Symptom | None = seen("kfd-added-device"),
    told: Symptom | None = seen(*_REFUSED, *_DENIED), who: Account | None = None, guest: Platform | None = one(wsl=(1, 2)),
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


# -- the module
@rule("kernel-module-not-built", "possible")
def dkms_leaves_the_kernels_own_in_place(
    said: Symptom = seen("dkms-keeps-the-kernels-amdgpu"), listed: Gpu | None = one(seen_by=("rocminfo", "rocm-smi", "amd-smi")), works: Torch | None = one(available=True),
    served: Symptom | None = seen("kfd-added-device"), built: DkmsBuild | None = one(module="amdgpu"),
) -> Verdict:  # fmt: skip
    """The module was built and not installed, for the kernel's own bears the same version."""
    return all(part is None for part in (listed, works, served, built)) and {
        "kernel": said.get("kernel"),
        "said": said.id,
    }


# -- rights
@rule("container-render-group-mismatch", "likely")
def root_is_refused(
    error: Symptom = seen("kfd-permission-denied", "kfd-permission-denied-errno"), who: Symptom = seen("kfd-group-not-held", user="root")
) -> Verdict:  # fmt: skip
    """Nothing is closed to a machine's own root: this one is root of a namespace only."""
    return {"said": error.id, "group": who.get("group")}


@rule("container-render-group-mismatch", "likely")
def tool_answers_root_alone_inside(
    error: Symptom = seen("hsa-out-of-resources", "hsa-call-failed-by-number", "kfd-permission-denied"), root: Symptom = seen("rocminfo-with-sudo-answers"),
) -> Verdict:  # fmt: skip
    """The same program in a container, as it fails and as it answers to root there."""
    return inside(error) and {"said": error.id, "works": root.id}
