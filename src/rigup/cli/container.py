"""`rigup container`: start containers with the devices of this machine, and check the files that describe them."""

import sys
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.arguments import BehindDashes, click_errors
from rigup.cli.data import data_text
from rigup.cli.groups import CommandGroup
from rigup.language import choose

if TYPE_CHECKING:
    from rigup.schemas.container import ContainerLint

_FOR = "Another machine: words, or a TOML file with [host]."
_ENGINES = ("docker", "podman", "apptainer", "singularity", "nerdctl")


class _BeforeProgram(BehindDashes, click.Command):
    """What stands behind `--` is the program's, also where nothing stands before it."""


@click.group("container", cls=CommandGroup, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> int:
    """Start containers with the GPU, and check the files that describe them."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
    return 0


@command.command("run", cls=_BeforeProgram)
@click.argument("what", default="torch", metavar="[IMAGE|WISH] [-- COMMAND [WORD]...]")
@click.option("--engine", type=click.Choice(_ENGINES), default=None, help="What runs it; by default what needs the fewest changes.")
@click.option("--as", "form", type=click.Choice(["compose", "devcontainer"]), default=None, help="A file in place of a command.")
@click.option("--gpu", default="", metavar="SELECTION", help="all, none, optional, numbers such as 0,1, or GPU:INSTANCE.")
@click.option("--publish", type=int, multiple=True, metavar="PORT", help="A port, to be reached from this machine alone.")
@click.option("--mount", "mounts", multiple=True, metavar="FOLDER[:ro]", help="A folder, at the same path inside.")
@click.option("--env", "variables", multiple=True, metavar="NAME[=VALUE]", help="A variable; without a value yours.")
@click.option("--detach", is_flag=True, help="In the background, as a service.")
@click.option("--name", default="", metavar="NAME", help="Of the container.")
@click.option("--for", "profile", metavar="PROFILE", help=_FOR)
@click.option("--print", "only", is_flag=True, help="Print the command and why; run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print that as data (schema rigup.container/1); run nothing.")
@click.pass_context
def run(context: click.Context, /, what: str, profile: str | None, only: bool, as_json: bool, **options: Any) -> int:
    """Run a program in a container, with the devices of this machine.

    IMAGE is used as it is named; for a WISH, such as torch or vllm, the newest image is taken that the driver accepts
    and that has code for the card. What keeps it from working is said before, with the step that mends it. The
    program's exit status is kept, and what it dies of is diagnosed.
    """
    from rigup.workflows.containers import Words, container

    if as_json:
        choose("en")  # data is the same in every language
    options |= {name: options[name] or "" for name in ("engine", "form")}
    shown = only or as_json or profile is not None or bool(options["form"])
    terminal = shown or (sys.stdin.isatty() and sys.stdout.isatty())
    with click_errors():
        answer = container(Words(what=what, command=context.meta["behind"], terminal=terminal, **options), profile)
    if as_json:
        click.echo(data_text(answer))
        return int(answer.verdict == "impossible")
    from rigup.cli.container_report import shown_text, started

    if shown:
        click.echo(shown_text(answer))
        return int(answer.verdict == "impossible")
    typed = dict(option.partition("=")[::2] for option in options["variables"] if "=" in option)
    return started(answer, typed)


@command.command("build")
@click.argument("wishes", nargs=-1, metavar="[WISH]...")
@click.option("--tag", default="localhost/rigup-environment", metavar="NAME", help="What the image is called.")
@click.option("--engine", type=click.Choice(["docker", "podman"]), default=None, help="What builds it.")
@click.option("--for", "profile", metavar="PROFILE", help=_FOR)
@click.option("--print", "only", is_flag=True, help="Print the recipe; build nothing.")
def build(wishes: tuple[str, ...], tag: str, engine: str | None, profile: str | None, only: bool) -> int:
    """Build an image for a wish: pinned, with pip's cache kept between builds, and a user that is not root.

    The recipe is that of `rigup plan --as dockerfile`. The image is started with the devices by `rigup container run`.
    """
    import shutil
    import subprocess

    from rigup.workflows.containers import building

    found = engine or next((program for program in ("docker", "podman") if shutil.which(program)), "podman")
    with click_errors():
        image = building(wishes, profile, found, tag)
    if only:
        click.echo(image.recipe, nl=False)
        return 0
    with click_errors():
        return subprocess.run(image.argv, input=image.recipe.encode(), check=False).returncode


@command.command("doctor")
@click.argument("name", metavar="NAME|ID")
@click.option("--engine", type=click.Choice(["docker", "podman"]), default=None, help="What holds it.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.container-lint/1).")
def doctor(name: str, engine: str | None, as_json: bool) -> int:
    """Hold a container against its host: its devices and groups, its memory, its ports, and its image.

    Nothing is changed, and nothing is run in it.
    """
    from rigup.workflows.containers import examined

    if as_json:
        choose("en")
    with click_errors():
        answer = examined(name, engine or "")
    return _findings(answer, as_json)


@command.command("lint")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False), metavar="FILE...")
@click.option("--fix", is_flag=True, help="Mend in the files what needs no judgement.")
@click.option("--for", "profile", metavar="PROFILE", help=_FOR)
@click.option("--no-machine", is_flag=True, help="Judge the files alone, for no machine.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.container-lint/1).")
def lint(files: tuple[str, ...], fix: bool, profile: str | None, no_machine: bool, as_json: bool) -> int:
    """Tell what is wrong with a Dockerfile, a compose file, a devcontainer.json or an Apptainer definition.

    Errors are what fails and secrets that leave; warnings work worse or open the machine; notes are worth knowing.
    """
    from rigup.workflows.containers import linted

    if as_json:
        choose("en")
    with click_errors():
        answer = linted(files, profile, not no_machine, fix)
    return _findings(answer, as_json)


def _findings(answer: "ContainerLint", as_json: bool) -> int:
    """Findings as they are asked for; 1 where one is more than a note."""
    if as_json:
        click.echo(data_text(answer))
    else:
        from rigup.cli.container_report import linted_text

        click.echo(linted_text(answer))
    return int(any(finding.severity != "note" for finding in answer.findings))
