"""A machine that was looked at, as planning sees it: facts become a `Site`."""

from collections.abc import Iterable
from typing import Any, TypeVar

from rigup.knowledge.cuda import version_key
from rigup.knowledge.distributions import as_image
from rigup.knowledge.gpus import architecture_of
from rigup.knowledge.jetson import jetpack_of_l4t
from rigup.machine.facts import Fact
from rigup.machine.inventory import accelerators
from rigup.machine.kinds import (
    Account,
    Cpu,
    DiskSpace,
    Distribution,
    Driver,
    Gpu,
    Jetson,
    Memory,
    Package,
    PackageSource,
    PciDevice,
    Platform,
    PythonEnv,
    Variable,
    World,
)
from rigup.machine.store import Facts
from rigup.stack.profile import completed
from rigup.stack.seen_here import with_own_pythons
from rigup.stack.seen_system import STANDING, amd_release, behind_nvswitch, system_state_of
from rigup.stack.site import NONE, Device, Site, Sources
from rigup.stack.troubles import troubles_of

K = TypeVar("K", bound=Fact)
WITHOUT_PYTHON: tuple[type[Fact], ...] = (
    Account,
    Cpu,
    Distribution,
    Driver,
    Gpu,
    Jetson,
    Memory,
    PciDevice,
    Platform,
    Variable,
    World,
    *STANDING,
)
"""Kinds of facts from which all of a site is seen but its Pythons, where packages come from, and the room on disks."""


def site_of(facts: Facts, environment: str = "") -> Site:
    """The site of a look. `environment` is the folder of the one to plan for; "" the active one, or a new one.

    Raises:
        KnowledgeError: a table is malformed.

    """
    platform = _first(facts, Platform)
    fields: dict[str, Any] = {**_system(facts, platform), **_driver(facts), **_python(facts, environment)}
    fields["devices"] = _devices(facts)
    if (memory := _first(facts, Memory)) is not None:
        fields["ram"] = memory.get("total")
    fields["sources"] = _sources(facts)
    fields |= _standing(facts)
    fields["disk"] = _disk(facts, str(fields.get("environment") or ""))
    return completed(Site(**{name: value for name, value in fields.items() if value is not None}))


def _standing(facts: Facts) -> dict[str, Any]:
    """What stands there, and what follows from it."""
    state = system_state_of(facts)
    cuda = state.toolkits.get("cuda", ())
    return {
        "system_state": state,
        "toolkit": cuda[0] if cuda else None,
        "amd_driver": amd_release(state),
        "nvswitch": behind_nvswitch(state),
    }


def _first(facts: Facts, kind: type[K]) -> K | None:
    facts_of_kind = facts.of(kind)
    return facts_of_kind[0] if facts_of_kind else None


def _system(facts: Facts, platform: Platform | None) -> dict[str, Any]:
    distribution = next((d for d in facts.of(Distribution) if d.get("id")), None)
    world = next((w for w in facts.of(World) if w.get("container")), None)
    fields: dict[str, Any] = {"container": world is not None, "jetpack": _jetpack(facts), "lacks": _lacks(facts)}
    if platform is not None:
        system = platform.get("system") or "linux"
        fields |= {
            "system": system,
            "kernel": platform.get("release"),
            "machine": platform.get("architecture"),
            "wsl": bool(platform.get("wsl")),
            "virtual": bool(platform.get("hypervisor")),
            "secure_boot": platform.get("secure_boot"),
            "macos": platform.get("version") if system == "macos" else None,
        }
    if distribution is not None:
        glibc = distribution.get("glibc")
        image = distribution.knows("immutable") and distribution.get("immutable")
        name = distribution.get("id")
        fields |= {"distribution": as_image(name) if image else name, "release": distribution.get("version")}
        fields["glibc"] = NONE if distribution.knows("glibc") and glibc is None else glibc
    account = _first(facts, Account)
    fields["root"] = True if account is not None and account.get("uid") == 0 else None
    return fields


def _jetpack(facts: Facts) -> str:
    """The release of a Jetson's system; a word that is none where it is a Jetson of unknown release."""
    board = _first(facts, Jetson)
    if board is None:
        return ""
    known = jetpack_of_l4t(str(board.get("l4t") or ""))
    return known.release if known else "unknown"


def _lacks(facts: Facts) -> tuple[str, ...]:
    """Instruction sets that a processor whose flags were read does not name."""
    flags = {flag.lower() for cpu in facts.of(Cpu) for flag in cpu.get("flags") or ()}
    x86 = "sse2" in flags
    return tuple(name for name in ("avx", "avx2") if x86 and name not in flags)


