"""The environment that a request means, and what this machine's devices need of it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rigup.plan.environments.folder import Environment
    from rigup.plan.environments.running import Setting, Surroundings
    from rigup.plan.environments.settings import Settings
    from rigup.stack.site import Site


def defaults() -> "Settings":
    """The defaults of the site and the person. Raises SettingsError."""
    from rigup.plan.environments.settings import settings

    return settings()


def environment(word: str) -> "Environment":
    """The one that is meant; "" the active one or the one beside. Raises NoEnvironment, SettingsError."""
    from rigup.plan.environments.found import resolve

    return resolve(word, defaults(), os.environ, Path.cwd())


def environment_if_any(word: str) -> "Environment | None":
    """The same; None where none was named and there is none."""
    from rigup.plan.environments.found import NoEnvironment

    try:
        return environment(word)
    except NoEnvironment:
        if word:
            raise
        return None


def in_this_folder() -> str:
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
    try:
        return str(environment(word).path)
    except NoEnvironment:
        return word


def this_machine(path: Path | None = None) -> "Site":
    """This machine as planning sees it, with the defaults, and with the environment at `path`."""
    from rigup.plan.environments.settings import with_settings
    from rigup.stack.seen import look_at

    return with_settings(look_at(None, str(path) if path else ""), defaults())


def device_needs(path: Path | None) -> "tuple[list[Setting], list[Setting]]":
    """What the devices of this machine need: variables, and folders of libraries."""
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


def surroundings_of(existing: "Environment | None") -> "Surroundings":
    """What a program needs in it. A record says all of its environment, but for one that other machines use too."""
    from rigup.plan.environments.record import read
    from rigup.plan.environments.running import activated
    from rigup.plan.environments.settings import is_shared

    shared = existing is not None and is_shared(existing.path, defaults())
    if existing is not None and not shared and read(existing.path) is not None:
        return activated(existing)
    needed, libraries = device_needs(existing.path if existing else None)
    return activated(existing, needed, libraries, alien=shared)
