"""Which environments there are: those that rigup made, those of conda, the active one, those beside and in the shared folder."""

import difflib
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from rigup.language import _, sentences
from rigup.plan.applying import journal
from rigup.plan.environments import record, registry
from rigup.plan.environments.folder import Environment, environment_at
from rigup.plan.environments.settings import Settings

_MOST = 2_000
_MOST_TEXT = 1_000_000
_USUAL = (".venv", "venv", "env")


class NoEnvironment(Exception):
    """An environment that was asked for is not there; the text says what is."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One environment.

    Attributes:
        name: by which it can be asked for: its folder's name; of one called .venv, that of the project above.
        ours: rigup made or changed it: its record says so.
        active: the shell has it activated.

    """

    environment: Environment
    name: str
    ours: bool
    active: bool
    fault: str = ""


def found(settings: Settings, variables: Mapping[str, str], here: Path) -> list[Found]:
    """All that can be found without a search through the disk, by path.

    Args:
        settings: the defaults in force.
        variables: of the shell, which tell the active one.
        here: the folder where the person stands.

    """
    active = _active(variables)
    seen: dict[str, Found] = {}
    for path in _candidates(settings, variables, here):
        real = os.path.realpath(path)
        environment = environment_at(Path(real)) if real not in seen and len(seen) < _MOST else None
        if environment is not None:
            own_record, fault = record.looked_at(environment.path)
            is_active = active is not None and os.path.realpath(active) == real
            seen[real] = Found(
                environment=environment, name=name_of(environment.path), ours=own_record is not None, active=is_active, fault=fault
            )
    return [seen[path] for path in sorted(seen)]


def name_of(path: Path) -> str:
    """What a person calls it: its folder, or for a .venv that of the project above."""
    return path.parent.name if path.name in _USUAL and path.parent.name else path.name


def _active(variables: Mapping[str, str]) -> Path | None:
    path = variables.get("VIRTUAL_ENV") or variables.get("CONDA_PREFIX") or ""
    return Path(path) if os.path.isabs(path) else None


def _candidates(settings: Settings, variables: Mapping[str, str], here: Path) -> Iterator[Path]:
    if active := _active(variables):
        yield active
    yield from registry.remembered()
    yield from _of_journal()
    yield from _environments_in(here)
    if settings.prefix:
        yield from _environments_in(Path(settings.prefix))
    yield from _of_conda(variables)


def _of_journal() -> Iterator[Path]:
    """Environments that plans were taken for."""
    for entry in journal.records()[-_MOST:]:
        with suppress(journal.JournalError):
            path = entry.intent().environment
            if os.path.isabs(path) and "\0" not in path:
                yield Path(path)


def _environments_in(folder: Path) -> Iterator[Path]:
    """A folder that is one, and those in it that are."""
    yield folder
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda item: item.name)[:_MOST]:
            if ".rigup-" not in entry.name and entry.is_dir():
                yield Path(entry.path)


def _of_conda(variables: Mapping[str, str]) -> Iterator[Path]:
    """What conda itself keeps a list of, and the folders of its kin."""
    with suppress(OSError), open(os.path.expanduser("~/.conda/environments.txt"), encoding="utf-8", errors="replace") as file:
        for line in file.read(_MOST_TEXT).splitlines()[:_MOST]:
            if os.path.isabs(line.strip()) and "\0" not in line:
                yield Path(line.strip())
    roots = [variables.get("MAMBA_ROOT_PREFIX", ""), os.path.dirname(os.path.dirname(variables.get("CONDA_EXE", "")))]
    for root in roots:
        if os.path.isabs(root):
            yield from _environments_in(Path(root, "envs"))


# -- the one that is meant ---------------------------------------------------------------------------


def resolve(word: str, settings: Settings, variables: Mapping[str, str], here: Path) -> Environment:
    """The environment that a person means: a path, a name, or "" for the active one or the one beside.

    Raises:
        NoEnvironment: there is none, or several of that name.

    """
    if not word:
        return _at_hand(variables, here)
    if os.sep in word or (os.altsep and os.altsep in word) or (here / word).is_dir():
        environment = environment_at(here / os.path.expanduser(word))
        if environment is None:
            raise NoEnvironment(_("{path} is no environment: it has neither pyvenv.cfg nor conda's records.").format(path=word[:300]))
        return environment
    return _by_name(word, found(settings, variables, here))


def _at_hand(variables: Mapping[str, str], here: Path) -> Environment:
    active = _active(variables)
    for path in (active, *(here / name for name in _USUAL)):
        environment = environment_at(path) if path else None
        if environment is not None:
            return environment
    template = _("No environment is active, and there is none in {path}. Name one with --env, or make one with `rigup apply`.")
    raise NoEnvironment(template.format(path=here))


def _by_name(word: str, known: list[Found]) -> Environment:
    hits = [candidate for candidate in known if word in (candidate.name, candidate.environment.path.name)]
    if len(hits) > 1:
        message = _("{name} is the name of several: {paths}. Give a path.")
        raise NoEnvironment(message.format(name=word, paths=", ".join(str(candidate.environment.path) for candidate in hits)))
    if not hits:
        message = _("There is no environment {name}. `rigup env list` shows all.").format(name=word[:60])
        if near := difflib.get_close_matches(word, [candidate.name for candidate in known], 3):
            message = sentences(message, _("Near it are: {near}.").format(near=", ".join(near)))
        raise NoEnvironment(message)
    return hits[0].environment
