"""`rigup env remove|clone|clean|kernel`: what changes something; each asks before."""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rigup.cli.arguments import click_errors
from rigup.cli.data import data_text
from rigup.cli.env_files import asked
from rigup.language import _, choose
from rigup.workflows.environments import defaults, environment

if TYPE_CHECKING:
    from rigup.plan.environments.folder import Environment
    from rigup.plan.environments.removing import Leftover


@contextmanager
def _alone() -> Iterator[None]:
    """Errors as click tells them, and no other rigup at work."""
    from rigup.plan.applying.one import alone

    with click_errors(), alone():
        yield


# -- remove ------------------------------------------------------------------------------------------


@click.command("remove")
@click.argument("name", metavar="ENV")
@click.option("-y", "--yes", is_flag=True, help="Do not ask; also remove one that rigup did not make.")
def remove(name: str, yes: bool) -> int:
    """Remove an environment and all that is in it. One that rigup did not make is only removed with --yes."""
    from rigup.cli.progress import Waiting
    from rigup.plan.environments import removing
    from rigup.plan.environments.folder import size_of
    from rigup.sizes import size

    with _alone():
        env = environment(name)
        _may_go(env, yes)
        used = size_of(env.path)
        freed = size(used.all - used.shared)
        question = _("Remove {path}, with Python {python}? It frees {size}.")
        if not asked(question.format(path=env.path, python=env.python or "–", size=freed), yes):
            return 1
        with Waiting(_("Removing …")):
            removing.remove(env)
    click.echo(_("{path} is removed; {size} are free.").format(path=env.path, size=freed))
    return 0


def _may_go(env: "Environment", yes: bool) -> None:
    """Raise click.ClickException for what is never removed, and for what was not made here unless it is meant."""
    from rigup.plan.environments import removing

    if because := removing.forbidden(env):
        raise click.ClickException(because + " " + _("It is not removed."))
    if not yes and not removing.made_by_rigup(env):
        text = _("rigup did not make {path}. If it is to go all the same, give --yes.")
        raise click.ClickException(text.format(path=env.path))


# -- clone -------------------------------------------------------------------------------------------


@click.command("clone")
@click.argument("source", metavar="ENV")
@click.argument("target", metavar="NEW")
@click.option("--copy", is_flag=True, help="Share no file with the first: it takes the room twice.")
def clone(source: str, target: str, copy: bool) -> int:
    """Make a copy of an environment that works at its own place.

    NEW is a path, or a name in the shared folder where there is one. Files share their room on the disk where the file
    system lets them.
    """
    from rigup.cli.progress import Waiting

    with _alone():
        env, path = environment(source), _place(target)
        if os.path.lexists(path):
            raise click.ClickException(_("{path} is there already. Name another folder.").format(path=path))
        with Waiting(_("Copying …")):
            _clone(env, path, copy)
    text = _("{path} is ready. Use it by: rigup run --env {quoted} -- COMMAND")
    click.echo(text.format(path=path, quoted=shlex.quote(str(path))))
    return 0


def _place(target: str) -> Path:
    prefix = defaults().prefix
    plain = not any(sign in target for sign in (os.sep, os.altsep) if sign) and target not in (".", "..")
    return Path(prefix, target) if prefix and plain else Path.cwd() / os.path.expanduser(target)


def _clone(env: "Environment", path: Path, copy: bool) -> None:
    """Made beside, and put into its place when it is whole."""
    from rigup.plan.environments import registry, settings, staged_swap
    from rigup.plan.environments.relocating import relocate

    path.parent.mkdir(parents=True, exist_ok=True)
    built = staged_swap.staging(path)
    if os.path.lexists(built):
        staged_swap.discard(built)
    try:
        staged_swap.clone(env.path, built, copy)
        relocate(built, built, path)
    except ValueError as error:
        staged_swap.discard(built)
        raise click.ClickException(str(error)) from error
    except BaseException:
        if os.path.lexists(built):
            staged_swap.discard(built)
        raise
    _tell_what_it_is(env, built)
    if settings.is_shared(path, defaults()):
        settings.read_only_for_others(built)
    staged_swap.swap(built, path)
    registry.add(path)


