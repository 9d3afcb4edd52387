"""An interpreter with torch, for the tests that measure."""

import importlib.util
import os
import sys

import pytest


@pytest.fixture(scope="session")
def torch_python():
    """This interpreter, or the one that RIGUP_TORCH_PYTHON names."""
    named = os.environ.get("RIGUP_TORCH_PYTHON")
    if named is None and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch here, and RIGUP_TORCH_PYTHON names no interpreter that has it")
    return named or sys.executable
