"""Which tensor sits where, and an error that says so before torch's own does."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from .facts import DeviceError

if TYPE_CHECKING:
    import ast
    from types import FrameType

    from .advice import Argument
    from .holding import Held

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
        line: what to add before the call, as Python; several lines where it needs an import or moves several.

    """

    def __init__(self, placements: dict[str, dict[torch.device, Placement]], line: str) -> None:
        self.placements, self.line = placements, line
        placed_lines = [f"  {name} is on {_described(parts)}" for name, parts in placements.items() if parts]
        added = "".join(f"\n  {statement}" for statement in line.splitlines())
        super().__init__("These are on different devices:\n" + "\n".join(placed_lines) + "\nAdd before it:" + added)


def where(obj: Any) -> dict[torch.device, Placement]:
    """Tell which parameters, buffers and tensors of a module or container lie on which device.

    Args:
        obj: a module, a tensor, an optimizer, or containers and records of such, as `to` takes them; iterators are
            not begun.

    Returns:
        One `Placement` a device, the one that holds most bytes first; {} where there is no tensor.

    """
    from .holding import held

    groups: dict[torch.device, list[Held]] = {}
    for part in held(obj):
        groups.setdefault(part.tensor.device, []).append(part)
    placements = {device: _placement(device, found) for device, found in groups.items()}
    return dict(sorted(placements.items(), key=lambda pair: -pair[1].bytes))


def same_device(*objects: Any, **named: Any) -> torch.device:
    """Return the one device that all tensors of these objects are on.

    Args:
        objects: modules, tensors and containers of such. In an error they are called as they are in the calling line.
        named: the same, each called by its keyword.

    Raises:
        DifferentDevices: they are on several. The text names which tensor or parameter sits where, and the line to add.
        DeviceError: there is no tensor in them.

    """
    values = [*objects, *named.values()]
    placed = [where(value) for value in values]
    found = {device for parts in placed for device in parts}
    if len(found) == 1:
        return found.pop()
    if not found:
        raise DeviceError(
            "There is no tensor in what same_device was given. Give it the module and the tensors that meet in the line below it."
        )
    from .advice import Argument
    from .calls import written

    call = written("same_device")
    expressions = [*call.positional(len(objects)), *map(call.keyword, named)]
    called = _called(len(objects), expressions, list(named))
    arguments = [Argument(*fields) for fields in zip(called, expressions, values)]
    raise DifferentDevices(dict(zip(called, placed)), _line(arguments, placed, call.frame))


def _called(positional: int, expressions: list[ast.expr | None], named: list[str]) -> list[str]:
    """What each argument is called: as it is written, or by its keyword; and its number where two are called alike."""
    import ast

    written = [
        f"argument {n}" if expression is None else ast.unparse(expression) for n, expression in enumerate(expressions[:positional], 1)
    ]
    names = [*written, *named]
    return [name if names.count(name) == 1 else f"{name} (argument {n})" for n, name in enumerate(names, 1)]


def _placement(device: torch.device, found: list[Held]) -> Placement:
    named = {kind: tuple(part.name or "it" for part in found if part.kind == kind) for kind in ("parameter", "buffer", "tensor")}
    sizes = {_memory(part.tensor): part.tensor for part in found}
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


def _described(parts: dict[torch.device, Placement]) -> str:
    """`cuda:0`; with the names where it is on several devices or has several parts."""
    if len(parts) == 1 and next(iter(parts.values())).names == ("it",):
        return str(next(iter(parts)))
    return "; ".join(f"{placement.device} ({str(placement).partition(': ')[2]})" for placement in parts.values())


def _line(arguments: list[Argument], placed: list[dict[torch.device, Placement]], frame: FrameType | None) -> str:
    """What moves all that is elsewhere to where most of it is; to a GPU, if any of it is on one, and never to `meta`."""
    from .advice import lines

    sizes: dict[torch.device, int] = {}
    for device, placement in itertools.chain.from_iterable(parts.items() for parts in placed):
        sizes[device] = sizes.get(device, 0) + placement.bytes
    goal = max(sizes, key=lambda device: (device.type != "meta", device.type != "cpu", sizes[device]))
    wrong = [argument for argument, parts in zip(arguments, placed) if set(parts) - {goal}]
    return lines(wrong, goal, frame)
