"""A machine that was looked at, as planning sees it: facts become a `Site`."""

from collections.abc import Iterable
from typing import Any, TypeVar

from rigup.knowledge.cuda import version_key
from rigup.knowledge.distributions import as_image
from rigup.knowledge.gpus import gpu_by_name, gpu_by_pci
from rigup.knowledge.jetson import jetpack_of_l4t
from rigup.machine.facts import Fact
from rigup.machine.inventory import accelerators
from rigup.machine.kinds import (
    Account,
    Cpu,
    DiskSpace,
    Distribution,
    Driver,
    Jetson,
    Memory,
    Package,
    PackageSource,
    Platform,
    PythonEnv,
    Variable,
    World,
)  # fmt: skip
from rigup.machine.store import Facts
from rigup.stack.profile import completed
from rigup.stack.seen_here import with_own_pythons
from rigup.stack.seen_there import amd_release, behind_nvswitch, there_of
from rigup.stack.site import NONE, Device, Site, Sources
from rigup.stack.troubles import troubles_of

K = TypeVar("K", bound=Fact)


def site_of(facts: Facts, environment: str = "") -> Site:
    """The site of a look. `environment` is the folder of the one to plan for; "" the active one, or a new one.

    Raises:
        KnowledgeError: a table is malformed.

    """
    platform = _one(facts, Platform)
    told: dict[str, Any] = {**_system(facts, platform), **_driver(facts), **_python(facts, environment)}
    told["devices"] = _devices(facts)
    if (memory := _one(facts, Memory)) is not None:
        told["ram"] = memory.get("total")
    told["sources"] = _sources(facts)
    told |= _standing(facts)
    told["disk"] = _disk(facts, str(told.get("environment") or ""))
    return completed(Site(**{name: value for name, value in told.items() if value is not None}))


def _standing(facts: Facts) -> dict[str, Any]:
    """What stands there, and what follows from it."""
    there = there_of(facts)
    cuda = there.toolkits.get("cuda", ())
    return {
        "there": there, "toolkit": cuda[0] if cuda else None, "amd_driver": amd_release(there),
        "nvswitch": behind_nvswitch(there),
    }  # fmt: skip


def _one(facts: Facts, kind: type[K]) -> K | None:
    found = facts.of(kind)
    return found[0] if found else None


def _system(facts: Facts, platform: Platform | None) -> dict[str, Any]:
    distribution = next((d for d in facts.of(Distribution) if d.get("id")), None)
    world = next((w for w in facts.of(World) if w.get("container")), None)
    found: dict[str, Any] = {"container": world is not None, "jetpack": _jetpack(facts), "lacks": _lacks(facts)}
    if platform is not None:
        system = platform.get("system") or "linux"
        found |= {
            "system": system, "kernel": platform.get("release"), "machine": platform.get("architecture"),
            "wsl": bool(platform.get("wsl")), "virtual": bool(platform.get("hypervisor")),
            "secure_boot": platform.get("secure_boot"),
            "macos": platform.get("version") if system == "macos" else None,
        }  # fmt: skip
    if distribution is not None:
        glibc = distribution.get("glibc")
        image = distribution.knows("immutable") and distribution.get("immutable")
        name = distribution.get("id")
        found |= {"distribution": as_image(name) if image else name, "release": distribution.get("version")}
        found["glibc"] = NONE if distribution.knows("glibc") and glibc is None else glibc
    account = _one(facts, Account)
    found["root"] = True if account is not None and account.get("uid") == 0 else None
    return found


def _jetpack(facts: Facts) -> str:
    """The release of a Jetson's system; a word that is none where it is a Jetson and nobody told."""
    board = _one(facts, Jetson)
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
    found: dict[str, Any] = {}
    if nvidia is not None and nvidia.get("version"):
        found["nvidia_driver"] = nvidia.get("version")
        flavour = nvidia.get("flavour")
        found["open_module"] = flavour == "open" if flavour else None
    elif cards and any(look.kind is Driver and look.coverage == "whole" for look in facts.looks):
        found["nvidia_driver"] = NONE
    return found


