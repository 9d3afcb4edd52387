"""How long a device had nothing to do between two steps, by events in its own queue, read without waiting for it."""

from __future__ import annotations

from collections import deque
from typing import Any

import torch

_MOST = 512  # pairs kept; older ones that the device has not reached are let go


class DeviceClock:
    """Events at the end of a step and at the begin of the next.

    Args:
        device: of which kind cuda or xpu; of others nothing is known.

    """

    def __init__(self, device: torch.device) -> None:
        module = getattr(torch, device.type, None) if device.type in ("cuda", "xpu") else None
        self._event: Any = getattr(module, "Event", None)
        self._ended: Any = None
        self._pairs: deque[tuple[Any, Any]] = deque(maxlen=_MOST)
        self.known = self._event is not None

    def began(self) -> None:
        """A step begins, after its data has come."""
        if self._ended is not None:
            self._pairs.append((self._ended, self._mark()))
            self._ended = None

    def ended(self) -> None:
        """A step's last kernel is queued."""
        if self.known:
            self._ended = self._mark()

    def pause(self) -> None:
        """What comes now is no gap between steps."""
        self._ended = None

    def _mark(self) -> Any:
        event = self._event(enable_timing=True)
        event.record()
        return event

    def taken(self) -> float | None:
        """Seconds of the gaps that the device has come past since this was asked last; None where it has no clock."""
        if not self.known:
            return None
        seconds = 0.0
        while self._pairs and self._pairs[0][1].query():
            before, after = self._pairs.popleft()
            seconds += before.elapsed_time(after) / 1000
        return seconds
