"""Why nothing newer: each build that was turned down with its reason."""

from collections.abc import Iterable

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.language import _
from rigup.stack.choice import TurnedDown
from rigup.stack.site import Site
from rigup.stack.weigh import Judged, wanted

_MOST = 20


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
    return next(((change.why, change.source or one.build.source) for change in one.changes), ("", ""))


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
