"""`rigup bundle`: a lock with all its files and a script, in one archive, for machines without a network."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from rigup.cli.arguments import click_errors
from rigup.cli.data import data_text
from rigup.cli.env_files import free
from rigup.cli.lock import lock_text, options, summary
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.plan.environments.lockfile import Lock


@click.command("bundle")
@options
@click.option("-o", "--output", required=True, metavar="FILE.tar", help="The archive.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as data (schema rigup.bundle/1).")
def command(words: tuple[str, ...], output: str, force: bool, quiet: bool, as_json: bool, **wished: Any) -> int:
    """Pack a lock, an environment or a wish with all its files, for machines without a network.

    There, `rigup apply FILE.tar` makes the environment and asks nobody else; a machine without rigup unpacks the
    archive and runs `sh install.sh FOLDER`. Files are those for this machine's system and processor.
    """
    from rigup.cli.progress import Waiting
    from rigup.workflows.locking import packed

    if as_json:
        choose("en")
    with click_errors():
        path = free(output, force)
        lock = _lock(words, wished)
        with Waiting(_("Getting the files …")):
            size = packed(lock, path)
    if as_json:
        from rigup.schemas.bundle import Bundle

        click.echo(data_text(Bundle(path=str(path), bytes=size, **structs.asdict(summary(lock)))))
    elif not quiet:
        from rigup.sizes import size as shown

        click.echo(lock_text(lock))
        click.echo(_("{path} holds them all: {size}.").format(path=path, size=shown(size)))
    return 0


def _lock(words: tuple[str, ...], wished: dict[str, Any]) -> "Lock":
    """A file is a lock; all else is locked first."""
    from rigup.cli.progress import Waiting
    from rigup.plan.environments import lockfile
    from rigup.workflows.locking import lock_of

    if len(words) == 1 and words[0].endswith(".toml") and Path(words[0]).is_file():
        return lockfile.read(words[0])
    return lock_of(words, **wished, waiting=Waiting)