def _python(facts: Facts, environment: str) -> dict[str, Any]:
    """The environment to plan for: the one that is named, or the active one."""
    envs = facts.of(PythonEnv)
    chosen = next((env for env in envs if environment and env.get("prefix") == environment), None)
    if chosen is None and not environment:
        chosen = next((env for env in envs if env.get("active") and env.get("kind") in ("venv", "conda")), None)
    told = [env for env in envs if env.get("version")]
    there = [env for env in told if env.get("kind") == "system"] or told[
        :1
    ]  # a report speaks of the one that it ran in
    pythons = sorted({_minor(str(env.get("version"))) for env in there}, key=version_key, reverse=True)
    found: dict[str, Any] = {
        "pythons": tuple(pythons),
        "environment": environment,
        "python": pythons[0] if pythons else None,
    }
    if chosen is not None:
        prefix = str(chosen.get("prefix"))
        found["environment"] = prefix
        found["installed"] = {
            p.get("name"): p.get("version") for p in facts.of(Package) if p.get("env") == prefix and p.get("version")
        }
        if chosen.get("version"):
            found["python"] = _minor(str(chosen.get("version")))
    found["conda"] = any(env.get("kind") == "conda" for env in envs)
    found["variables"] = {v.get("name"): v.get("value") for v in facts.of(Variable) if v.get("value") is not None}
    return found


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _devices(facts: Facts) -> tuple[Device, ...] | None:
    found = accelerators(facts)
    return None if found is None else tuple(_device(number, card) for number, card in enumerate(found))


def _device(index: int, card: dict[str, Any]) -> Device:
    kept = {
        name: card[name]
        for name in ("vendor", "name", "isa", "pci_id", "pci_address", "integrated", "memory")
        if card.get(name)
    }
    return Device(index=index, architecture=_architecture(card), **{"vendor": "", **kept})


def _architecture(card: dict[str, Any]) -> str:
    vendor, _colon, device = str(card.get("pci_id", "")).partition(":")
    known = gpu_by_pci(vendor, device) if device else None
    named = known or next(iter(gpu_by_name(str(card.get("name", "")))), None)
    return named.architecture if named else ""


_YES = ("1", "true", "yes", "on")


def _sources(facts: Facts) -> Sources:
    """What pip and uv were told, in their files and variables."""

    def of(*names: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(entry for entry in _entries(facts.of(PackageSource), names)))

    index = of("index-url")
    proxy = of("proxy")
    return Sources(
        index=index[0] if index else "", extra_indexes=of("extra-index-url"), find_links=of("find-links"),
        proxy=proxy[0] if proxy else "", no_index=any(word.lower() in _YES for word in of("no-index")),
    )  # fmt: skip


def _entries(told: Iterable[PackageSource], names: tuple[str, ...]) -> Iterable[str]:
    for one in told:
        if one.get("name") in names and one.get("tool") in ("pip", "uv"):
            yield from one.get("entries") or ()


def _disk(facts: Facts, environment: str) -> int | None:
    """Room on the file system that holds the environment, or the root's where nobody says which that is."""
    known = {
        str(space.get("path")): space.get("free") for space in facts.of(DiskSpace) if space.get("free") is not None
    }
    holding = [path for path in known if (environment or "/").startswith(path)]
    return known[max(holding, key=len)] if holding else None


def look_at(source: str | None, environment: str = "", judge: bool = False) -> Site:
    """Look at a machine and see its site, and where `judge` is set what is wrong there.

    `source` is as `--from` takes it; None is this machine.

    Raises:
        SourceError: the source cannot be read.

    """
    from rigup.machine import readers  # noqa: F401  (registers them)
    from rigup.machine.look import look
    from rigup.machine.sources import close_sources, open_source

    try:
        facts = look(open_source(source))
        found = site_of(facts, environment)
        found = found.but(troubles=troubles_of(facts)) if judge else found
    finally:
        close_sources()
    return found if source is not None else with_own_pythons(found, facts)
