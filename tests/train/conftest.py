"""Interpreters with torch, Lightning and transformers: today's releases, and the oldest that are supported."""

import os

import pytest

NAMED_BY = {"newest": "RIGUP_TRAIN_PYTHON", "oldest": "RIGUP_TRAIN_OLDEST_PYTHON"}


@pytest.fixture(scope="session", params=NAMED_BY)
def python(request):
    """Either of them; skips where its variable is not set."""
    return _interpreter(request.param)


@pytest.fixture(scope="session")
def newest_python():
    """Today's, for what is the same under both: each such test starts several processes that import all of it."""
    return _interpreter("newest")


def _interpreter(release):
    variable = NAMED_BY[release]
    if not os.environ.get(variable):
        pytest.skip(f"{variable} names no interpreter with torch, lightning, transformers and peft")
    return os.environ[variable]
