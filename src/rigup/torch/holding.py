"""What an object holds, each with how one gets at it in Python."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch

from .records import fields_of


class Held(NamedTuple):
    """A tensor of an object: `name` is how one gets at it, `kind` is parameter, buffer or tensor."""

    name: str
    kind: str
    tensor: torch.Tensor


def held(obj: Any, name: str = "", above: tuple[int, ...] = ()) -> Iterator[Held]:
    """All tensors of an object with their names; what contains itself is not entered twice."""
    if isinstance(obj, torch.Tensor):
        yield Held(name, "parameter" if isinstance(obj, torch.nn.Parameter) else "tensor", obj)
    elif isinstance(obj, torch.nn.Module):
        dot = name + "." if name else ""
        yield from (Held(dot + part, "parameter", tensor) for part, tensor in obj.named_parameters())
        yield from (Held(dot + part, "buffer", tensor) for part, tensor in obj.named_buffers())
    elif id(obj) not in above:
        for part, inner in _parts(obj):
            yield from held(inner, name + part, (*above, id(obj)))


def _parts(obj: Any) -> Iterator[tuple[str, Any]]:
    """What a container holds; nothing where it is none."""
    if isinstance(obj, (str, bytes, int, float)) or obj is None:
        return
    if isinstance(obj, torch.optim.Optimizer):
        for number, state, names in state_of(obj):
            yield f".state[{number}]", {name: state[name] for name in names}
    elif isinstance(obj, Mapping):
        yield from ((f"[{key!r}]", value) for key, value in obj.items())
    elif isinstance(obj, tuple) and hasattr(obj, "_fields"):
        yield from ((f".{field}", getattr(obj, field)) for field in obj._fields)
    elif isinstance(obj, (list, tuple, deque)):
        yield from ((f"[{number}]", item) for number, item in enumerate(obj))
    elif isinstance(obj, (set, frozenset)):
        yield from (("{…}", item) for item in obj)
    elif not isinstance(obj, type):
        yield from ((f".{name}", getattr(obj, name)) for name in fields_of(obj) or ())


def state_of(optimizer: torch.optim.Optimizer) -> Iterator[tuple[int, dict[str, Any], list[str]]]:
    """The state of each parameter that has one: its number, the state, and the names of what lies on a device.

    The count of steps stays on the CPU, unless the step itself runs on the device (torch.optim.Optimizer's
    `load_state_dict` keeps it so).
    """
    groups = {id(parameter): group for group in optimizer.param_groups for parameter in group["params"]}
    for number, (parameter, state) in enumerate(optimizer.state.items()):
        group = groups.get(id(parameter), {})
        stays = () if group.get("capturable") or group.get("fused") else ("step",)
        if isinstance(state, dict):
            yield number, state, [name for name in state if name not in stays]


def tensors_of(module: torch.nn.Module) -> list[torch.Tensor]:
    """Parameters and buffers of a module and all below it: `parameters()` takes much longer, for it names them all."""
    return [tensor for slots in slots_of(module) for tensor in slots.values() if tensor is not None]


def slots_of(module: torch.nn.Module) -> list[dict[str, Any]]:
    """The tables, by name, in which a module and all below it keep their parameters and buffers."""
    waiting: list[Any] = [module]
    seen, found = {id(module)}, []
    for submodule in waiting:
        found += [slots for slots in (submodule._parameters, submodule._buffers) if slots]
        if below := submodule._modules:
            new = [inner for inner in below.values() if inner is not None and id(inner) not in seen]
            seen.update(map(id, new))
            waiting += new
    return found
