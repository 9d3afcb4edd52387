"""`rigup history --json`: what apply and fix have done here."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

RunState = Literal["finished", "failed", "waiting", "broken-off", "taken-back", "being-taken-back", "unreadable"]
StepEnd = Literal["done", "failed", "skipped", "left", "begun", "undone", "cannot-undo", "undo-failed", "not-begun"]


class RunSummary(Struct, frozen=True, kw_only=True):
    """A run of apply or fix; of one whose record cannot be read its number, state and reason alone.

    Attributes:
        number: as `rigup undo` takes it.
        state: how it stands now.
        because: why its record cannot be read, as a sentence.
        made_at: when it was begun, ISO 8601.
        title: what it was about.
        environment: the one that it changed; None for none.
        done: how many steps were taken and stand.
        folder: of the journal, in which all of it is kept.

    """

    number: int
    state: RunState
    because: str | UnsetType = UNSET
    made_at: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    environment: str | UnsetType | None = UNSET
    done: int | UnsetType = UNSET
    folder: str | UnsetType = UNSET


class Run(RunSummary, frozen=True, kw_only=True):
    """A run of apply or fix, in the list.

    Attributes:
        steps: how many it has.

    """

    steps: int | UnsetType = UNSET


class Ran(Struct, frozen=True, kw_only=True):
    """A command as it was started.

    Attributes:
        command: as a person types it.
        said: the lines that it printed, the first 400 of a step at most.

    """

    command: str
    said: list[str]


class RunStep(Struct, frozen=True, kw_only=True):
    """A step of a run.

    Attributes:
        number: its place, from 1.
        title: what is done.
        state: how it stands now.
        root: whether it needs root.
        log: the file with all that its commands said; None where there is none.
        ran: its commands.

    """

    number: int
    title: str
    state: StepEnd
    root: bool
    log: str | None
    ran: list[Ran]


class WholeRun(RunSummary, frozen=True, kw_only=True):
    """One run in full.

    Attributes:
        ended_at: when the last of it happened, ISO 8601; None where nothing did.
        steps: in the order in which they are taken.

    """

    ended_at: str | UnsetType | None = UNSET
    steps: list[RunStep]


class Runs(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.history/1"):
    """All runs.

    Attributes:
        runs: the newest first.

    """

    runs: list[Run]


class OneRun(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.history/1"):
    """One run, where a number was given.

    Attributes:
        run: in full.

    """

    run: WholeRun
