"""Differences between machines on the terminal: what is not as it was, the likeliest suspects first."""

from rigup.cli.layout import wrapped
from rigup.language import _
from rigup.schemas.shared import Difference

_MOST = 12  # that are shown, unless asked for more


def shown(told: list[Difference], verbose: int = 0) -> list[str]:
    """Lines for a terminal, from the data: each difference with how many more go with it; `verbose` shows those too."""
    said, more = items(told, verbose)
    lines = [line for one in said for line in wrapped(one, "  - ", "    ")]
    if more:
        lines += wrapped(_("… {count} more with -v").format(count=more), "    ", "    ")
    return lines


def items(told: list[Difference], verbose: int = 0) -> tuple[list[str], int]:
    """The same as sentences, and how many more there are."""
    leading = [one for one in told if verbose or not one.echo_of]
    most = len(leading) if verbose else _MOST
    return [_counted(one, told, verbose) for one in leading[:most]], max(0, len(leading) - most)


def _counted(one: Difference, told: list[Difference], verbose: int) -> str:
    echoes = sum(other.echo_of == one.id for other in told)
    if verbose or one.echo_of or not echoes:
        return str(one.text)
    return _("{sentence} (and {count} more that go with it)").format(sentence=one.text, count=echoes)
