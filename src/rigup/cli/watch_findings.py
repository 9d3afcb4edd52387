"""What a watch found, for a person: each with its id, and once for a cause the way that needs least."""

from collections.abc import Iterable, Iterator

from rigup.cli.guard import style
from rigup.cli.layout import wrapped
from rigup.language import _
from rigup.schemas.shared import Finding
from rigup.visible import visible
from rigup.watch.ways import first_way

_COLORS = {"error": "red", "warning": "yellow", "note": "cyan"}


def finding_lines(found: Iterable[Finding], color: bool) -> Iterator[str]:
    """Titles with their ids; below the last one of a cause, what mends it; at the end, who tells more."""
    findings = list(found)
    for number, finding in enumerate(findings):
        title = f"{visible(finding.title)}. [{finding.cause}]"
        yield from wrapped(style(title, fg=_COLORS[finding.severity]) if color else title)
        following = findings[number + 1] if number + 1 < len(findings) else None
        if following is None or first_way(following) != first_way(finding):
            yield from way_lines(finding, "  ")
    if findings:
        yield from wrapped(_("`rigup explain ID` tells more of each."))


def way_lines(finding: Finding, margin: str, most: int | None = None) -> list[str]:
    """The first way with its commands."""
    title, commands = first_way(finding)
    lines = wrapped(visible(title), margin, margin, most) if title else []
    return lines + [f"{margin}  $ {visible(command)}" for command in commands]
