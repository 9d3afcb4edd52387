"""Everything to one device: containers, modules and batches, without copying what is already there."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator, Mapping
from operator import is_
from typing import Any, Callable, TypeVar, cast

import torch

from .choice import CHOSEN
from .choice import device as chosen
from .facts import DeviceError

T = TypeVar("T")
Move = Callable[[Any], Any]
_PLAIN = (str, int, float, bool, bytes, type(None))  # what batches hold beside tensors
_ITERATORS = ("builtins", "itertools", "torch.utils.data.dataloader")  # not files, whose items are lines
_REFUSALS = (RuntimeError, TypeError, ValueError, AssertionError)  # by which torch says that it cannot


def to(obj: T, device: str | int | torch.device | None = None, *, non_blocking: bool = False) -> T:
    """Move all tensors of an object to a device.

    What is already there is not copied: an object all of whose tensors are in place comes back itself. A tensor that
    stands in several places is copied once, and tensors that share memory share it there too.

    Args:
        obj: a tensor of any shape and layout; a module, which is moved in place, tied weights staying tied; an
            optimizer, whose state is moved in place; a list, tuple, named tuple, set, deque, dict or other mapping; a
            dataclass, a class of attrs, pydantic or msgspec, a namespace, a cache of transformers, nested as deep as
            Python allows; anything with a method `to` of its own, such as a tokenizer's batch or a packed sequence,
            also one that moves in place; a generator, whose items are moved when they are asked for. What holds no
            tensor comes back as it is.
        device: as `rigup.torch.device` takes it; by default the best one.
        non_blocking: whether copies from pinned memory may go on while the program does; told to each `to` that takes it.

    Returns:
        An object of the same type; of an iterator, a generator. Dtypes, shapes and `requires_grad` stay; a parameter
        stays a parameter.

    Raises:
        DeviceError: there is no such device; or a tensor cannot go there, because it has no values (it was made on
            `meta`: see `to_empty`), its dtype is none of that device, or there is no room; or a container contains
            itself. The text names the tensor.

    """
    return cast("T", Mover(_in_full(device), non_blocking).all_of(obj))


def to_empty(obj: T, device: str | int | torch.device | None = None) -> T:
    """Move an object as `to` does, and give room to what has no values, because it was made on `meta`.

    The new tensors hold whatever was there: load or initialise them. Unlike a module's own `to_empty` this keeps
    values that are there, and ties: two names of one weight stay two names of one weight.

    Args:
        obj: as `to` takes it.
        device: as `rigup.torch.device` takes it; by default the best one.

    Raises:
        DeviceError: as `to` does.

    """
    return cast("T", Mover(_in_full(device), empty=True).all_of(obj))


def _in_full(wish: str | int | torch.device | None) -> torch.device:
    """The device as its tensors name it."""
    plain = isinstance(wish, torch.device) and (wish.index is not None or wish.type in ("cpu", "meta"))
    try:
        found = torch.empty(0, device=cast("torch.device", wish) if plain else chosen(wish)).device
    except DeviceError:
        raise
    except _REFUSALS as error:
        chosen(wish)  # says what there is where it is not there
        raise DeviceError(f"No tensor can be made on {wish}: {error} `rigup doctor` tells what is wrong.") from error
    CHOSEN.add(found)
    return found


class Mover:
    """One journey to a device that torch has named in full."""

    def __init__(self, device: torch.device, non_blocking: bool = False, empty: bool = False) -> None:
        self.device, self.non_blocking, self.empty = device, non_blocking, empty
        self._root: Any = None
        self._copies: dict[int, tuple[Any, Any]] = {}  # by id, with the original, so that no id is used twice
        self._views: dict[tuple[Any, ...], tuple[torch.Tensor, torch.Tensor]] = {}  # by what of which memory it shows
        self._wholes: dict[int, torch.Tensor] = {}  # by memory, a tensor that covers it
        self._looked = False
        self._open: set[int] = set()
        plain: dict[type, Move] = {list: self._items, tuple: self._items, dict: self._values, set: self._items}
        same: dict[type, Move] = dict.fromkeys(_PLAIN, _itself)
        self._moves = {torch.Tensor: self._tensor, torch.nn.Parameter: self._tensor, **plain, **same}

    def all_of(self, obj: Any) -> Any:
        """Move what somebody gave us. Raises DeviceError."""
        self._root = obj
        try:
            return self.moved(obj)
        except RecursionError as error:
            template = "A {0} is nested deeper than Python can follow, so its tensors cannot be moved. Move its parts one by one."
            raise DeviceError(template.format(type(obj).__name__)) from error

    def moved(self, obj: Any) -> Any:
        """Move a part of it."""
        move = self._moves.get(type(obj))
        return self._other(obj) if move is None else move(obj)

    def _other(self, obj: Any) -> Any:  # noqa: PLR0911  (one for each kind)
        """What is of none of the types that batches are mostly made of."""
        if isinstance(obj, torch.Tensor):
            return self._tensor(obj)
        if isinstance(obj, torch.nn.Module):
            return self._module(obj)
        if isinstance(obj, type):
            return obj
        if callable(getattr(obj, "to", None)):
            return self._by_itself(obj)
        if isinstance(obj, torch.optim.Optimizer):
            return self._optimizer(obj)
        if isinstance(obj, (list, tuple, set, frozenset, deque)):
            return self._items(obj)
        if isinstance(obj, Mapping):
            return self._values(obj)
        if type(obj).__module__ in _ITERATORS and isinstance(obj, Iterator):
            return self._each(obj)
        from .records import fields_of

        names = fields_of(obj)
        return obj if names is None else self._fields(obj, names)

    # -- tensors -------------------------------------------------------------------------------------

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device == self.device:
            return tensor
        if id(tensor) not in self._copies:
            self._copies[id(tensor)] = (tensor, self._by_memory(tensor))
        copied: torch.Tensor = self._copies[id(tensor)][1]
        return copied

    def _by_memory(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy that shares memory with the copies of those that share its own."""
        memory = None if tensor.requires_grad or isinstance(tensor, torch.nn.Parameter) else _memory(tensor)
        if memory is None:
            return self._copy(tensor)
        view = (memory, tensor.storage_offset(), tensor.size(), tensor.stride(), tensor.dtype, type(tensor))
        if view not in self._views:
            self._views[view] = tensor, self._view(tensor, memory)
        copied = self._views[view][1]
        return copied if self._views[view][0] is tensor else copied.view_as(copied)

    def _view(self, tensor: torch.Tensor, memory: int) -> torch.Tensor:
        """A part of the copy of the whole, where the whole is moved too; else a copy of its own."""
        whole = self._wholes.setdefault(memory, tensor) if _covers(tensor) else self._whole(memory)
        if whole is None or whole is tensor or (whole.dtype, type(whole)) != (tensor.dtype, type(tensor)):
            return self._copy(tensor)
        copied = self._tensor(whole)
        if copied is whole or copied.stride() != whole.stride():
            return self._copy(tensor)
        return copied.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())

    def _whole(self, memory: int) -> torch.Tensor | None:
        """The tensor of what is moved that covers a piece of memory, if there is one."""
        if not self._looked:
            from .holding import held

            self._looked = True
            for candidate in (part.tensor for part in held(self._root) if not part.tensor.requires_grad):
                if _covers(candidate) and (key := _memory(candidate)) is not None:
                    self._wholes.setdefault(key, candidate)
        return self._wholes.get(memory)

    def _copy(self, tensor: torch.Tensor) -> torch.Tensor:
        copied = self._with_errors(tensor, lambda: self._on_device(tensor))
        if isinstance(tensor, torch.nn.Parameter) and not isinstance(copied, torch.nn.Parameter):
            copied = torch.nn.Parameter(copied.detach(), requires_grad=tensor.requires_grad)
            vars(copied).update(vars(tensor))
        return copied

    def _on_device(self, tensor: torch.Tensor) -> torch.Tensor:
        """Its values on the device, or room for them where it has none."""
        if tensor.device.type == "meta" and self.device.type != "meta":
            if not self.empty:
                raise self._without_values(tensor)
            return torch.empty_like(tensor, device=self.device)
        source = tensor.detach() if isinstance(tensor, torch.nn.Parameter) else tensor
        return source.to(self.device, non_blocking=self.non_blocking)

    # -- what changes in place -----------------------------------------------------------------------

    def _module(self, module: torch.nn.Module) -> torch.nn.Module:
        from .holding import tensors_of

        elsewhere = [tensor for tensor in tensors_of(module) if tensor.device != self.device]
        if not elsewhere:
            return module
        for tensor in elsewhere:
            if tensor.device.type == "meta" and not self.empty:
                raise self._without_values(tensor)
        ties = _ties(module)
        if self.empty:
            self._with_errors(module, lambda: module._apply(self._on_device))
        else:
            self._with_errors(module, lambda: module.to(self.device, non_blocking=self.non_blocking))
        for (table, name), *others in ties:  # torch makes new parameters where it cannot keep the old, each by itself
            for other, called in others:
                other[called] = table[name]
        return module

    def _optimizer(self, optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
        from .holding import state_of

        for _number, state, names in state_of(optimizer):
            for name in names:
                state[name] = self.moved(state[name])
        return optimizer

    def _by_itself(self, obj: Any) -> Any:
        """By its own method, which may move it in place and return nothing."""
        given = {"non_blocking": True} if self.non_blocking and _takes_non_blocking(obj.to) else {}
        result = self._with_errors(obj, lambda: obj.to(self.device, **given))
        return obj if result is None else result

    # -- containers ----------------------------------------------------------------------------------

    def _items(self, items: Any) -> Any:
        """A list, tuple, set or deque, with whatever else it holds."""
        new = self._within(items, lambda: [self.moved(item) for item in items])
        return items if all(map(is_, new, items)) else _with_items(items, new)

    def _values(self, values: Any) -> Any:
        """A dict or another mapping, with whatever else it holds, such as a default."""
        new = self._within(values, lambda: {key: self.moved(value) for key, value in values.items()})
        if all(map(is_, new.values(), values.values())):
            return values
        try:
            twin = copy.copy(values)
            for key, value in new.items():
                twin[key] = value
        except TypeError:  # one that cannot be changed is made of a dict
            return self._with_errors(values, lambda: type(values)(new))
        return twin

    def _fields(self, record: Any, names: list[str]) -> Any:
        """A dataclass or another record, frozen or not."""
        from .records import is_cache, with_fields

        old = {name: getattr(record, name) for name in names}
        new = self._within(record, lambda: {name: self.moved(value) for name, value in old.items()})
        if all(map(is_, new.values(), old.values())):
            return record
        if is_cache(record):  # it notes where its tensors are
            new = {name: self.device if isinstance(value, torch.device) else value for name, value in new.items()}
        return with_fields(record, new)

    def _each(self, items: Iterator[Any]) -> Iterator[Any]:
        """One after another, each when it is asked for; none is kept."""
        try:
            for item in items:
                yield Mover(self.device, self.non_blocking, self.empty).all_of(item)
        finally:
            if callable(close := getattr(items, "close", None)):
                close()

    def _within(self, container: Any, go: Callable[[], Any]) -> Any:
        if id(container) in self._open:
            template = "A {0} contains itself, so its tensors cannot be moved. Take it out of itself, or move its parts one by one."
            raise DeviceError(template.format(type(container).__name__))
        self._open.add(id(container))
        try:
            return go()
        finally:
            self._open.discard(id(container))

    # -- errors --------------------------------------------------------------------------------------

    def _with_errors(self, obj: Any, go: Callable[[], Any]) -> Any:
        try:
            return go()
        except (DeviceError, RecursionError):
            raise
        except _REFUSALS as error:
            from .refusals import refused

            raise refused(obj, self._root, self.device, error) from error

    def _without_values(self, tensor: torch.Tensor) -> DeviceError:
        from .refusals import without_values

        return without_values(tensor, self._root, self.device)


def _itself(obj: Any) -> Any:
    return obj


def _with_items(items: Any, new: list[Any]) -> Any:
    """A container of the same type, whatever its constructor takes, with other items."""
    kind = type(items)
    if isinstance(items, tuple):
        if hasattr(items, "_make"):
            return kind._make(new)
        if hasattr(items, "n_sequence_fields") or kind is tuple:  # a result of torch's, such as that of `max`
            return kind(new)
        twin = tuple.__new__(kind, new)
        vars(twin).update(getattr(items, "__dict__", {}))
        return twin
    if kind in (list, set, frozenset) or isinstance(items, frozenset):
        return kind(new)
    twin = copy.copy(items)
    twin.clear()
    (twin.update if isinstance(items, set) else twin.extend)(new)
    return twin


def _ties(module: torch.nn.Module) -> list[list[tuple[dict[str, Any], str]]]:
    """Where one parameter or buffer stands under several names: all places of each."""
    from .holding import slots_of

    places: dict[int, list[tuple[dict[str, Any], str]]] = {}
    for table in slots_of(module):
        for name, tensor in table.items():
            if tensor is not None:
                places.setdefault(id(tensor), []).append((table, name))
    return [slots for slots in places.values() if len(slots) > 1]


def _memory(tensor: torch.Tensor) -> int | None:
    """Which piece of memory a tensor looks at; None for one that has no such piece, as sparse and nested ones."""
    if tensor.layout is not torch.strided or tensor.is_nested or tensor.is_conj() or tensor.is_neg():
        return None
    try:
        return int(tensor.untyped_storage()._cdata)
    except (AttributeError, RuntimeError, NotImplementedError):
        return None


def _covers(tensor: torch.Tensor) -> bool:
    """Whether a tensor looks at all of its memory."""
    if _memory(tensor) is None or tensor.storage_offset():
        return False
    return bool(tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size())


def _takes_non_blocking(call: Any) -> bool:
    import inspect

    try:
        taken = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(parameter.name == "non_blocking" or parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in taken)
