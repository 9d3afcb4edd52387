"""Whether an environment holds what its plan showed, version by version. What is otherwise is an error of the run."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from rigup.language import _
from rigup.plan.applying.journal import Planned
from rigup.plan.environments.folder import environment_at, packages

_OF_THE_MAKER = ("pip", "setuptools", "wheel", "uv", "distribute")  # they come with the environment itself
_SHOWN = 5


def differences(folder: Path, planned: Planned) -> list[str]:
    """Differences between an environment and its plan, as sentences."""
    promised = planned.resolved
    environment = environment_at(folder)
    if environment is None or not promised:
        return []
    have: dict[str, str] = {canonicalize_name(package.name): package.version for package in packages(environment)}
    sentences = [*_otherwise(promised, have), *(_more(promised, have, planned.before) if planned.whole else ())]
    return sentences[:_SHOWN] + ([_("And so are {count} more.").format(count=len(sentences) - _SHOWN)] if len(sentences) > _SHOWN else [])


def _otherwise(promised: Mapping[str, str], have: Mapping[str, str]) -> Iterator[str]:
    for name, version in promised.items():
        got = have.get(canonicalize_name(name))
        if got is None:
            yield _("{package} {version} was planned, and is not there.").format(package=name, version=version)
        elif not _matches(version, got):
            template = _("{package} {version} was planned, and {other} is there.")
            yield template.format(package=name, version=version, other=got)


def _more(promised: Mapping[str, str], have: Mapping[str, str], before: list[str]) -> Iterator[str]:
    """What nobody planned and was not there before."""
    known: set[str] = {canonicalize_name(name) for name in (*promised, *before, *_OF_THE_MAKER)}
    for name in have.keys() - known:
        yield _("{package} {version} is there, and was not planned.").format(package=name, version=have[name])


def _matches(planned: str, installed: str) -> bool:
    """A version without a local part is any build of it, as for installers."""
    try:
        wanted, have = Version(planned), Version(installed)
        return wanted == (have if wanted.local else Version(have.public))
    except InvalidVersion:
        return planned == installed
