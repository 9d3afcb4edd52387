"""What `apply` and `fix` answer when they take steps, or would: one form for each way in which it ends."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from rigup.schemas.shared import Argv, Step


class Foreseen(Struct, frozen=True, kw_only=True):
    """A step as it would be taken now.

    Attributes:
        number: its place among the steps, from 1.
        title: what is done, as a sentence.
        commands: word for word as they would be started.
        writes: files that would be created or changed.

    """

    number: int
    title: str
    commands: list[Argv]
    writes: list[str]


class DryRun(Struct, frozen=True, kw_only=True):
    """What would be run; nothing was changed (`--dry-run`).

    Attributes:
        verdict: always possible.
        steps: those that would be taken now.

    """

    verdict: Literal["possible"]
    steps: list[Foreseen]


class Blocked(Struct, frozen=True, kw_only=True):
    """A step cannot be taken here, so nothing was changed.

    Attributes:
        verdict: always blocked.
        because: why the first of them cannot, as a sentence.
        steps: all of them, each with its state, where they are known.

    """

    verdict: Literal["blocked"]
    because: str
    steps: list[Step] | UnsetType = UNSET


class Ended(Struct, frozen=True, kw_only=True):
    """How a run ended.

    Attributes:
        verdict: finished; failed; restart where it waits for one, left where some is left to others.
        because: what happened, as a sentence; None where all is well.
        number: of the run, as `rigup history` and `rigup undo` take it.
        log: the file with what the commands of the step said at which it ended; None for no step.

    """

    verdict: Literal["finished", "failed", "restart", "left"]
    because: str | None
    number: int
    log: str | None
