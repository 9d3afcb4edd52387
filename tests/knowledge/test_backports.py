"""A kernel that is newer than its release's own is of the backports."""

import pytest

from rigup.knowledge.package_managers import backports_of


@pytest.mark.parametrize(
    ("release", "kernel", "suite"),
    [
        ("12", "6.12.38+deb12-amd64", "bookworm-backports"),
        ("12.11", "6.9.7+bpo-amd64", "bookworm-backports"),
        ("12", "6.1.0-37-amd64", ""),
        ("13", "6.12.41+deb13-amd64", ""),
        ("", "6.12.41+deb13-amd64", ""),
    ],
)
def test_the_suite_goes_by_the_series(release, kernel, suite):
    assert backports_of("debian", release, kernel) == suite


def test_other_distributions_have_none():
    assert not backports_of("ubuntu", "24.04", "6.14.0-29-generic")
