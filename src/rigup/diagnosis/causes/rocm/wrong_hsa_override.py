"""An override makes the card pretend to be a chip that it is not like."""

from rigup.diagnosis.causes.masks import MASKS
from rigup.diagnosis.causes.rocm.who_computes import who_computes_where
from rigup.diagnosis.causes.rocm_chips import inside_a_processor, left
from rigup.diagnosis.causes.rocm_overrides import OVERRIDE, bare, decimal_meant, fits, harms, helps, is_tried_in_vain, siblings
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.chips import gfx_base, gfx_of_decimal, isa_order
from rigup.knowledge.driver_faults import firmware_fault
from rigup.knowledge.rocm import override_for
from rigup.knowledge.torch_builds import newest_build
from rigup.machine.kinds import Gpu, Symptom, Torch, Variable


@rule("wrong-hsa-override")
def runtime_shows_a_foreign_chip(override: Variable = one(name=OVERRIDE), card: Gpu = one(vendor="amd")) -> Verdict:
    """What the runtime shows is what the override says, and not what the card is."""
    shown = gfx_base(card.shown_isa)
    return shown != gfx_base(card.isa) and gfx_of_decimal(override.value or "") == shown and not helps(card.isa, override.value)


@rule("wrong-hsa-override")
def override_of_another_kind(
    override: Variable = one(name=OVERRIDE),
    card: Gpu = one(vendor="amd"),
    other: Gpu | None = one(vendor="amd", integrated=False),
    mask: Variable | None = one(name=MASKS[:2], at="shell container"),
    tried: Symptom | None = seen("override-typed-before-a-command"),
    torch: Torch | None = None,
) -> Verdict:
    """A processor's graphics may suffer for the card that the override is meant for; a mask may hide any card but the one that it names; what was tried for one command is no cause."""
    intended = card.knows("integrated") and other and other.knows("isa") and fits(other.isa, override.value)
    hidden = mask is not None and bool(mask.get("value")) and card.get("uuid", "") not in str(mask.value).split(",")
    tried_in_vain = torch is not None and is_tried_in_vain(tried, card, torch)
    return not intended and not hidden and not tried_in_vain and harms(card.isa, override.value)


@rule("wrong-hsa-override")
def override_cannot_be_read(override: Variable = one(name=OVERRIDE)) -> Verdict:
    """Three numbers with dots; anything else leaves no GPU at all."""
    value = str(override.value or "")
    intended = any(letter.isdigit() for letter in value) and "$" not in value
    quoted = override.place.kind in ("service", "unit") and gfx_of_decimal(bare(value)) is not None
    return intended and gfx_of_decimal(value) is None and not quoted


@rule("wrong-hsa-override")
def override_of_a_kernel_is_empty(override: Variable = one(name=OVERRIDE, at="kernel"), _card: Gpu = one(vendor="amd")) -> Verdict:
    """A kernel.json cannot take a variable away: left empty it is still defined, and read as a version."""
    return override.value == ""


@rule("wrong-hsa-override", strength="likely")
def shown_chip_contradicts_the_name(card: Gpu = one(vendor="amd")) -> Verdict:
    """Another generation than the card's name means: something pretends."""
    shown, real = gfx_base(card.shown_isa), gfx_base(card.isa)
    another = inside_a_processor(shown) and not inside_a_processor(real)  # nobody overrides to those: a second device
    return not another and isa_order(shown)[:1] != isa_order(real)[:1] and bool(shown and real)


@text_rule("wrong-hsa-override", "possible")
def fault_at_address_nought(
    error: Symptom = seen("gpu-memory-access-fault", address="(nil)"),
    chip: Symptom | None = seen("small-chip-named"),
    override: Variable | None = one(name=OVERRIDE),
    firmware: Symptom | None = seen("amd-firmware-version", component="MES"),
) -> Verdict:
    """That address is seen where a chip was taken for another; a firmware that is known to fault gives it too."""
    unset = override is not None and not override.get("value")
    bad = firmware is not None and firmware_fault("MES", str(firmware.version))
    return chip is None and not unset and not bad and {"said": error.id}


@text_rule("wrong-hsa-override", "possible")
def memory_fault_under_a_makeshift(
    fault: Symptom = seen("gpu-memory-access-fault", "hsa-hang-exception"),
    override: Variable = one(name=OVERRIDE),
    card: Gpu = one(vendor="amd"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """The chip runs as another, by a value under which failures are known, and builds for the chip itself exist."""
    row, value = override_for(card.isa), override.get("value")
    makeshift = row is not None and not row.safe and bool(row.native_torch)
    pretends = bool(value) and gfx_of_decimal(value or "") != gfx_base(card.isa)
    return other is None and makeshift and pretends and {"said": fault.id, "value": value}


mends("wrong-hsa-override")(who_computes_where)


@mends("wrong-hsa-override")
def where_the_override_is_written(knew: Params) -> Params:
    """A notebook kernel's own file alone sets what is wrong there; anything else may be set anywhere."""
    override = knew.get("override")
    if isinstance(override, Variable) and override.place.kind == "kernel":
        return {"kernel_file": override.fields["value"].where.source, "wrong": None}
    return {"wrong": OVERRIDE}


@mends("wrong-hsa-override")
def override_that_was_meant(knew: Params, override: Variable | None = one(name=OVERRIDE)) -> Params:
    """A chip that needs one gets the right one; any other is itself when nothing is set."""
    if knew.get("kernel_file"):
        return {}
    isa, system = str(knew.get("isa") or ""), knew.get("system")
    row = override_for(isa)
    needs = row is not None and not row.shun and newest_build(isa) is None and system != "windows"
    written = str((override.get("value") if override else None) or knew.get("value") or "")
    decimal = decimal_meant(written)
    spelt = decimal is not None and gfx_of_decimal(written) is None
    if needs and row:
        return {"right": row.value, "name": OVERRIDE}
    return {"right": siblings(decimal), "name": OVERRIDE} if spelt and not isa else {}


def harmful(symptom: Symptom, card: Gpu) -> Verdict:
    """Whether an override that is set breaks this card."""
    value = symptom.get("value")
    return not left(card.isa) and not fits(card.isa, value) and harms(card.isa, value) and {"value": value}
