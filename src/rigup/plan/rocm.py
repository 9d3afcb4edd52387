"""Steps that bring AMD's kernel driver, or ROCm, onto a machine."""

from collections.abc import Iterator

from rigup.knowledge.rocm_install import Installation, installation
from rigup.language import _, sentences
from rigup.plan.place import inside, owns_kernel, seen
from rigup.stack.candidate import Change
from rigup.stack.site import Site
from rigup.steps import Step, make, make_as

_WINDOWS = "https://www.amd.com/en/support"


def driver_steps(change: Change, site: Site) -> Iterator[Step]:
    """AMD's own kernel driver. Raises KnowledgeError for a malformed table."""
    if site.wsl or site.system == "windows":
        yield make("install-windows-driver", {"version": change.to, "address": _WINDOWS}, because=change.why)
        return
    recipe = _installation(change, site, "dkms") if owns_kernel(site) else None
    if recipe is None:
        yield make("install-driver", {"vendor": "AMD", "branch": change.to}, because=change.why, **seen(site))
        return
    yield _source(recipe, site)
    yield make_as(
        "install-amdgpu-driver", {"version": recipe.version}, recipe.headers + recipe.install, recipe.undo, because=change.why, **seen(site)
    )


def library_steps(change: Change, site: Site) -> Iterator[Step]:
    """ROCm's libraries and tools; inside WSL those that speak to the Windows driver."""
    recipe = _installation(change, site, "wsl" if site.wsl else "rocm")
    if recipe is None:
        template = _("AMD has no packages of it for {system}; its containers have them, and so have the wheels of torch.")
        name = " ".join(part for part in (site.distribution, site.release) if part) or _("this system")
        because = sentences(change.why, template.format(system=name))
        yield make_as("install-rocm-release", {"version": change.to}, (), because=because)
        return
    yield _source(recipe, site)
    yield make_as("install-rocm-release", {"version": recipe.version}, recipe.install, recipe.undo, because=change.why, **inside(site))


def _installation(change: Change, site: Site, usecase: str) -> Installation | None:
    return installation(change.to, usecase, site.distribution, site.release, site.kernel)


def _source(recipe: Installation, site: Site) -> Step:
    name = _("AMD's ROCm {version}").format(version=recipe.version)
    return make_as("add-package-source", {"provider": name}, recipe.setup, because=recipe.source, **inside(site))
