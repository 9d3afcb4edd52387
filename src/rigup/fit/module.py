"""What a training step of a module takes, traced on tensors without memory: nothing is allocated, nothing is computed.

It stands in people's programs and needs torch alone:

    from rigup.fit.module import module
    step = module(net, (torch.empty(32, 3, 224, 224),), optimizer="adamw")
    print(step.peak, step.parts)

The module and the batch may be real, or on the meta device.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import Any, NamedTuple

_OPTIMIZERS = {
    "sgd": ("SGD", {"lr": 0.1}),
    "momentum": ("SGD", {"lr": 0.1, "momentum": 0.9}),
    "adam": ("Adam", {}),
    "adamw": ("AdamW", {}),
    "adagrad": ("Adagrad", {}),
    "rmsprop": ("RMSprop", {}),
    "adafactor": ("Adafactor", {}),
}


class Step(NamedTuple):
    """The most that a training step holds at once, in bytes, and of what that consists."""

    peak: int
    parts: dict[str, int]


def module(
    net: Any, batch: Any, *, optimizer: str | Callable[[Any], Any] = "adamw", loss: Callable[[Any], Any] | None = None, autocast: Any = None
) -> Step:
    """The peak of a training step, by category.

    Args:
        net: a torch.nn.Module.
        batch: a tensor, a tuple of positional arguments, or a dict of named ones.
        optimizer: its name (sgd, momentum, adam, adamw, adagrad, rmsprop, adafactor), or a function from the parameters
            to it.
        loss: from the module's result to one number; by default the mean of all floating-point results.
        autocast: a torch.dtype to which operations are cast, or None.

    Raises:
        ValueError: there is no such optimizer.

    """
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:
        fake = _faked(net, mode)
        return measured(fake, _batch(batch, mode.from_tensor), optimizer=optimizer, loss=loss, autocast=autocast)


def measured(
    net: Any, batch: Any, *, optimizer: str | Callable[[Any], Any] = "adamw", loss: Callable[[Any], Any] | None = None, autocast: Any = None
) -> Step:
    """The same of a step that runs on whatever the tensors are."""
    torch_optimizer = _optimizer(optimizer, [parameter for parameter in net.parameters() if parameter.requires_grad])
    tracker = _tracker(net, torch_optimizer, batch)
    with tracker:
        step(net, batch, torch_optimizer, loss, autocast)
        step(net, batch, torch_optimizer, loss, autocast)  # an optimizer's state exists from the first step on
    return Step(tracker.most, tracker.parts)


def step(net: Any, batch: Any, optimizer: Any, loss: Callable[[Any], Any] | None = None, autocast: Any = None) -> None:
    """One training step, whose results are let go as early as a careful program does."""
    with _cast(net, autocast):
        result = net(**batch) if isinstance(batch, dict) else net(*batch)
        number = (loss or _mean)(result)
    del result
    number.backward()
    del number
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def _tracker(net: Any, optimizer: Any, batch: Any) -> Any:  # noqa: C901  (a class can only be made where torch is)
    """What counts every memory that tensors hold while it is on, and keeps the largest sum."""
    import weakref

    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Tracker(TorchDispatchMode):  # type: ignore[misc]
        """Bytes by storage; a storage is let go with its last tensor."""

        def __init__(self) -> None:
            super().__init__()
            self.now = self.most = 0
            self.parts: dict[str, int] = {}
            self.held: dict[Any, int] = {}
            for tensor in tree_leaves((list(net.parameters()), list(net.buffers()), batch)):
                self.add(tensor)
            self.look()

        def add(self, tensor: Any) -> None:
            if not isinstance(tensor, torch.Tensor):
                return
            storage = tensor.untyped_storage()
            mark = weakref.ref(storage, self.drop)
            if mark not in self.held:
                self.held[mark] = storage.nbytes()
                self.now += self.held[mark]

        def drop(self, mark: Any) -> None:
            self.now -= self.held.pop(mark, 0)

        def look(self) -> None:
            if self.now > self.most:
                self.most = self.now
                self.parts = _parts(net, optimizer, batch, self.now)

        def __torch_dispatch__(self, function: Any, kinds: Any, words: Any = (), named: Any = None) -> Any:
            result = function(*words, **(named or {}))
            for tensor in tree_leaves(result):
                self.add(tensor)
            self.look()
            return result

    return Tracker()


def _parts(net: Any, optimizer: Any, batch: Any, total: int) -> dict[str, int]:
    """What is held, by category; what nobody else holds are activations and what operations need meanwhile."""
    from torch.utils._pytree import tree_leaves

    sizes = {
        "parameters": _bytes(net.parameters()),
        "buffers": _bytes(net.buffers()),
        "gradients": _bytes(parameter.grad for parameter in net.parameters()),
        "optimizer": _bytes(tree_leaves(list(optimizer.state.values()))),
        "inputs": _bytes(tree_leaves(batch)),
    }
    sizes["activations"] = max(0, total - sum(sizes.values()))
    return {name: size for name, size in sizes.items() if size}


def _bytes(tensors: Any) -> int:
    import torch

    sizes = {tensor.untyped_storage()._cdata: tensor.untyped_storage().nbytes() for tensor in tensors if isinstance(tensor, torch.Tensor)}
    return sum(sizes.values())


def largest_batch(net: Any, make: Callable[[int], Any], room: int, *, most: int = 1 << 16, **how: Any) -> int:
    """The largest batch whose step needs at most `room` bytes; 0 where not even one sample does.

    Args:
        net: a torch.nn.Module.
        make: the batch of so many samples; tensors on the meta device will do.
        room: bytes.
        most: where to stop.
        how: as for `module`.

    """
    low, high = 0, most
    while low < high:
        middle = min(high, max(low + 1, 2 * low)) if high == most else (low + high + 1) // 2
        if module(net, make(middle), **how).peak <= room:
            low = middle
        else:
            high = middle - 1
    return low


def _faked(net: Any, mode: Any) -> Any:
    """The module with tensors that have sizes and no memory; the real ones are neither copied nor touched."""
    import torch

    known: dict[int, Any] = {}
    for parameter in net.parameters():
        known[id(parameter)] = torch.nn.Parameter(_plain(parameter, mode), requires_grad=parameter.requires_grad)
    for buffer in net.buffers():
        known[id(buffer)] = _plain(buffer, mode)
    return copy.deepcopy(net, known)


def _plain(tensor: Any, mode: Any) -> Any:
    """One on the processor in place of one that has no device."""
    import torch

    if tensor.device.type == "meta":
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
    return mode.from_tensor(tensor).detach()


def _batch(batch: Any, fake: Callable[[Any], Any]) -> Any:
    import torch

    def faked(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if value.device.type == "meta":
            return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
        return fake(value)

    if isinstance(batch, dict):
        return {name: faked(value) for name, value in batch.items()}
    return tuple(faked(value) for value in (batch if isinstance(batch, (tuple, list)) else (batch,)))


def _optimizer(optimizer: str | Callable[[Any], Any], parameters: list[Any]) -> Any:
    import torch

    if not isinstance(optimizer, str):
        return optimizer(parameters)
    if optimizer not in _OPTIMIZERS:
        message = f"there is no optimizer {optimizer!r}; there are: {', '.join(_OPTIMIZERS)}"
        raise ValueError(message)
    name, settings = _OPTIMIZERS[optimizer]
    return getattr(torch.optim, name)(parameters, **settings)


def _cast(net: Any, kind: Any) -> Any:
    import torch

    if kind is None:
        return contextlib.nullcontext()
    device = next((parameter.device.type for parameter in net.parameters()), "cpu")
    return torch.autocast(device, dtype=kind)


def _mean(result: Any) -> Any:
    """One number of whatever a module returns."""
    import torch
    from torch.utils._pytree import tree_leaves

    parts = [tensor for tensor in tree_leaves(result) if isinstance(tensor, torch.Tensor) and tensor.is_floating_point()]
    return sum(tensor.float().mean() for tensor in parts)
