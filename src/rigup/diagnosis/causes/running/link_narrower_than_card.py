"""The PCIe link of a GPU is narrower or slower than the card."""

from rigup.diagnosis.causes.card_names import called
from rigup.diagnosis.rule import Verdict, rule
from rigup.knowledge.pcie import speed_words, transfers_of
from rigup.machine.kinds import CardState, Gpu, Platform

_WORKS = 50  # per cent of the time from which on a card works, so that its link is at full speed


def _is_of(gpu: Gpu, state: CardState, platform: Platform | None) -> bool:
    """Whether a state is that card's, and told by the machine itself: a guest's bridges are made up."""
    return bool(
        gpu.get("pci_address") == state.pci_address and gpu.get("integrated") is not True and not (platform and platform.get("hypervisor"))
    )


@rule("link-narrower-than-card")
def link_has_fewer_lanes_than_card_and_slot(state: CardState, gpu: Gpu, platform: Platform | None = None) -> Verdict:
    """Lanes stay as they are while a card is idle; a slot that has fewer than the card is no fault."""
    if not _is_of(gpu, state, platform):
        return False
    most = state.get("lanes_most") or min(state.lanes_of_card, state.lanes_of_slot)
    return state.lanes < most and {
        "card": called(gpu),
        "have": f"x{state.lanes}",
        "want": f"x{most}",
        "narrow": state.pci_address,
        "gpu": gpu,
    }


@rule("link-narrower-than-card", "likely")
def link_is_slow_while_the_card_works(state: CardState, gpu: Gpu, platform: Platform | None = None) -> Verdict:
    """The speed falls while a card is idle, and rises with work."""
    have, want = transfers_of(state.generation), transfers_of(state.generation_most)
    return (
        _is_of(gpu, state, platform)
        and state.busy >= _WORKS
        and have is not None
        and want is not None
        and have < want
        and {"card": called(gpu), "have": speed_words(have), "want": speed_words(want), "slow": state.pci_address, "gpu": gpu}
    )
