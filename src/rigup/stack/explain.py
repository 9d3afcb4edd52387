"""Why nothing newer: each build that was turned down with its reason."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec
from packaging.requirements import Requirement

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.knowledge.torch_builds import builds, companions
from rigup.knowledge.wheels import families
from rigup.language import _
from rigup.stack import frameworks
from rigup.stack.choice import TurnedDown
from rigup.stack.frameworks.torch import COMPANIONS, allows
from rigup.stack.programs import asked_for, sentence
from rigup.stack.site import Site, wanted
from rigup.stack.weigh import Judged
from rigup.stack.wish import Wish

_MOST = 20
_SYSTEMS = {"linux": "Linux", "windows": "Windows", "macos": "macOS"}


class _Alternative(msgspec.Struct, frozen=True, kw_only=True):
    """What serves in place of a package, on some systems and with GPUs of some makers; empty for any."""

    package: str
    instead: list[str]
    systems: list[str] = []
    vendors: list[str] = []


def turned_down(options: Iterable[Judged], site: Site) -> tuple[TurnedDown, ...]:
    """One line for each reason and range of builds, the newest first."""
    groups: dict[tuple[str, str], list[Judged]] = {}
    for judged in sorted(options, key=lambda judged: (version_key(judged.build.version), judged.build.label), reverse=True):
        because, source = _reason(judged, site)
        if because:
            groups.setdefault((because.replace(judged.build.label, "{}"), source), []).append(judged)
    lines = [_line(because, source, ones) for (because, source), ones in groups.items()]
    return tuple(lines[:_MOST])


def _reason(judged: Judged, site: Site) -> tuple[str, str]:
    """What kept a build off: that it cannot be installed, leaves a device out, is on trial, or asks for changes."""
    if judged.refusal:
        return judged.refusal, judged.build.source
    left = [served for device, served in zip(site.gpus, judged.served, strict=True) if device in wanted(site)]
    for how in ("no", "trial"):
        for served in left:
            if served.how == how:
                return served.because, served.source or judged.build.source
    renews = _("{build} would renew what stands there: --prefer newest takes it.").format(build=judged.build.label)
    otherwise = (renews, judged.build.source) if judged.build.package in site.installed else ("", "")
    return next(((change.why, change.source or judged.build.source) for change in judged.changes), otherwise)


def _line(because: str, source: str, ones: list[Judged]) -> TurnedDown:
    first, last = ones[0].build, ones[-1].build
    if len(ones) == 1:
        return TurnedDown(candidate=first.label, because=because.replace("{}", first.label), source=source)
    variants = list(dict.fromkeys(variant for judged in ones if (variant := judged.build.variant or judged.build.channel)))
    span = first.version if first.version == last.version else _("{first} to {last}").format(first=last.version, last=first.version)
    name = first.package + " " + span + (" (" + ", ".join(variants) + ")" if variants else "")
    return TurnedDown(candidate=name, because=_of_each(because), source=source)


def _of_each(because: str) -> str:
    """A sentence about one build, turned to speak of several."""
    start = because.startswith("{}")
    text = because.replace("{}", _("each of these"))
    return text[:1].upper() + text[1:] if start else text


def unheard(wish: Wish, site: Site) -> Iterator[TurnedDown]:
    """Frameworks of which no build at all is made for the system, and names that went out of use.

    Raises:
        KnowledgeError: a table is malformed.

    """
    wishes = wish.asked()
    ended = [(name, row.ended[name]) for row in families() for name in wishes if name in row.ended]
    for name, instead in ended:
        message = _("{name} has come to an end: {instead} has taken its place.").format(name=name, instead=instead)
        yield TurnedDown(candidate=name, because=message, source="wheels")
    yield from _of_other_torch(wishes)
    programs = [row for row in asked_for(wishes) if not row.package and not row.needs]
    yield from (TurnedDown(candidate=row.title, because=sentence(row), source="meant") for row in programs)
    for lead in frameworks.leads(wishes, wish.manager) if not ended and not programs else ():
        if not any(True for _one in lead.candidates({name: Requirement(name) for name in wishes}, site)):
            message = _("No build of {name} is known for {system} on {machine}.")
            because = message.format(name=lead.name.replace("_", "-"), system=_SYSTEMS.get(site.system, site.system), machine=site.machine)
            yield TurnedDown(candidate=lead.name.replace("_", "-"), because=because, source="wheels")


def _of_other_torch(wishes: Mapping[str, Requirement]) -> Iterator[TurnedDown]:
    """Members of torch's family whose releases that were asked for all belong to a torch that the wish excludes."""
    releases = sorted({row.torch for row in builds()}, key=version_key) if "torch" in wishes else []
    for name in (companion for companion in COMPANIONS if companion in wishes):
        versions = {torch: str(getattr(companions(torch), name, "") or "") for torch in releases}
        fitting = [torch for torch, version in versions.items() if version and allows(wishes[name], version)]
        if fitting and not any(allows(wishes["torch"], torch) for torch in fitting):
            template = _("{package} belongs to torch {versions}, and {torch} was asked for.")
            span = fitting[0] if len(fitting) == 1 else _("{first} to {last}").format(first=fitting[0], last=fitting[-1])
            because = template.format(package=wishes[name], versions=span, torch=wishes["torch"])
            yield TurnedDown(candidate=str(wishes[name]), because=because, source="torch_companions")


def instead(wish: Wish, site: Site) -> Iterator[TurnedDown]:
    """What serves in place of packages that cannot be had there, or not with the GPU.

    Raises:
        KnowledgeError: the table is malformed.

    """
    wishes, makers = wish.asked(), {device.vendor for device in site.gpus}
    for row in tables.rows("torch_addons", "alternative", _Alternative):
        here = (not row.systems or site.system in row.systems) and (not row.vendors or makers & set(row.vendors))
        if row.package in wishes and here:
            because = _("What serves in its place there: {names}.").format(names=", ".join(row.instead))
            yield TurnedDown(candidate=row.package, because=because, source="torch_addons")


def translations(makers: set[str], kinds: set[str]) -> tuple[TurnedDown, ...]:
    """Programs that would carry CUDA code to another maker's device: known, and never planned.

    Args:
        makers: of the devices that are wanted and not served.
        kinds: how the builds that were looked at reach a device.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.table("torch_addons").get("translation", [])
    template = _(
        "It translates CUDA calls for other makers' GPUs. That is a trial of its own, which neither the GPU's maker nor "
        "the package's supports: nothing is planned on it."
    )
    return tuple(
        TurnedDown(candidate=row["name"], because=template, source="torch_addons")
        for row in rows
        if row["of"] in kinds and makers & set(row["vendors"])
    )
