"""`rigup completion`: the script that teaches a shell our commands and options."""

import click
from click.shell_completion import get_completion_class

from rigup.language import _


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print the completion script of SHELL; for bash: eval "$(rigup completion bash)"."""
    from rigup.cli import main

    completion = get_completion_class(shell)
    if completion is None:
        raise click.ClickException(_("There is no completion for {shell}.").format(shell=shell))
    click.echo(completion(main, {}, "rigup", "_RIGUP_COMPLETE").source())
    return 0
