"""The least that would make a whole wish possible, tried out before it is proposed."""

from collections.abc import Callable, Iterator

import msgspec
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rigup.knowledge.apple import next_mps_minimum
from rigup.knowledge.cuda import version_key
from rigup.language import _, sentences
from rigup.stack import frameworks
from rigup.stack.frameworks.addons import build_of
from rigup.stack.frameworks.torch import FAMILY
from rigup.stack.inside import inside
from rigup.stack.limits import room
from rigup.stack.site import NONE, Site
from rigup.stack.weigh import Judged, judged, serves_all
from rigup.stack.wish import Wish
from rigup.stack.words import change_name

Solve = Callable[[Wish, Site], tuple[Judged, ...]]
_GLIBC = ("2.17", "2.27", "2.28", "2.31", "2.35", "2.39")  # what releases of distributions that are still in use ship


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """A change under which all that is wanted works.

    Attributes:
        text: what to do, as a sentence.
        wish, site: what is then asked for, and the machine as it is then.

    """

    text: str
    wish: Wish
    site: Site


def smallest(wish: Wish, site: Site, solve: Solve) -> Remedy | None:
    """The first change that helps, those that ask least of a person first; None where none of them does.

    What keeps the releases that were asked for comes before what names another one: first of what stands on the
    framework, of the framework itself last.

    `solve` gives the builds that would be taken, one a framework; nothing where one cannot be had.

    Raises:
        KnowledgeError: a table is malformed.

    """
    for attempt in (_python, _room, _of_conda, _administrator, _translated, _system, _release_on_it, _version):
        for remedy in attempt(wish, site, solve):
            if serves_all(solve(remedy.wish, remedy.site), remedy.site):
                return _with_another_way(remedy, attempt, wish, site, solve)
    return None


def _with_another_way(remedy: Remedy, attempt: object, wish: Wish, site: Site, solve: Solve) -> Remedy:
    """Beside conda the release that has a wheel, beside another release on Windows the wish as it is inside WSL."""
    if attempt is _version:
        return _with_wsl(remedy, wish, site, solve)
    nearest = next(_serving(wish, site), None) if attempt is _of_conda else None
    if nearest is None:
        return remedy
    sentence = _("As a wheel, {build} is the nearest release that works there.").format(build=nearest.build.label)
    return msgspec.structs.replace(remedy, text=sentences(remedy.text, sentence))


def _with_wsl(remedy: Remedy, wish: Wish, site: Site, solve: Solve) -> Remedy:
    """Another release on Windows itself: WSL, where the wish can stay as it is, is proposed beside it."""
    if site.system != "windows":
        return remedy
    inside = next(iter(_system(wish, site, solve)))
    if not serves_all(solve(inside.wish, inside.site), inside.site):
        return remedy
    sentence = _("Or install it inside WSL, where {wish} works as it was asked for.").format(wish=", ".join(wish.packages))
    return Remedy(text=sentences(remedy.text, sentence), wish=remedy.wish, site=remedy.site)


def _python(wish: Wish, site: Site, solve: Solve) -> Iterator[Remedy]:
    """Another Python than the one that was asked for: the nearest that has a wheel."""
    taken = solve(_but(wish, python=""), site) if wish.python else ()
    if not serves_all(taken, site):
        return
    shared = set.intersection(*(set(option.build.python or [wish.python]) for option in taken))
    for python in sorted((python for python in shared if not python.endswith("t")), key=lambda version: _distance(version, wish.python)):
        template = _("Take Python {python}: {build} has a wheel for it.")
        yield Remedy(text=template.format(python=python, build=taken[0].build.label), wish=_but(wish, python=python), site=site)


def _distance(python: str, other: str) -> tuple[int, ...]:
    minor, wanted = version_key(python)[1:2], version_key(other)[1:2]
    return (abs(minor[0] - wanted[0]), minor[0]) if minor and wanted else (99,)


def _room(wish: Wish, site: Site, solve: Solve) -> Iterator[Remedy]:
    """Room on the disk for what does not fit."""
    taken = solve(wish, site.but(disk=None)) if site.disk is not None else ()
    need = sum(room(option.build, site) for option in taken)
    if taken and site.disk is not None and need > site.disk:
        template = _("Make room on the disk: {need:.1f} GB are needed, {have:.1f} GB are free.")
        text = template.format(need=need / 1e9, have=site.disk / 1e9)
        yield Remedy(text=text, wish=wish, site=site.but(disk=need))


def _release_on_it(wish: Wish, site: Site, solve: Solve) -> Iterator[Remedy]:
    """Another release of what belongs to a framework, or stands on it: the framework stays as it was asked for."""
    wishes = wish.asked()
    for name in (name for name, requirement in wishes.items() if requirement.specifier and (name in FAMILY or build_of(name) is not None)):
        left = _but(wish, packages=tuple(other if other == name else str(requirement) for other, requirement in wishes.items()))
        for option in solve(left, site):
            if version := {**option.build.packages, **option.build.beside}.get(name, ""):
                template = _("Leave the release of {package} open: {version} is the one for {build}.")
                text = template.format(package=name, version=version, build=option.build.label)
                yield Remedy(text=sentences(text, needs(option)), wish=left, site=site)


def _version(wish: Wish, site: Site, _solve: Solve) -> Iterator[Remedy]:
    """Another release than the one that was pinned: the nearest one on which all works, newer ones first."""
    for option in _serving(wish, site):
        sentence = _("Ask for {build}: it is the nearest release that works there.").format(build=option.build.label)
        yield Remedy(text=sentences(sentence, needs(option)), wish=_but(wish, packages=_repinned(wish, option)), site=site)


