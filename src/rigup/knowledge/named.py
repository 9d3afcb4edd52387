"""Words by which a text names a maker, a scheduler, a framework or a system beside another."""

import re

import msgspec

from rigup.knowledge import tables


class _Word(msgspec.Struct, frozen=True, kw_only=True):
    of: str
    id: str
    regex: str
    source: str = ""
    checked: str = ""
    how: str = ""


@tables.remembered
def _words() -> dict[tuple[str, str], re.Pattern[str]]:
    return {(row.of, row.id): re.compile(row.regex, re.IGNORECASE) for row in tables.rows("named", "word", _Word)}


def names(text: str, of: str, id_: str) -> bool:
    """Whether a text names it; True also for what the table has no words of.

    Args:
        text: of whoever wrote it.
        of: "maker", "family" or "cause".
        id_: "amd", the family of causes, or a cause.

    Raises:
        KnowledgeError: the table is malformed.

    """
    pattern = _words().get((of, id_))
    return pattern is None or pattern.search(text) is not None
