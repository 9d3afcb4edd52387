"""The steps of a finding's fix as a plan would take them: where the tables know the system's own way, by that."""

from collections.abc import Callable, Iterator

from msgspec import structs

from rigup.plan import containers, drivers, rocm, toolkit
from rigup.plan.judge import blocked
from rigup.plan.place import seen
from rigup.schemas.shared import Fix
from rigup.stack.candidate import Change
from rigup.stack.site import Site
from rigup.steps import Step, make

Params = dict[str, str]
# What a finding asks for in these kinds, the stack's choice answers better: it knows all builds and drivers.
OF_THE_STACK = ("install-torch", "install-torch-with-audio", "choose-build", "install-driver", "install-driver-branch")


def mended(fix: Fix, site: Site) -> Fix:
    """A fix with its steps spelt out for the site, each with its state.

    Raises:
        KnowledgeError: a table is malformed.

    """
    steps = [part for step in fix.steps for part in _spelt(step, site)]
    return structs.replace(fix, steps=[_judged(step, site) for step in (*steps, *_restart(steps, fix.steps, site))])


def _restart(steps: list[Step], before: list[Step], site: Site) -> list[Step]:
    """What was spelt out and counts from the next start on ends with that, so that the rest waits for it."""
    spelt = any(step.restart and step.where == "here" for step in steps if step not in before)
    if not spelt or any(step.kind == "restart-machine" for step in steps):
        return []
    return [make("restart-machine", {}, **seen(site))]


def _spelt(step: Step, site: Site) -> list[Step]:
    more = _MORE.get(step.kind)
    parts = list(more(step.params, site)) if more and step.where != "host-of-container" else []
    return parts if any(part.commands for part in parts) else [step]


def _judged(step: Step, site: Site) -> Step:
    because = blocked(site, step.root, step.network)
    return structs.replace(step, state="blocked" if because else "needed", because=because or step.because)


def _driver(params: Params, site: Site) -> Iterator[Step]:
    if params["vendor"].lower() == "nvidia":
        yield from drivers.steps(_change("nvidia-driver", params["branch"]), site)


def _flavour(_params: Params, site: Site) -> Iterator[Step]:
    """The same branch again: which module the cards need, the tables say."""
    if site.nvidia_driver:
        yield from drivers.steps(_change("nvidia-driver", drivers.branch_of(site.nvidia_driver)), site)


def _containers(params: Params, site: Site) -> Iterator[Step]:
    yield from containers.toolkit_steps(_change("container-toolkit", params["engine"]), site)


def _rocm(params: Params, site: Site) -> Iterator[Step]:
    yield from rocm.library_steps(_change("rocm", params["version"]), site)


def _toolkit(params: Params, site: Site) -> Iterator[Step]:
    yield from toolkit.of_system(_change("toolkit", params["version"]), site)


def _change(kind: str, to: str) -> Change:
    return Change(change=kind, have=None, to=to, why="")


_MORE: dict[str, Callable[[Params, Site], Iterator[Step]]] = {
    "install-driver": _driver,
    "install-driver-branch": _driver,
    "install-module-flavour": _flavour,
    "install-container-toolkit": _containers,
    "install-rocm": _rocm,
    "install-toolkit": _toolkit,
}
