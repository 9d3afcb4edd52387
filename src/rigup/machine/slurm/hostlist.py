"""Slurm's ranges of names: `rocm[01-10,12],cuda01` and back.

Source: Slurm's hostlist (src/common/hostlist.c): brackets hold numbers and ranges, a leading zero fixes the width,
a name may have several brackets and an ending behind them.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import product

MOST = 200_000  # names of one text; more is hostile, or no cluster that there is
_PART = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?\Z")
_NUMBERED = re.compile(r"(.*?)(\d{1,18})(\D*)\Z", re.DOTALL)


def expand(text: str | None, most: int = MOST) -> tuple[str, ...]:
    """Every name, in the order of the text. What is no range stays as it is written; no more than `most` names."""
    if not text or text in ("(null)", "N/A", "None", "None assigned"):
        return ()
    if "[" not in text and "," not in text and " " not in text:
        return (text,)[:most]
    return _expanded(text, most)


@lru_cache(64)
def _expanded(text: str, most: int) -> tuple[str, ...]:
    """Partitions often have the same nodes."""
    names: list[str] = []
    for piece in _pieces(text):
        names += _expand_piece(piece, most - len(names))
        if len(names) >= most:
            break
    return tuple(names)


def _pieces(text: str) -> list[str]:
    """The text cut at commas outside brackets."""
    if "[" not in text:
        return [piece for piece in (piece.strip() for piece in text.split(",")) if piece]
    pieces, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        if letter == "[":
            depth += 1
        elif letter == "]":
            depth = max(depth - 1, 0)
        elif letter == "," and not depth:
            pieces.append(text[start:place].strip())
            start = place + 1
    return [piece for piece in (*pieces, text[start:].strip()) if piece]


def _expand_piece(piece: str, most: int) -> list[str]:
    """The names of one piece, with all of its brackets."""
    if "[" not in piece:
        return [piece][:most]
    parts = re.split(r"\[([^\[\]]*)\]", piece)
    numbers = [_numbers(inner, most) for inner in parts[1::2]]
    if not numbers or not all(numbers):
        return [piece][:most]
    names: list[str] = []
    for chosen in product(*numbers):
        if len(names) >= most:
            break
        names.append(parts[0] + "".join(number + literal for number, literal in zip(chosen, parts[2::2], strict=True)))
    return names


def _numbers(inner: str, most: int) -> list[str]:
    """`01-03,7` as 01, 02, 03, 7; empty where it is something else."""
    numbers: list[str] = []
    for part in inner.split(","):
        if not (found := _PART.match(part.strip())):
            return []
        first, last = found[1], found[2] or found[1]
        stop = min(int(last) + 1, int(first) + most - len(numbers))
        numbers += [str(number).zfill(len(first)) for number in range(int(first), stop)]
    return numbers


def fold(names: Iterable[str]) -> list[str]:
    """Names as ranges, each of which stands alone: `rocm[01-03]`, `login`. Sorted, doubles once."""
    groups: dict[tuple[str, str, int], list[int]] = {}
    plain: list[str] = []
    for name in set(names):
        found = _NUMBERED.match(name)
        if not found or "[" in name:
            plain.append(name)
            continue
        digits = found[2]
        width = len(digits) if digits[0] == "0" and len(digits) > 1 else 0
        groups.setdefault((found[1], found[3], width), []).append(int(digits))
    _join_widths(groups)
    ranges = [_range(prefix, suffix, width, numbers) for (prefix, suffix, width), numbers in groups.items()]
    return sorted(plain + ranges, key=natural)


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts node2 before node10."""
    return tuple(
        (0, int(part), "") if part.isdecimal() and part.isascii() else (1, 0, part) for part in re.split(r"([0-9]{1,18})", name) if part
    )


def _join_widths(groups: dict[tuple[str, str, int], list[int]]) -> None:
    """Numbers without a leading zero that fill the width of their sisters with one belong to them: 09 and 10."""
    for prefix, suffix, width in [key for key in groups if key[2]]:
        loose = groups.get((prefix, suffix, 0), [])
        fitting = [number for number in loose if len(str(number)) == width]
        groups[prefix, suffix, width] += fitting
        if rest := [number for number in loose if len(str(number)) != width]:
            groups[prefix, suffix, 0] = rest
        else:
            groups.pop((prefix, suffix, 0), None)


def _range(prefix: str, suffix: str, width: int, numbers: list[int]) -> str:
    """Numbers of one prefix as one bracket; a single one without."""
    numbers.sort()
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    parts = [str(first).zfill(width) + ("" if first == last else "-" + str(last).zfill(width)) for first, last in runs]
    inner = parts[0] if len(numbers) == 1 else "[" + ",".join(parts) + "]"
    return prefix + inner + suffix
