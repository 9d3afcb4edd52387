"""Where steps are taken, seen from the site: the arguments of `make` for it."""

from collections.abc import Iterable
from typing import TypedDict

from msgspec import structs

from rigup.knowledge.package_managers import package_manager
from rigup.stack.site import Site
from rigup.steps import Step, make


class Seen(TypedDict):
    """The surroundings of a step; keywords of `rigup.steps.make`."""

    world: str
    wsl: bool
    distribution: str


def seen(site: Site) -> Seen:
    """From a container the kernel is the host's, from a WSL it is the Windows side's; nobody knows their distribution."""
    inside = site.container or site.colab
    windows = site.wsl or site.system == "windows"
    return {"world": "container" if inside else "host", "wsl": windows, "distribution": "" if inside or windows else site.distribution}


def inside(site: Site) -> Seen:
    """For what is done where the person is: also in a container or a WSL the packages are that system's own."""
    return {"world": "", "wsl": False, "distribution": site.distribution if site.system == "linux" else ""}


def owns_kernel(site: Site) -> bool:
    """Drivers can be installed from here."""
    return site.system == "linux" and not (site.container or site.colab or site.wsl)


def system_packages(packages: Iterable[str], site: Site, because: str) -> Step:
    """The distribution's own packages, after its lists were read: a fresh image or a machine that slept has old ones.

    Raises:
        KnowledgeError: the table is malformed.

    """
    manager = package_manager(site.distribution)
    step = make("install-system-packages", {"packages": ", ".join(packages)}, because=because, **inside(site))
    return structs.replace(step, commands=(tuple(manager.refresh), *step.commands)) if manager and manager.refresh else step
