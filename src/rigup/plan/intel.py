"""Steps that let programs at an Intel GPU: Level Zero and OpenCL on Linux, Intel's driver on Windows."""

from collections.abc import Iterator

from rigup.knowledge.intel import Compute, compute_address, compute_packages
from rigup.language import _
from rigup.plan.place import inside, system_packages
from rigup.stack.choice import Choice
from rigup.stack.serving import computes_on_intel
from rigup.stack.site import Site
from rigup.steps import Step, make, make_as

_IN_IMAGES = ("docker", "apptainer")


def steps(choice: Choice) -> Iterator[Step]:
    """What the wheels do not bring along; an image brings the Linux part itself.

    Raises:
        KnowledgeError: a table is malformed.

    """
    site = choice.site
    if not any(computes_on_intel(judged.build) for judged in choice.chosen) or not _serves_intel(choice):
        return
    if (site.wsl or site.system == "windows") and not _in_use(choice):
        because = _("Programs compute on an Intel GPU through its graphics driver; old ones do not know newer cards.")
        yield make("renew-intel-driver", {"address": compute_address("windows")}, because=because)
    if site.system == "linux" and choice.wish.manager not in _IN_IMAGES and site.root is not False:
        yield from _on_linux(choice)


def _in_use(choice: Choice) -> bool:
    """The build stands there already: nobody who computes is told to install what nobody can look for."""
    return all(name.partition("[")[0] in choice.site.installed for judged in choice.chosen for name in judged.build.packages)


def _serves_intel(choice: Choice) -> bool:
    return any(device.vendor == "intel" and served.served for device, served in choice.devices)


def _on_linux(choice: Choice) -> Iterator[Step]:
    site = choice.site
    because = _("The wheels bring their libraries, and reach the GPU through Level Zero of the system.")
    compute = compute_packages(site.distribution, site.release)
    if compute is None and _in_use(choice):
        return
    if compute is None:
        yield make("get-intel-compute", {"address": compute_address("linux")}, because=because)
        return
    if compute.setup and not _is_at_hand(compute, site):
        yield _source(compute, site)
    yield system_packages(compute.packages, site, because)


def _source(compute: Compute, site: Site) -> Step:
    setup, undo = tuple(map(tuple, compute.setup)), tuple(map(tuple, compute.undo))
    return make_as("add-package-source", {"provider": compute.provider}, setup, undo, because=compute.source, **inside(site))


def _is_at_hand(compute: Compute, site: Site) -> bool:
    return all(name in site.system_state.packages for name in compute.packages)
