"""Words, commands and traps of a shell script, with the lines they stand on."""

from collections.abc import Mapping

import msgspec

UNKNOWN = "\ufffc"
"""Stands in a word's text for each part that cannot be told before the job runs."""


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """A word of a command.

    Attributes:
        text: what it expands to; `UNKNOWN` stands for each part that is not known.
        raw: as it is written.
        line: the line on which it begins, from 1.
        refs: variables that this shell replaces in it, also those behind variables that were set from them.
        runs: texts of the command substitutions in it, also behind variables.
        quoted: whether quotes stand around it.

    """

    text: str
    raw: str
    line: int
    refs: frozenset[str] = frozenset()
    runs: frozenset[str] = frozenset()
    quoted: bool = False

    @property
    def known(self) -> str | None:
        """The text where all of it is known."""
        return None if UNKNOWN in self.text else self.text


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A simple command.

    Attributes:
        words: the program and its arguments.
        file: the name of the script it stands in.
        line: of its first word; `last` of its last one.
        background: followed by `&`.
        order: position among all commands of the script.
        variables: what the shell would hand on to it, and what is set in front of it.
        repeated: stands in a loop.
        conditional: stands in a branch.
        piped: its output goes to another command.

    """

    words: tuple[Word, ...]
    file: str
    line: int
    last: int
    order: int
    background: bool = False
    variables: Mapping[str, Word] = {}
    repeated: bool = False
    conditional: bool = False
    piped: bool = False

    @property
    def name(self) -> str:
        """The program's name without its folder."""
        return self.words[0].text.rsplit("/", 1)[-1] if self.words else ""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A variable that a script sets.

    Attributes:
        exported: handed on to programs.
        inner: set in a shell of each task, not in the batch shell.

    """

    name: str
    word: Word
    file: str
    line: int
    exported: bool
    order: int
    inner: bool = False


class Trap(msgspec.Struct, frozen=True, kw_only=True):
    """A handler that a shell was given: for which signals, without SIG in front."""

    handler: str
    signals: frozenset[str]
    line: int


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """All that a script does, in order."""

    commands: tuple[Command, ...] = ()
    settings: tuple[Setting, ...] = ()
    traps: tuple[Trap, ...] = ()
    whole: bool = True
