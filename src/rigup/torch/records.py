"""Objects that hold others in named fields: dataclasses, attrs classes, namespaces, models' caches and the like."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, Callable, cast

_CACHES = ("get_seq_length", "reorder_cache")  # methods of what transformers keeps between two tokens
_MISSING = object()


def fields_of(obj: Any) -> list[str] | None:
    """The names of the fields that an object has values in; None where it is no record.

    A record is a dataclass, a class of attrs, pydantic or msgspec, a SimpleNamespace, or a cache of transformers,
    which is known by its methods. None of these packages is imported.
    """
    kind = type(obj)
    if dataclasses.is_dataclass(kind):
        names: Iterable[str] = (field.name for field in dataclasses.fields(obj))
    elif hasattr(kind, "__attrs_attrs__"):
        names = (field.name for field in kind.__attrs_attrs__)
    elif hasattr(kind, "__struct_fields__"):
        names = kind.__struct_fields__
    elif isinstance(obj, SimpleNamespace) or hasattr(kind, "__pydantic_fields__") or is_cache(obj):
        names = vars(obj)
    else:
        return None
    return [name for name in names if _value(obj, name) is not _MISSING]


def is_cache(obj: Any) -> bool:
    """Whether an object is a cache of keys and values, or a layer of one."""
    kind = type(obj)
    return hasattr(obj, "__dict__") and any(callable(getattr(kind, name, None)) for name in _CACHES)


def with_fields(obj: Any, values: dict[str, Any]) -> Any:
    """A copy of a record with other values, whatever its constructor takes and whether or not it is frozen."""
    twin = _copied(obj)
    if hasattr(twin, "__pydantic_fields__"):
        vars(twin).update(values)
        return twin
    put = _putting(twin)
    for name, value in values.items():
        put(twin, name, value)
    return twin


def _copied(obj: Any) -> Any:
    """A copy, also of a frozen object with slots that does not say how it is copied."""
    try:
        return copy.copy(obj)
    except (AttributeError, TypeError):
        twin = object.__new__(type(obj))
        for name in fields_of(obj) or ():
            object.__setattr__(twin, name, getattr(obj, name))
        return twin


def _putting(obj: Any) -> Callable[[Any, str, Any], None]:
    if hasattr(type(obj), "__struct_fields__"):
        from msgspec.structs import force_setattr  # whoever made such an object has it

        return cast("Callable[[Any, str, Any], None]", force_setattr)
    return object.__setattr__


def _value(obj: Any, name: str) -> Any:
    try:
        return getattr(obj, name)
    except AttributeError:
        return _MISSING
