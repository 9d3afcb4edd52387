"""The card slows itself down, against heat or for want of power."""

from rigup.diagnosis.causes.card_names import called
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen
from rigup.diagnosis.slowing import harmful, slowed_words
from rigup.knowledge.driver_recipes import for_servers
from rigup.language import _
from rigup.machine.kinds import CardState, Gpu, Symptom


@rule("throttled", "likely")
def driver_tells_what_lowers_the_clock(state: CardState, gpu: Gpu) -> Verdict:
    """One look: a watch tells whether it stays so. At its power limit every card arrives that works."""
    reasons = harmful(state.throttle)
    if not reasons or gpu.get("pci_address") != state.pci_address:
        return False
    return {"card": called(gpu), "gpu": gpu} | slowed_words(reasons, gpu.get("vendor"), state.pci_address)


@mends("throttled")
def air_for_a_card_without_fans(
    knew: Params, gpu: Gpu | None = one(vendor="nvidia"), told: Symptom | None = seen("card-for-servers-in-words")
) -> Params:
    """Cards for servers have no fan of their own: the chassis blows through them, and a desktop does not."""
    name = str((gpu.get("name") if gpu is not None else "") or (told.name if told is not None else ""))
    passive = for_servers(name) or (told is not None and told.name == name)
    heat = knew.get("heat")
    why = {"reasons": _("heat")} if heat and not knew.get("brake") and not knew.get("reasons") else {}
    return {**why, "passive": "shroud" if heat and passive else None, "heat": None if passive else heat} | (
        {"card": name} if name and not knew.get("card") else {}
    )


@mends("throttled")
def adapter_of_a_laptop(
    knew: Params, gpu: Gpu | None = one(vendor="nvidia"), laptop: Symptom | None = seen(tag="laptop-spoken-of laptop-card-named")
) -> Params:
    """A laptop's card has no cables: for want of power it is braked by the adapter that the machine hangs on."""
    name = str((gpu.get("name") if gpu is not None else "") or "")
    if not knew.get("brake"):
        return {}
    why = (
        {} if knew.get("heat") or knew.get("reasons") else {"reasons": _("want of power"), "card": called(gpu) if gpu is not None else None}
    )
    mobile = laptop is not None or "Laptop" in name or "Max-Q" in name
    return {**why, "adapter": "adapter", "brake": None} if mobile else why
