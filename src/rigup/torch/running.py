"""Memory, waiting, and random numbers, on whatever device."""

from __future__ import annotations

import os
import random
from contextlib import suppress

import torch

from .backends import BACKENDS, Backend
from .choice import CHOSEN, Wish, device
from .facts import DeviceError, Memory, SeedError
from .listing import backend_of


def memory(of: Wish = None) -> Memory:
    """Tell the memory of a device now, in bytes: `total`, `free`, `allocated`, `reserved`, `peak`.

    Of the CPU this is what the machine has, or what is left of it by the control groups that the process is in:
    those of a container, a job of Slurm, a service.

    Args:
        of: as `device` takes it; by default the best one.

    Raises:
        DeviceError: there is no such device; it has no memory, as `meta`; or its driver does not answer.

    """
    wanted = device(of)
    backend = backend_of(wanted)
    try:
        return backend.memory(wanted.index or 0)
    except (RuntimeError, AssertionError) as error:
        problem = f"{wanted} does not tell its memory: {error}"
        raise DeviceError(f"{problem}\nIf it is full, end a program that uses it; else `rigup doctor` tells what is wrong.") from error


def synchronize(of: Wish = None) -> None:
    """Wait until all that was started on a device is done: before the clock is read, for GPUs run behind the program.

    Args:
        of: as `device` takes it; None: every device that this process uses, those that `device` and `to` have chosen
            and the current one of each backend among them.

    Raises:
        DeviceError: there is no such device; or what ran there has failed.

    """
    if of is not None:
        wanted = device(of)
        _wait(backend_of(wanted), wanted.index or 0)
        return
    for backend in BACKENDS:
        if backend.in_use():
            for index in _used(backend):
                _wait(backend, index)


def _used(backend: Backend) -> list[int]:
    """The devices of a backend that this process uses, as far as it can be told."""
    count = backend.count()
    if not count:
        return []
    current = torch.empty(0, device=backend.type).device.index or 0
    chosen = {chosen_device.index or 0 for chosen_device in CHOSEN if chosen_device.type == backend.type}
    return sorted(index for index in {current, *chosen, *backend.used(count)} if index < count)


def _wait(backend: Backend, index: int) -> None:
    try:
        backend.synchronize(index)
    except RuntimeError as error:
        problem = f"What ran on {torch.device(backend.type, index)} has failed: {error}"
        way = "It was started before this line: let each call wait, by CUDA_LAUNCH_BLOCKING=1 on NVIDIA's and AMD's cards, to see which."
        raise DeviceError(f"{problem}\n{way}") from error


def seed_everything(seed: int = 0, deterministic: bool = False) -> int:
    """Seed Python's, NumPy's and torch's random numbers, on all devices; returns the seed.

    Args:
        seed: 0 to 2**32 - 1, the numbers that NumPy takes.
        deterministic: also choose, from now on, only algorithms that give the same bits each time. This is slower, and
            torch raises RuntimeError where it has none. CUDA's matrix products need CUBLAS_WORKSPACE_CONFIG for it,
            which is set unless somebody has; call this before the first of them.

    Raises:
        DeviceError: the seed is out of range; it is a ValueError too.

    """
    if not 0 <= seed < 2**32:
        raise SeedError(f"The seed {seed} is not between 0 and 2**32 - 1. Take a number that is, for instance {seed % 2**32}.")
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
