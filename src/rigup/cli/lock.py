"""`rigup lock`: what a wish comes to, or what an environment holds, with the hash of every file and the reasons."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import UNSET, structs

from rigup.cli.arguments import click_errors
from rigup.cli.data import data_text
from rigup.cli.env_files import free, put
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.plan.environments.lockfile import Lock
    from rigup.schemas import lock as schema

OPTIONS = (
    click.argument("words", nargs=-1, metavar="[ENV|WISH]..."),
    click.option("-r", "--requirement", "files", multiple=True, metavar="FILE", help="A requirements.txt or a pyproject.toml."),
    click.option("--env", "name", default="", metavar="ENV", help="The environment that a wish is resolved for."),
    click.option("--python", default="", metavar="VERSION", help="The Python of the environment."),
    click.option("--mirror", default="", metavar="NAME", help="Take packages from a mirror of the tables."),
    click.option("--force", is_flag=True, help="Write over a file that is there."),
    click.option("-q", "--quiet", is_flag=True, help="Say only what fails."),
)


def options(function: Any) -> Any:
    """The options that `lock` and `bundle` share."""
    for option in reversed(OPTIONS):
        function = option(function)
    return function


@click.command("lock")
@options
@click.option("-o", "--output", default="pylock.toml", show_default=True, metavar="FILE", help="Where it goes; - prints it.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as data (schema rigup.lock/1).")
def command(words: tuple[str, ...], output: str, force: bool, quiet: bool, as_json: bool, **wished: Any) -> int:
    """Write a lock: exact versions, the hash of every file, this machine, and the reason of every choice.

    Of an environment as it is, or of a wish that is not installed yet; without either, of the active environment.
    `rigup apply --locked FILE` makes it again. The form is PEP 751's: pip and uv read it too.
    """
    from rigup.cli.progress import Waiting
    from rigup.plan.environments import lockfile
    from rigup.workflows.locking import lock_of

    if as_json:
        choose("en")
    with click_errors():
        if output != "-":
            free(output, force := force or _is_ours(output))
        lock = lock_of(words, **wished, waiting=Waiting)
        if output != "-" or not as_json:
            put(lockfile.text(lock), output, force, quiet)
    if as_json:
        click.echo(data_text(_write(lock, output)))
    elif output != "-" and not quiet:
        click.echo(lock_text(lock))
    return 0


def _write(lock: "Lock", output: str) -> "schema.Lock":
    """What was written and where; with `-` the lock itself stands in the answer."""
    from rigup.plan.environments import lockfile
    from rigup.schemas import lock as schema

    path, text = (output, UNSET) if output != "-" else (None, lockfile.text(lock))
    return schema.Lock(path=path, text=text, **structs.asdict(summary(lock)))


def _is_ours(output: str) -> bool:
    """A lock of rigup's may be written anew."""
    from rigup.plan.environments import lockfile
    from rigup.plan.environments.lock_fields import LockError

    try:
        return Path(output).is_file() and lockfile.read(output).created_by == "rigup"
    except LockError:
        return False


def summary(lock: "Lock") -> "schema.Locked":
    """What a lock holds."""
    from rigup.schemas.lock import Locked

    return Locked(
        python=lock.python,
        wish=list(lock.wish),
        variables=lock.variables,
        made_for=lock.facts,
        packages={package.name: package.version for package in lock.packages},
        reasons=lock.reasons,
    )


def lock_text(lock: "Lock") -> str:
    """A lock in a sentence."""
    text = _("Locked for Python {python}, each file by its hash. Packages: {count}.")
    return text.format(count=len(lock.packages), python=lock.python)