def _tell_what_it_is(env: "Environment", built: Path) -> None:
    """The first one's record; for one that rigup did not make, what the devices need."""
    import msgspec

    from rigup.plan.environments import record
    from rigup.workflows.environments import device_needs

    made_record = record.read(env.path)
    if made_record is None:
        needed, _libraries = device_needs(env.path)
        variables = {setting.name: setting.value for setting in needed}
        made_record = record.Record(python=".".join(env.python.split(".")[:2]), manager=env.kind, variables=variables)
    record.write(built, msgspec.structs.replace(made_record, plan="", made_at=""))


# -- clean -------------------------------------------------------------------------------------------


@click.command("clean")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would go; remove nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.env/1); with --yes also remove.")
def clean(yes: bool, dry_run: bool, as_json: bool) -> int:
    """Remove what was left beside environments: those that were replaced, and those that were never finished.

    Environments that were replaced are kept for `rigup undo`; when they are gone, undo cannot bring them back.
    """
    from rigup.plan.environments import registry, staged_swap

    if as_json:
        choose("en")
    with _alone():
        leftovers = _leftovers()
        if not as_json:
            click.echo("\n".join(_leftover_lines(leftovers)))
        go = bool(leftovers) and not dry_run and (yes or (not as_json and asked(_("Remove them?"), yes)))
        for leftover in leftovers if go else ():
            staged_swap.discard(leftover.path)
        if go or not (leftovers or dry_run):
            registry.forget_those_gone()
    _say(leftovers, go, as_json)
    return 0


def _leftovers() -> list["Leftover"]:
    from rigup.plan.environments import removing
    from rigup.plan.environments.found import found
    from rigup.plan.environments.registry import remembered

    settings = defaults()
    rows = found(settings, os.environ, Path.cwd())
    folders = {Path.cwd(), *(row.environment.path.parent for row in rows), *(path.parent for path in remembered())}
    return removing.leftovers(folders | ({Path(settings.prefix)} if settings.prefix else set()))


def _leftover_lines(leftovers: list["Leftover"]) -> list[str]:
    from rigup.cli.layout import wrapped
    from rigup.sizes import size

    if not leftovers:
        return wrapped(_("Nothing was left beside the environments."))
    ends = {True: _("kept for undo"), False: _("never finished")}
    return [f"  {size(leftover.bytes):>8}  {leftover.path} ({ends[leftover.kept_for_undo]})" for leftover in leftovers]


def _say(leftovers: list["Leftover"], gone: bool, as_json: bool) -> None:
    from rigup.sizes import size

    every = sum(leftover.bytes for leftover in leftovers)
    if as_json:
        from rigup.schemas import env as schema

        rows = [
            schema.Leftover(path=str(leftover.path), bytes=leftover.bytes, kept_for_undo=leftover.kept_for_undo) for leftover in leftovers
        ]
        click.echo(data_text(schema.Leftovers(leftovers=rows, bytes=every, removed=gone)))
    elif leftovers:
        text = _("{size} are free now.") if gone else _("{size} would be free.")
        click.echo(text.format(size=size(every)))


# -- kernel ------------------------------------------------------------------------------------------


@click.command("kernel")
@click.argument("name", default="", metavar="[ENV]")
@click.option("--name", "called", default="", metavar="NAME", help="What Jupyter calls it; by default the environment's name.")
@click.option("--title", default="", metavar="TEXT", help="What notebooks show.")
@click.option("--inside", is_flag=True, help="Keep it in the environment, for a Jupyter that runs there.")
def kernel(name: str, called: str, title: str, inside: bool) -> int:
    """Register an environment as a kernel for notebooks, with the variables that its devices need."""
    from rigup.workflows.notebooks import register

    with click_errors():
        path = register(environment(name), called, title, inside=inside)
    click.echo(_("{path} is written. Choose the kernel in the notebook.").format(path=path))
    return 0
