"""Which variables of a notebook hold memory: tensors and arrays, by name, size and device."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_OF_IPYTHON = ("In", "exit", "quit", "get_ipython", "open")
_MOST = 100_000  # tensors that are looked at


class Holder(NamedTuple):
    """Something that holds memory: how one gets at it, bytes, device, and what it is."""

    name: str
    size: int
    device: str
    what: str


def holders(variables: Mapping[str, Any]) -> list[Holder]:
    """All of a notebook's variables, largest first; memory that two names share counts for the first.

    A row of a device may be of tensors that no variable names: results of cells, errors, closures.
    """
    seen: set[Any] = set()
    rows = [*_tensors(variables, seen), *_arrays(variables)]
    return sorted([*rows, *_unnamed(seen)], key=lambda row: -row.size)


def _named(variables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Variables by their names; what cells gave (`_`, `Out`) after what a person named."""
    own = [name for name in variables if not name.startswith("_") and name not in (*_OF_IPYTHON, "Out")]
    given = [name for name in variables if name in ("Out", "_", "__", "___")]
    yield from ((name, variables[name]) for name in (*own, *given))


def _tensors(variables: Mapping[str, Any], seen: set[Any]) -> Iterator[Holder]:
    if "torch" not in sys.modules:
        return
    from rigup.torch.holding import held

    for name, value in _named(variables):
        for held_tensor in held(value, name):
            yield from _tensor(held_tensor.name, held_tensor.tensor, seen)
            if held_tensor.tensor.grad is not None:
                yield from _tensor(held_tensor.name + ".grad", held_tensor.tensor.grad, seen)
            if len(seen) > _MOST:
                return


def _tensor(name: str, tensor: Any, seen: set[Any]) -> Iterator[Holder]:
    """Its storage, once; what has none (meta, sparse) holds nothing that is told here."""
    try:
        storage = tensor.untyped_storage()
        key, size = (str(tensor.device), storage.data_ptr()), storage.nbytes()
    except (RuntimeError, NotImplementedError):
        return
    if key[1] and key not in seen:
        seen.add(key)
        shape = "×".join(map(str, tensor.shape)) or "1"
        yield Holder(name, size, str(tensor.device), f"{str(tensor.dtype).replace('torch.', '')} {shape}")


def _unnamed(seen: set[Any]) -> Iterator[Holder]:
    """What lives and no variable names."""
    torch = sys.modules.get("torch")
    if torch is None:
        return
    sizes: dict[str, list[int]] = {}
    for live_object in gc.get_objects():
        if isinstance(live_object, torch.Tensor):
            for row in _tensor("", live_object, seen):
                sizes.setdefault(row.device, []).append(row.size)
    for device, each in sizes.items():
        yield Holder("(no variable)", sum(each), device, f"{len(each)} tensors: results, errors, graphs, closures")


def _arrays(variables: Mapping[str, Any]) -> Iterator[Holder]:
    """Arrays of NumPy that are variables themselves and own their memory; tables of pandas."""
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    seen = set()
    for name, value in _named(variables):
        if id(value) in seen:
            continue
        seen.add(id(value))
        if numpy is not None and isinstance(value, numpy.ndarray) and value.base is None:
            yield Holder(name, int(value.nbytes), "cpu", f"{value.dtype} {'×'.join(map(str, value.shape)) or '1'}")
        elif pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series)):
            size = value.memory_usage(deep=False)
            yield Holder(
                name, int(size.sum() if hasattr(size, "sum") else size), "cpu", f"{type(value).__name__} {'×'.join(map(str, value.shape))}"
            )
