"""The kernel's side of AMD's cards: not loaded, without KFD, with a firmware that hangs, without atomics."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.knowledge.driver_faults import firmware_fault
from rigup.knowledge.lifecycle import wants_atomics
from rigup.machine.kinds import Account, Gpu, Platform, Symptom

_GROUPS = ("render", "video")


@rule("amd-firmware-regression", "likely")
def faults_with_firmware_known_bad(
    shown: Symptom = seen("firmware-package-shown"), fault: Symptom = seen("gpu-memory-access-fault", "amdgpu-ring-timeout", "gpu-hang-told"), card: Gpu = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """The package that is asked for is on the list for this chip."""
    bad = firmware_fault(package=str(shown.get("version")), isa=card.isa)
    return bad and {"firmware": shown.get("version"), "said": fault.id}


@rule("pcie-atomics-missing", "likely")
def processor_is_older_than_what_the_chip_wants(
    early: Symptom = seen(tag="processor-before-atomics"), card: Gpu = one(vendor="amd", integrated=False), symptom: Symptom = seen(tag="amd-fails"), served: Symptom | None = seen("kfd-added-device"),
    statement: Symptom | None = seen(tag="kfd-refuses-chip kfd-refused"), account: Account | None = None, guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """The chip wants atomics of the slot, and no root port completed them before Haswell and Ryzen."""
    member = account is None or account.get("uid") == 0 or any(group in account.groups for group in _GROUPS)
    clear = served is None and statement is None and guest is None and member and not inside(symptom)
    return clear and wants_atomics(str(card.get("isa"))) and {"said": symptom.id, "why": early.id}
