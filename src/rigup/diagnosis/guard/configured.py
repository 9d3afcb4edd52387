"""Systems that are made of their configuration: a change is a line of it, and the system is built anew."""

from msgspec import structs

from rigup.diagnosis.guard.setting import Setting
from rigup.diagnosis.guard.spelling import module_for
from rigup.knowledge import driver_recipes
from rigup.knowledge.surroundings import configured, instead, is_configured
from rigup.steps import Step, StepError, make, make_as

_HERE = ("here", "host-of-container", "kernel")
_DRIVERS = ("install-driver", "install-driver-branch")


def in_the_configuration(steps: list[Step], setting: Setting) -> list[Step]:
    """Lines of the configuration in the place of files, accounts and packages that are changed by hand, where the system has one."""
    if not is_configured(setting.distribution) or setting.wsl or setting.inside:
        return steps
    return [_configured(step, setting) if step.where in _HERE else step for step in steps]


def _configured(step: Step, setting: Setting) -> Step:
    if other := instead(setting.distribution, step.kind):
        return make(other, step.params)
    lines = _driver(step, setting) if step.kind in _DRIVERS else [configured(setting.distribution, step.kind)]
    if not any(lines):
        return step
    by = driver_recipes.provider(setting.distribution)
    apply = tuple(tuple(argv) for argv in by.apply) if by is not None else ()
    try:
        written = make_as("write-configuration", {"lines": " ".join(lines).format_map(step.params)}, apply)
    except (KeyError, StepError):
        return step
    return structs.replace(written, where=step.where, restart=step.restart)


def _driver(step: Step, setting: Setting) -> list[str]:
    """The branch that is asked for, with the module that drives the cards; nothing where nobody knows them."""
    at = driver_recipes.system(setting.distribution, setting.release)
    if at is None or not setting.isas or step.params["vendor"] != "NVIDIA":
        return []
    branch = step.params["branch"].partition(".")[0]
    module = module_for(branch, setting.isas)
    recipe = driver_recipes.recipe(at, branch, module, "desktop")
    lines = recipe.lines if recipe is not None else []
    return [line.replace("{branch}", branch).replace("{", "{{").replace("}", "}}") for line in lines]
