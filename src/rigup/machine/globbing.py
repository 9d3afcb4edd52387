"""Paths by pattern, as a shell finds them: a star passes hidden names by. Each folder is listed once."""

import fnmatch
import os
from collections.abc import Callable

_MOST = 20_000  # paths of one pattern


def is_pattern(part: str) -> bool:
    """Whether a part of a path names more than itself."""
    return "*" in part or "?" in part or "[" in part


def paths_like(
    pattern: str, names_in: Callable[[str], list[str]], exists: Callable[[str], bool], base: str = ""
) -> list[str]:
    """Paths below `base` that a pattern names, sorted. `names_in` lists a folder, `exists` asks for one path."""
    paths = [base]
    for part in filter(None, pattern.split("/")):
        if is_pattern(part):
            paths = [folder + "/" + name for folder in paths for name in _matching(names_in(folder), part)][:_MOST]
            if not paths:
                return paths
        else:
            paths = [folder + "/" + part for folder in paths]
    return sorted(filter(exists, paths))


def _matching(names: list[str], part: str) -> list[str]:
    if not names:
        return names
    head, star, tail = part.partition("*")
    if star and not is_pattern(head) and not is_pattern(tail) and os.name == "posix":  # no pattern to compile
        least = len(head) + len(tail)
        matching = [name for name in names if name.startswith(head) and name.endswith(tail) and len(name) >= least]
    else:
        matching = fnmatch.filter(names, part)
    return matching if part.startswith(".") else [name for name in matching if not name.startswith(".")]
