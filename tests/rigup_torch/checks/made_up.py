"""A machine's cards of our own making, as the functions of torch's backends tell them."""

from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from unittest.mock import patch

import torch

GIB = 2**30
BIG = {"name": "NVIDIA GeForce RTX 3090", "major": 8, "minor": 6, "total_memory": 24 * GIB, "multi_processor_count": 82}
OLD = {"name": "NVIDIA GeForce GTX 960M", "major": 5, "minor": 0, "total_memory": 4 * GIB, "multi_processor_count": 5}
SMALL = {**BIG, "name": "NVIDIA GeForce RTX 3060", "total_memory": 12 * GIB, "multi_processor_count": 28}
CARD = {
    "name": "AMD Radeon RX 7900 XTX",
    "gcnArchName": "gfx1100",
    "total_memory": 24 * GIB,
    "multi_processor_count": 48,
    "is_integrated": 0,
}
APU = {"name": "AMD Radeon Graphics", "gcnArchName": "gfx1103", "total_memory": 60 * GIB, "multi_processor_count": 6, "is_integrated": 1}
ARC = {"name": "Intel(R) Arc(TM) B580 Graphics", "total_memory": 12 * GIB, "gpu_subslice_count": 20}


@contextmanager
def cards(*properties, code=("sm_75", "sm_80", "sm_86", "sm_90"), free=(), hip=None, backend=None, touched=()):
    """A CUDA or ROCm runtime that lists these cards; with Intel's, XPU's."""
    backend = backend or torch.cuda
    with ExitStack() as stack:
        for name, answer in {
            "is_available": lambda: bool(properties),
            "device_count": lambda: len(properties),
            "is_initialized": lambda: False,
            "get_device_properties": lambda index: SimpleNamespace(**properties[index]),
            "get_arch_list": lambda: list(code),
            "mem_get_info": lambda index: (free[index], properties[index]["total_memory"]),
            "memory_allocated": lambda _index: 5,
            "memory_reserved": lambda _index: 7,
            "max_memory_allocated": lambda _index: 6,
        }.items():
            stack.enter_context(patch.object(backend, name, answer, create=True))
        stack.enter_context(patch.object(torch._C, "_cuda_hasPrimaryContext", lambda index: index in touched, create=True))
        stack.enter_context(patch.object(torch.version, "hip", hip))
        yield


@contextmanager
def raises(kind, *words):
    """The block fails with an error of this kind whose text has these words."""
    text = None
    try:
        yield
    except kind as error:
        text = str(error)
    assert text is not None, f"no {kind.__name__} was raised"
    assert [word for word in words if word not in text] == [], text
