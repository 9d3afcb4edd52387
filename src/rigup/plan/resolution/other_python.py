"""Another Python for a set that has no wheels for the chosen one: what has none there may not build there either."""

from collections.abc import Callable

import msgspec

from rigup.knowledge.cuda import version_key
from rigup.knowledge.dependents import without_wheels
from rigup.knowledge.torch_builds import builds
from rigup.language import _
from rigup.stack.candidate import Change
from rigup.stack.choice import Choice
from rigup.stack.choose import choose
from rigup.stack.resolution import Resolution
from rigup.stack.weigh import served_count

_MOST = 4  # Pythons that are tried


def with_wheels(choice: Choice, resolution: Resolution, ask: Callable[[Choice], Resolution]) -> Choice | None:
    """The choice for a Python for which everything has a wheel, with what came of it.

    None where the person named the Python or goes on with an environment, and where no Python serves as well.

    Args:
        choice: the choice.
        resolution: what came of it; only a set of which something would be built is tried elsewhere.
        ask: resolves a choice by wheels alone.

    Raises:
        KnowledgeError: a table is malformed.

    """
    lacking = _lacking(resolution)
    free = not choice.wish.python and not choice.site.environment and choice.wish.manager == "venv"
    if not (lacking and free and choice.python):
        return None
    for python in _others(choice.python):
        other = _for(choice, python, ", ".join(lacking))
        if other is not None and (answer := ask(other)).packages and not _lacking(answer):
            return msgspec.structs.replace(other, resolution=answer)
    return None


def _lacking(resolution: Resolution) -> list[str]:
    """What would be built although the tables do not say that it has no wheels."""
    return [
        f"{package.name} {package.version}" for package in resolution.packages if package.built and package.name not in without_wheels()
    ]


def _others(python: str) -> list[str]:
    """Older ones first, the nearest of them before: what lacks a wheel is mostly an old release."""
    known = {version for row in builds() for version in row.python if not version.endswith("t")} - {python}
    older = sorted((version for version in known if version_key(version) < version_key(python)), key=version_key, reverse=True)
    newer = sorted((version for version in known if version_key(version) > version_key(python)), key=version_key)
    return [*older, *newer][:_MOST]


def _for(choice: Choice, python: str, lacking: str) -> Choice | None:
    again = choose(msgspec.structs.replace(choice.wish, python=python), choice.site)
    if not again.possible or _served(again) < _served(choice):
        return None
    template = _("There is no wheel of {packages} for Python {have}; for {python} everything has one.")
    why = template.format(packages=lacking, have=choice.python, python=python)
    changes = tuple(_because_of_wheels(change, why) for change in again.changes)
    return msgspec.structs.replace(again, wish=choice.wish, changes=changes)


def _served(choice: Choice) -> int:
    return sum(served_count(judged, choice.site) for judged in choice.chosen)


def _because_of_wheels(change: Change, why: str) -> Change:
    return msgspec.structs.replace(change, why=why) if change.change == "python" else change
