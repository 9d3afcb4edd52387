"""Graphics of a processor, which the newest release of a server leaves out unless it is told to take them."""

from rigup.diagnosis.causes.rocm_chips import inside_a_processor
from rigup.diagnosis.guard.setting import Setting
from rigup.knowledge import amd_ways
from rigup.steps import Step, make

_OLLAMA = "ollama"
_VARIABLES = ("service-variable", "set-variable")


def taken_though_integrated(steps: list[Step], setting: Setting) -> list[Step]:
    """Behind an update of ollama the variable that has it take them, where its other variable is set."""
    updated = any(step.kind == "update-to" and step.params.get("program") == _OLLAMA for step in steps)
    if not (updated and setting.chips and all(map(inside_a_processor, setting.chips))):
        return steps
    switch, last = amd_ways.setting("integrated-taken-by-ollama"), steps[-1]
    if last.kind in _VARIABLES:
        return [*steps, make(last.kind, {**last.params, "name": switch.name, "value": switch.value}, setting.world)]
    if last.kind == "container-option":
        option = f"{last.params['option']} -e {switch.name}={switch.value}"
        return [*steps[:-1], make(last.kind, {**last.params, "option": option}, setting.world)]
    return steps
