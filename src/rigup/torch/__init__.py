"""Devices of torch, by one manner over CUDA, ROCm, MPS, XPU, DirectML and the CPU.

    from rigup.torch import device, to

    model = Net().to(device())
    for batch in loader:
        loss = model(**to(batch, device())).loss

Nothing but torch is imported, and nothing of any device is touched, before a function is called. All sizes are
bytes. What torch cannot do is told by `DeviceError`, which is a `RuntimeError`.
"""

from .choice import device, try_all_gpus, try_gpu
from .facts import DeviceError, DeviceFacts, Memory, OutOfDeviceMemory
from .listing import devices
from .moving import to, to_empty
from .placing import DifferentDevices, Placement, same_device, where
from .running import memory, seed_everything, synchronize

__all__ = [
    "DeviceError",
    "DeviceFacts",
    "DifferentDevices",
    "Memory",
    "OutOfDeviceMemory",
    "Placement",
    "device",
    "devices",
    "memory",
    "same_device",
    "seed_everything",
    "synchronize",
    "to",
    "to_empty",
    "try_all_gpus",
    "try_gpu",
    "where",
]
