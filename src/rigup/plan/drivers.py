"""Steps that bring NVIDIA's driver onto a machine, as its distribution does it."""

from collections.abc import Iterator

from rigup.knowledge import driver_recipes as recipes
from rigup.knowledge.cuda import version_key
from rigup.knowledge.driver_choice import first_branch
from rigup.knowledge.driver_recipes import Commands, Provider, Recipe, System
from rigup.knowledge.gpus import driver_branch_for, open_module
from rigup.knowledge.holes import Filled
from rigup.language import _, sentences
from rigup.plan.place import owns_kernel, seen
from rigup.stack.candidate import Change
from rigup.stack.site import Site
from rigup.stack.words import provider_name
from rigup.steps import Step, make, make_as

_NOUVEAU = "nouveau"
_WINDOWS = "https://www.nvidia.com/Download/index.aspx"


def steps(change: Change, site: Site) -> Iterator[Step]:
    """The steps of a change of NVIDIA's driver; inside a WSL and on Windows they are Windows' own.

    Raises:
        KnowledgeError: a table is malformed.

    """
    if site.wsl or site.system == "windows":
        yield from _on_windows(change, site)
    elif not owns_kernel(site):
        yield make("install-driver", {"vendor": "NVIDIA", "branch": change.to}, because=change.why, **seen(site))
    else:
        yield from _on_linux(change, site)


def _on_windows(change: Change, site: Site) -> Iterator[Step]:
    params = {"version": change.to, "address": _WINDOWS}
    because = change.why
    if site.wsl:
        because = sentences(because, _("No Linux driver is ever installed inside WSL: libcuda comes from Windows."))
    yield make("install-windows-driver", params, because=because)
    if site.wsl:
        yield make("restart-wsl", {})


def _on_linux(change: Change, site: Site) -> Iterator[Step]:
    at = recipes.system(site.distribution, site.release)
    branch = branch_of(change.to)
    module = module_for(site, branch)
    recipe = recipes.recipe(at, branch, module, use_of(site)) if at else None
    provider = recipes.provider(recipe.provider) if recipe else None
    if at is None or recipe is None or provider is None:
        yield _unknown(change, site)
    elif recipe.lines:
        yield _by_configuration(recipe, provider, change, branch)
    else:
        yield from _packages(_Way(site, at, recipe, provider, branch, module), change)


class _Way:
    """One provider's way to a branch on one machine."""

    def __init__(self, site: Site, at: System, recipe: Recipe, provider: Provider, branch: str, module: str) -> None:
        self.site, self.at, self.recipe, self.provider = site, at, recipe, provider
        self.branch, self.module = branch, module

    def fill(self, commands: Commands) -> Filled:
        """Commands of the tables for this machine."""
        site = self.site
        return recipes.spelt(commands, self.at, self.branch, site.machine, site.kernel, site.release)

    @property
    def setup(self) -> Filled:
        """What makes the provider's packages known, with what they stand on."""
        own = self.at.repo_setup or self.provider.repo_setup
        needed = recipes.prerequisites(self.site.distribution, self.site.release)
        archive = self.provider.id.endswith("-archive") and not own
        return self.fill((needed if own or (archive and needed) else []) + own)

    @property
    def source(self) -> str:
        """Who gives the driver, as a person reads it."""
        return provider_name(self.provider.name or self.provider.id)

    @property
    def other_source(self) -> str:
        """The provider that the driver which is there came from, where it is another one than the new one's."""
        source = self.site.system_state.driver_source
        return source if source != (self.provider.name or self.provider.id) else ""

    @property
    def clashes(self) -> bool:
        """A driver is there, and it did not come from where the new one comes from, as far as anybody knows."""
        if not self.provider.purge or not (self.site.nvidia_driver or self.site.system_state.driver_source):
            return False
        return bool(self.other_source) or bool(self.provider.repo_setup and not self.site.system_state.driver_source)

    @property
    def why_clashing(self) -> str:
        """Why the old driver goes first."""
        if not self.other_source:
            return _("Drivers of two providers on one machine break each other; nobody has seen where this one came from.")
        template = _("Drivers of two providers on one machine break each other; this one came from {source}.")
        return template.format(source=provider_name(self.other_source))


