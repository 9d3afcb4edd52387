"""The PCIe bridges send the GPUs' direct traffic through the IOMMU, where it is blocked."""

from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.machine.kinds import CardCount, Gpu, KernelParameter, Symptom, Variable

_HINDERED = 0.5  # of the way by the processor, which the direct way should beat


@rule("nccl-p2p-blocked-by-acs-iommu")
def redirected_and_hung(acs: Symptom = seen("acs-redirects"), _hung: Symptom = seen(tag="iommu-fault")) -> Verdict:
    """ACS is on, and what it breaks is broken."""
    return bool(acs.get("redirect"))


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def told_and_hung(_told: Symptom = seen(tag="acs-between"), _hung: Symptom = seen(tag="iommu-fault")) -> Verdict:
    """ACS is on in part, or RCCL warns of an IOMMU without pass-through: alone that is no fault."""
    return True


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def told_and_avoided(_told: Symptom = seen(tag="acs-between"), _around: Variable = one(name="NCCL_P2P_DISABLE", value="1")) -> Verdict:
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
    return iommu.running == "on" and not through and (cards is None or cards.count > 1) and {"number": hung.get("number")}


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def translated_and_wrong(
    hung: Symptom = seen("p2p-data-wrong", "iommu-page-fault", "dmar-fault"),
    broken: Symptom = seen("nccl-collective-timeout", "p2p-data-wrong"),
    pass_through: KernelParameter | None = one(name="iommu"),
) -> Verdict:
    """The IOMMU reports faults, or direct copies arrive wrong, while the kernel lets it translate."""
    through = pass_through is not None and pass_through.get("running") == "pt"
    return not through and hung.id != broken.id


@text_rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def direct_way_is_slower_than_the_detour(symptom: Symptom = seen("bandwidth-between-cards-measured")) -> Verdict:
    """Copies between two cards are slower by the direct way than by memory."""
    on, off = (float(part) if part.count(".") < 2 else 0.0 for part in (symptom.on, symptom.off))
    return 0 < on < _HINDERED * off


@mends("nccl-p2p-blocked-by-acs-iommu")
def what_the_text_shows_of_it(
    warned: Symptom | None = seen("rccl-misses-passthrough", "rccl-wants-iommu-pt"), acs: Symptom | None = seen("acs-redirects")
) -> Params:
    """RCCL names what the kernel is to be started with, lspci shows the bridges; without either the detour is quicker tried."""
    kernel, bridges = ("named" if warned is not None else "unnamed"), ("shown" if acs is not None else "unshown")
    return {kernel: "iommu=pt", bridges: "ACS"}
