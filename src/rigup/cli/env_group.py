"""The group of commands about environments, with help as all commands have it."""

import click

from rigup.language import _


class Environments(click.Group):
    """A group whose list of commands is headed in the language in force."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Each command with the first sentence of its help."""
        with formatter.section(_("Commands")):
            formatter.write_dl([(name, _first(subcommand.help or "")) for name, subcommand in self.commands.items()])


def _first(text: str) -> str:
    """Its first paragraph, in one line."""
    return " ".join(text.partition("\n\n")[0].split())
