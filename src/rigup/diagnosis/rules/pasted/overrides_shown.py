"""Overrides of AMD's chips that are set and not in force, and libraries of another release, as short pastes show them."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.rocm import OVERRIDE, foreign, helps, meant_elsewhere
from rigup.machine.kinds import Gpu, Symptom, Torch, Variable

_LOOKED = ("rocblas-without-arch", "rocblas-no-library-for-chip", "ollama-gfx-refused", "ollama-gfx-refused-early")


@rule("override-not-in-service", "likely")
def service_looks_for_the_chip_itself(
    error: Symptom = seen(*_LOOKED), told: Symptom | None = seen("override-value-told"), override: Variable | None = one(name=OVERRIDE),
    unit: Symptom | None = seen("service-unit-named"), running: Variable | None = one(at="service", name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """With the override in force it would look for the sibling's files: what somebody set does not reach the service."""
    if running is not None and running.get("value"):  # it did so before it was started anew
        return False
    value = (override and override.get("value")) or (told and told.get("value"))
    name = error.place.process.partition(":")[2] or error.place.world.partition(":")[2]
    return meant_elsewhere(error, told, override, unit) and {
        "service": name or "ollama",
        "value": value,
        "name": OVERRIDE,
    }


@rule("override-not-in-service", "likely")
def shell_has_what_the_service_needs(
    error: Symptom = seen(*_LOOKED), mine: Variable = one(at="shell", name=OVERRIDE), own: Variable | None = one(at="service unit", name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """A person's shell has an override that helps; the service, which reads none of its files, looks for the chip itself."""
    served = error.place.kind in ("service", "unit")
    wanted = served and (own is None or not own.get("value")) and helps(str(error.get("gfx")), mine.value)
    return wanted and {"service": error.place.process.partition(":")[2] or "ollama", "value": mine.value, "name": OVERRIDE}  # fmt: skip


@rule("override-not-in-service", "likely")
def environment_of_the_process_lacks_it(
    _empty: Symptom = seen("override-not-in-environment"), told: Symptom = seen("override-value-told"), card: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """Somebody looked into the running process and found no override there, though one is set somewhere."""
    wanted = card is None or not card.get("isa") or helps(card.isa, told.get("value"))
    return wanted and {"service": "ollama", "value": told.get("value"), "name": OVERRIDE}


@rule("rocm-abi-mismatch", "likely")
def files_of_another_release_are_read(
    error: Symptom = seen("rocblas-without-arch", "rocblas-without-library"), torch: Torch | None = None
) -> Verdict:
    """rocBLAS reads an installed ROCm of another major release than the one that torch brings."""
    return foreign(error, torch) and {"said": error.id}