def _driver(facts: Facts) -> dict[str, Any]:
    """Drivers that run; a card whose driver nobody could find has none."""
    by_vendor = {driver.get("vendor"): driver for driver in facts.of(Driver)}
    nvidia = by_vendor.get("nvidia")
    cards = [card for card in accelerators(facts) or [] if card.get("vendor") == "nvidia"]
    fields: dict[str, Any] = {}
    if nvidia is not None and nvidia.get("version"):
        fields["nvidia_driver"] = nvidia.get("version")
        flavour = nvidia.get("flavour")
        fields["open_module"] = flavour == "open" if flavour else None
    elif cards and any(look.kind is Driver and look.coverage == "whole" for look in facts.looks):
        fields["nvidia_driver"] = NONE
    return fields


def _python(facts: Facts, environment: str) -> dict[str, Any]:
    """The environment to plan for: the one that is named, or the active one."""
    envs = facts.of(PythonEnv)
    chosen = next((env for env in envs if environment and env.get("prefix") == environment), None)
    if chosen is None and not environment:
        chosen = next((env for env in envs if env.get("active") and env.get("kind") in ("venv", "conda")), None)
    with_version = [env for env in envs if env.get("version")]
    system = [env for env in with_version if env.get("kind") == "system"] or with_version[:1]  # a report speaks of the one that it ran in
    pythons = sorted({_minor(str(env.get("version"))) for env in system}, key=version_key, reverse=True)
    fields: dict[str, Any] = {"pythons": tuple(pythons), "environment": environment, "python": pythons[0] if pythons else None}
    if chosen is not None:
        prefix = str(chosen.get("prefix"))
        fields["environment"] = prefix
        fields["installed"] = {p.get("name"): p.get("version") for p in facts.of(Package) if p.get("env") == prefix and p.get("version")}
        if chosen.get("version"):
            fields["python"] = _minor(str(chosen.get("version")))
    fields["conda"] = any(env.get("kind") == "conda" for env in envs)
    fields["variables"] = {v.get("name"): v.get("value") for v in facts.of(Variable) if v.get("value") is not None}
    return fields


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _devices(facts: Facts) -> tuple[Device, ...] | None:
    cards = accelerators(facts)
    return None if cards is None else tuple(_device(number, card) for number, card in enumerate(cards))


def _device(index: int, card: dict[str, Any]) -> Device:
    fields = {name: card[name] for name in ("vendor", "name", "isa", "pci_id", "pci_address", "integrated", "memory") if card.get(name)}
    return Device(index=index, architecture=architecture_of(card), **{"vendor": "", **fields})


_YES = ("1", "true", "yes", "on")


def _sources(facts: Facts) -> Sources:
    """The settings of pip and uv, in their files and variables."""

    def of(*names: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(entry for entry in _entries(facts.of(PackageSource), names)))

    index = of("index-url")
    proxy = of("proxy")
    return Sources(
        index=index[0] if index else "",
        extra_indexes=of("extra-index-url"),
        find_links=of("find-links"),
        proxy=proxy[0] if proxy else "",
        no_index=any(word.lower() in _YES for word in of("no-index")),
    )


def _entries(sources: Iterable[PackageSource], names: tuple[str, ...]) -> Iterable[str]:
    for source in sources:
        if source.get("name") in names and source.get("tool") in ("pip", "uv"):
            yield from source.get("entries") or ()


def _disk(facts: Facts, environment: str) -> int | None:
    """Room on the file system that holds the environment, or the root's where that is unknown."""
    known = {str(space.get("path")): space.get("free") for space in facts.of(DiskSpace) if space.get("free") is not None}
    holding = [path for path in known if (environment or "/").startswith(path)]
    return known[max(holding, key=len)] if holding else None


def look_at(source: str | None, environment: str = "", judge: bool = False, pythons: bool = True) -> Site:
    """Look at a machine and see its site, and where `judge` is set what is wrong there.

    `source` is as `--from` takes it; None is this machine. Where `pythons` is False nobody looks for them and what
    belongs to them (`WITHOUT_PYTHON`): for work that brings its own.

    Raises:
        SourceError: the source cannot be read.

    """
    from rigup.machine import readers  # noqa: F401  (registers them)
    from rigup.machine.look import look
    from rigup.machine.sources import close_sources, open_source

    try:
        facts = look(open_source(source), kinds=() if pythons else WITHOUT_PYTHON)
        site = site_of(facts, environment)
        site = site.but(troubles=troubles_of(facts)) if judge else site
    finally:
        close_sources()
    return with_own_pythons(site, facts) if source is None and pythons else site
