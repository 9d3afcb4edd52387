"""All devices that torch lists."""

from __future__ import annotations

import torch

from .backends import BACKENDS, Backend
from .facts import DeviceError, DeviceFacts


def devices() -> list[DeviceFacts]:
    """Tell all devices that torch lists, GPUs first, the CPU last. None of them is occupied by this."""
    return [*gpus(), BACKENDS[-1].facts(0)]


def gpus() -> list[DeviceFacts]:
    """All but the CPU: programs ask for a device in their loops, and the CPU's facts take a while to read."""
    return [_facts(backend, index) for backend in BACKENDS[:-1] for index in range(backend.count())]


def _facts(backend: Backend, index: int) -> DeviceFacts:
    try:
        return backend.facts(index)
    except (RuntimeError, AssertionError, OSError) as error:
        problem = f"torch lists {backend.type}:{index} and cannot tell what it is: {error}"
        raise DeviceError(f"{problem}\n`rigup doctor` tells what is wrong with it.") from error


def backend_of(device: torch.device) -> Backend:
    """The backend of a device.

    Raises:
        DeviceError: torch has none that could be asked, as for `meta`.

    """
    found = next((backend for backend in BACKENDS if backend.type == device.type and backend.count()), None)
    if found is None:
        if device.type == "meta":
            raise DeviceError("meta is no place: its tensors have shapes and no values, and take no memory. " + listed())
        raise DeviceError(f"There is no device {device} here. {listed()}")
    return found


def listed() -> str:
    """All devices, and what to do, as sentences of an error."""
    sentence = "torch lists: " + ", ".join(map(str, devices())) + ". Name one of these, or none for the best."
    return sentence + (" `rigup doctor` tells why a GPU is missing." if len(devices()) == 1 else "")
