"""A finding of a rule, and the change that mends it."""

import msgspec

from rigup.schemas.shared import Severity


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of a file that take the place of others; nothing where `first` is behind `last`: then they are put in front."""

    file: str
    first: int
    last: int
    lines: tuple[str, ...]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A finding.

    Attributes:
        fixes: exact lines that mend it.
        because: further lines that it is told from, as (file, line).
        change: what `--fix` does, where no judgement is needed.

    """

    cause: str
    severity: Severity
    file: str
    line: int
    fixes: tuple[str, ...] = ()
    because: tuple[tuple[str, int], ...] = ()
    change: Change | None = None
