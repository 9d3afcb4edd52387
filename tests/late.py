"""Packages that some tests need, imported when they are first used: all tests are collected by each worker, and few use them."""

import importlib
import importlib.util
from typing import Any

import pytest


class Late:
    """A package whose names are asked for; its import waits until then. A file that needs it is skipped where it is missing."""

    def __init__(self, name: str) -> None:
        self._name = name
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed here", allow_module_level=True)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest asks each name of a file whether it is a fixture
            raise AttributeError(name)
        return getattr(importlib.import_module(self._name), name)
