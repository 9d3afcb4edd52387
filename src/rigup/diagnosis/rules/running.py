"""Cards that work below what they could: a link with few lanes or at a low speed, a clock that is lowered. A watch has the same causes over time."""

from rigup.diagnosis.rule import Verdict, rule
from rigup.diagnosis.slowing import harmful, slowed_words
from rigup.knowledge.pcie import speed_words, transfers_of
from rigup.machine.kinds import CardState, Gpu, Platform

_WORKS = 50  # per cent of the time from which on a card works, so that its link is at full speed


def _is_of(gpu: Gpu, state: CardState, platform: Platform | None) -> bool:
    """Whether a state is that card's, and told by the machine itself: a guest's bridges are made up."""
    return bool(
        gpu.get("pci_address") == state.pci_address
        and gpu.get("integrated") is not True
        and not (platform and platform.get("hypervisor"))
    )


def _called(gpu: Gpu) -> str:
    return str(gpu.get("name") or gpu.get("pci_address"))


@rule("link-narrower-than-card")
def link_has_fewer_lanes_than_card_and_slot(state: CardState, gpu: Gpu, platform: Platform | None = None) -> Verdict:
    """Lanes stay as they are while a card is idle; a slot that has fewer than the card is no fault."""
    if not _is_of(gpu, state, platform):
        return False
    most = state.get("lanes_most") or min(state.lanes_of_card, state.lanes_of_slot)
    return state.lanes < most and {
        "card": _called(gpu), "have": f"x{state.lanes}", "want": f"x{most}", "narrow": state.pci_address, "gpu": gpu,
    }  # fmt: skip


@rule("link-narrower-than-card", "likely")
def link_is_slow_while_the_card_works(state: CardState, gpu: Gpu, platform: Platform | None = None) -> Verdict:
    """The speed falls while a card is idle, and rises with work."""
    have, want = transfers_of(state.generation), transfers_of(state.generation_most)
    return (
        _is_of(gpu, state, platform) and state.busy >= _WORKS and have is not None and want is not None and have < want
        and {"card": _called(gpu), "have": speed_words(have), "want": speed_words(want), "slow": state.pci_address, "gpu": gpu}
    )  # fmt: skip


@rule("throttled", "likely")
def driver_tells_what_lowers_the_clock(state: CardState, gpu: Gpu) -> Verdict:
    """One look: a watch tells whether it stays so. At its power limit every card arrives that works."""
    reasons = harmful(state.throttle)
    if not reasons or gpu.get("pci_address") != state.pci_address:
        return False
    return {"card": _called(gpu), "gpu": gpu} | slowed_words(reasons, gpu.get("vendor"), state.pci_address)
