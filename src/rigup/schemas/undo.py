"""`rigup undo --json`: what was taken back."""

from typing import Literal

from msgspec import Struct

from rigup.schemas.shared import Argv


class WayBack(Struct, frozen=True, kw_only=True):
    """How a step would be taken back.

    Attributes:
        title: of the step.
        commands: what would be run for it.
        because: why it cannot be taken back, as a sentence; None where it can.

    """

    title: str
    commands: list[Argv]
    because: str | None


class Left(Struct, frozen=True, kw_only=True):
    """A step that was not taken back.

    Attributes:
        title: of the step.
        because: why it cannot be taken back, as a sentence; None where it was tried and failed.

    """

    title: str
    because: str | None


class UndoDryRun(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.undo/1"):
    """What would be taken back; nothing was changed.

    Attributes:
        verdict: always possible.
        steps: in the order in which they would be taken back.

    """

    verdict: Literal["possible"]
    steps: list[WayBack]


class Undone(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.undo/1"):
    """What was taken back.

    Attributes:
        verdict: failed where something was tried and could not be taken back.
        number: of the run, as `rigup history` shows it.
        left: what was not taken back.
        put_aside: folders and files that were changed since and are kept.

    """

    verdict: Literal["taken-back", "failed"]
    number: int
    left: list[Left]
    put_aside: list[str]
