"""What a program asks of its device, by one manner on every kind: waiting, memory, mixed precision."""

from __future__ import annotations

from typing import Any

import torch

from .precision import has_bf16

# Of MPS, whose names are its own.
_MPS = {"memory_allocated": "current_allocated_memory", "memory_reserved": "driver_allocated_memory"}


class Anywhere:
    """A device and what it can.

    Attributes:
        device: of this process.

    """

    def __init__(self, device: torch.device) -> None:
        self.device = device

    @property
    def half(self) -> torch.dtype | None:
        """The half precision to train in: bfloat16 where the chip has it, float16 on other GPUs of NVIDIA and AMD, else None."""
        from rigup.torch import devices

        if self.device.type not in ("cuda", "xpu"):
            return None
        chips = [chip for chip in devices() if chip.device == self.device]
        return torch.bfloat16 if chips and has_bf16(chips[0]) else torch.float16

    def autocast(self, enabled: bool = True, **options: Any) -> torch.autocast:
        """torch.autocast in `half`; nothing where there is none."""
        half = self.half if enabled else None
        return torch.autocast(self.device.type, dtype=half or torch.bfloat16, enabled=half is not None, **options)

    def scaler(self, *given: Any, enabled: bool = True, **options: Any) -> Any:
        """torch's GradScaler, which does something for float16 alone."""
        needed = enabled and self.half is torch.float16
        return torch.amp.GradScaler(self.device.type, *given, enabled=needed, **options)

    def device_name(self) -> str:
        """What the driver calls the device."""
        from rigup.torch import devices

        return next((str(chip.name) for chip in devices() if chip.device == self.device), str(self.device))

    def synchronize(self) -> None:
        """Wait until all that was started on the device is done."""
        from rigup.torch import synchronize

        synchronize(self.device)

    def empty_cache(self) -> None:
        """Give back memory of the device that torch keeps for later."""
        self._asked("empty_cache")

    def memory_allocated(self) -> int:
        """Bytes of the device that tensors take; 0 where nobody counts."""
        return self._number("memory_allocated")

    def max_memory_allocated(self) -> int:
        """The most bytes that tensors took; 0 where nobody counts."""
        return self._number("max_memory_allocated")

    def memory_reserved(self) -> int:
        """Bytes of the device that torch holds; 0 where nobody counts."""
        return self._number("memory_reserved")

    def max_memory_reserved(self) -> int:
        """The most bytes that torch held; 0 where nobody counts."""
        return self._number("max_memory_reserved")

    def reset_peak_memory_stats(self) -> None:
        """Begin anew to look for the most."""
        self._asked("reset_peak_memory_stats")

    def _number(self, name: str) -> int:
        found = self._asked(name)
        return int(found) if found is not None else 0

    def _asked(self, name: str) -> Any:
        """A call of the device's own module of torch; None where it has none."""
        kind = self.device.type
        if kind == "cpu":
            return None
        call = getattr(getattr(torch, kind, None), _MPS.get(name, name) if kind == "mps" else name, None)
        if call is None:
            return None
        return call() if kind == "mps" or name == "empty_cache" else call(self.device)


class Nothing:
    """Takes any call and does nothing: in place of what the first process alone has."""

    def __getattr__(self, name: str) -> Nothing:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_given: Any, **_options: Any) -> Nothing:
        """Any call."""
        return self

    def __enter__(self) -> Nothing:
        return self

    def __exit__(self, *_error: object) -> None:
        return None
