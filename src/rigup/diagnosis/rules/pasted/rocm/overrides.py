"""An override of the chip's name: wrong, one for unlike chips, or not where the service reads it."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.rocm import OVERRIDE, fits, harms, helps, left
from rigup.knowledge.chips import gfx_base, gfx_of_decimal
from rigup.knowledge.driver_faults import firmware_fault
from rigup.knowledge.rocm import override_for
from rigup.machine.kinds import Gpu, Symptom, Variable


def unlike(needy: Gpu, other: Gpu) -> bool:
    """One chip needs an override and the other does not."""
    return needy.isa != other.isa and override_for(needy.isa) is not None and override_for(other.isa) is None


def harmful(symptom: Symptom, card: Gpu) -> Verdict:
    """Whether an override that is set breaks this card."""
    value = symptom.get("value")
    return not left(card.isa) and not fits(card.isa, value) and harms(card.isa, value) and {"value": value}


@rule("override-not-in-service", "likely")
def shell_has_what_the_service_needs(
    error: Symptom = seen(tag="ollama-refuses-chip"), mine: Variable = one(at="shell", name=OVERRIDE), own: Variable | None = one(at="service unit", name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """A person's shell has an override that helps; the service, which reads none of its files, looks for the chip itself."""
    served = error.place.kind in ("service", "unit")
    wanted = served and (own is None or not own.get("value")) and helps(str(error.get("gfx")), mine.value)
    return wanted and {"service": error.place.process.partition(":")[2] or "ollama", "value": mine.value, "name": OVERRIDE}  # fmt: skip


@rule("wrong-hsa-override", "possible")
def fault_at_address_nought(
    error: Symptom = seen("gpu-memory-access-fault", address="(nil)"), chip: Symptom | None = seen("small-chip-named"), override: Variable | None = one(name=OVERRIDE),
    firmware: Symptom | None = seen("amd-firmware-version", component="MES"),
) -> Verdict:  # fmt: skip
    """That address is seen where a chip was taken for another; a firmware that is known to fault gives it too."""
    unset = override is not None and not override.get("value")
    bad = firmware is not None and firmware_fault("MES", str(firmware.version))
    return chip is None and not unset and not bad and {"said": error.id}


@rule("wrong-hsa-override", "possible")
def memory_fault_under_a_makeshift(
    fault: Symptom = seen("gpu-memory-access-fault", "hsa-hang-exception"), override: Variable = one(name=OVERRIDE), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The chip runs as another, by a value under which failures are known, and builds for the chip itself exist."""
    row, value = override_for(card.isa), override.get("value")
    makeshift = row is not None and not row.safe and bool(row.native_torch)
    pretends = bool(value) and gfx_of_decimal(value or "") != gfx_base(card.isa)
    return other is None and makeshift and pretends and {"said": fault.id, "value": value}
