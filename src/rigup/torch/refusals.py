"""Errors of a tensor that cannot go somewhere: which one, from where, why, and what to do."""

from __future__ import annotations

from typing import Any

import torch

from .calls import written
from .facts import DeviceError, OutOfDeviceMemory
from .holding import held

_OUT_OF_MEMORY = getattr(torch, "OutOfMemoryError", torch.cuda.OutOfMemoryError)


def refused(obj: Any, root: Any, goal: torch.device, error: Exception) -> DeviceError:
    """What torch, or an object's own `to`, would not do.

    Args:
        obj: what was to be moved.
        root: what the program gave us.
        goal: where it was to go.
        error: what was said.

    """
    error_text = (str(error).strip() or type(error).__name__).splitlines()[0]
    sentence = f"{_described(obj, root)} cannot be moved to {goal}: {error_text}"
    sentence += "" if sentence.endswith((".", "!", "?")) else "."
    if isinstance(error, _OUT_OF_MEMORY) or "out of memory" in error_text.lower():
        ways = "Free tensors that are no longer needed, move a smaller batch, or use a smaller dtype."
        return OutOfDeviceMemory(f"{sentence}\n{ways}")
    return DeviceError(f"{sentence}\n{_ways(obj, root, goal)}")


def without_values(tensor: torch.Tensor, root: Any, goal: torch.device) -> DeviceError:
    """The error of a tensor that was made on `meta`."""
    name = _root() or "model"
    lines = f"  from rigup.torch import to_empty\n  {name} = to_empty({name}, {str(goal)!r})"
    sentence = f"{_described(tensor, root)} is on meta and has no values to move."
    return DeviceError(f"{sentence}\nGive it room first, then load or initialise it:\n{lines}")


def _described(obj: Any, root: Any) -> str:
    """`The float64 tensor batch['x'] of shape (2, 3)`."""
    if not isinstance(obj, torch.Tensor):
        return f"The {type(obj).__name__} {_root()}".rstrip() if obj is root else f"A {type(obj).__name__}"
    dtype, shape = str(obj.dtype).partition(".")[2], tuple(obj.shape)
    return f"The {dtype} tensor {_name(obj, root)} of shape {shape}".replace("  ", " ")


def _name(tensor: torch.Tensor, root: Any) -> str:
    """How one gets at it; "" where that cannot be seen."""
    part = next((part.name for part in held(root) if part.tensor is tensor), "")
    name = _root()
    dot = "." if name and isinstance(root, torch.nn.Module) and part else ""
    return name + dot + part


def _root() -> str:
    """What the program calls that which it gave us."""
    import ast

    call = written("to").call
    func = getattr(call, "func", None)
    if call is None or not call.args or getattr(func, "id", getattr(func, "attr", "")) not in ("to", "to_empty"):
        return ""
    return ast.unparse(call.args[0]) if isinstance(call.args[0], ast.Name) else ""


def _ways(obj: Any, root: Any, goal: torch.device) -> str:
    wide = next(
        (
            part
            for part in held(obj if isinstance(obj, torch.nn.Module) else root)
            if part.tensor.dtype in (torch.float64, torch.complex128)
        ),
        None,
    )
    if wide is not None and goal.type != "cpu":
        return "Not every device has numbers of 64 bits: convert it first, for a tensor or a module by `.float()`."
    return f"Convert it to a dtype and a layout that {goal.type} has, or leave it on the CPU."
