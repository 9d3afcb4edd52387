"""What a rule over samples is: a function, entered under the causes that it may name, that yields what it found."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from rigup.schemas.shared import Severity
from rigup.schemas.watch import Watch
from rigup.watch.history import History


class Match(NamedTuple):
    """What a rule found.

    Attributes:
        cause: its id.
        subject: the GPU's address or the number of the process.
        words: by name, for the text of the cause and for the steps that mend it; None leaves a hole empty.
        evidence: each with the dotted path of the value, the value, and its source.
        severity: where it is another than the cause's.
        explains: causes that are folded under it.

    """

    cause: str
    subject: str
    words: dict[str, str | None]
    evidence: list[tuple[str, str, str]]
    severity: Severity | None = None
    explains: tuple[str, ...] = ()


Rule = Callable[[Watch, History], Iterator[Match]]
RULES: list[tuple[tuple[str, ...], Rule]] = []


def rule(*causes: str) -> Callable[[Rule], Rule]:
    """Enter a rule under the causes that it may name."""

    def entered(function: Rule) -> Rule:
        RULES.append((causes, function))
        return function

    return entered
