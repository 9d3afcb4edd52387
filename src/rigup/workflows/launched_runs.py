"""Runs that were launched before: found by what a person calls them, and what became of each."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rigup.workflows.errors import as_workflow_errors
from rigup.workflows.launching import facts_of

if TYPE_CHECKING:
    from rigup.schemas.launch import Launch, LaunchShort, Progress
    from rigup.train.launch.record import Run

_MOST_SIBLINGS = 50  # runs with which one is compared


def run_status(word: str) -> "Launch":
    """What became of a run, with what its ranks recorded of their steps. Raises WorkflowError."""
    from rigup.train.launch.answer import answer
    from rigup.train.launch.progress import scaling

    run = run_named(word)
    own = _progress(run)
    others = [attempt for other in _siblings(run) for attempt in _progress(other)] if own else []
    return msgspec.structs.replace(answer(run, facts_of(run)), progress=own, scaling=scaling([*own, *others]))


def _progress(run: "Run") -> "list[Progress]":
    import platformdirs

    from rigup.machine.local import Local
    from rigup.train.launch.progress import history_folders, progress

    return progress(Local(), history_folders(run, str(platformdirs.user_state_path("rigup"))))


def _siblings(run: "Run") -> "Iterator[Run]":
    """Other runs of the same program from the same folder, the newest first."""
    from rigup.train.launch.record import load, runs
    from rigup.train.launch.shape import LaunchError

    for folder in islice(runs(run.folder.parent.parent), _MOST_SIBLINGS):
        with suppress(LaunchError):
            other = load(folder)
            if other.folder != run.folder and other.job.program.script == run.job.program.script:
                yield other


def run_named(word: str) -> "Run":
    """The run that a word means; "" the newest. Raises WorkflowError."""
    from rigup.train.launch.record import run_named as found

    with as_workflow_errors():
        return found(word, Path.cwd())


def listed() -> "Iterator[LaunchShort]":
    """Every run that was launched from this folder, the newest first."""
    from rigup.train.launch.answer import short
    from rigup.train.launch.record import load, runs
    from rigup.train.launch.shape import LaunchError

    for folder in runs(Path.cwd()):
        with suppress(LaunchError):
            run = load(folder)
            yield short(run, facts_of(run))
