"""Modules that others import at their top and seldom use: run at their first use, in the process of the `rigup` command."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

SELDOM_USED = ("inspect", "ipaddress", "locale", "textwrap")
"""`inspect` is click's, for help and defaults; it brings `ast`, `dis` and `tokenize`. `textwrap` is msgspec's, for JSON Schema.

`ipaddress` is urllib's, for addresses in brackets, and `locale` gettext's, for an old function.
"""

_lock = RLock()


class _Deferred(ModuleType):
    """A module whose file is run when somebody first asks for something in it."""

    def __getattribute__(self, name: str) -> Any:
        get = super().__getattribute__
        if name == "cleandoc" and get("__name__") == "inspect" and get("__class__") is _Deferred:
            return _cleandoc
        if name in ("__spec__", "__class__", "__dict__", "__name__", "__loader__"):
            return get(name)
        with _lock:  # whoever asks beside us waits until all of it is there
            if get("__class__") is _Deferred:
                self.__class__ = ModuleType  # type: ignore[assignment]
                spec: ModuleSpec = get("__spec__")
                spec.loader.exec_module(self)  # type: ignore[union-attr]
        return getattr(self, name)


def _cleandoc(doc: str) -> str:
    """`inspect.cleandoc`; of one line without running the module: click asks for it of each option."""
    if "\n" not in doc and "\t" not in doc:
        return doc.lstrip()
    import inspect

    _ = inspect.__doc__  # runs it
    return inspect.cleandoc(doc)


def defer(names: tuple[str, ...] = SELDOM_USED) -> None:
    """Put modules in place without running them; those that are loaded, or not there, are left as they are."""
    for name in names:
        spec = None if name in sys.modules else PathFinder.find_spec(name)
        if spec is None or spec.loader is None:
            continue
        module = _Deferred(name)
        module.__spec__, module.__loader__, module.__file__ = spec, spec.loader, spec.origin
        sys.modules[name] = module


@contextmanager
def without(name: str) -> Iterator[None]:
    """What is imported here meets no module of this name, unless it is loaded already."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]
