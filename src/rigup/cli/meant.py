"""The environment that a command line means, and what this machine's devices need of it; errors as click tells them."""

import os
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rigup.cli.failing import spoken
from rigup.language import _

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rigup.plan.environments.folder import Environment
    from rigup.plan.environments.running import Setting
    from rigup.plan.environments.settings import Settings
    from rigup.stack.site import Site


@contextmanager
def told() -> "Iterator[None]":
    """What environments, locks and defaults raise, as an error of the command line."""
    try:
        yield
    except OSError as error:
        path = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
        text = _("{path}: {why}.").format(path=path, why=error.strerror or type(error).__name__)
        raise click.ClickException(text.removeprefix(": ")) from error
    except Exception as error:
        if not isinstance(error, _known()):
            raise
        raise spoken(error) from error


def _known() -> tuple[type[Exception], ...]:
    """What is an answer and no fault of ours; imported where something was raised."""
    from rigup.knowledge.tables import KnowledgeError
    from rigup.plan.applying.journal import JournalError
    from rigup.plan.environments.found import NoEnvironment
    from rigup.plan.environments.kernels import KernelError
    from rigup.plan.environments.lock_fields import LockError
    from rigup.plan.environments.shells import CannotTell

    return NoEnvironment, LockError, KernelError, CannotTell, JournalError, KnowledgeError


def defaults() -> "Settings":
    """The defaults of the site and the person. Raises click.ClickException."""
    from rigup.plan.environments.settings import SettingsError, settings

    try:
        return settings()
    except SettingsError as error:
        raise click.ClickException(str(error)) from error


def environment(word: str) -> "Environment":
    """The one that is meant; "" the active one or the one beside. To be called inside `told()`."""
    from rigup.plan.environments.found import resolve

    return resolve(word, defaults(), os.environ, Path.cwd())


def environment_if_any(word: str) -> "Environment | None":
    """The same; None where none was named and there is none. To be called inside `told()`."""
    from rigup.plan.environments.found import NoEnvironment

    try:
        return environment(word)
    except NoEnvironment:
        if word:
            raise
        return None


def beside() -> str:
    """The .venv of this folder, where no environment is active: what is there is changed and not passed by; else ""."""
    path = os.path.abspath(".venv")
    return "" if _active() or not os.path.isfile(os.path.join(path, "pyvenv.cfg")) else path


def in_full(path: str) -> str:
    """The whole path of an environment that is there, by which a look knows it; one that is to be made keeps its name."""
    marks = (os.path.join(path, mark) for mark in ("pyvenv.cfg", "conda-meta"))
    return os.path.abspath(path) if path and any(map(os.path.exists, marks)) else path


def _active() -> str:
    return os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX") or ""


def folder_of(word: str) -> str:
    """The folder of the environment that is meant; the word itself where it is a path or rigup knows none of that name."""
    from rigup.plan.environments.found import NoEnvironment

    if os.sep in word or os.path.exists(word) or (not word and _active()):
        return word
    with told():
        try:
            return str(environment(word).path)
        except NoEnvironment:
            return word


def here(path: "Path | None" = None) -> "Site":
    """This machine as planning sees it, with the defaults. To be called inside `told()`."""
    from rigup.plan.environments.settings import with_settings
    from rigup.stack.seen import look_at

    return with_settings(look_at(None, str(path) if path else ""), defaults())


def of_devices(path: "Path | None") -> "tuple[list[Setting], list[Setting]]":
    """What the devices need: variables, and folders of libraries. To be called inside `told()`."""
    from rigup.machine import readers  # noqa: F401  (registers them)
    from rigup.machine.look import look
    from rigup.machine.sources import close_sources, open_source
    from rigup.plan.environments.devices import libraries, needed
    from rigup.stack.seen import site_of

    try:
        facts = look(open_source(None))
    finally:
        close_sources()
    site = site_of(facts, str(path) if path else "")
    return needed(site), libraries(facts, site)


def pairs(words: Sequence[str]) -> Mapping[str, str]:
    """NAME=VALUE as a person types them. Raises click.UsageError."""
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if (
            not equals
            or not name.replace("_", "a").isalnum()
            or not name.isascii()
            or name[:1].isdigit()
            or "\0" in value
        ):
            raise click.UsageError(_("{word} is not NAME=VALUE.").format(word=repr(word)[:120]))
        found[name] = value
    return found
