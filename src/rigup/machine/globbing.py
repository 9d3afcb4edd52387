"""Paths by pattern, as a shell finds them: a star passes hidden names by. Each folder is listed once."""

import fnmatch
from collections.abc import Callable

_MOST = 20_000  # paths of one pattern


def is_pattern(part: str) -> bool:
    """Whether a part of a path names more than itself."""
    return any(mark in part for mark in "*?[")


def paths_like(
    pattern: str, names_in: Callable[[str], list[str]], exists: Callable[[str], bool], base: str = ""
) -> list[str]:
    """Paths below `base` that a pattern names, sorted. `names_in` lists a folder, `exists` asks for one path."""
    found = [base]
    for part in (part for part in pattern.split("/") if part):
        if is_pattern(part):
            found = [folder + "/" + name for folder in found for name in _matching(names_in(folder), part)][:_MOST]
        else:
            found = [folder + "/" + part for folder in found]
    return sorted(path for path in found if exists(path))


def _matching(names: list[str], part: str) -> list[str]:
    hidden = part.startswith(".")
    return [name for name in fnmatch.filter(names, part) if hidden or not name.startswith(".")]
