"""How to see that a way to mend has worked: rows by cause, vendor, system and what the way does."""

from collections.abc import Collection, Iterator

import msgspec

from rigup.knowledge import tables


class _Check(msgspec.Struct, frozen=True, kw_only=True):
    step: str
    causes: list[str] = []
    vendor: str = ""
    system: str = ""
    inside: bool = False
    tells: list[str] = []


def checks_of(cause: str, family: str, vendor: str, system: str, inside: bool, kinds: Collection[str]) -> Iterator[str]:
    """Steps that show whether a way has mended a cause, the one that fits best first; the last one fits always.

    Args:
        cause: its id.
        family: the name of its table.
        vendor: of the card; "" where nobody tells.
        system: "linux", "windows" or "macos"; "" where nobody tells.
        inside: whether it was seen in a container.
        kinds: of the way's steps.

    Raises:
        KnowledgeError: the table is malformed.

    """
    for row in tables.rows("checks", "check", _Check):
        fits = not row.causes or cause in row.causes or f"{family}/" in row.causes
        applies = row.vendor in ("", vendor) and row.system in ("", system) and (inside or not row.inside)
        if fits and applies and (not row.tells or not set(row.tells).isdisjoint(kinds)):
            yield row.step


class _Framework(msgspec.Struct, frozen=True, kw_only=True):
    framework: str
    statement: str
    shown_by: str = "see-framework"  # the check that says what its answer looks like


def check_that_shows(framework: str) -> str:
    """The kind of the check whose words fit what `code_that_asks` prints.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("checks", "framework", _Framework)
    return next((row.shown_by for row in rows if row.framework == framework), "see-framework")


def code_that_asks(framework: str) -> str:
    """What makes a framework, by the name under which programs import it, name the devices that it reaches; "" where nobody knows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("checks", "framework", _Framework)
    return next((row.statement for row in rows if row.framework == framework), "")
