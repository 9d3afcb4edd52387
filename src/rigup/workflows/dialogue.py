"""Questions and progress while a workflow changes something: for a person at a terminal, or a program."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rigup.plan.applying.taking import Progress

Sizes = Mapping[str, tuple[int, int]]
"""By package: bytes of its file, bytes on the disk."""


class Dialogue(Protocol):
    """The other side of a workflow."""

    @property
    def can_type(self) -> bool:
        """Whether somebody is there who could type a password."""

    def says(self, sentence: str) -> None:
        """A sentence that is worth knowing; nothing depends on it."""

    def agrees(self, question: str) -> None:
        """Return where it may be done; raise otherwise."""

    def watches(self, steps: int, sizes: Sizes | None, stays: Callable[[], str]) -> "AbstractContextManager[Progress]":
        """Shows the progress of steps while they are taken.

        Args:
            steps: how many there are.
            sizes: of the packages that come, where they are known.
            stays: what is so, and what can be done, after a stop by hand; asked for then.

        """


class Unattended:
    """Nobody is asked: who calls has agreed, and reads what became of it."""

    can_type = False

    def says(self, sentence: str) -> None:
        """Nobody listens."""

    def agrees(self, question: str) -> None:
        """Who calls has agreed."""

    def watches(self, steps: int, sizes: Sizes | None, stays: Callable[[], str]) -> "AbstractContextManager[Progress]":  # noqa: ARG002  (nobody watches)
        """Nobody watches."""
        from contextlib import nullcontext

        return nullcontext(_Nobody())


class _Nobody:
    """Ignores progress."""

    def begins(self, number: int, title: str) -> None: ...
    def says(self, line: str) -> None: ...
    def watches(self, folder: str) -> None: ...
    def empties(self, folder: str) -> None: ...
    def ends(self, number: int, title: str, how: str) -> None: ...
