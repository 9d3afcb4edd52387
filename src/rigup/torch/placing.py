"""Which tensor sits where, and an error that says so before torch's own does."""

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch

from rigup.torch.calls import names_of_arguments
from rigup.torch.facts import DeviceError

_MOST = 6  # names that an error tells of each device


class Placement(NamedTuple):
    """What of an object lies on one device.

    Attributes:
        parameters: names of a module's parameters, as `named_parameters` gives them.
        buffers: names of its buffers.
        tensors: names of other tensors: `['x']`, `[0]`, `.mask`.
        bytes: that they take; memory that several share counts once.

    """

    device: torch.device
    parameters: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()
    tensors: tuple[str, ...] = ()
    bytes: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return self.parameters + self.buffers + self.tensors

    def __str__(self) -> str:
        shown = ", ".join(self.names[:_MOST])
        more = f" and {len(self.names) - _MOST} more" if len(self.names) > _MOST else ""
        return f"{self.device}: {shown}{more}"


class DifferentDevices(DeviceError):
    """Tensors that ought to be on one device are on several.

    Attributes:
        placements: by the object's name, what of it lies on which device.
        line: the line to add, where there is one that mends it.

    """

    def __init__(self, placements: dict[str, dict[torch.device, Placement]], line: str) -> None:
        self.placements, self.line = placements, line
        told = [f"  {name} is on {_told(held)}" for name, held in placements.items() if held]
        super().__init__("These are on different devices:\n" + "\n".join(told) + f"\nAdd before it:\n  {line}")


class _Held(NamedTuple):
    name: str
    kind: str  # parameter, buffer, tensor
    tensor: torch.Tensor


def where(obj: Any) -> dict[torch.device, Placement]:
    """Tell which parameters, buffers and tensors of a module or container lie on which device.

    Args:
        obj: a module, a tensor, or lists, tuples, mappings and dataclasses of such.

    Returns:
        One `Placement` a device, the one that holds most bytes first; {} where there is no tensor.

    """
    groups: dict[torch.device, list[_Held]] = {}
    for held in _held(obj):
        groups.setdefault(held.tensor.device, []).append(held)
    made = {device: _placement(device, found) for device, found in groups.items()}
    return dict(sorted(made.items(), key=lambda pair: -pair[1].bytes))


def same_device(*objects: Any, **named: Any) -> torch.device:
    """Return the one device that all tensors of these objects are on.

    Args:
        objects: modules, tensors and containers of such. In an error they are called as they are in the calling line.
        named: the same, each called by its keyword.

    Raises:
        DifferentDevices: they are on several. The text names which tensor or parameter sits where, and the line to add.
        DeviceError: there is no tensor in them.

    """
    placed = [where(one) for one in (*objects, *named.values())]
    found = {device for held in placed for device in held}
    if len(found) == 1:
        return found.pop()
    if not found:
        raise DeviceError("There is no tensor in what same_device was given.")
    called = [*names_of_arguments(len(objects)), *named]
    called = [name if called.count(name) == 1 else f"{name} (argument {n})" for n, name in enumerate(called, 1)]
    line = _line(called, [*objects, *named.values()], placed)
    raise DifferentDevices(dict(zip(called, placed, strict=True)), line)


def _held(obj: Any, name: str = "", above: tuple[int, ...] = ()) -> Iterator[_Held]:
    """All tensors of an object with their names; what contains itself is not entered twice."""
    if isinstance(obj, torch.Tensor):
        yield _Held(name, "parameter" if isinstance(obj, torch.nn.Parameter) else "tensor", obj)
    elif isinstance(obj, torch.nn.Module):
        dot = name + "." if name else ""
        yield from (_Held(dot + one, "parameter", tensor) for one, tensor in obj.named_parameters())
        yield from (_Held(dot + one, "buffer", tensor) for one, tensor in obj.named_buffers())
    elif id(obj) not in above:
        for part, inner in _parts(obj):
            yield from _held(inner, name + part, (*above, id(obj)))


def _parts(obj: Any) -> Iterator[tuple[str, Any]]:
    """What a container holds, each with how one gets at it."""
    if isinstance(obj, Mapping):
        yield from ((f"[{key!r}]", value) for key, value in obj.items())
    elif isinstance(obj, tuple) and (fields := getattr(obj, "_fields", ())):
        yield from ((f".{field}", getattr(obj, field)) for field in fields)
    elif isinstance(obj, list | tuple):
        yield from ((f"[{number}]", item) for number, item in enumerate(obj))
    elif isinstance(obj, set | frozenset):
        yield from (("{…}", item) for item in obj)
    elif dataclasses.is_dataclass(obj) and not isinstance(obj, type):
        yield from ((f".{field.name}", getattr(obj, field.name, None)) for field in dataclasses.fields(obj))


def _placement(device: torch.device, found: list[_Held]) -> Placement:
    named = {
        kind: tuple(held.name or "it" for held in found if held.kind == kind)
        for kind in ("parameter", "buffer", "tensor")
    }
    sizes = {_memory(held.tensor): held.tensor for held in found}
    taken = sum(_size(tensor) for tensor in sizes.values())
    return Placement(device, named["parameter"], named["buffer"], named["tensor"], taken)


def _memory(tensor: torch.Tensor) -> tuple[int, int]:
    """What tells one piece of memory from another; tensors without memory of their own are each one."""
    try:
        return tensor.untyped_storage().data_ptr() or id(tensor), 0
    except (RuntimeError, NotImplementedError):
        return id(tensor), 1


def _size(tensor: torch.Tensor) -> int:
    """Bytes of the memory that a tensor looks at."""
    try:
        return int(tensor.untyped_storage().nbytes())
    except (RuntimeError, NotImplementedError):
        return int(tensor.numel() * tensor.element_size())


def _told(held: dict[torch.device, Placement]) -> str:
    """`cuda:0`; with the names where it is on several devices or has several parts."""
    if len(held) == 1 and next(iter(held.values())).names == ("it",):
        return str(next(iter(held)))
    return "; ".join(f"{one.device} ({str(one).partition(': ')[2]})" for one in held.values())


def _line(called: list[str], objects: list[Any], placed: list[dict[torch.device, Placement]]) -> str:
    """What moves all that is elsewhere to where most of it is; to a GPU, if any of it is on one."""
    sizes: dict[torch.device, int] = {}
    for device, one in itertools.chain.from_iterable(held.items() for held in placed):
        sizes[device] = sizes.get(device, 0) + one.bytes
    goal = max(sizes, key=lambda device: (device.type not in ("cpu", "meta"), sizes[device]))
    wrong = [number for number, held in enumerate(placed) if set(held) - {goal}]
    return "; ".join(_move(called[number], objects[number], str(goal)) for number in wrong)


def _move(name: str, obj: Any, goal: str) -> str:
    name = name.partition(" (argument")[0]
    if isinstance(obj, torch.nn.Module):
        return f"{name}.to({goal!r})"
    plain = name.replace("_", "a").replace(".", "a").isalnum() or name.endswith("]")
    moved = f"{name}.to({goal!r})" if isinstance(obj, torch.Tensor) else f"rigup.torch.to({name}, {goal!r})"
    return f"{name} = {moved}" if plain else moved
