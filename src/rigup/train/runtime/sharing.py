"""How long ranks exchange gradients, as DistributedDataParallel itself measures it."""

from __future__ import annotations

from typing import Any

import torch

_EVERY = 10  # steps, of which one is timed


def prepared(model: torch.nn.Module | None) -> None:
    """Let a model that is trained by several ranks time every tenth of its steps."""
    call = getattr(model, "_set_ddp_runtime_logging_sample_rate", None)
    if call is not None:
        call(_EVERY)


def exposed_communication(model: Any, steps: int) -> float | None:
    """Seconds of so many steps in which gradients were exchanged while no gradient was computed; None if unknown."""
    call = getattr(model, "_get_ddp_logging_data", None)
    if call is None:
        return None
    logging_data = call()
    whole, hidden = (logging_data.get("avg_backward_comm_time"), logging_data.get("avg_backward_compute_comm_overlap_time"))
    if not whole:
        return None
    return float(max(0, int(whole) - int(hidden or 0))) * steps / 1e9
