"""`rigup run`: a program in an environment, with the variables that this machine's devices need."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.arguments import click_errors, pairs
from rigup.cli.data import data_text
from rigup.cli.failing import CannotBeDone
from rigup.language import _, choose
from rigup.workflows.environments import environment_if_any, surroundings_of

if TYPE_CHECKING:
    from rigup.plan.environments.folder import Environment
    from rigup.plan.environments.running import Surroundings
    from rigup.schemas.run import Run


@click.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[--] COMMAND [WORD]...")
@click.option("--env", "name", default="", metavar="ENV", help="The environment: a path or a name; by default the active one.")
@click.option("--set", "extra", multiple=True, metavar="NAME=VALUE", help="Set a variable, over all others.")
@click.option("--no-env", is_flag=True, help="Take no environment: set only what the devices need.")
@click.option("--unit", default="", metavar="NAME", help="Print a systemd unit that runs it; without COMMAND a drop-in.")
@click.option("--show", is_flag=True, help="Print what would be set, and why; run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print that as data (schema rigup.run/1); run nothing.")
def command(words: tuple[str, ...], name: str, extra: tuple[str, ...], no_env: bool, unit: str, show: bool, as_json: bool) -> int:
    """Run a program in an environment, with the variables that this machine's devices need.

    The variables are those that the environment keeps; for one that rigup did not make, what the devices of this
    machine need: an override, devices that are hidden, folders of libraries. The program takes rigup's place: its
    exit status and its signals are its own.
    """
    if as_json:
        choose("en")  # data is the same in every language
    if not words and not (show or unit or as_json):
        raise click.UsageError(_("Say what to run: rigup run -- COMMAND."))
    with click_errors():
        over = pairs(extra)
        env = None if no_env else environment_if_any(name)
        surroundings = surroundings_of(env)
        if unit:
            click.echo(unit_text(unit, surroundings, over, words, os.getcwd()), nl=False)
            return 0
    if show or as_json:
        click.echo(_render(env, surroundings, over, as_json))
        return 0
    from rigup.plan.environments.running import merged, run

    return run(words, merged(surroundings, os.environ, over))


def unit_text(name: str, surroundings: "Surroundings", over: Any, words: tuple[str, ...], folder: str) -> str:
    """The text of a unit that runs words in a folder. A service starts with next to nothing: PATH is what the environment and the system have."""
    from rigup.plan.environments.running import merged, program
    from rigup.plan.environments.shells import unit

    if not all(letter.isalnum() or letter in "-_.@:" for letter in name):
        raise click.UsageError(_("{name} is no name of a unit.").format(name=repr(name)[:80]))
    variables = merged(surroundings, {"PATH": os.defpath}, over)
    found = program(words, merged(surroundings, os.environ, over)) if words else None
    if words and found is None:
        raise CannotBeDone(_("{program} is not found.").format(program=words[0]))
    return unit(name, variables, (os.path.abspath(found), *words[1:]) if found else (), folder)


def _render(env: "Environment | None", surroundings: "Surroundings", over: Mapping[str, str], as_json: bool) -> str:
    from rigup.machine.outward import outward
    from rigup.schemas.run import Run, Setting

    settings = [Setting(**setting._asdict()) for setting in surroundings.variables if setting.name not in over]
    set_here = [Setting(name=name, value=value, because=_("You set it.")) for name, value in over.items()]
    answer = Run(
        environment=str(env.path) if env else None,
        path=list(surroundings.path),
        unset=list(surroundings.unset),
        variables=[*settings, *set_here],
        libraries=[Setting(**setting._asdict()) for setting in surroundings.libraries],
    )
    return data_text(answer) if as_json else "\n".join(_lines(outward(answer)))


def _lines(answer: "Run") -> list[str]:
    from rigup.cli.layout import wrapped

    template = _("{name}={value}  ({because})")
    rows = [
        template.format(name=setting.name, value=setting.value, because=setting.because)
        for setting in (*answer.variables, *answer.libraries)
    ]
    rows += [_("{folder} goes first on PATH").format(folder=folder) for folder in answer.path]
    rows += [_("{name} is taken away").format(name=name) for name in answer.unset]
    return [line for row in rows for line in wrapped(row)] or wrapped(_("Nothing is to be set."))
