"""Previews in an answer that nobody asked for: the package has had no wheel of a release since."""

from collections.abc import Iterable

from packaging.requirements import Requirement
from packaging.version import InvalidVersion, Version

from rigup.plan.packages import name_of
from rigup.plan.resolution.question import Question
from rigup.stack.resolution import Resolved


def unasked_previews(query: Question, packages: Iterable[Resolved]) -> tuple[str, ...]:
    """Names of packages that came as a preview ("0.3.1.dev5") from the default places, and may come so to nobody's wish.

    Resolvers take one where nothing else has a file of the kind that they may take. What is bound to an index of its own, or is
    named by its file, was chosen as it is, and what is there already stays.
    """
    wanted = {name_of(word): Requirement(word) for word in query.wanted}
    return tuple(
        package.name
        for package in packages
        if package.name not in query.bound
        and package.name not in query.sources
        and query.kept.get(package.name) != package.version
        and _is_preview(package.version)
        and not (package.name in wanted and (wanted[package.name].url or wanted[package.name].specifier.prereleases))
    )


def _is_preview(version: str) -> bool:
    try:
        return Version(version).is_prerelease
    except InvalidVersion:
        return False
