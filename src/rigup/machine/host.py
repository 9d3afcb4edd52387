"""The one seam to the outside.

A host answers in the form that people paste (`ls -l`, `env`, `id`), so that one reader serves a live
machine, a captured tree and a forum thread alike. A missing tool, a time-out or an odd exit status is an
answer to judge, not an exception. Nothing else in rigup opens files, runs programs or reads variables to
learn about a machine.
"""

from typing import NamedTuple, Protocol

LIMIT = 5_000_000  # characters of one answer


class Answer(NamedTuple):
    """The answer of a host. `body` is None where there is none; then `state` is the reason."""

    body: str | None
    state: str = "known"  # known, absent, refused, unseen
    why: str = ""
    exit: int = 0


class Recorded(NamedTuple):
    """A command that somebody ran, with what it printed.

    Where it did not answer, `state` and `why` tell as an answer's do. `asked`: a reader of rigup asked it,
    and this was its answer; it is no text for others.
    """

    argv: tuple[str, ...]
    exit: int
    output: str
    state: str = "known"
    why: str = ""
    asked: bool = False


class Host(Protocol):
    """A machine, or what was kept of one."""

    def find(self, pattern: str) -> list[str]:
        """Paths that a glob pattern names, sorted."""

    def read(self, path: str, limit: int = LIMIT) -> Answer:
        """A file's text, undecodable bytes replaced, cut at `limit` characters."""

    def link(self, path: str) -> Answer:
        """Where a link leads, resolved inside the host."""

    def run(self, argv: tuple[str, ...], seconds: float = 5.0) -> Answer:
        """What a program prints, standard error after standard output."""

    def listing(self, pattern: str) -> Answer:
        """As `ls -l` prints it."""

    def variables(self) -> Answer:
        """As `env` prints it."""

    def account(self) -> Answer:
        """As `id` prints it."""

    def recorded(self) -> list[Recorded]:
        """Commands that were kept, for a host that cannot run any; empty for a live one."""
