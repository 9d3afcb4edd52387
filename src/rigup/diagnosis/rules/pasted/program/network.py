"""Ranks that do not reach each other: interfaces, routes, and cards that may not talk."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.machine.kinds import Symptom, Variable

_HINDERED = 0.5  # of the way by the processor, which the direct way should beat


@rule("multinode-wrong-interface", "likely")
def what_is_to_be_avoided_leaves_loopback(
    used: Symptom = seen("nccl-uses-loopback"), wish: Variable = one(name="NCCL_SOCKET_IFNAME"), ready: Symptom | None = seen("nccl-is-made")
) -> Verdict:  # fmt: skip
    """NCCL passes loopback by of itself; who names what is to be avoided has to name it, too."""
    avoided = str(wish.value).removeprefix("^").split(",") if str(wish.value).startswith("^") else ["lo"]
    return ready is None and not any("lo".startswith(name) for name in avoided) and {"address": used.get("address")}


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def direct_way_is_slower_than_the_detour(symptom: Symptom = seen("bandwidth-between-cards-measured")) -> Verdict:
    """Copies between two cards are slower by the direct way than by memory."""
    on, off = (float(part) if part.count(".") < 2 else 0.0 for part in (symptom.on, symptom.off))
    return 0 < on < _HINDERED * off
