"""A lock is made, packed with its files, and prepared for being applied."""

import os
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rigup.language import _
from rigup.workflows.environments import defaults, environment, environment_if_any, this_machine
from rigup.workflows.errors import CannotBeDoneError

if TYPE_CHECKING:
    from rigup.plan.environments.folder import Environment
    from rigup.plan.environments.lockfile import Lock
    from rigup.schemas.shared import Step
    from rigup.stack.site import Site
    from rigup.workflows.planning import Waiting


class Prepared(NamedTuple):
    """What applying a lock comes to on this machine.

    Attributes:
        environment: the absolute path of what is made.
        site: this machine.
        steps: what is to be done.
        differences: what is unlike the machine that the lock was made on, as sentences.

    """

    environment: str
    site: "Site"
    steps: "list[Step]"
    differences: list[str]


def prepared(lock: "Lock", folder: str, path: str) -> Prepared:
    """How a lock is applied here.

    Args:
        lock: what is to be there.
        folder: holds its files; "" where they come from where the lock says.
        path: of the environment; "" for the usual place.

    """
    from rigup.plan.environments.locked import differences, locked_steps

    where = os.path.abspath(path or ".venv")
    site = this_machine(Path(where))
    return Prepared(where, site, locked_steps(lock, site, folder), differences(lock, site, folder))


def lock_of(
    words: tuple[str, ...], files: tuple[str, ...], name: str, python: str, mirror: str, waiting: "Waiting" = nullcontext
) -> "Lock":
    """The lock of an environment as it is, or of wishes that are not installed yet.

    Args:
        words: one environment, or wishes; () for the active environment.
        files: of wishes.
        name: the environment that wishes are resolved for; "" for the active one.
        python: the version of its Python; "" for whichever fits.
        mirror: the name of one in the tables; "" for the defaults'.
        waiting: shows that a resolver is waited for.

    Raises:
        CannotBeDoneError: nothing that was asked for can run here.
        LockError, NoEnvironment, WishError: it cannot be locked, or not be understood.

    """
    from rigup.plan.environments import locking

    existing = None if files or len(words) > 1 else _environment(words[0] if words else "")
    with waiting(_("Resolving …")):
        if existing is not None:
            return locking.of_environment(existing, this_machine(existing.path))
        return _of_wishes(words, files, name, python, mirror)


def _environment(word: str) -> "Environment | None":
    """One that the word names; a plain word is a wish where no environment has that name."""
    from rigup.plan.environments.found import NoEnvironment

    try:
        return environment(word)
    except NoEnvironment:
        if not word or "/" in word or "\\" in word:
            raise
        return None


def _of_wishes(words: tuple[str, ...], files: tuple[str, ...], name: str, python: str, mirror: str) -> "Lock":
    from rigup.plan.environments import locking
    from rigup.plan.resolution.resolve import resolved
    from rigup.plan.term_files import write_files
    from rigup.stack.asked import asked_in, fits_python, wished
    from rigup.stack.choose import choose

    existing = environment_if_any(name)
    asked, site = asked_in(words, files), this_machine(existing.path if existing else None)
    wish, site = wished(asked, site, mirror=mirror, usual_mirror=defaults().mirror, python=python)
    choice = resolved(choose(wish, site), here=True)
    fits_python(wish, choice.python)
    write_files(choice)
    if not choice.possible:
        text = _("Nothing that was asked for can run here. `rigup plan` says why.")
        why = choice.resolution.refused if choice.resolution else ""
        raise CannotBeDoneError(f"{text} {choice.smallest_change or why}".strip())
    return locking.of_choice(choice, existing.path if existing else None)


def packed(lock: "Lock", path: Path) -> int:
    """A lock with all its files, as one archive at `path`; its size in bytes.

    Files come into a folder beside the archive: there is the room for them.
    """
    import msgspec

    from rigup.plan.environments import bundle, fetching, locked
    from rigup.plan.environments.resolver import resolver_for

    site = this_machine()
    wanted = locked.here(lock, site)
    with tempfile.TemporaryDirectory(prefix=".rigup-draft-", dir=path.parent) as folder:
        resolver = resolver_for(lock.python, interpreter=site.interpreters.get(lock.python, ""))
        fetching.fetch(lock, wanted, site, resolver, Path(folder))
        return bundle.write(msgspec.structs.replace(lock, packages=tuple(wanted)), Path(folder), path)
