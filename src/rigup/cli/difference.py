"""Differences between machines on the terminal: what is not as it was, the likeliest suspects first."""

from rigup.cli.layout import wrapped
from rigup.language import _
from rigup.schemas.shared import Difference

_MOST = 12  # that are shown, unless asked for more


def shown(differences: list[Difference], verbose: int = 0) -> list[str]:
    """Lines for a terminal, from the data: each difference with how many more go with it; `verbose` shows those too."""
    sentences, more = items(differences, verbose)
    lines = [line for sentence in sentences for line in wrapped(sentence, "  - ", "    ")]
    if more:
        lines += wrapped(_("… {count} more with -v").format(count=more), "    ", "    ")
    return lines


def items(differences: list[Difference], verbose: int = 0) -> tuple[list[str], int]:
    """The same as sentences, and how many more there are."""
    leading = [difference for difference in differences if verbose or not difference.echo_of]
    most = len(leading) if verbose else _MOST
    return [_with_count(difference, differences, verbose) for difference in leading[:most]], max(0, len(leading) - most)


def _with_count(difference: Difference, differences: list[Difference], verbose: int) -> str:
    echoes = sum(other.echo_of == difference.id for other in differences)
    if verbose or difference.echo_of or not echoes:
        return str(difference.text)
    return _("{sentence} (and {count} more that go with it)").format(sentence=difference.text, count=echoes)
