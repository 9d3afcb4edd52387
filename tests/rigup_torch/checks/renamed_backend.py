"""A backend that has a name and lists devices, and no kernels: as much as every torch since 2.4 lets one make."""

from types import ModuleType

import torch

from rigup.torch import device, devices, memory

NAMED = ModuleType("torch.accelerant")
NAMED.is_available = lambda: True
NAMED.device_count = lambda: 2
NAMED.get_device_name = lambda index: f"Accelerant {index}"
NAMED.mem_get_info = lambda index: (index + 1, 8)
torch.utils.rename_privateuse1_backend("accelerant")
torch._register_device_module("accelerant", NAMED)


def test_its_devices_are_listed_by_its_name():
    first, second, _cpu = devices()
    assert (str(first), second.name, second.kind) == ("accelerant:0 (Accelerant 0)", "Accelerant 1", "accelerant")
    assert device() == torch.device("accelerant", 0)
    assert device("accelerant:1") == device(1) == torch.device("accelerant", 1)


def test_its_memory_is_asked_of_its_module():
    found = memory("accelerant:1")
    assert (found.free, found.total, found.allocated) == (2, 8, None)
    assert device("most-free") == torch.device("accelerant", 1)


def test_no_device_left_is_no_device():
    NAMED.is_available = lambda: False
    try:
        assert device() == torch.device("cpu")
    finally:
        NAMED.is_available = lambda: True
