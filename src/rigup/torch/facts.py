"""What is told of devices and of their memory, and the error of all functions here."""

from __future__ import annotations

from typing import NamedTuple

import torch


class DeviceError(RuntimeError):
    """A device is not there, or cannot do what was asked; the text says which there are and what to do."""


class OutOfDeviceMemory(DeviceError, getattr(torch, "OutOfMemoryError", torch.cuda.OutOfMemoryError)):  # type: ignore[misc]
    """There is no room on a device; also what torch raises then, for programs that wait for that."""


class SeedError(DeviceError, ValueError):
    """A number is no seed."""


class DeviceFacts(NamedTuple):
    """What torch knows of a device without occupying it. What it does not tell is None, or "" for a text.

    Attributes:
        device: as torch names it, with its index: `cuda:0`; the CPU has none.
        kind: cuda, rocm, mps, xpu, directml, cpu, or the name of another backend. ROCm's devices are `cuda` to torch.
        vendor: nvidia, amd, apple, intel, microsoft; "" for the CPU.
        name: as its driver calls it.
        isa: what the chip is: sm_86, gfx1103.
        memory_total: bytes; of a chip that shares the system's memory, as many as it may use.
        multiprocessors: streaming multiprocessors, compute units or Xe cores.
        integrated: whether it shares the system's memory.
        has_code: whether this build of torch has code for the chip: False means that its first kernel fails.

    """

    device: torch.device
    kind: str
    vendor: str = ""
    name: str = ""
    isa: str = ""
    memory_total: int | None = None
    multiprocessors: int | None = None
    integrated: bool | None = None
    has_code: bool | None = None

    @property
    def is_gpu(self) -> bool:
        """Whether it is anything else than the CPU."""
        return self.kind != "cpu"

    def __str__(self) -> str:
        labels = [self.name, self.isa] if self.name != self.isa else [self.name]
        return str(self.device) + (" (" + ", ".join(filter(None, labels)) + ")" if any(labels) else "")


class Memory(NamedTuple):
    """Bytes of a device; None where its backend does not tell.

    Attributes:
        total: of the device; of the CPU, what the machine or the container has.
        free: that nobody uses, this process or another.
        allocated: in tensors of this process.
        reserved: held by torch's allocator for this process: `allocated` and what it keeps for reuse.
        peak: the most that was allocated so far.

    """

    total: int | None = None
    free: int | None = None
    allocated: int | None = None
    reserved: int | None = None
    peak: int | None = None
