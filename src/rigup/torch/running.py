"""Memory, waiting, and random numbers, on whatever device."""

import os
import random
from contextlib import suppress

import torch

from rigup.torch.backends import BACKENDS
from rigup.torch.choice import Wish, device
from rigup.torch.facts import Memory
from rigup.torch.listing import backend_of


def memory(of: Wish = None) -> Memory:
    """Tell the memory of a device now, in bytes: `total`, `free`, `allocated`, `reserved`, `peak`.

    Args:
        of: as `device` takes it; by default the best one.

    Raises:
        DeviceError: there is no such device, or it has no memory, as `meta`.

    """
    wanted = device(of)
    return backend_of(wanted).memory(wanted.index or 0)


def synchronize(of: Wish = None) -> None:
    """Wait until all that was started on a device is done: before the clock is read, for GPUs run behind the program.

    Args:
        of: as `device` takes it; None: the current device of every backend that this process has used.

    Raises:
        DeviceError: there is no such device.

    """
    if of is not None:
        wanted = device(of)
        backend_of(wanted).synchronize(wanted.index or 0)
        return
    for backend in BACKENDS:
        if backend.in_use() and backend.count():
            backend.synchronize(torch.empty(0, device=backend.type).device.index or 0)


def seed_everything(seed: int = 0, deterministic: bool = False) -> int:
    """Seed Python's, NumPy's and torch's random numbers, on all devices; returns the seed.

    Args:
        seed: 0 to 2**32 - 1, the numbers that NumPy takes.
        deterministic: also choose, from now on, only algorithms that give the same bits each time. This is slower, and
            torch raises RuntimeError where it has none. CUDA's matrix products need CUBLAS_WORKSPACE_CONFIG for it,
            which is set unless somebody has; call this before the first of them.

    Raises:
        ValueError: the seed is out of range.

    """
    if not 0 <= seed < 2**32:
        raise ValueError(f"The seed {seed} is not between 0 and 2**32 - 1.")
    random.seed(seed)
    torch.manual_seed(seed)  # the CPU's, CUDA's, MPS's and XPU's generators, and one of a further backend
    with suppress(ImportError):
        import numpy as np

        np.random.seed(seed)
    if deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.backends.cudnn.benchmark = False
        torch.use_deterministic_algorithms(True)
    return seed
