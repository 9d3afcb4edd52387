"""Releases of Linux kernels, as far as they tell what a kernel's own drivers know."""

import re


def is_older(release: str, least: str) -> bool:
    """Whether a kernel (6.8.0-45-generic) is of an earlier series than another (6.11)."""
    return _series(release) < _series(least)


def _series(release: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", release)[:2])
