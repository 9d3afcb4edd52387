"""What a finding rests on, as a person reads it."""

from rigup.cli.guard import style
from rigup.cli.layout import padded, wrapped
from rigup.diagnosis.wording import quoted
from rigup.language import _
from rigup.schemas.shared import Evidence

MOST_EVIDENCE = 4  # lines, unless asked for more
_OF_TABLES = "knowledge/"
LABEL = 9  # columns of "Why:" and its like


def evidence_lines(evidence: list[Evidence], verbose: int) -> list[str]:
    """The texts that decided, each once, with where they stand."""
    spots = {(line.source, line.line or line.value): line for line in reversed(evidence)}
    seen = [(quoted(line), line.source, line.line) for line in reversed(spots.values())]
    shown = seen if verbose else seen[:MOST_EVIDENCE]
    lines: list[str] = []
    for number, (value, source, line) in enumerate(shown):
        shown_value = value or _("nothing such was found")
        lines += wrapped(
            shown_value + "  " + style("(" + place_of(source, line) + ")", dim=True),
            "  " + padded(_("Seen:") if number == 0 else "", LABEL),
        )
    if len(seen) > len(shown):
        lines += ["  " + padded("", LABEL) + _("… {count} more with -v").format(count=len(seen) - len(shown))]
    return lines


def place_of(source: str, line: int | None) -> str:
    """Where a text stands; what nobody showed is of our own tables."""
    if source.startswith(_OF_TABLES):
        return _("rigup's tables")
    return f"{source}:{line}" if line else source
