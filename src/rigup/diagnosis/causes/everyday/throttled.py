"""The card slows itself down, against heat or for want of power."""

from rigup.diagnosis.causes.card_names import called
from rigup.diagnosis.rule import Verdict, rule
from rigup.diagnosis.slowing import harmful, slowed_words
from rigup.machine.kinds import CardState, Gpu


@rule("throttled", "likely")
def driver_tells_what_lowers_the_clock(state: CardState, gpu: Gpu) -> Verdict:
    """One look: a watch tells whether it stays so. At its power limit every card arrives that works."""
    reasons = harmful(state.throttle)
    if not reasons or gpu.get("pci_address") != state.pci_address:
        return False
    return {"card": called(gpu), "gpu": gpu} | slowed_words(reasons, gpu.get("vendor"), state.pci_address)
