"""Everything to one device: containers, modules and batches, without copying what is already there."""

import copy
import dataclasses
from collections.abc import Callable, Mapping
from operator import is_
from typing import Any, TypeVar, cast

import torch

from rigup.torch.choice import device as chosen
from rigup.torch.facts import DeviceError

T = TypeVar("T")
Move = Callable[[Any], Any]


def to(obj: T, device: str | int | torch.device | None = None, *, non_blocking: bool = False) -> T:
    """Move all tensors of an object to a device.

    What is already there is not copied: an object all of whose tensors are in place comes back itself. A tensor that
    stands in several places is copied once.

    Args:
        obj: a tensor of any shape; a module, which is moved in place; a list, tuple, named tuple, set, dict or other
            mapping, or a dataclass, nested as deep as Python allows; anything with a method `to` of its own, such as a
            tokenizer's batch or a packed sequence. What holds no tensor comes back as it is.
        device: as `rigup.torch.device` takes it; by default the best one.
        non_blocking: whether copies from pinned memory may go on while the program does.

    Returns:
        An object of the same type. Dtypes, shapes and `requires_grad` stay; a parameter stays a parameter.

    Raises:
        DeviceError: there is no such device; or a tensor has no values, because it was made on `meta`; or a container
            contains itself.

    """
    wanted = device if isinstance(device, torch.device) else chosen(device)
    return cast("T", _Mover(torch.empty(0, device=wanted).device, non_blocking).moved(obj))


class _Mover:
    """One journey to a device that torch has named in full."""

    def __init__(self, device: torch.device, non_blocking: bool) -> None:
        self.device, self.non_blocking = device, non_blocking
        self._copies: dict[int, tuple[Any, Any]] = {}  # by id, with the original, so that no id is used twice
        self._open: set[int] = set()
        plain: dict[type, Move] = {list: self._items, tuple: self._items, dict: self._values, set: self._items}
        self._moves = {torch.Tensor: self._tensor, torch.nn.Parameter: self._tensor, **plain}

    def moved(self, obj: Any) -> Any:
        move = self._moves.get(type(obj))
        return self._other(obj) if move is None else move(obj)

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor if tensor.device == self.device else self._copied(tensor)

    def _copied(self, tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in self._copies:
            self._copies[id(tensor)] = (tensor, self._copy(tensor))
        return self._copies[id(tensor)][1]

    def _copy(self, tensor: torch.Tensor) -> torch.Tensor:
        _refuse_without_values(tensor, self.device)
        if isinstance(tensor, torch.nn.Parameter):
            there = tensor.detach().to(self.device, non_blocking=self.non_blocking)
            return torch.nn.Parameter(there, requires_grad=tensor.requires_grad)
        return tensor.to(self.device, non_blocking=self.non_blocking)

    def _module(self, module: torch.nn.Module) -> torch.nn.Module:
        goal = self.device
        elsewhere = [tensor for tensor in _tensors_of(module) if tensor.device != goal]
        for tensor in elsewhere:
            _refuse_without_values(tensor, self.device)
        return module.to(self.device, non_blocking=self.non_blocking) if elsewhere else module

    def _items(self, items: Any) -> Any:
        """A list, tuple or set; a named tuple takes its items one by one."""
        new = self._within(items, lambda: [self.moved(item) for item in items])
        if all(map(is_, new, items)):
            return items
        return type(items)(*new) if hasattr(items, "_fields") else type(items)(new)

    def _values(self, values: Any) -> Any:
        """A dict or another mapping, with whatever else it holds, such as a default."""
        new = self._within(values, lambda: {key: self.moved(value) for key, value in values.items()})
        if all(map(is_, new.values(), values.values())):
            return values
        twin = copy.copy(values)
        for key, value in new.items():
            twin[key] = value
        return twin

    def _fields(self, record: Any) -> Any:
        """A dataclass, frozen or not, whatever its constructor takes."""
        names = [field.name for field in dataclasses.fields(record) if hasattr(record, field.name)]
        held = [getattr(record, name) for name in names]
        new = self._within(record, lambda: [self.moved(value) for value in held])
        if all(map(is_, new, held)):
            return record
        twin = copy.copy(record)
        for name, value in zip(names, new, strict=True):
            object.__setattr__(twin, name, value)
        return twin

    def _within(self, container: Any, go: Callable[[], Any]) -> Any:
        if id(container) in self._open:
            raise DeviceError(f"A {type(container).__name__} contains itself, so its tensors cannot be moved.")
        self._open.add(id(container))
        try:
            return go()
        finally:
            self._open.discard(id(container))

    def _other(self, obj: Any) -> Any:
        if isinstance(obj, torch.Tensor):
            return self._tensor(obj)
        if isinstance(obj, torch.nn.Module):
            return self._module(obj)
        if not isinstance(obj, type) and callable(getattr(obj, "to", None)):
            return obj.to(self.device)
        if isinstance(obj, list | tuple | set | frozenset):
            return self._items(obj)
        if isinstance(obj, Mapping):
            return self._values(obj)
        return self._fields(obj) if dataclasses.is_dataclass(obj) and not isinstance(obj, type) else obj


def _tensors_of(module: torch.nn.Module) -> list[torch.Tensor]:
    """Parameters and buffers of a module and all below it: `parameters()` takes much longer, for it names them all."""
    waiting, seen, found = [module], {id(module)}, []  # type: list[Any], set[int], list[torch.Tensor | None]
    for one in waiting:
        for held in (one._parameters, one._buffers):
            if held:
                found += held.values()
        if below := one._modules:
            new = [inner for inner in below.values() if inner is not None and id(inner) not in seen]
            seen.update(map(id, new))
            waiting += new
    return [tensor for tensor in found if tensor is not None]


def _refuse_without_values(tensor: torch.Tensor, goal: torch.device) -> None:
    if tensor.device.type == "meta":
        told = "Give it values first: `model.to_empty(device={0!r})`, then load or initialise them."
        raise DeviceError("A tensor on meta has no values to move. " + told.format(str(goal)))
