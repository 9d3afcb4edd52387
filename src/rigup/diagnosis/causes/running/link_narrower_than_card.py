"""The PCIe link of a GPU is narrower or slower than the card."""

from rigup.diagnosis.causes.card_names import called, is_its_state
from rigup.diagnosis.rule import Params, Passes, Verdict, mends, one, rule, seen
from rigup.knowledge.gpu_words import is_of_laptops
from rigup.knowledge.pcie import speed_words, transfers_of
from rigup.machine.kinds import CardCount, CardState, Gpu, Platform, Symptom

_WORKS = 50  # per cent of the time from which on a card works, so that its link is at full speed
_SHARED = 8  # lanes that two slots of many boards have each, where both hold a card
_FULL = 16  # lanes of a card, and of nothing else whose link somebody shows beside it


def _is_of(gpu: Gpu, state: CardState, platform: Platform | None, alone: bool = False) -> bool:
    """Whether a state is that card's, and told by the machine itself: a guest's bridges are made up."""
    its = is_its_state(state, gpu) or (
        alone and state.get("lanes_of_card") == _FULL and not gpu.get("pci_address") and not _is_a_port(state)
    )
    return its and gpu.get("integrated") is not True and not (platform and platform.get("hypervisor"))


def _is_a_port(state: CardState) -> bool:
    """On the first bus are the ports of processor and chipset, behind which the cards are."""
    return str(state.get("pci_address") or "").split(":")[-2:-1] == ["00"]


def _most(state: CardState) -> int | None:
    """Lanes that card and slot have together; of a slot that nobody tells as many as the card has where one alone is in use: none is built so."""
    card, slot = state.get("lanes_of_card"), state.get("lanes_of_slot")
    if state.get("lanes_most"):
        shared = slot is None and state.lanes >= _SHARED  # boards part sixteen lanes among two slots
        return None if shared else int(state.lanes_most)
    return min(card, slot) if card and slot else card if state.lanes == 1 else None


@rule("link-narrower-than-card")
def link_has_fewer_lanes_than_card_and_slot(
    state: CardState, gpu: Gpu, platform: Platform | None = None, several: CardCount | None = one(count=Passes(lambda count: count > 1))
) -> Verdict:
    """Lanes stay as they are while a card is idle; a slot that has fewer than the card is no fault, nor is a laptop's card that is built in with fewer."""
    most = _most(state) if _is_of(gpu, state, platform, several is None) else None
    if not most or state.lanes >= most or (state.lanes > 1 and is_of_laptops(str(gpu.get("name")))):
        return False
    place, number = gpu.get("pci_address") or state.get("pci_address"), state.get("nvml_index")
    where = {"narrow": place} if place else {"numbered": str(number)}
    return {"card": called(gpu), "have": f"x{state.lanes}", "want": f"x{most}", "gpu": gpu, **where}


@rule("link-narrower-than-card", "likely")
def link_is_slow_while_the_card_works(state: CardState, gpu: Gpu, platform: Platform | None = None) -> Verdict:
    """The speed falls while a card is idle, and rises with work."""
    have, want = transfers_of(state.generation), transfers_of(state.generation_most)
    narrow = state.get("lanes", 0) < state.get("lanes_most", 0)
    if not _is_of(gpu, state, platform) or narrow or state.busy < _WORKS or have is None or want is None or have >= want:
        return False
    place, number = gpu.get("pci_address") or state.get("pci_address"), state.get("nvml_index")
    where = {"slow": place} if place else {"slow_number": str(number)}
    return {"card": called(gpu), "have": speed_words(have), "want": speed_words(want), "gpu": gpu, **where}


@mends("link-narrower-than-card")
def whose_slot_it_is(rented: Symptom | None = seen(tag="lent-card")) -> Params:
    """Who rents a card cannot reach its slot."""
    return {} if rented is None else {"rented": "offer", "narrow": None, "numbered": None, "slow": None, "slow_number": None}
