"""The path to the GPU does not carry PCIe atomics."""

from rigup.diagnosis.causes.pci import AMD
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.lifecycle import wants_atomics
from rigup.machine.kinds import Account, Gpu, PciDevice, Platform, Symptom

_GROUPS = ("render", "video")


@rule("pcie-atomics-missing")
def kfd_leaves_a_device_out(
    symptom: Symptom = seen("kfd-atomics-rejected"),
    inner: Gpu | None = one(vendor="amd", integrated=True),
    served: Symptom | None = seen("kfd-added-device"),
    tree: Symptom | None = seen("card-at-the-processor-and-one-at-the-chipset"),
    card: Gpu | None = one(vendor="amd"),
) -> Verdict:
    """amdkfd skips it; a processor's own graphics are skipped on many a desktop, beside a card that is served."""
    spared = served is not None and inner is not None and inner.get("pci_id") == symptom.get("device")
    twin = served is not None and served.get("device") == symptom.get("device")  # in another slot, where it works
    if tree is not None and card is not None and card.get("pci_address"):
        return False
    return not spared and {**symptom.values(), **({"severity": "warning"} if twin else {})}


@rule("pcie-atomics-missing")
def kfd_leaves_the_one_at_the_chipset_out(
    card: Gpu = one(vendor="amd"),
    symptom: Symptom = seen("kfd-atomics-rejected"),
    tree: Symptom = seen("card-at-the-processor-and-one-at-the-chipset"),
    served: Symptom | None = seen("kfd-added-device"),
) -> Verdict:
    """Of two cards of one model the tree of devices tells which hangs at the chipset."""
    there = card.get("pci_address") == f"0000:{tree.bus}:00.0"
    return there and {**symptom.values(), **({"severity": "warning"} if served else {})}


@rule("pcie-atomics-missing", "likely")
def driver_finds_no_atomics(
    symptom: Symptom = seen("amdgpu-atomics-unsupported"),
    other: Gpu | None = one(vendor="nvidia"),
    integrated: Gpu | None = one(vendor="amd", integrated=True),
    served: Symptom | None = seen("kfd-added-device"),
    computed: Symptom | None = seen("tensor-on-its-device"),
) -> Verdict:
    """amdgpu says so of a card; an integrated GPU has no slot. A card that is served and computes does without."""
    own = integrated is not None and integrated.get("pci_address") == symptom.get("address", "")
    return other is None and not own and not (served and computed)


@rule("pcie-atomics-missing", "likely")
def card_may_not_send_them(card: PciDevice = one(vendor_id=AMD, atomics=False, driver="amdgpu"), gpu: Gpu = one(vendor="amd")) -> Verdict:
    """amdgpu asks for atomics at every start: where they stay off, a bridge above does not route them."""
    return gpu.pci_address == card.address and not gpu.integrated


@rule("pcie-atomics-missing", "likely")
def excerpt_shows_them_off(
    _off: Symptom = seen("lspci-atomics-off"), _offered: Symptom = seen("lspci-atomics-offered"), device: PciDevice | None = None
) -> Verdict:
    """A few lines of lspci without their head: a device that offers what AMD's cards offer, and may not send it."""
    return device is None


@rule("pcie-atomics-missing", "possible")
def excerpt_shows_a_bridge_without_them(
    _off: Symptom = seen("lspci-atomics-not-routed"),
    routed: Symptom | None = seen("lspci-atomics-routed"),
    _named: Symptom = seen("amd-radeon-named", "amd-rx-named"),
) -> Verdict:
    """A few lines of lspci that show bridges which do not route them, and none that does."""
    return routed is None


@text_rule("pcie-atomics-missing", "likely")
def processor_is_older_than_what_the_chip_wants(
    early: Symptom = seen(tag="processor-before-atomics"),
    card: Gpu = one(vendor="amd", integrated=False),
    symptom: Symptom = seen(tag="amd-fails"),
    served: Symptom | None = seen("kfd-added-device"),
    statement: Symptom | None = seen(tag="kfd-refuses-chip kfd-refused"),
    account: Account | None = None,
    guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:
    """The chip wants atomics of the slot, and no root port completed them before Haswell and Ryzen."""
    member = account is None or account.get("uid") == 0 or any(group in account.groups for group in _GROUPS)
    clear = served is None and statement is None and guest is None and member and not inside(symptom)
    return clear and wants_atomics(str(card.get("isa"))) and {"said": symptom.id, "why": early.id}


@mends("pcie-atomics-missing")
def slot_that_is_free(tree: Symptom | None = seen("card-at-the-processor-and-one-at-the-chipset")) -> Params:
    """Where the tree of devices shows another card at the processor's port, there is no slot to offer."""
    return {"taken": tree.get("port"), "free": None} if tree else {"free": "slot"}
