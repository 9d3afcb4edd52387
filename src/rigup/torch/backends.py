"""Torch's backends, one class each; queried lazily.

Only what torch has had since 2.0 is taken for granted; what came later is used where it is there.
"""

from __future__ import annotations

from typing import Any

import torch

from . import directml
from .code import runs_on
from .facts import DeviceFacts, Memory
from .host import cpu_name, host_memory

_MAKERS = (("nvidia", "nvidia"), ("amd", "amd"), ("radeon", "amd"), ("intel", "intel"))  # words of adapters' names


class Backend:
    """One kind of device."""

    type = ""

    def count(self) -> int:
        """The number of devices; 0 if the build lacks the backend."""
        raise NotImplementedError

    def facts(self, index: int) -> DeviceFacts:
        """Facts of one device, without creating a context on it."""
        raise NotImplementedError

    def memory(self, index: int) -> Memory:
        """Memory of one device now, in bytes. This may create a context."""
        raise NotImplementedError

    def synchronize(self, index: int) -> None:
        """Wait for all work queued on it."""
        raise NotImplementedError

    def in_use(self) -> bool:
        """Whether this process has initialised the backend."""
        raise NotImplementedError

    def used(self, count: int) -> list[int]:  # noqa: ARG002
        """Indices of devices that this process uses, as far as known without initialising them."""
        return []


class Cuda(Backend):
    """NVIDIA's cards, and AMD's in a build for ROCm: torch calls both `cuda`."""

    type = "cuda"

    def count(self) -> int:
        """How many the driver lists."""
        return int(torch.cuda.device_count()) if torch.cuda.is_available() else 0

    def facts(self, index: int) -> DeviceFacts:
        """From the properties that the runtime gives."""
        properties = torch.cuda.get_device_properties(index)
        amd = bool(torch.version.hip)
        isa = str(getattr(properties, "gcnArchName", "")).split(":")[0] if amd else f"sm_{properties.major}{properties.minor}"
        return DeviceFacts(
            torch.device("cuda", index),
            "rocm" if amd else "cuda",
            "amd" if amd else "nvidia",
            str(properties.name),
            isa,
            int(properties.total_memory),
            int(properties.multi_processor_count),
            _flag(properties, "is_integrated"),
            runs_on(isa, torch.cuda.get_arch_list()),
        )

    def memory(self, index: int) -> Memory:
        """The driver's count of the card, and the allocator's of this process."""
        free, total = torch.cuda.mem_get_info(index)
        kept = (torch.cuda.memory_allocated, torch.cuda.memory_reserved, torch.cuda.max_memory_allocated)
        return Memory(int(total), int(free), *(int(count_of(index)) for count_of in kept))

    def synchronize(self, index: int) -> None:
        """Wait for all streams of the card."""
        torch.cuda.synchronize(index)

    def in_use(self) -> bool:
        """Whether the runtime was started."""
        return bool(torch.cuda.is_initialized())

    def used(self, count: int) -> list[int]:
        """Those on which a context was made."""
        touched = getattr(torch._C, "_cuda_hasPrimaryContext", torch.cuda.memory_reserved)
        return [index for index in range(count) if touched(index)]


class Xpu(Backend):
    """Intel's GPUs."""

    type = "xpu"

    def count(self) -> int:
        """How many the runtime lists."""
        xpu = getattr(torch, "xpu", None)  # torch has it since 2.4
        return int(xpu.device_count()) if xpu is not None and xpu.is_available() else 0

    def facts(self, index: int) -> DeviceFacts:
        """From the properties that the runtime gives."""
        properties = torch.xpu.get_device_properties(index)
        units = getattr(properties, "gpu_subslice_count", None) or getattr(properties, "max_compute_units", None)
        return DeviceFacts(
            torch.device("xpu", index),
            "xpu",
            "intel",
            str(properties.name),
            "",
            _whole(getattr(properties, "total_memory", None)),
            _whole(units),
            _flag(properties, "is_integrated"),
        )

    def memory(self, index: int) -> Memory:
        """What this release of torch can count."""
        xpu, total = torch.xpu, self.facts(index).memory_total
        free, total = _called(xpu, "mem_get_info", index) or (None, total)
        names = ("memory_allocated", "memory_reserved", "max_memory_allocated")
        return Memory(total, free, *(_called(xpu, name, index) for name in names))

    def synchronize(self, index: int) -> None:
        """Wait for all queues of the device."""
        torch.xpu.synchronize(index)

    def in_use(self) -> bool:
        """Whether the runtime was started."""
        return hasattr(torch, "xpu") and bool(torch.xpu.is_initialized())

    def used(self, count: int) -> list[int]:
        """Those on which memory is held."""
        return [index for index in range(count) if _called(torch.xpu, "memory_reserved", index)]


