"""What stays in an environment goes on working: what its packages want of those that come is heard.

A resolver is asked for a wish, and knows of what stands there only which releases it should rather keep. Where a package
that stays wants another release of one that comes, its bound is told to the resolver; where the two cannot be had
together, the package comes along in a release that fits, unless it is a framework, or somebody asked for that very
release: then the wish is refused.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
from packaging.markers import UndefinedEnvironmentName, default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rigup.language import _, sentences
from rigup.plan.environments import record
from rigup.plan.environments.folder import environment_at, needs
from rigup.stack.choice import Choice
from rigup.stack.frameworks import called
from rigup.stack.frameworks.torch import FAMILY
from rigup.stack.resolution import Resolution, Resolved
from rigup.stack.wish import marker_environment

_ROUNDS = 4  # what comes along may itself be more than another package can take
_SHOWN = 5
Ask = Callable[[Choice], Choice]


class Hurt(NamedTuple):
    """A package that stays, what it wants, and what would come."""

    name: str
    version: str
    wants: Requirement
    coming: str

    @property
    def bound(self) -> str:
        """As a resolver takes it."""
        return f"{self.wants.name}{self.wants.specifier}"


class Standing(NamedTuple):
    """An environment as it is: versions and requirements by canonical names; `asked`: names of which a release was asked for."""

    versions: Mapping[str, str]
    needs: Mapping[str, tuple[str, ...]]
    asked: frozenset[str]
    marked: Mapping[str, str]


def kept_whole(choice: Choice, ask: Ask) -> Choice:
    """The choice as it was resolved, where nothing that stays is hurt by it; else within its bounds, or with it, or refused.

    Args:
        choice: a choice that was resolved, for an environment of this machine.
        ask: resolves a choice anew.

    Raises:
        KnowledgeError: a table is malformed.

    """
    if not _changes(choice):
        return choice
    standing = _standing(choice)
    hurt = list(_hurt(choice, standing))
    if not hurt:
        return choice
    within = _within(choice, hurt, standing, ask)
    if within is None and all(_may_move(conflict, standing) for conflict in hurt):
        within = _moving_along(choice, hurt, standing, ask)
    return within or _refused(choice, hurt)


def _changes(choice: Choice) -> dict[str, str]:
    """Packages of the environment of which another release comes."""
    site = choice.site
    goes_on = site.environment and site.python == choice.python and choice.wish.manager == "venv"
    have = _versions(choice) if goes_on else {}
    return {package.name: package.version for package in _packages(choice) if have.get(package.name, package.version) != package.version}


def _versions(choice: Choice) -> dict[str, str]:
    return {canonicalize_name(name): version for name, version in choice.site.installed.items()}


def _packages(choice: Choice) -> tuple[Resolved, ...]:
    return choice.resolution.packages if choice.resolution and not choice.resolution.refused else ()


def _standing(choice: Choice) -> Standing:
    folder = Path(choice.site.environment)
    environment, own_record = environment_at(folder), record.read(folder)
    marked = {**default_environment(), **marker_environment(choice.site), "python_version": choice.python, "extra": ""}
    pinned = frozenset(_pinned(own_record.wish) if own_record else ())
    return Standing(
        _versions(choice), needs(environment) if environment else {}, pinned, {name: str(value) for name, value in marked.items()}
    )


def _pinned(wishes: tuple[str, ...]) -> Iterator[str]:
    for requirement in filter(None, map(_requirement, wishes)):
        if any(clause.operator in ("==", "===") for clause in requirement.specifier):
            yield canonicalize_name(requirement.name)


def _requirement(text: str) -> Requirement | None:
    try:
        return Requirement(text)
    except (InvalidRequirement, RecursionError):
        return None


def _hurt(choice: Choice, standing: Standing) -> Iterator[Hurt]:
    """What stays and was content with what is there, and would not be with what comes."""
    coming, changes = {package.name for package in _packages(choice)}, _changes(choice)
    for name, wants in standing.needs.items():
        if name in coming or name not in standing.versions:
            continue
        for want in filter(None, map(_requirement, wants)):
            other = canonicalize_name(want.name)
            if other not in changes or not _holds(want, standing.marked):
                continue
            if _takes(want, standing.versions[other]) and not _takes(want, changes[other]):
                yield Hurt(name, standing.versions[name], want, changes[other])


def _holds(want: Requirement, marked: Mapping[str, str]) -> bool:
    try:
        return want.marker is None or want.marker.evaluate(dict(marked))
    except UndefinedEnvironmentName:
        return False


def _takes(want: Requirement, version: str) -> bool:
    return want.specifier.contains(version, prereleases=True)


# -- ways out ----------------------------------------------------------------------------------------


def _within(choice: Choice, hurt: list[Hurt], standing: Standing, ask: Ask) -> Choice | None:
    """What comes, in releases that all that stays can take; None where there are none."""
    bounds: dict[str, None] = {}
    for _round in range(_ROUNDS):
        bounds.update(dict.fromkeys(conflict.bound for conflict in hurt))
        again = ask(msgspec.structs.replace(choice, held=tuple(bounds), resolution=None))
        if not _packages(again):
            return None
        hurt = list(_hurt(again, standing))
        if not hurt:
            return again
    return None


def _moving_along(choice: Choice, hurt: list[Hurt], standing: Standing, ask: Ask) -> Choice | None:
    """With what cannot stay as it is, in releases that fit; None where there are none."""
    moved: dict[str, Hurt] = {}
    for _round in range(_ROUNDS):
        moved.update({conflict.name: conflict for conflict in hurt})
        wanted = tuple(dict.fromkeys((*choice.requirements, *moved)))
        again = ask(msgspec.structs.replace(choice, requirements=wanted, resolution=None))
        if not _packages(again):
            return None
        hurt = list(_hurt(again, standing))
        if not hurt:
            return msgspec.structs.replace(again, warnings=(*again.warnings, *_moves(again, moved)))
        if not all(_may_move(conflict, standing) for conflict in hurt):
            return None
    return None


def _may_move(conflict: Hurt, standing: Standing) -> bool:
    """Nobody asked for its release, and it is no framework: of those the build was chosen for the machine."""
    return conflict.name not in standing.asked and conflict.name not in FAMILY and not called((conflict.name,))


def _moves(again: Choice, moved: Mapping[str, Hurt]) -> Iterator[str]:
    template = _("{package} {version}, which is there, wants {wants}: it becomes {newer}.")
    for name, conflict in moved.items():
        newer = again.resolution.version(name) if again.resolution else ""
        yield template.format(package=name, version=conflict.version, wants=conflict.bound, newer=newer)


def _refused(choice: Choice, hurt: list[Hurt]) -> Choice:
    template = _("{package} {version}, which is in the environment, wants {wants}, and {coming} would come.")
    lines = [
        template.format(
            package=conflict.name, version=conflict.version, wants=conflict.bound, coming=f"{conflict.wants.name} {conflict.coming}"
        )
        for conflict in hurt[:_SHOWN]
    ]
    way = _("Ask for a release of these that fits as well, or make another environment, with --env.")
    return msgspec.structs.replace(choice, resolution=Resolution(refused=sentences(*lines, way)))
