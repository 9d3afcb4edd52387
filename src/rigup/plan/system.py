"""Steps outside the environment: drivers, toolkits, kernels, groups, engines. One way for each kind of change."""

from collections.abc import Callable, Iterator

from rigup.language import _
from rigup.plan import containers, drivers, intel, jetson, kernel, network, rocm, toolkit
from rigup.plan.place import inside, owns_kernel, seen
from rigup.stack.candidate import Change
from rigup.stack.choice import Choice
from rigup.stack.site import Site
from rigup.steps import Step, make

_OF_SITE: dict[str, Callable[[Change, Site], Iterator[Step]]] = {
    "nvidia-driver": drivers.steps,
    "windows-driver": drivers.steps,
    "amdgpu": rocm.driver_steps,
    "rocm": rocm.library_steps,
    "kernel": kernel.kernel_steps,
    "kernel-parameter": kernel.parameter_steps,
    "groups": kernel.group_steps,
    "container-toolkit": containers.toolkit_steps,
    "container-engine": containers.engine_steps,
}
_FIRST = ("groups", "os", "wsl", "firmware", "kernel", "kernel-parameter", "nvidia-driver", "windows-driver", "amdgpu")
_ELSEWHERE = ("python",)  # made together with the environment


def steps(choice: Choice) -> Iterator[Step]:
    """What each change asks of the system; a restart stands once, behind all that wants it.

    Raises:
        KnowledgeError: a table is malformed.

    """
    before = [step for change in choice.changes if change.change in _FIRST for step in _steps(change, choice)]
    after = [step for change in choice.changes if change.change not in (*_FIRST, *_ELSEWHERE) for step in _steps(change, choice)]
    after += (*intel.steps(choice), *jetson.steps(choice))
    both = before + after
    if any(step.root and step.network for step in both):
        yield from network.proxy_steps(choice, network.programs_of_system(choice))
    yield from before
    yield from _restart(before, choice.site)
    yield from after


def _steps(change: Change, choice: Choice) -> Iterator[Step]:
    if change.change == "toolkit":
        yield from toolkit.steps(change, choice)
    elif change.change in _OF_SITE:
        yield from _OF_SITE[change.change](change, choice.site)
    else:
        yield from _other(change, choice)


def _other(change: Change, choice: Choice) -> Iterator[Step]:
    site = choice.site
    if change.change == "wsl":
        yield make("update-wsl", {}, because=change.why)
    elif change.change == "os" and site.system == "macos":
        yield make("update-macos", {"version": change.to}, because=change.why)
    elif change.change == "firmware":
        yield make("change-firmware", {"what": change.to}, because=change.why)
    elif change.change == "service":
        yield from _service(change, choice)
    elif change.change not in _ELSEWHERE:
        yield make("change-system", {"what": change.to}, because=change.why)


def _service(change: Change, choice: Choice) -> Iterator[Step]:
    """A service starts without anybody's shell: it is given the variables in a drop-in of its own."""
    name = change.to.strip().partition(" ")[0].removesuffix(".service")
    for variable, value in choice.variables.items():
        params = {"service": name, "name": variable, "value": value}
        yield make("service-variable", params, because=change.why, **inside(choice.site))


def _restart(taken: list[Step], site: Site) -> Iterator[Step]:
    if any(step.restart and step.where == "here" for step in taken) and owns_kernel(site):
        because = _("The new driver or kernel setting is in force from the next start on.")
        yield make("restart-machine", {}, because=because, **seen(site))
