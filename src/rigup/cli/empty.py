"""Words that are empty, as `--html "$FILE"` gives where FILE is not set: an error, and never taken for none."""

from typing import Any

import click
from click.core import ParameterSource

from rigup.language import _


def refusing_empty(command: click.Command) -> click.Command:
    """The command, none of whose options and arguments takes an empty word; what follows `--` is a program's own."""
    for param in command.params:
        if param.callback is None and not isinstance(param.type, click.types.UnprocessedParamType):
            param.callback = _not_empty
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        refusing_empty(inner)
    return command


def _not_empty(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    given = param.name is not None and ctx.get_parameter_source(param.name) == ParameterSource.COMMANDLINE
    if given and "" in (value if isinstance(value, tuple) else (value,)):
        sentence = _("The word is empty, as a variable that is not set gives it. Name what is meant, or leave {option} away.")
        raise click.BadParameter(
            sentence.format(option=param.opts[-1] if isinstance(param, click.Option) else param.make_metavar(ctx)), ctx, param
        )
    return value
