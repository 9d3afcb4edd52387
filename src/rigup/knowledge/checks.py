"""How to see that a way to mend has worked: rows by cause, vendor, system and what the way does."""

from collections.abc import Collection, Iterator, Sequence

import msgspec

from rigup.knowledge import tables


class _Check(msgspec.Struct, frozen=True, kw_only=True):
    step: str
    causes: list[str] = []
    vendor: str = ""
    system: str = ""
    inside: bool = False
    tells: list[str] = []
    programs: list[str] = []


def checks_of(
    cause: str, family: str, vendor: str, system: str, inside: bool, kinds: Collection[str], programs: Collection[str] = ()
) -> Iterator[str]:
    """Steps that show whether a way has mended a cause, the one that fits best first; the last one fits always.

    Args:
        cause: its id.
        family: the name of its table.
        vendor: of the card; "" where nobody tells.
        system: "linux", "windows" or "macos"; "" where nobody tells.
        inside: whether it was seen in a container.
        kinds: of the way's steps.
        programs: whose messages are seen.

    Raises:
        KnowledgeError: the table is malformed.

    """
    for row in tables.rows("checks", "check", _Check):
        fits = not row.causes or cause in row.causes or f"{family}/" in row.causes
        applies = row.vendor in ("", vendor) and row.system in ("", system) and (inside or not row.inside)
        applies = applies and (not row.programs or not set(row.programs).isdisjoint(programs))
        if fits and applies and (not row.tells or not set(row.tells).isdisjoint(kinds)):
            yield row.step


class _Program(msgspec.Struct, frozen=True, kw_only=True):
    program: str
    step: str
    instead: list[str]
    families: list[str] = []


def check_of_program(programs: Sequence[str], kind: str, family: str) -> str:
    """The kind of the check by which a program itself tells that it works, in the place of one that asks something else; "" where that one fits.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("checks", "program", _Program)
    fitting = (row for name in programs for row in rows if row.program == name and (not row.families or family in row.families))
    return next((row.step for row in fitting if kind in row.instead), "")


class _Listing(msgspec.Struct, frozen=True, kw_only=True):
    step: str
    tool: str


def lists_cards_by(kind: str) -> str:
    """The tool of which a check shows that it lists the cards, and no more; "" for any other.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return next((row.tool for row in tables.rows("checks", "listing", _Listing) if row.step == kind), "")


class _Repeatable(msgspec.Struct, frozen=True, kw_only=True):
    program: str
    verbs: list[str] = []
    least: int = 1  # words
    by_root: bool = False


def is_repeatable(argv: Sequence[str]) -> bool:
    """Whether a command that failed is work or a question to a card, which may be done again, and no change of the machine.

    Raises:
        KnowledgeError: the table is malformed.

    """
    work = argv[1:] if argv[:1] == ("sudo",) else argv
    taken = "--name" in work and "--rm" not in work  # by the container that failed
    if not work or taken or {"pip", "install"} & set(work):
        return False
    name = work[0].replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe").rstrip("0123456789.")
    row = next((row for row in tables.rows("checks", "repeatable", _Repeatable) if row.program == name), None)
    if row is None or len(work) < row.least or (work is not argv and not row.by_root):
        return False
    return not row.verbs or not set(row.verbs).isdisjoint(work[1:2])


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