class Mps(Backend):
    """The GPU of an Apple chip: one, and it shares the system's memory."""

    type = "mps"

    def count(self) -> int:
        """One, where macOS and the build have it."""
        return int(torch.backends.mps.is_available())

    def facts(self, index: int) -> DeviceFacts:
        """Its name is the chip's."""
        total = _called(torch.mps, "recommended_max_memory")
        return DeviceFacts(torch.device("mps", index), "mps", "apple", cpu_name(), "", total, None, True, None)

    def memory(self, index: int) -> Memory:  # noqa: ARG002  (there is one)
        """What Metal recommends to use at most, and what this process holds of it."""
        total = _called(torch.mps, "recommended_max_memory")
        held = int(torch.mps.driver_allocated_memory())
        free = None if total is None else max(total - held, 0)
        return Memory(total, free, int(torch.mps.current_allocated_memory()), held)

    def synchronize(self, index: int) -> None:  # noqa: ARG002
        """Wait for all kernels."""
        torch.mps.synchronize()

    def in_use(self) -> bool:
        """It is there from the start, and waiting for nothing costs nothing."""
        return self.count() > 0


class PrivateUse(Backend):
    """DirectML, or another out-of-tree backend through torch's PrivateUse1."""

    @property
    def type(self) -> str:  # type: ignore[override]
        """As the backend named itself."""
        return str(torch._C._get_privateuse1_backend_name())

    def count(self) -> int:
        """How many the backend's own module lists."""
        if (named := self._module()) is not None:
            return int(named.device_count()) if named.is_available() else 0
        return directml.count()

    def facts(self, index: int) -> DeviceFacts:
        """DirectML tells names alone; other backends mostly less."""
        device = torch.device(self.type, index)
        if (named := self._module()) is not None:
            return DeviceFacts(device, self.type, name=str(_called(named, "get_device_name", index) or ""))
        name = directml.name(index)
        maker = next((maker for word, maker in _MAKERS if word in name.lower()), "microsoft")
        return DeviceFacts(device, "directml", maker, name)

    def memory(self, index: int) -> Memory:
        """What the backend's module counts; DirectML tells nothing."""
        named = self._module()
        free, total = _called(named, "mem_get_info", index) or (None, None)
        names = ("memory_allocated", "memory_reserved", "max_memory_allocated")
        return Memory(total, free, *(_called(named, name, index) for name in names))

    def synchronize(self, index: int) -> None:
        """By the backend's own means; DirectML has none, but what it copies to the host is done."""
        if hasattr(named := self._module(), "synchronize"):
            named.synchronize(index)
        else:
            torch.zeros(1, device=torch.device(self.type, index)).cpu()

    def in_use(self) -> bool:
        """Whether its module was imported."""
        return self.count() > 0 if self._module() is not None else directml.imported()

    def _module(self) -> Any:
        """`torch.NAME` of a backend that gave itself a name and has what lists devices."""
        named = getattr(torch, self.type, None)
        listing = hasattr(named, "device_count") and hasattr(named, "is_available")
        return named if listing else None


class Cpu(Backend):
    """The processor."""

    type = "cpu"

    def count(self) -> int:
        """One, always."""
        return 1

    def facts(self, index: int) -> DeviceFacts:  # noqa: ARG002
        """Its name, as the system tells it, and the memory that this process may use."""
        total = host_memory().total
        return DeviceFacts(torch.device("cpu"), "cpu", "", cpu_name(), "", total, None, True, True)

    def memory(self, index: int) -> Memory:  # noqa: ARG002
        """Of the machine or the container."""
        return host_memory()

    def synchronize(self, index: int) -> None:
        """Nothing is left to wait for: what runs on the CPU is done when its call returns."""

    def in_use(self) -> bool:
        """Always."""
        return True


# In the order in which they are preferred.
BACKENDS: tuple[Backend, ...] = (Cuda(), Xpu(), Mps(), PrivateUse(), Cpu())


def _flag(properties: Any, name: str) -> bool | None:
    value = getattr(properties, name, None)
    return None if value is None else bool(value)


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _called(module: Any, name: str, *given: int) -> Any:
    """The result of a module's function that not every release has; None if it is missing or fails."""
    try:
        return getattr(module, name)(*given)
    except (AttributeError, RuntimeError, NotImplementedError):
        return None