def _packages(way: _Way, change: Change) -> Iterator[Step]:
    place = seen(way.site)
    branch = {"branch": way.branch}
    if way.clashes:
        purge = way.fill(way.provider.purge)
        yield make_as("remove-driver", {"vendor": "NVIDIA"}, purge, because=way.why_clashing, **place)
    if way.setup:
        where = {"provider": way.source}
        yield make_as("add-package-source", where, way.setup, because=_status(way.at), **place)
        if way.provider.immutable:
            yield make("restart-machine", {}, because=_("An image takes a new source in at its next start."), **place)
    yield make_as(
        "install-driver-packages",
        {**branch, "module": _spoken(way.module), "provider": way.source},
        way.fill(way.recipe.commands),
        way.fill(way.provider.purge) or None,
        because=change.why,
        **place,
    )
    if way.provider.hold and not way.provider.immutable:
        because = _("A newer branch may no longer drive these cards, or no longer fit what was chosen.")
        holds = way.fill(way.provider.hold)
        yield make_as("keep-branch", branch, holds, way.fill(way.provider.unhold) or None, because=because, **place)
    yield from _accessories(way)


def _accessories(way: _Way) -> Iterator[Step]:
    """What belongs to a driver: the fabric's manager, the key, the initial file system."""
    place = seen(way.site)
    if way.site.nvswitch and (fabric := recipes.fabric_manager(way.provider.id, way.branch)):
        because = _("Without it no GPU behind NVSwitch starts; its version must be the driver's, to the last digit.")
        yield make_as("install-fabric-manager", {"branch": way.branch}, way.fill(fabric), because=because, **place)
    if way.site.secure_boot and not way.provider.signed and (key := recipes.enrolment(way.provider)):
        because = _("Secure Boot is on, and the module is built and signed on this machine.")
        yield make_as("enrol-driver-key", {}, way.fill(key), because=because, **place)
    if _NOUVEAU in way.site.system_state.bound and way.site.system_state.driver_source:
        because = _("It holds a card although a driver is installed; packages keep it away only where nothing overrules them.")
        yield make("blacklist-module", {"module": _NOUVEAU}, because=because, **place)
    if way.provider.initramfs and not way.provider.immutable:
        yield make_as("rebuild-initramfs", {}, way.fill(way.provider.initramfs), **place)


def _by_configuration(recipe: Recipe, provider: Provider, change: Change, branch: str) -> Step:
    """Systems that are described and not changed: the lines are the person's to write."""
    lines = [line.replace("{branch}", branch) for line in recipe.lines]
    reason = sentences(change.why, _(recipe.note))
    apply = tuple(tuple(argv) for argv in provider.apply)
    return make_as("write-configuration", {"lines": " ".join(lines)}, apply, because=reason)


def _unknown(change: Change, site: Site) -> Step:
    template = _("How {distribution} installs it, the tables do not tell: use the distribution's own way, not the .run file.")
    name = " ".join(part for part in (site.distribution, site.release) if part) or _("this system")
    because = sentences(change.why, template.format(distribution=name))
    return make("install-driver", {"vendor": "NVIDIA", "branch": change.to}, because=because, **seen(site))


def _status(at: System) -> str:
    template = _("Support of {system} has ended: {status}.")
    return template.format(system=at.id, status=at.status) if "ended" in at.status else ""


def _spoken(module: str) -> str:
    return _("open") if module == "open" else _("proprietary")


def branch_of(version: str) -> str:
    """The branch of a driver's version: "580" of "580.95.05"."""
    return version.strip().partition(".")[0]


def module_for(site: Site, branch: str) -> str:
    """The kernel module for those of the machine's cards that the branch drives: "open" or "closed"."""
    cards = [device.isa for device in site.gpus if device.vendor == "nvidia" and device.isa]
    modules = {open_module(isa) for isa in cards if _drives(branch, isa)} or {open_module(isa) for isa in cards}
    if "impossible" in modules and ("only" not in modules or site.open_module is False):
        return "closed"
    if "only" in modules:
        return "open"
    if site.open_module is not None and version_key(site.nvidia_driver or "")[:1] == version_key(branch)[:1]:
        return "open" if site.open_module else "closed"
    return recipes.default_module(branch)


def _drives(branch: str, isa: str) -> bool:
    """Whether a branch knows a chip, and knows it still."""
    first, last = first_branch(isa) or "", driver_branch_for(isa)
    return version_key(branch) >= version_key(first) and not (last and version_key(branch) > version_key(last))


def use_of(site: Site) -> str:
    """A machine whose cards are all made for data centres needs no graphics; any other may have a screen."""
    if site.system_state.desktop:
        return "desktop"
    cards = [device.name for device in site.gpus if device.vendor == "nvidia"]
    return "server" if site.nvswitch or (cards and all(map(recipes.for_servers, cards))) else "desktop"
