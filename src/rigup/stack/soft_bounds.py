"""Bounds on what is asked for beside, where its releases want a newer framework than the chosen one and do not say so."""

from collections.abc import Iterator, Mapping

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from rigup.knowledge.cuda import version_key
from rigup.knowledge.soft_floors import too_new
from rigup.language import _


def may_be_below(want: Requirement, below: str) -> bool:
    """Whether a wish for a release allows any below another one."""
    lowest = [clause.version.removesuffix(".*") for clause in want.specifier if clause.operator in ("==", ">=", ">", "~=")]
    return all(version_key(release) < version_key(below) for release in lowest)


def bounded(want: Requirement, packages: Mapping[str, str]) -> str:
    """A requirement with the bound that the chosen packages set it; as it was where the wish names a release.

    Raises:
        KnowledgeError: the table is malformed.

    """
    row = too_new(packages).get(want.name)
    named = any(clause.operator in ("==", "===") for clause in want.specifier)
    if row is None or named or not may_be_below(want, row.since):
        return str(want)
    narrowed = Requirement(str(want))
    narrowed.specifier &= SpecifierSet("<" + row.since)
    return str(narrowed)


def bounds(wishes: Mapping[str, Requirement], packages: Mapping[str, str]) -> tuple[str, ...]:
    """What a resolver may not take, of packages that may come along; nothing of those of which the wish names a release.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = too_new(packages)
    return tuple(f"{name}<{row.since}" for name, row in rows.items() if name not in wishes or may_be_below(wishes[name], row.since))


def contradictions(wishes: Mapping[str, Requirement], packages: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each release that was asked for and that does not take the framework that is chosen beside it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    template = _("{package} {since} and newer does not work with {framework} older than {least}: it takes it for absent, or fails.")
    for name, row in too_new(packages).items():
        if name in wishes and not may_be_below(wishes[name], row.since):
            yield template.format(package=name, since=row.since, framework=row.on, least=row.least)
