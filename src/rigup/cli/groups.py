"""Commands that have commands of their own, with help as all commands have it."""

import click

from rigup.language import _


class CommandGroup(click.Group):
    """A group whose list of commands is headed in the language in force."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Whoever types the group alone asks what there is: that is no error, so the help goes out with exit status 0."""
        if not args and self.no_args_is_help:
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit(0)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Each command with the first sentence of its help."""
        with formatter.section(_("Commands")):
            formatter.write_dl([(name, _first(subcommand.help or "")) for name, subcommand in self.commands.items()])


def _first(text: str) -> str:
    """Its first paragraph, in one line."""
    return " ".join(text.partition("\n\n")[0].split())
