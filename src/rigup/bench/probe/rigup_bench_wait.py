"""Wait for all work queued on the measured device, which need not be the current one."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Dict

import torch

Device = Dict[str, Any]
_BUILT_IN = ("cuda", "xpu")  # their `synchronize` takes a device, and waits for all its streams


def wait(device: Device) -> None:
    """Until the device has done all that it was given.

    Args:
        device: with its `id` as torch names it (`cuda:1`), and its `type`.

    """
    _waiting(device["type"], device["id"])()


def wait_all(*devices: Device) -> None:
    """Until each of them has: a copy between two is done when both say so."""
    for device in devices:
        wait(device)


@functools.lru_cache(maxsize=None)
def _waiting(kind: str, device_id: str) -> Callable[[], Any]:
    """The function that waits for a device, looked up once so that the lookup is not timed."""
    if kind == "cpu":
        return lambda: None
    if kind in _BUILT_IN:
        return functools.partial(getattr(torch, kind).synchronize, device_id)
    if kind == "mps":
        return torch.mps.synchronize  # type: ignore[no-any-return]  # there is one device of this kind
    return _of_further(kind, device_id)


def _of_further(kind: str, device_id: str) -> Callable[[], Any]:
    """A backend that is no part of torch may wait for the current device only, or have nothing that waits (DirectML).

    So a value that the device itself makes is read after it: what is read stands behind all else in the device's queue.
    """
    synchronize, scalar = _own_synchronize(getattr(torch, kind, None), device_id), torch.ones(1, device=device_id)

    def waiting() -> None:
        synchronize()
        scalar.mul_(1).cpu()

    return waiting


def _own_synchronize(module: Any, device_id: str) -> Callable[[], Any]:
    """The backend's own `synchronize` for a device, by argument or inside its device context."""
    own = getattr(module, "synchronize", None)
    if own is None:
        return lambda: None
    if _takes_a_device(own):
        return functools.partial(own, torch.device(device_id))
    block = getattr(module, "device", None)
    if block is None:
        return own  # type: ignore[no-any-return]

    def within() -> None:
        with block(torch.device(device_id)):
            own()

    return within


def _takes_a_device(own: Any) -> bool:
    try:
        return bool(inspect.signature(own).parameters)
    except (TypeError, ValueError):
        return False  # one that is compiled: the block serves
