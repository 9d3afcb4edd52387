"""HSA_OVERRIDE_GFX_VERSION: which chips a value helps, and which it breaks."""

from rigup.knowledge.chips import gfx_base, gfx_of_decimal, isa_order, runs_on
from rigup.knowledge.rocm import gfx_family, override_facts, override_for
from rigup.machine.kinds import Gpu, Symptom, Torch

OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"


def helps(isa: str, value: str | None) -> bool:
    """Whether that override is one that is known to help the chip."""
    row = override_for(isa)
    return bool(row and value) and value in (row.value, *(other.value for other in row.alternatives))  # type: ignore[union-attr]


def fits(isa: str, value: str | None) -> bool:
    """Under that override the chip is itself, or one whose code it runs."""
    return bool(value) and (gfx_of_decimal(value or "") == gfx_base(isa) or helps(isa, value))


def harms(isa: str, value: str | None) -> bool:
    """The override names a chip of another kind, or one that is known to break this one."""
    other, row = gfx_of_decimal(value or ""), override_facts(isa)
    if other is None or not isa_order(isa) or fits(isa, value):
        return False
    return isa_order(other)[:1] != isa_order(isa)[:1] or bool(row and (value in row.bad_values or row.value is None))


def bare(value: str) -> str:
    """Without the quotes that went into it."""
    return value.strip("\\\"' ")


def siblings(value: str | None) -> str | None:
    """Who writes the chip's own name means what lets its code run."""
    row = override_for(gfx_of_decimal(value or "") or "")
    return row.value if row else value


def decimal_meant(value: str) -> str | None:
    """The form that the runtime reads ("10.3.0") of a chip's name, or of a value in quotes or without its last part."""
    plain = value.strip("\\\"'` ").lower()
    if gfx_of_decimal(plain) is not None:
        return plain
    if plain.count(".") == 1 and gfx_of_decimal(plain + ".0") is not None:
        return plain + ".0"
    row = gfx_family(plain if plain.startswith("gfx") else "gfx" + plain.replace(".", ""))
    return row.decimal if row else None


def is_tried_in_vain(typed: Symptom | None, card: Gpu, torch: Torch) -> bool:
    """Whether a value stands before one command only, of a torch that has no code for the card without it either."""
    isa = str(card.get("isa") or "")
    return typed is not None and bool(isa and torch.get("code")) and not runs_on(isa, torch.code) and harms(isa, typed.get("value"))
