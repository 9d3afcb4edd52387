"""The card slows itself down, against heat or for want of power."""

from rigup.diagnosis.causes.card_names import called, is_its_state
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen
from rigup.diagnosis.slowing import harmful, slowed_words
from rigup.knowledge.driver_recipes import for_servers
from rigup.knowledge.gpu_words import is_of_laptops
from rigup.language import _
from rigup.machine.kinds import CardCount, CardState, Gpu, Symptom

_NEAR = 5  # degrees below the limit from which on a card is called hot: it cools down as soon as it is slowed
_SPARED = 0.7  # of a card's power limit, with which it does most of its work and makes a good deal less heat


def _are_several(cards: CardCount | None) -> bool:
    """Then nobody can tell of which one a figure is."""
    return cards is not None and cards.count > 1


@rule("throttled", "likely")
def driver_tells_what_lowers_the_clock(state: CardState, gpu: Gpu) -> Verdict:
    """One look: a watch tells whether it stays so. At its power limit every card arrives that works."""
    reasons = harmful(state.throttle)
    if not reasons or not is_its_state(state, gpu):
        return False
    return {"card": called(gpu), "gpu": gpu} | slowed_words(reasons, gpu.get("vendor"), gpu.get("pci_address"))


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
def how_hot_it_is(knew: Params, told: Symptom | None = seen("heat-beside-its-limits"), cards: CardCount | None = None) -> Params:
    """The temperature beside the limits, where one card is shown and heat is the only reason."""
    if knew.get("brake") or not (knew.get("heat") or knew.get("passive")):
        return {"only_brake": None if knew.get("heat") or knew.get("passive") else knew.get("brake")}
    hot = told is not None and not _are_several(cards) and int(told.now) >= int(told.slowdown) - _NEAR
    return {"only_heat": "heat", **({name: told.get(name) for name in ("now", "slowdown", "shutdown")} if told and hot else {})}


@mends("throttled")
def less_power_until_it_is_cooled(
    knew: Params,
    gpu: Gpu | None = one(vendor="nvidia"),
    limit: Symptom | None = seen("power-limit-of-the-card"),
    least: Symptom | None = seen("least-power-limit-of-the-card"),
    cards: CardCount | None = None,
    laptop: Symptom | None = seen(tag="laptop-spoken-of laptop-card-named"),
) -> Params:
    """Less than its limit, and no less than the tool takes, where both are shown; a laptop's limit is its firmware's."""
    if not knew.get("only_heat"):
        return {}
    name = str((gpu.get("name") if gpu is not None else "") or knew.get("card") or "")
    mobile = laptop is not None or is_of_laptops(name)
    if limit is None or least is None or mobile or _are_several(cards):
        return {"unknown": "limit"}
    number = gpu.get("nvml_index") if gpu is not None else None
    watts = max(int(float(limit.watts) * _SPARED) // 5 * 5, -(-int(float(least.watts)) // 5) * 5)
    return {"index": str(number or 0), "watts": str(watts)} if watts < float(limit.watts) else {"unknown": "limit"}


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
    mobile = laptop is not None or is_of_laptops(name)
    return {**why, "adapter": "adapter", "brake": None} if mobile else why
