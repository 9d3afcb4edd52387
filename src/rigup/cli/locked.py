"""`rigup apply --locked FILE` and `rigup apply BUNDLE`: make again what a lock holds, and nothing else."""

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rigup.cli.arguments import click_errors
from rigup.cli.layout import wrapped
from rigup.cli.taking import RunOptions, go, say_data
from rigup.language import _, sentences
from rigup.schemas.apply import ApplyNothing
from rigup.schemas.taken import Blocked

if TYPE_CHECKING:
    from rigup.plan.environments.lockfile import Lock
    from rigup.schemas.shared import Step

_LOCKS = (".lock", ".tar")  # endings that nothing else has which can be applied: one that is damaged is told as such
_MOST_HEAD = 100_000  # bytes in which a lock says that it is one


def is_lock(path: str) -> bool:
    """Whether a file is a lock, by what stands at its beginning, or a bundle."""
    from rigup.plan.environments import bundle

    if path.endswith(_LOCKS) or bundle.is_bundle(path):
        return True
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            top = file.read(_MOST_HEAD).partition("\n[")[0]
    except OSError:
        return False
    return path.endswith(".toml") and re.search(r"^\s*lock-version\s*=", top, re.MULTILINE) is not None


def from_lock(path: str, environment: str, options: RunOptions) -> int:
    """Make the environment of a lock or a bundle; the exit status. On an unlike machine what differs is said first."""
    from rigup.plan.environments import bundle, lockfile

    with click_errors():
        if not bundle.is_bundle(path):
            return _make(lockfile.read(path), "", environment, options)
        held = bundle.opened(path, str(_new_folder()))
    status = 0
    try:
        with click_errors():
            status = _make(held.lock, held.folder, environment, options)
    finally:
        if status == 0 or options.dry_run:  # what failed is gone on with from the same files
            shutil.rmtree(held.folder, ignore_errors=True)
    return status


def _new_folder() -> Path:
    """Where the files of a bundle lie while they are installed: beside the journal, so that a run can be gone on with."""
    import tempfile

    from rigup.plan.applying.journal import state

    state().mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix="bundle-", dir=state()))


def _make(lock: "Lock", folder: str, environment: str, options: RunOptions) -> int:
    from rigup.cli.plan_report import steps_text
    from rigup.workflows import intents
    from rigup.workflows.locking import prepared

    plan = prepared(lock, folder, environment)
    if not options.silent:
        click.echo("\n".join([*_head(lock, plan.differences), "", *steps_text(plan.steps)]))
    if blocked := [step for step in plan.steps if step.state == "blocked"]:
        return _blocked(blocked, options)
    if all(step.state == "satisfied" for step in plan.steps):
        return _ready(options)
    return go(intents.of_lock(lock, plan.steps, plan.environment, plan.site), options)


def _head(lock: "Lock", differ: list[str]) -> list[str]:
    sentence = _("The lock is for Python {python} and knows each file by its hash. Packages: {count}.")
    lines = wrapped(sentence.format(count=len(lock.packages), python=lock.python))
    if differ:
        lines += ["", *wrapped(_("This machine is not quite like the one that it was made on:"))]
    return lines + [line for difference in differ for line in wrapped(difference, "  - ", "    ")]


def _blocked(blocked: "list[Step]", options: RunOptions) -> int:
    because = blocked[0].because
    if options.as_json:
        say_data(options, Blocked(verdict="blocked", because=because))
    else:
        click.echo("\n" + "\n".join(wrapped(sentences(_("Nothing was changed."), because))), err=True)
    return 1


def _ready(options: RunOptions) -> int:
    if options.as_json:
        say_data(options, ApplyNothing(verdict="ready"))
    elif not options.quiet:
        click.echo("\n" + _("Ready. What the lock holds is there already."))
    return 0
