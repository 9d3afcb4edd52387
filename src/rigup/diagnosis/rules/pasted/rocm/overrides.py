"""An override of the chip's name: wrong, one for unlike chips, or not where the service reads it."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.heard import (
    CRASHES,
    GGML_HAS_NO_CODE,
    HIP_FINDS_NONE,
    HIP_HAS_NO_CODE,
    OLLAMA_SERVED,
    UNUSED,
)
from rigup.diagnosis.rules.rocm import OVERRIDE, fits, harms, helps, left, meant_elsewhere
from rigup.diagnosis.rules.told import GPU_NOT_USED
from rigup.knowledge.chips import gfx_base, gfx_of_decimal
from rigup.knowledge.driver_faults import firmware_fault
from rigup.knowledge.rocm import override_for
from rigup.machine.kinds import Gpu, Symptom, Variable

SET_ = ("override-set-told", "override-set-told-in-capitals")
_BY_HAND = ("works-in-a-shell-told", "works-in-a-terminal-told", "works-by-hand-told")
_BLAS = (
    "rocblas-without-arch",
    "rocblas-no-library-for-chip",
    "ollama-gfx-refused",
    "ollama-gfx-refused-early",
    "ollama-device-dropped",
)
_LOOKED = ("rocblas-without-arch", "rocblas-no-library-for-chip", "ollama-gfx-refused", "ollama-gfx-refused-early")
_ON_THE_PROCESSOR = ("cpu-alone-in-words", "ollama-computes-on-cpu", "ollama-computes-on-processor", *GPU_NOT_USED)


def _unlike(needy: Gpu, other: Gpu) -> bool:
    """One chip needs an override and the other does not."""
    return needy.isa != other.isa and override_for(needy.isa) is not None and override_for(other.isa) is None


def _harmful(told: Symptom, card: Gpu) -> Verdict:
    value = told.get("value")
    return not left(card.isa) and not fits(card.isa, value) and harms(card.isa, value) and {"value": value}


# -- override-not-in-service
@rule("override-not-in-service", "likely")
def set_somewhere_and_empty_in_force(
    running: Variable = one(at="service", name=OVERRIDE, value=None), told: Symptom = seen("override-empty-told", *SET_)
) -> Verdict:  # fmt: skip
    """A person says that it is set, and the server's own line shows it empty."""
    name = running.place.process.partition(":")[2] or "ollama"
    return {"service": name, "name": OVERRIDE, "said": told.id}