def _serving(wish: Wish, site: Site) -> Iterator[Judged]:
    """The nearest builds to those that were pinned which serve every device."""
    pinned, seen = ({name: requirement for name, requirement in wish.asked().items() if requirement.specifier}, inside(wish, site))
    for lead in frameworks.leads(wish.asked(), wish.manager) if pinned else ():
        free = {name: Requirement(name) for name in wish.asked()}
        builds = [judged(option, seen, wish) for option in lead.candidates(free, seen)]
        serving = [option for option in builds if serves_all((option,), site)]
        yield from _nearest(serving, max(version_key(str(requirement.specifier)) for requirement in pinned.values()))


def _nearest(serving: list[Judged], pinned: tuple[int, ...]) -> list[Judged]:
    newer = [option for option in serving if version_key(option.build.version) > pinned]
    older = [option for option in serving if option not in newer]
    return [
        *sorted(newer, key=lambda option: (version_key(option.build.version), option.weight))[:1],
        *sorted(older, key=lambda option: (version_key(option.build.version), -option.weight), reverse=True)[:1],
    ]


def _repinned(wish: Wish, option: Judged) -> tuple[str, ...]:
    """The wish with the releases that belong to a build; what it does not know is left as it was."""
    known = {str(canonicalize_name(name.partition("[")[0])): version for name, version in option.build.packages.items()}
    return tuple(
        f"{name}=={known[name].partition('+')[0]}"
        if requirement.specifier and name in known
        else name
        if requirement.specifier and option.build.package in known
        else str(requirement)
        for name, requirement in wish.asked().items()
    )


def _of_conda(wish: Wish, site: Site, solve: Solve) -> Iterator[Remedy]:
    """Builds of conda-forge hold other code, and run on other systems; they need no root."""
    if wish.manager != "venv" or site.network is False:
        return
    in_conda = _but(wish, manager="conda")
    for option in solve(in_conda, site)[:1]:
        sentence = _("Put it into a conda environment (--in conda): {build} works there.").format(build=option.build.label)
        yield Remedy(text=sentences(sentence, needs(option)), wish=in_conda, site=site)


def _administrator(wish: Wish, site: Site, solve: Solve) -> Iterator[Remedy]:
    if site.root is not False:
        return
    with_root = site.but(root=True)
    for option in solve(_but(wish, no_root=False), with_root)[:1]:
        yield Remedy(text=sentences(_("Ask an administrator for this."), needs(option)), wish=_but(wish, no_root=False), site=with_root)


def _translated(wish: Wish, site: Site, _solve: Solve) -> Iterator[Remedy]:
    """A Python that Rosetta translates, and a driver of AMD that is too old, hide devices that are there."""
    if site.rosetta:
        text = _("Use a Python that is built for arm64: under Rosetta no program sees the GPU.")
        yield Remedy(text=text, wish=wish, site=site.but(rosetta=False, machine="arm64"))
    if site.amd_driver and site.root is not False:
        text = _("Renew AMD's kernel driver: ROCm {driver} is too old for it.").format(driver=site.amd_driver)
        yield Remedy(text=text, wish=wish, site=site.but(amd_driver=NONE))


def _system(wish: Wish, site: Site, _solve: Solve) -> Iterator[Remedy]:
    """Another system: WSL for Windows, a newer C library, a newer macOS, Linux itself for WSL."""
    if site.system == "windows":
        text = _("Install it inside WSL (or on Linux): no build for native Windows reaches this GPU.")
        yield Remedy(text=text, wish=wish, site=site.but(system="linux", wsl=True, glibc="2.35", python=None, pythons=()))
        text = _("Install it on Linux itself: no build for native Windows or for WSL reaches this GPU.")
        yield from _on_linux(text, wish, site.but(system="linux", glibc="2.35", python=None, pythons=()))
    if site.system == "linux" and site.glibc is not None:
        for glibc in (glibc_release for glibc_release in _GLIBC if version_key(glibc_release) > version_key(site.glibc)):
            text = _("Run it in a container, or on a release of a distribution, with glibc {glibc} or newer.")
            yield Remedy(text=text.format(glibc=glibc), wish=wish, site=site.but(glibc=glibc))
    newer = next_mps_minimum(site.macos) if site.system == "macos" and site.macos else None
    while newer:
        text = _("Upgrade macOS to {version} or newer.").format(version=newer)
        yield Remedy(text=text, wish=wish, site=site.but(macos=newer))
        newer = next_mps_minimum(newer)
    if site.wsl:
        yield from _on_linux(_("Install it on Linux itself: inside WSL this GPU is not driven."), wish, site)


def _on_linux(text: str, wish: Wish, site: Site) -> Iterator[Remedy]:
    """Linux itself: for AMD's GPUs less is built for WSL than for Linux."""
    if any(device.vendor == "amd" for device in site.gpus):
        yield Remedy(text=text, wish=wish, site=site.but(wsl=False))


def needs(option: Judged) -> str:
    """What must change before a build works, as sentences."""
    replaced, new = _("{change}: {to} in place of {have}."), _("{change}: {to}.")
    return sentences(
        *(
            (replaced if change.have else new).format(change=change_name(change.change), have=change.have, to=change.to)
            for change in option.changes
        )
    )


def _but(wish: Wish, **changes: object) -> Wish:
    return msgspec.structs.replace(wish, **changes)
