"""The service runs without the override that it needs."""

from rigup.diagnosis.causes.rocm.ollama import spared
from rigup.diagnosis.causes.rocm.who_computes import who_computes_where
from rigup.diagnosis.causes.rocm_overrides import OVERRIDE, bare, decimal_meant, harms, helps, siblings
from rigup.diagnosis.causes.services import COMPUTING, service_of
from rigup.diagnosis.rule import Every, Params, Verdict, lacks, mends, one, rule, seen, text_rule
from rigup.knowledge.chips import gfx_of_decimal
from rigup.knowledge.rocm import override_for
from rigup.machine.kinds import Gpu, Platform, Symptom, Variable

_COMPUTING = ("", *COMPUTING)  # "" is a unit whose name the text does not tell


@rule("override-not-in-service")
def set_in_the_shell_only(
    missing: Every[Variable] = lacks(Variable, at="service unit", name=OVERRIDE),
    elsewhere: Variable = one(at="shell", name=OVERRIDE),
    card: Gpu | None = one(vendor="amd"),
    unit_variable: Variable | None = one(at="service unit"),
    vulkan: Symptom | None = seen("ggml-vulkan-named", at="service unit"),
) -> Verdict:
    """A service does not read a shell's files. One that nobody needs is not missed; nor one of a unit that is not there, or that computes by Vulkan."""
    name = missing.place.process.partition(":")[2]
    wanted = bool(elsewhere.value) and (card is None or helps(card.get("isa") or "", elsewhere.value))
    free = vulkan is not None and service_of(vulkan.place.process) == (name or "ollama")
    ours = not free and name in _COMPUTING and (bool(name) or unit_variable is not None)
    return wanted and ours and {"service": name or "ollama", "value": elsewhere.value, "name": OVERRIDE}


@rule("override-not-in-service")
def runs_without_what_is_configured(
    running: Variable = one(at="service", name=OVERRIDE, value=None),
    elsewhere: Variable = one(at="shell unit", name=OVERRIDE),
    card: Gpu | None = one(vendor="amd"),
) -> Verdict:
    """The server's own line shows the variable empty."""
    wanted = bool(elsewhere.value) and (card is None or helps(card.get("isa") or "", elsewhere.value))
    return wanted and {"service": service_of(running.place.process), "value": elsewhere.value, "name": OVERRIDE}


@rule("override-not-in-service", strength="likely")
def refused_though_a_sibling_is_listed(
    error: Symptom = seen(tag="ollama-refuses-chip"),
    override: Variable | None = one(at="service", name=OVERRIDE),
    served: Symptom | None = seen("ollama-computes-on-rocm", "ollama-amdgpu-supported"),
    platform: Platform | None = None,
    statement: Symptom | None = seen("override-value-told", "override-set-told-in-capitals"),
    shell: Variable | None = one(at="shell", name=OVERRIDE),
) -> Verdict:
    """With the override in force the server would not have looked at the list; on Windows there is none."""
    row = override_for(str(error.get("gfx")))
    listed = str(error.get("listed") or "").replace(":true", "").split()
    windows = "\\" in str(error.get("library")) or bool(platform and platform.get("system") == "windows")
    boxed = error.place.world.startswith("container") and override is None  # no unit starts it there
    useful = row is not None and row.sibling in listed and not windows and not boxed
    unset = (override is None or not override.get("value")) and not spared(error, served)
    wrote = str(shell.get("value") or "") if shell is not None else ""
    is_named = useful and unset and (override is not None or statement is not None or bool(wrote))
    value = wrote if gfx_of_decimal(wrote) in listed else row and row.value
    return is_named and {"service": service_of(error.place.process), "value": value, "name": OVERRIDE}


@rule("override-not-in-service")
def quotes_went_into_the_value(override: Variable = one(at="service unit", name=OVERRIDE), card: Gpu | None = one(vendor="amd")) -> Verdict:
    """Quotes within quotes reach the server, which cannot read the value: it is set and not in force."""
    value = str(override.value or "")
    intended = bare(value)
    wanted = gfx_of_decimal(intended) is not None and (card is None or helps(card.get("isa") or "", intended))
    return intended != value and wanted and {"service": service_of(override.place.process), "value": intended, "name": OVERRIDE}


@text_rule("override-not-in-service", "likely")
def shell_has_what_the_service_needs(
    error: Symptom = seen(tag="ollama-refuses-chip"),
    mine: Variable = one(at="shell", name=OVERRIDE),
    own: Variable | None = one(at="service unit", name=OVERRIDE),
) -> Verdict:
    """A person's shell has an override that helps; the service, which reads none of its files, looks for the chip itself."""
    served = error.place.kind in ("service", "unit")
    wanted = served and (own is None or not own.get("value")) and helps(str(error.get("gfx")), mine.value)
    return wanted and {"service": error.place.process.partition(":")[2] or "ollama", "value": mine.value, "name": OVERRIDE}


mends("override-not-in-service")(who_computes_where)


@mends("override-not-in-service")
def value_that_the_runtime_reads(
    knew: Params, written: Variable | None = one(name=OVERRIDE), statement: Symptom | None = seen("override-value-told")
) -> Params:
    """As the runtime reads it, whatever was written; the chip's own one where none was, or one that breaks it."""
    isa = str(knew.get("isa") or "")
    row = override_for(isa)
    wrote = str(knew.get("value") or (written and written.get("value")) or (statement and statement.get("value")) or "")
    value = decimal_meant(wrote)
    if gfx_of_decimal(wrote.strip("\\\"'")) is None:
        value = siblings(value)
    if row and (value is None or harms(isa, value) or gfx_of_decimal(value) == isa):
        value = row.value
    return {"value": value, "service": knew.get("service") or "ollama", "name": OVERRIDE}
