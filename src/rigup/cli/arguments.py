"""Words of a command line as values, and errors of workflows as errors of click."""

import os
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from rigup.language import _

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def click_errors() -> "Iterator[None]":
    """Turn what workflows and the system raise as an answer into errors of the command line."""
    from rigup.cli.failing import as_click_error

    try:
        yield
    except click.ClickException:
        raise
    except OSError as error:
        path = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
        text = _("{path}: {why}.").format(path=path, why=error.strerror or type(error).__name__)
        raise click.ClickException(text.removeprefix(": ")) from error
    except Exception as error:
        if (click_error := as_click_error(error)) is None:
            raise
        raise click_error from error


def pairs(words: Sequence[str]) -> Mapping[str, str]:
    """NAME=VALUE as a person types them. Raises click.UsageError."""
    values = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.replace("_", "a").isalnum() or not name.isascii() or name[:1].isdigit() or "\0" in value:
            raise click.UsageError(_("{word} is not NAME=VALUE.").format(word=repr(word)[:120]))
        values[name] = value
    return values


class BehindDashes:
    """For a command or a group: what stands behind `--` is another program's, also where it is spelt like an option of ours.

    It is kept in `ctx.meta["behind"]`.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Our own words; the rest is kept aside."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta["behind"] = tuple(args[at + 1 :])
        words: list[str] = super().parse_args(ctx, args[:at])  # type: ignore[misc]
        return words
