"""Why nothing newer: each build that was turned down with its reason."""

from collections.abc import Iterable, Iterator

from packaging.requirements import Requirement

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.knowledge.wheels import families
from rigup.language import _
from rigup.stack import frameworks
from rigup.stack.choice import TurnedDown
from rigup.stack.site import Site
from rigup.stack.weigh import Judged, wanted
from rigup.stack.wish import Wish

_MOST = 20
_SYSTEMS = {"linux": "Linux", "windows": "Windows", "macos": "macOS"}


def turned_down(told: Iterable[Judged], site: Site) -> tuple[TurnedDown, ...]:
    """One line for each reason and range of builds, the newest first."""
    groups: dict[tuple[str, str], list[Judged]] = {}
    for one in sorted(told, key=lambda one: (version_key(one.build.version), one.build.label), reverse=True):
        because, source = _reason(one, site)
        if because:
            groups.setdefault((because.replace(one.build.label, "{}"), source), []).append(one)
    lines = [_line(because, source, ones) for (because, source), ones in groups.items()]
    return tuple(lines[:_MOST])


def _reason(one: Judged, site: Site) -> tuple[str, str]:
    """What kept a build off: that it cannot be installed, leaves a device out, is on trial, or asks for changes."""
    if one.refusal:
        return one.refusal, one.build.source
    left = [told for device, told in zip(site.gpus, one.served, strict=True) if device in wanted(site)]
    for how in ("no", "trial"):
        for told in left:
            if told.how == how:
                return told.because, told.source or one.build.source
    renews = _("{build} would renew what stands there: --prefer newest takes it.").format(build=one.build.label)
    kept = (renews, one.build.source) if one.build.package in site.installed else ("", "")
    return next(((change.why, change.source or one.build.source) for change in one.changes), kept)


def _line(because: str, source: str, ones: list[Judged]) -> TurnedDown:
    first, last = ones[0].build, ones[-1].build
    if len(ones) == 1:
        return TurnedDown(candidate=first.label, because=because.replace("{}", first.label), source=source)
    variants = list(dict.fromkeys(told for one in ones if (told := one.build.variant or one.build.channel)))
    span = first.version if first.version == last.version else _("{first} to {last}").format(
        first=last.version, last=first.version
    )  # fmt: skip
    name = first.package + " " + span + (" (" + ", ".join(variants) + ")" if variants else "")
    return TurnedDown(candidate=name, because=_of_each(because), source=source)


def _of_each(because: str) -> str:
    """A sentence about one build said of several."""
    start = because.startswith("{}")
    told = because.replace("{}", _("each of these"))
    return told[:1].upper() + told[1:] if start else told


def unheard(wish: Wish, site: Site) -> Iterator[TurnedDown]:
    """Frameworks of which no build at all is made for the system, and names that went out of use.

    Raises:
        KnowledgeError: a table is malformed.

    """
    asked = wish.asked()
    ended = [(name, row.ended[name]) for row in families() for name in asked if name in row.ended]
    for name, instead in ended:
        told = _("{name} has come to an end: {instead} has taken its place.").format(name=name, instead=instead)
        yield TurnedDown(candidate=name, because=told, source="wheels")
    for lead in frameworks.leads(asked, wish.manager) if not ended else ():
        if not any(True for _one in lead.candidates({name: Requirement(name) for name in asked}, site)):
            told = _("No build of {name} is known for {system} on {machine}.")
            because = told.format(
                name=lead.name.replace("_", "-"), system=_SYSTEMS.get(site.system, site.system), machine=site.machine
            )
            yield TurnedDown(candidate=lead.name.replace("_", "-"), because=because, source="wheels")


def translations(makers: set[str], kinds: set[str]) -> tuple[TurnedDown, ...]:
    """Programs that would carry CUDA code to another maker's device: known, and never planned.

    Args:
        makers: of the devices that are wanted and not served.
        kinds: how the builds that were looked at reach a device.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.table("torch_addons").get("translation", [])
    told = _(
        "It translates CUDA calls for other makers' GPUs. That is a trial of its own, which neither the GPU's maker nor "
        "the package's supports: nothing is planned on it."
    )
    return tuple(
        TurnedDown(candidate=row["name"], because=told, source="torch_addons")
        for row in rows
        if row["of"] in kinds and makers & set(row["vendors"])
    )
