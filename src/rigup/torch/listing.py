"""All devices that torch lists."""

import torch

from rigup.torch.backends import BACKENDS, Backend
from rigup.torch.facts import DeviceError, DeviceFacts


def devices() -> list[DeviceFacts]:
    """Tell all devices that torch lists, GPUs first, the CPU last. None of them is occupied by this."""
    return [*gpus(), BACKENDS[-1].facts(0)]


def gpus() -> list[DeviceFacts]:
    """All but the CPU: programs ask for a device in their loops, and the CPU's facts take a while to read."""
    return [backend.facts(index) for backend in BACKENDS[:-1] for index in range(backend.count())]


def backend_of(device: torch.device) -> Backend:
    """The backend of a device.

    Raises:
        DeviceError: torch has none that could be asked, as for `meta`.

    """
    found = next((one for one in BACKENDS if one.type == device.type and one.count()), None)
    if found is None:
        raise DeviceError(f"There is no device {device} here. {listed()}")
    return found


def listed() -> str:
    """All devices, as one sentence of an error."""
    return "torch lists: " + ", ".join(map(str, devices())) + "."
