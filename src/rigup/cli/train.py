"""`rigup train`: what is done with training scripts, each command imported when it is called."""

import importlib
from typing import cast

import click

from rigup.cli.help import translated
from rigup.language import N_, _

SUBCOMMANDS = {
    "check": ("rigup.cli.train_check", N_("Tell what would go wrong with a training script under its batch script.")),
    "port": ("rigup.cli.train_port", N_("Show what turns a script for one CUDA card into one for any device and for many.")),
    "new": ("rigup.cli.train_new", N_("Write a project that trains as it is, on one GPU and on many.")),
}
"""By name: the module with the command, and its help in a sentence."""


class Training(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """All commands."""
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """One command, imported."""
        if cmd_name not in SUBCOMMANDS:
            return None
        return translated(cast("click.Command", importlib.import_module(SUBCOMMANDS[cmd_name][0]).command))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, without importing them."""
        with formatter.section(_("Commands")):
            formatter.write_dl([(name, _(help_text)) for name, (_module, help_text) in SUBCOMMANDS.items()])


@click.group("train", cls=Training, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> int:
    """Check training scripts, port them, or begin a new project."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
    return 0
