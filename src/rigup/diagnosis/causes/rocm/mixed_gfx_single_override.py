"""One override for two unlike cards: it helps one and breaks the other."""

from rigup.diagnosis.causes.masks import MASKS
from rigup.diagnosis.causes.rocm_overrides import OVERRIDE, fits, harms, helps
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen
from rigup.knowledge.chips import gfx_base, gfx_of_decimal
from rigup.knowledge.rocm import override_for
from rigup.machine.kinds import Gpu, Symptom, Variable


@rule("mixed-gfx-single-override")
def helps_one_and_harms_another(
    override: Variable = one(name=OVERRIDE),
    needy: Gpu = one(vendor="amd"),
    harmed: Gpu = one(vendor="amd"),
    mask: Variable | None = one(name=MASKS[:2], at="shell container"),
) -> Verdict:
    """The plain variable renames every card: the one that it suits, and one of another kind; one that is hidden does not mind."""
    value = override.value
    foreign = gfx_of_decimal(value or "") != gfx_base(needy.isa) or harmed.get("integrated") is False
    mixed = fits(needy.isa, value) and foreign and harms(harmed.isa, value)
    hidden = mask is not None and bool(mask.get("value"))
    return mixed and not hidden and {"value": value, "severity": "warning" if harmed.get("integrated") else "error"}


def _needs(isa: str, value: str) -> bool:
    return bool(isa) and override_for(isa) is not None and gfx_of_decimal(value) != gfx_base(isa)


@mends("mixed-gfx-single-override")
def override_by_node(
    override: Variable | None = one(name=OVERRIDE),
    statement: Symptom | None = seen("override-value-told"),
    cards: Every[Gpu] = every(Gpu, vendor="amd"),
) -> Params:
    """For the card that needs one, by its node; where none does, without. The runtime counts the processor's nodes first."""
    value = str((override.get("value") if override else None) or (statement.get("value") if statement else None) or "")
    needy = [card for card in cards if _needs(str(card.get("isa") or ""), value)]
    known = bool(cards) and all(card.get("isa") for card in cards)
    if known and not needy:
        return {"plain": OVERRIDE, "none": OVERRIDE}
    if not needy:
        return {"plain": OVERRIDE, "value": value or None, "unnumbered": OVERRIDE}
    row = override_for(str(needy[0].get("isa")))
    right = value if helps(str(needy[0].get("isa")), value) else row and row.value
    node = needy[0].get("kfd_node")
    return {
        "plain": OVERRIDE,
        "value": right,
        "name": f"{OVERRIDE}_{node}" if node is not None else None,
        "unnumbered": None if node is not None else OVERRIDE,
    }


def unlike(needy: Gpu, other: Gpu) -> bool:
    """One chip needs an override and the other does not."""
    return needy.isa != other.isa and override_for(needy.isa) is not None and override_for(other.isa) is None