@rule("override-not-in-service", "possible")
def variables_do_not_reach_it(
    said: Symptom = seen("variables-not-applied-told"), _named: Symptom = seen(*SET_, "override-value-told"), working: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """A person says that variables do not reach the server, and the override is one of them."""
    return working is None and {"service": "ollama", "name": OVERRIDE, "said": said.id}


@rule("override-not-in-service", "likely")
def works_where_a_shell_has_it(
    works: Symptom = seen(*_BY_HAND), _service: Symptom = seen("systemd-named", "service-unit-named"), _set: Symptom = seen("override-value-told", *SET_),
    _error: Symptom = seen(*UNUSED, *HIP_HAS_NO_CODE, *_BLAS, "ggml-no-function"), card: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """A person has the override, started by hand it computes, and as a service it does not."""
    return not (card is not None and left(card.get("isa") or "")) and {
        "name": OVERRIDE,
        "service": "ollama",
        "said": works.id,
    }


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


@rule("override-not-in-service", "possible")
def shell_has_one_and_the_services_log_is_shown(
    mine: Variable = one(at="shell", name=OVERRIDE), _log: Symptom = seen("ollama-named", at="service"), own: Variable | None = one(at="service unit", name=OVERRIDE),
    served: Symptom | None = seen(*OLLAMA_SERVED, "works-told"), card: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """Somebody set it in a file of the shell's and asks of the server that systemd started, which reads no such file."""
    wanted = bool(mine.get("value")) and (card is None or helps(card.get("isa") or "", mine.value))
    return wanted and own is None and served is None and {"service": "ollama", "value": mine.value, "name": OVERRIDE}


@rule("override-not-in-service", "likely")
def key_of_the_unit_is_misspelt(
    line: Symptom = seen("unit-key-misspelt"), mine: Variable | None = one(at="service unit", name=OVERRIDE)
) -> Verdict:
    """systemd knows no such key and passes the line over."""
    free = mine is None or not mine.get("value")
    return free and {"service": "ollama", "value": line.get("value"), "name": OVERRIDE}


@rule("override-not-in-service", "possible")
def line_of_the_unit_is_a_comment(
    line: Symptom = seen("unit-override-is-a-comment"), _slow: Symptom = seen(*_ON_THE_PROCESSOR), served: Symptom | None = seen(*OLLAMA_SERVED),
    mine: Variable | None = one(at="service unit", name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """Somebody once wanted it there; the service computes on the processor."""
    free = mine is None or not mine.get("value")
    return free and served is None and {"service": "ollama", "value": line.get("value"), "name": OVERRIDE}


# -- wrong-hsa-override
@rule("wrong-hsa-override", "likely")
def override_is_defined_and_empty(left_empty: Symptom = seen("override-left-empty"), said: Symptom = seen(*HIP_FINDS_NONE)) -> Verdict:  # fmt: skip
    """The runtime asks whether the variable is there, and reads nothing as a version."""
    return {"value": "", "name": OVERRIDE, "said": said.id, "where": left_empty.id}


@rule("wrong-hsa-override", "likely")
def card_hangs_under_an_override(
    said: Symptom = seen("hsa-hang-exception"), override: Variable = one(name=OVERRIDE), card: Gpu = one(vendor="amd")
) -> Verdict:
    """The value is none of those that the chip is known to run under."""
    value, isa = override.get("value"), card.get("isa") or ""
    return bool(isa and value) and not fits(isa, value) and {"said": said.id, "value": value}


@rule("wrong-hsa-override", "possible")
def fault_at_address_nought(
    error: Symptom = seen("gpu-memory-access-fault", address="(nil)"), chip: Symptom | None = seen("small-chip-named"), override: Variable | None = one(name=OVERRIDE),
    firmware: Symptom | None = seen("amd-firmware-version", component="MES"),
) -> Verdict:  # fmt: skip
    """That address is seen where a chip was taken for another; a firmware that is known to fault gives it too."""
    unset = override is not None and not override.get("value")
    bad = firmware is not None and firmware_fault("MES", str(firmware.version))
    return chip is None and not unset and not bad and {"said": error.id}


@rule("wrong-hsa-override", "likely")
def harmful_value_is_told(
    told: Symptom = seen("override-value-told"), card: Gpu = one(vendor="amd"), _error: Symptom = seen("crashes-told", "gpu-memory-access-fault", "gpu-hang-told", "mes-no-response", *CRASHES, *UNUSED),
    other: Variable | None = one(name=OVERRIDE), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """A person names a value that breaks the card, and what broke; what was tried on a chip that ROCm has left is not the reason."""
    return other is None and works is None and _harmful(told, card)


@rule("wrong-hsa-override", "likely")
def no_code_for_the_chip_that_is_pretended(
    told: Symptom = seen("override-value-told"), card: Gpu = one(vendor="amd"), _error: Symptom = seen(*HIP_HAS_NO_CODE, *GGML_HAS_NO_CODE),
    other: Variable | None = one(name=OVERRIDE), tried: Symptom | None = seen("override-tried-told", *SET_), second: Gpu | None = one(vendor="amd", integrated=True),
) -> Verdict:  # fmt: skip
    """Set somewhere, and no code is found; who sets it because of that error has another reason for it."""
    return other is None and tried is None and second is None and _harmful(told, card)


@rule("wrong-hsa-override", "possible")
def memory_fault_under_a_makeshift(
    fault: Symptom = seen("gpu-memory-access-fault", "hsa-hang-exception"), override: Variable = one(name=OVERRIDE), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The chip runs as another, by a value under which failures are known, and builds for the chip itself exist."""
    row, value = override_for(card.isa), override.get("value")
    makeshift = row is not None and not row.safe and bool(row.native_torch)
    pretends = bool(value) and gfx_of_decimal(value or "") != gfx_base(card.isa)
    return other is None and makeshift and pretends and {"said": fault.id, "value": value}


# -- mixed-gfx-single-override
@rule("mixed-gfx-single-override", "likely")
def wanted_for_one_of_two(
    said: Symptom = seen("override-for-one-card-told"), needy: Gpu = one(vendor="amd"), other: Gpu = one(vendor="amd")
) -> Verdict:
    """A person with two unlike cards asks for an override of one of them."""
    return _unlike(needy, other) and {"said": said.id}


@rule("mixed-gfx-single-override", "likely")
def told_where_one_of_two_needs_it(
    told: Symptom = seen("override-value-told", *SET_), needy: Gpu = one(vendor="amd", integrated=False), other: Gpu = one(vendor="amd", integrated=False),
    _error: Symptom = seen(*UNUSED, *CRASHES, *HIP_HAS_NO_CODE, *GGML_HAS_NO_CODE, "crashes-told", "gpu-memory-access-fault"),
) -> Verdict:  # fmt: skip
    """A person sets the override on a machine with two unlike cards, and one of them is not used or breaks."""
    value = told.get("value")
    meant = helps(needy.isa, value) and gfx_of_decimal(value or "") != gfx_base(needy.isa)
    return (_unlike(needy, other) or (meant and harms(other.isa, value))) and {"said": told.id}
