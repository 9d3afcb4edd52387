"""`rigup env`: which environments there are, and what becomes of them."""

import os
from typing import TYPE_CHECKING

import click

from rigup.cli import env_changes as changes
from rigup.cli.arguments import click_errors
from rigup.cli.data import data_text
from rigup.cli.groups import CommandGroup
from rigup.language import _, choose
from rigup.workflows.environments import defaults, environment, surroundings_of, this_machine

if TYPE_CHECKING:
    from rigup.plan.environments.found import Found
    from rigup.schemas.env import EnvironmentShown, Listed

_SHELLS = ("bash", "zsh", "sh", "fish", "csh", "tcsh", "powershell")
_FORMS = ("requirements", "pylock", "conda", "dotenv")
_ENV = "The environment: a path or a name; by default the active one."


@click.group("env", cls=CommandGroup, invoke_without_command=True)
@click.option(
    "--shell",
    is_flag=False,
    flag_value="auto",
    type=click.Choice(["auto", *_SHELLS]),
    default=None,
    metavar="[SHELL]",
    help="Print what a shell has to evaluate; by default yours.",
)
@click.option("--env", "name", default="", metavar="ENV", help=_ENV)
@click.pass_context
def command(context: click.Context, shell: str | None, name: str) -> int:
    """List, show, copy, remove and export environments; or print what a shell evaluates to use one.

    In bash: eval "$(rigup env --shell)"; in fish: rigup env --shell fish | source.
    """
    if context.invoked_subcommand is not None:
        return 0
    if shell is None:
        click.echo(context.get_help())
        return 0
    from rigup.plan.environments.shells import exports, shell_of

    with click_errors():
        form = shell_of(os.environ) if shell == "auto" else shell
        click.echo(exports(surroundings_of(environment(name)), form, os.environ), nl=False)
    return 0


@command.command("list")
@click.option("--no-size", is_flag=True, help="Do not count their bytes.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.env/1).")
def list_(no_size: bool, as_json: bool) -> int:
    """List the environments that can be found: rigup's, conda's, the active one, those beside and in the shared folder."""
    from pathlib import Path

    from rigup.cli.progress import Waiting
    from rigup.plan.environments.found import found

    if as_json:
        choose("en")
    with click_errors(), Waiting(_("Counting bytes …")):
        rows = [_row(entry, no_size) for entry in found(defaults(), os.environ, Path.cwd())]
    if as_json:
        from rigup.schemas.env import EnvironmentList

        click.echo(data_text(EnvironmentList(environments=rows)))
    else:
        from rigup.cli.env_report import listed

        click.echo("\n".join(listed(rows)))
    return 0


def _row(entry: "Found", no_size: bool) -> "Listed":
    from msgspec import UNSET

    from rigup.plan.environments.folder import size_of
    from rigup.schemas.env import Listed

    env = entry.environment
    size = None if no_size else size_of(env.path)
    return Listed(
        name=entry.name,
        path=str(env.path),
        kind=env.kind,
        python=env.python,
        made_by_rigup=entry.ours,
        active=entry.active,
        fault=entry.fault or None,
        bytes=size.all if size else UNSET,
        shared_bytes=size.shared if size else UNSET,
    )


@command.command("show")
@click.argument("name", default="", metavar="[ENV]")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.env/1).")
def show(name: str, as_json: bool) -> int:
    """Show one environment: packages, variables, what it was made for, and what has changed on the machine since."""
    from rigup.cli.env_report import shown

    if as_json:
        choose("en")
    with click_errors():
        answer = _description(name)
    from rigup.machine.outward import outward

    click.echo(data_text(answer) if as_json else "\n".join(shown(outward(answer))))
    return 0


def _description(name: str) -> "EnvironmentShown":
    from rigup.plan.environments.folder import packages, size_of
    from rigup.plan.environments.made_for import differences
    from rigup.plan.environments.record import looked_at
    from rigup.plan.environments.running import of_environment
    from rigup.schemas.env import EnvironmentShown

    env = environment(name)
    record, fault = looked_at(env.path)
    size = size_of(env.path)
    return EnvironmentShown(
        path=str(env.path),
        kind=env.kind,
        python=env.python,
        base=env.base or None,
        bytes=size.all,
        shared_bytes=size.shared,
        made_by_rigup=record is not None,
        fault=fault or None,
        wish=list(record.wish) if record else [],
        made_at=record.made_at if record else None,
        plan=record.plan if record else None,
        variables={setting.name: setting.value for setting in of_environment(env)},
        packages={package.name: package.version for package in packages(env)},
        made_for=record.facts if record else {},
        differences=differences(record.facts, this_machine(env.path)) if record and record.facts else [],
    )


@command.command("export")
@click.argument("name", default="", metavar="[ENV]")
@click.option("--as", "form", type=click.Choice(_FORMS), default="requirements", show_default=True, help="The form.")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where it goes; by default it is printed.")
def export(name: str, form: str, output: str) -> int:
    """Write an environment as a requirements file, a lock, an environment.yml or a .env file."""
    from rigup.cli.env_files import put

    with click_errors():
        text = _export(name, form)
        put(text, output)
    return 0


def _export(name: str, form: str) -> str:
    from rigup.plan.environments import exporting, lockfile, locking, shells

    env = environment(name)
    if form == "pylock":
        return lockfile.text(locking.of_environment(env, this_machine(env.path)))
    if form == "dotenv":
        return shells.dotenv({setting.name: setting.value for setting in surroundings_of(env).variables})
    return exporting.requirements(env) if form == "requirements" else exporting.conda(env)


@command.command("history")
@click.argument("name", default="", metavar="[ENV]")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.env/1).")
def history(name: str, as_json: bool) -> int:
    """Show what happened to an environment: plans that rigup took, revisions that conda wrote down."""
    from rigup.cli.env_report import happened
    from rigup.plan.environments import history as kept
    from rigup.schemas.env import EnvironmentHistory

    if as_json:
        choose("en")
    with click_errors():
        env = environment(name)
        rows = kept.history(env)
    if as_json:
        click.echo(data_text(EnvironmentHistory(path=str(env.path), history=rows)))
    else:
        click.echo("\n".join(happened(rows)))
    return 0


for _one in (changes.remove, changes.clone, changes.clean, changes.kernel):
    command.add_command(_one)
