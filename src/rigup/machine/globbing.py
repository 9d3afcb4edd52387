"""Paths by pattern, as a shell finds them: a star passes hidden names by. Each folder is listed once."""

import fnmatch
import os
from collections.abc import Callable

_MOST = 20_000  # paths of one pattern
_SIGNS = "*?["


def is_pattern(part: str) -> bool:
    """Whether a part of a path names more than itself."""
    return "*" in part or _is_odd(part)


def _is_odd(part: str) -> bool:
    """Whether it has other signs of patterns than stars, as few have."""
    return "?" in part or "[" in part


def paths_like(
    pattern: str,
    names_in: Callable[[str], list[str]],
    exists: Callable[[str], bool],
    base: str = "",
    folders_in: Callable[[str], list[str]] | None = None,
) -> list[str]:
    """Paths below `base` that a pattern names, sorted. `names_in` lists a folder, `exists` asks for one path.

    `folders_in` lists of a folder at least the folders in it: of all but the last part of a path they are enough.
    """
    plain, parts = _halves(pattern)
    paths = [base + plain]
    for left, part in enumerate(parts, 1 - len(parts)):
        if is_pattern(part):
            listed = folders_in if left and folders_in else names_in
            paths = [folder + "/" + name for folder in paths for name in _matching(listed(folder), part)][:_MOST]
            if not paths:
                return paths
        else:
            paths = [folder + "/" + part for folder in paths]
    return sorted(filter(exists, paths))


def _halves(pattern: str) -> tuple[str, list[str]]:
    """The path down to the first part that names more than itself, and the parts from there on."""
    if not pattern.startswith("/") or pattern.endswith("/") or "//" in pattern:
        pattern = "".join("/" + part for part in pattern.split("/") if part)
    sign = next((at for at, letter in enumerate(pattern) if letter in _SIGNS), -1) if _is_odd(pattern) else pattern.find("*")
    if sign < 0:
        return pattern, []
    start = pattern.rindex("/", 0, sign)
    return pattern[:start], pattern[start + 1 :].split("/")


def _matching(names: list[str], part: str) -> list[str]:
    if not names:
        return names
    if _is_odd(part) or os.name != "posix":
        matching = fnmatch.filter(names, part)
    else:  # no pattern to compile
        head, *middle, tail = part.split("*")
        ends = [name for name in names if name.startswith(head) and name.endswith(tail) and len(name) >= len(part) - part.count("*")]
        matching = [name for name in ends if _in_turn(name, middle, len(head), len(name) - len(tail))] if middle else ends
    return matching if part.startswith(".") else [name for name in matching if not name.startswith(".")]


def _in_turn(name: str, words: list[str], start: int, end: int) -> bool:
    """Whether words follow each other in a part of a name."""
    for word in words:
        start = name.find(word, start, end)
        if start < 0:
            return False
        start += len(word)
    return True
