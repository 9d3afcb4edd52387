"""Files that commands write for a person: whole or not at all, and never over another without a word."""

import os
import sys
import tempfile
from pathlib import Path

import click

from rigup.language import _
from rigup.machine.private_file import takes_a_stream


def put(text: str, output: str, force: bool = False, quiet: bool = False) -> None:
    """Print a text, or write it to a file.

    Raises:
        click.ClickException: the file is there and `force` was not given.
        OSError: it cannot be written.

    """
    if output == "-":
        click.echo(text, nl=False)
        return
    path = free(output, force)
    if takes_a_stream(path):
        path.write_text(text, encoding="utf-8", newline="")
        return
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".rigup-draft-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(draft, 0o644)
        os.replace(draft, path)
    finally:
        Path(draft).unlink(missing_ok=True)
    if not quiet:
        click.echo(_("{path} is written.").format(path=path), err=True)


def free(output: str, force: bool = False) -> Path:
    """The path, if nothing stands there and its folder is. Raises click.ClickException."""
    path = Path(output)
    if not path.parent.is_dir():
        sentence = _("There is no folder {path}. Make it, or name another file.")
        raise click.ClickException(sentence.format(path=path.parent))
    if path.is_dir():
        raise click.ClickException(_("{path} is a folder. Name a file.").format(path=path))
    if os.path.lexists(path) and not (force or takes_a_stream(path)):
        raise click.ClickException(_("{path} is there already. Name another file, or remove it.").format(path=path))
    return path


def asked(question: str, yes: bool) -> bool:
    """Whether a person agrees; where nobody can be asked only --yes does. Raises click.UsageError."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise click.UsageError(_("Nobody can be asked here: give --yes to do it without a question."))
    return click.confirm(question, default=False, err=True)
