"""Why nothing newer: each build that was turned down with its reason, and the least that would help."""

from collections.abc import Callable, Iterable, Mapping

import msgspec
from packaging.requirements import Requirement

from rigup.knowledge.cuda import version_key
from rigup.language import _
from rigup.stack.candidate import Candidate
from rigup.stack.choice import TurnedDown
from rigup.stack.site import Site
from rigup.stack.weigh import Judged, judged, served_count, usable, wanted
from rigup.stack.wish import Wish

Offers = Callable[[Mapping[str, Requirement], Site], Iterable[Candidate]]
_MOST = 40


def turned_down(told: Iterable[Judged], site: Site) -> tuple[TurnedDown, ...]:
    """One line for each reason and range of builds, the newest first."""
    groups: dict[tuple[str, str], list[Judged]] = {}
    for one in sorted(told, key=lambda one: version_key(one.build.version), reverse=True):
        because, source = _reason(one, site)
        if because:
            groups.setdefault((because.replace(one.build.label, "{}"), source), []).append(one)
    lines = [_line(because, source, ones) for (because, source), ones in groups.items()]
    return tuple(lines[:_MOST])


def _reason(one: Judged, site: Site) -> tuple[str, str]:
    if one.refusal:
        return one.refusal, one.build.source
    left = [(device, told) for device, told in zip(site.gpus, one.served, strict=True) if device in wanted(site)]
    for _device, told in left:
        if not told.served:
            return told.because, told.source
    for _device, told in left:
        if told.how == "trial":
            return told.because, told.source
    for change in one.changes:
        return change.why, change.source or one.build.source
    return ("", "") if not left else (_("A build that asks for less was taken."), one.build.source)


def _line(because: str, source: str, ones: list[Judged]) -> TurnedDown:
    first, last = ones[0].build, ones[-1].build
    if len(ones) == 1:
        return TurnedDown(candidate=first.label, because=because.replace("{}", first.label), source=source)
    variants = list(dict.fromkeys(one.build.variant for one in ones if one.build.variant))
    span = first.version if first.version == last.version else last.version + " - " + first.version
    name = first.package + " " + span + (" (" + ", ".join(variants) + ")" if variants else "")
    return TurnedDown(candidate=name, because=because.replace("{}", _("It")), source=source)


def nothing_fits(wish: Wish, site: Site, offers: Offers) -> str:
    """The least that would make the wish possible for the devices: another version, Python, driver or system."""
    for attempt in (_other_python, _other_version, _with_root, _other_system):
        if told := attempt(wish, site, offers):
            return told
    return ""


def _serving(wish: Wish, site: Site, offers: Offers) -> list[Judged]:
    """Builds under which all that is wanted works."""
    told = (judged(build, site, wish) for build in offers(wish.asked(), site))
    return [one for one in told if usable(one, site) and served_count(one, site) == len(wanted(site))]


def _other_version(wish: Wish, site: Site, offers: Offers) -> str:
    free = msgspec.structs.replace(wish, packages=tuple(one.name for one in wish.asked().values()))
    found = sorted(_serving(free, site, offers), key=lambda one: version_key(one.build.version))
    pinned = [version_key(clause.version) for one in wish.asked().values() for clause in one.specifier]
    if not found or not pinned:
        return ""
    newer = [one for one in found if version_key(one.build.version) > max(pinned)]
    nearest = newer[0] if newer else found[-1]
    told = _("Ask for {build}: it is the nearest release that works there.")
    return told.format(build=nearest.build.label) + _needs(nearest)


def _other_python(wish: Wish, site: Site, offers: Offers) -> str:
    if not wish.python:
        return ""
    found = _serving(msgspec.structs.replace(wish, python=""), site, offers)
    if not found:
        return ""
    newest = max(found, key=lambda one: version_key(one.build.version))
    plain = [python for python in newest.build.python if not python.endswith("t")]
    nearest = min(plain, key=lambda python: abs(version_key(python)[1] - version_key(wish.python)[1]))
    return _("Take Python {python}: {build} has a wheel for it.").format(python=nearest, build=newest.build.label)


def _with_root(wish: Wish, site: Site, offers: Offers) -> str:
    if site.root is not False:
        return ""
    found = _serving(msgspec.structs.replace(wish, no_root=False), site.but(root=True), offers)
    if not found:
        return ""
    least = min(found, key=lambda one: one.weight)
    return _("Ask an administrator for this:") + _needs(least)


def _other_system(wish: Wish, site: Site, offers: Offers) -> str:
    if site.system != "windows":
        return ""
    inside = site.but(system="linux", wsl=True, glibc=None, python=None, pythons=())
    if not _serving(wish, inside, offers):
        return ""
    return _("Install it inside WSL (or on Linux): no build for native Windows reaches this GPU.")


def _needs(one: Judged) -> str:
    told = _(" {change} from {have} to {to}.")
    return "".join(
        told.format(change=change.change, have=change.have or _("none"), to=change.to) for change in one.changes
    )
