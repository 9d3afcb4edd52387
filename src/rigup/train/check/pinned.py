"""Releases that the files beside a program fix: what packages do since a release is not told of older ones."""

import re

import msgspec
from packaging.version import Version

from rigup.knowledge import tables

FILES = ("requirements*.txt", "requirements/*.txt", "environment*.y*ml", "pyproject.toml", "setup.py", "setup.cfg")
"""Patterns of files that say which releases a program is for."""

_RELEASE = r"""(?:\[[^\]\n]{0,80}\])?["' ]{0,3}(?P<form>===?|=|~=|\^|<)\s{0,2}["']?\^?(?P<release>\d{1,4}(?:\.\d{1,4}){1,3})"""


class _Behaviour(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    packages: list[str]
    since: str


def behaves(behaviour: str, pins: str) -> bool:
    """Whether a package does what the table says: always, but where all that the files fix is older.

    Args:
        behaviour: an id of the table `train_check/releases`.
        pins: the text of the files.

    """
    row = next(row for row in tables.rows("train_check/releases", "behaviour", _Behaviour) if row.id == behaviour)
    names = "|".join(name.replace("-", "[-_.]") for name in row.packages)
    found = list(re.finditer(rf"(?im)(?<![\w.-])(?:{names}){_RELEASE}", pins))
    return not found or not all(_is_older(match["form"], match["release"], Version(row.since)) for match in found)


def _is_older(form: str, release: str, since: Version) -> bool:
    """Whether every release that is let in comes before."""
    named = Version(release)
    if form in ("^", "~="):  # up to the next major release; of `~=` with three numbers up to the next minor
        minor = form == "~=" and release.count(".") > 1
        return (named.major, named.minor) < (since.major, since.minor) if minor else named.major < since.major
    return named <= since if form == "<" else named < since
