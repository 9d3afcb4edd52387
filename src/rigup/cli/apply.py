"""`rigup apply`: show what should be there, ask, and make it so."""

import os
from typing import TYPE_CHECKING, Any

import click

from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.cli.taking import RunOptions
    from rigup.plan.applying.journal import Intent
    from rigup.schemas.plan import Plan

SCHEMA = "rigup.apply/1"


@click.command("apply")
@click.argument("wishes", nargs=-1, metavar="[WISH]...")
@click.option("-r", "--requirement", "files", multiple=True, metavar="FILE", help="A requirements.txt or a pyproject.toml.")
@click.option(
    "--env", "environment", default="", metavar="PATH", help="The environment to make or to change; by default the active one, else .venv."
)
@click.option("--python", default="", metavar="VERSION", help="The Python of the environment.")
@click.option("--in", "manager", type=click.Choice(["venv", "conda"]), default="venv", help="What holds it.")
@click.option("--prefer", type=click.Choice(["least-change", "newest"]), default="least-change", help="What counts more.")
@click.option("--no-root", is_flag=True, help="Plan nothing that needs root.")
@click.option("--with-rigup", is_flag=True, help="Put rigup.torch into the environment, for programs that use it.")
@click.option("--mirror", default="", metavar="NAME", help="Take packages from a mirror of the tables.")
@click.option("--resume", is_flag=True, help="Go on with the last run that did not come to its end.")
@click.option("--locked", default="", metavar="FILE", help="Make again what a lock holds, and nothing else.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--verify", "proven", is_flag=True, help="Prove on every device that it computes right, when it is done.")
@click.option("--dry-run", is_flag=True, help="Show exactly what would be run, and change nothing.")
@click.option("-q", "--quiet", is_flag=True, help="Say only what fails.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.apply/1).")
def command(
    wishes: tuple[str, ...],
    files: tuple[str, ...],
    environment: str,
    resume: bool,
    locked: str,
    yes: bool,
    proven: bool,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Choose a stack that this machine can run, as `rigup plan` does, and make it so.

    The plan is shown, and nothing is done before you agree. What a run has done is taken back by `rigup undo`; one
    that was broken off, or that waits for a restart, goes on with --resume.
    """
    from rigup.cli.taking import RunOptions, on_record, resumed, taken

    if as_json:
        choose("en")  # data is the same in every language
    run = RunOptions(yes=yes, dry_run=dry_run, quiet=quiet, as_json=as_json, schema=SCHEMA)
    if resume:
        return resumed(run)
    with on_record(run, (*wishes, *files, locked)) as run:
        if locked or (len(wishes) == 1 and _is_lock(wishes[0])):
            return _from_lock(locked or wishes[0], environment, run)
        intent, plan = _plan(wishes, files, environment, options)
        status = taken(intent, plan, run)
    done = status == 0 and plan.verdict == "possible" and intent.environment and not dry_run
    return _verify(intent.environment, run, proven) if done else status


def _verify(environment: str, run: "RunOptions", wanted: bool) -> int:
    """Verify what was made, where that was asked for, or a person at a terminal agrees; the exit status."""
    import sys

    from rigup.cli.verify import command as verify

    if not wanted and (run.yes or run.silent or not sys.stdin.isatty()):
        return 0
    click.echo()
    if not wanted and not click.confirm(_("Prove now that it computes right?"), default=True):
        return 0
    return int(click.get_current_context().invoke(verify, environment=environment) or 0)


def _plan(wishes: tuple[str, ...], files: tuple[str, ...], environment: str, options: dict[str, Any]) -> "tuple[Intent, Plan]":
    """What is to be done, with the plan that says why."""
    from rigup.cli.progress import Waiting
    from rigup.plan.answer import answer
    from rigup.workflows import intents
    from rigup.workflows.environments import in_this_folder
    from rigup.workflows.planning import Request, chosen

    request = Request(wishes=wishes, files=files, environment=environment or in_this_folder(), **options)
    choice = chosen(request, resolve=True, waiting=Waiting)
    plan = answer(choice)
    return intents.of_request(request, choice, plan), plan


def _is_lock(word: str) -> bool:
    """Whether a word names a lock or a bundle; a file of wishes, or one that is called as a package is, is neither."""
    if not os.path.isfile(word):
        return False
    from rigup.cli.locked import is_lock

    return is_lock(word)


def _from_lock(path: str, environment: str, run: "RunOptions") -> int:
    from rigup.cli.locked import from_lock

    return from_lock(path, environment, run)
