"""Releases of Linux kernels, as far as they tell what a kernel's own drivers know."""

import re

_OF_ENTERPRISE = re.compile(r"\.el\d|-150\d{3}\.")  # Red Hat's kernels, and SUSE's of release 15, take newer drivers of graphics in


def is_older(release: str, least: str) -> bool:
    """Whether a kernel (6.8.0-45-generic) is of an earlier series than another (6.11), and its number tells what its drivers know."""
    return not _OF_ENTERPRISE.search(release) and _series(release) < _series(least)


def _series(release: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", release)[:2])
