"""Statements that move tensors to one device: Python that runs at the failing call."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any, NamedTuple

import torch

from .holding import held

_UNKNOWN = object()


class Argument(NamedTuple):
    """An argument of a call.

    Attributes:
        called: what it is called in the error.
        written: its expression in the call; None where that cannot be seen.
        value: the object.

    """

    called: str
    written: ast.expr | None
    value: Any


def lines(wrong: list[Argument], goal: torch.device, frame: FrameType | None) -> str:
    """Statements that move these to a device, one a line; with the import that they need.

    Args:
        wrong: what is elsewhere.
        goal: where it ought to be.
        frame: the one that makes the call, by which it is seen what can be assigned to.

    """
    statements = list(dict.fromkeys(_line(argument, str(goal), frame) for argument in wrong))
    used = [name for name in ("to", "to_empty") if any(f"{name}(" in _without_methods(line) for line in statements)]
    needed = [f"from rigup.torch import {', '.join(used)}"] if used else []
    return "\n".join([*needed, *statements])


def _line(argument: Argument, goal: str, frame: FrameType | None) -> str:
    empty = any(part.tensor.device.type == "meta" for part in held(argument.value))
    call, note = ("to_empty", "  # then give it values") if empty else ("to", "")
    if argument.written is None:
        return f"# {argument.called} of the call: give {call}(..., {goal!r}) in its place"
    if isinstance(argument.value, torch.nn.Module):
        return _code(f"{call}(it, {goal!r})" if empty else f"it.to({goal!r})", expression=argument.written) + note
    if isinstance(argument.value, torch.nn.Parameter) and (owner := _module_of(argument.written, frame)) is not None:
        return _code(f"{call}(it, {goal!r})" if empty else f"it.to({goal!r})", expression=owner) + note
    target = _target(argument.written, frame)
    if target is None:
        return _code(f"moved = {call}(it, {goal!r})", expression=argument.written) + "  # and give this in its place"
    whole = target is not argument.written  # what holds it is moved instead, for it takes no new items
    plain = type(argument.value) is torch.Tensor and not whole and not empty
    return _code(f"it = it.to({goal!r})" if plain else f"it = {call}(it, {goal!r})", expression=target) + note


def _code(pattern: str, expression: ast.expr) -> str:
    """A statement with an expression in place of the name `it`."""
    put = _Put(expression).visit(ast.parse(pattern))
    return ast.unparse(ast.fix_missing_locations(put))


class _Put(ast.NodeTransformer):
    def __init__(self, expression: ast.expr) -> None:
        self.text = ast.unparse(expression)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.parse(self.text, mode="eval").body if node.id == "it" else node


def _without_methods(line: str) -> str:
    return line.replace(".to(", ".(")


def _target(written: ast.expr, frame: FrameType | None) -> ast.expr | None:
    """The expression that can be assigned to, or the nearest container of it; None if there is none."""
    if isinstance(written, ast.Name):
        return written
    if isinstance(written, (ast.Subscript, ast.Attribute)):
        owner = _value(written.value, frame)
        return written if _takes(owner, written) else _target(written.value, frame)
    return None


def _takes(owner: Any, written: ast.expr) -> bool:
    """Whether an item or attribute of the object can be assigned."""
    if owner is _UNKNOWN:
        return False
    if isinstance(written, ast.Subscript):
        return hasattr(type(owner), "__setitem__")
    frozen = getattr(getattr(owner, "__dataclass_params__", None), "frozen", False)
    found = getattr(type(owner), getattr(written, "attr", ""), None)
    fixed = isinstance(found, property) and found.fset is None
    return not (frozen or fixed or isinstance(owner, tuple) or _frozen_by_attrs(owner))


def _module_of(written: ast.expr, frame: FrameType | None) -> ast.expr | None:
    """The module whose parameter an expression names."""
    if not isinstance(written, ast.Attribute):
        return None
    owner = _value(written.value, frame)
    return written.value if isinstance(owner, torch.nn.Module) else None


def _value(written: ast.expr, frame: FrameType | None) -> Any:
    """Evaluate a name, attribute or item without running user code."""
    if isinstance(written, ast.Name) and frame is not None:
        return frame.f_locals.get(written.id, frame.f_globals.get(written.id, _UNKNOWN))
    if isinstance(written, ast.Attribute):
        owner = _value(written.value, frame)
        plain = owner is not _UNKNOWN and not isinstance(getattr(type(owner), written.attr, None), property)
        return getattr(owner, written.attr, _UNKNOWN) if plain else _UNKNOWN
    if isinstance(written, ast.Subscript):
        owner, at = _value(written.value, frame), written.slice
        key: Any = at.value if isinstance(at, ast.Constant) else _value(at, frame)
        try:
            return owner[key] if isinstance(owner, (dict, list, tuple)) and key is not _UNKNOWN else _UNKNOWN
        except (KeyError, IndexError, TypeError):
            return _UNKNOWN
    return _UNKNOWN


def _frozen_by_attrs(owner: Any) -> bool:
    return hasattr(type(owner), "__attrs_attrs__") and "frozen" in type(owner).__setattr__.__name__
