"""DirectML's package `torch_directml`, where one is installed; it is imported when it is first needed."""

from __future__ import annotations

import functools
import importlib.util
import sys
from typing import Any

_NAME = "torch_directml"


def imported() -> bool:
    """Whether somebody has imported it."""
    return _NAME in sys.modules


def count() -> int:
    """How many adapters it lists; 0 where it is not installed or cannot be used."""
    module = _module()
    return int(module.device_count()) if module is not None and module.is_available() else 0


def name(index: int) -> str:
    """An adapter's name."""
    return str(_module().device_name(index)).strip("\0 ")


@functools.cache
def _installed() -> bool:
    """Whether it could be imported; looked for once, for folders are searched."""
    return importlib.util.find_spec(_NAME) is not None


def _module() -> Any:
    if not imported() and not _installed():
        return None
    try:
        return __import__(_NAME)
    except (ImportError, OSError):  # made for another torch, or without its library
        return None
