"""A world for each test."""

from pathlib import Path

import pytest
from small_world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A folder that steps may change, with a journal of its own."""
    return World(tmp_path)
