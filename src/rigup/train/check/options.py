"""Options of programs that start others, told from the program behind them."""

from collections.abc import Iterator, Sequence

import msgspec

from rigup.knowledge import tables
from rigup.train.check.shell.words import Word

TABLE = "train_check/options"


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """The options that a program takes."""

    name: str
    short: dict[str, str] = {}
    valued: list[str] = []
    optional: list[str] = []
    flags: list[str] = []

    @property
    def every(self) -> set[str]:
        """All long names."""
        return {*self.valued, *self.optional, *self.flags}

    def takes(self, name: str) -> bool | None:
        """Whether the next word is its value; None for an option that is not listed."""
        if name in self.valued:
            return True
        return False if name in self.optional or name in self.flags else None


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """An option as it was given.

    Attributes:
        name: the long name, dashes in place of underscores.
        value: None where there is none.
        word: the word with its name; `beside` the word with its value.
        written: the name as it was written, with its dashes.

    """

    name: str
    value: str | None
    word: Word
    beside: Word
    written: str


def program(name: str) -> Program:
    """The options of a program. Raises KnowledgeError for a malformed table."""
    return _programs()[name]


@tables.remembered
def _programs() -> dict[str, Program]:
    return {row.name: row for row in tables.rows(TABLE, "program", Program)}


def whole_name(known: Program, name: str) -> str | None:
    """The option that a name means, which may be shortened as long as one option alone begins with it."""
    if name in known.every:
        return name
    begun = [each for each in known.every if each.startswith(name)]
    return begun[0] if len(begun) == 1 else None


def taken(known: Program, words: Sequence[Word]) -> tuple[list[Option], list[Word]]:
    """The options in front, and what stands behind them."""
    left = list(words)
    found: list[Option] = []
    while left and left[0].text.startswith("-") and left[0].text not in ("-", "--"):
        word = left.pop(0)
        found += _one(known, word, left)
        if known.name == "python" and found and found[-1].name in ("module", "command"):
            break  # what follows is the module's
    if left and left[0].text == "--":
        left.pop(0)
    return found, left


def _one(known: Program, word: Word, left: list[Word]) -> Iterator[Option]:
    text = word.text
    if not text.startswith("--") and (text[1:2] in known.short):
        yield from _short(known, word, left)
        return
    written, equals, value = text.partition("=")
    bare = written.lstrip("-").replace("_", "-")
    name = whole_name(known, bare) or bare
    takes = known.takes(name)
    if not equals and takes is None:  # an option nobody listed has a value where the next word looks like one
        takes = bool(left) and not left[0].text.startswith("-") and known.name != "python"
    if not equals and takes and left:
        value_word = left.pop(0)
        yield Option(name=name, value=value_word.text, word=word, beside=value_word, written=written)
        return
    yield Option(name=name, value=value if equals else None, word=word, beside=word, written=written)


def _short(known: Program, word: Word, left: list[Word]) -> Iterator[Option]:
    letters = word.text[1:]
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter not in known.short:
            yield Option(name=letter, value=None, word=word, beside=word, written="-" + letter)
            continue
        name = known.short[letter]
        if known.takes(name) is False or (known.takes(name) is None and name in ("help", "verbose", "quiet")):
            yield Option(name=name, value=None, word=word, beside=word, written="-" + letter)
            continue
        if letters:
            yield Option(name=name, value=letters.removeprefix("="), word=word, beside=word, written="-" + letter)
        elif left:
            value_word = left.pop(0)
            yield Option(name=name, value=value_word.text, word=word, beside=value_word, written="-" + letter)
        return
