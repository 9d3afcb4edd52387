"""Training: scripts judged before the queue judges them, launched on one machine or many, and followed while they run.

What a program takes from here stands in `runtime/` and is imported when it is asked for, so that torch is needed by
nothing else:

    from rigup.train import trainer_args

    trainer = Trainer(**trainer_args(), max_epochs=3)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rigup.train.runtime.allocation import Allocation, AllocationError, allocation
    from rigup.train.runtime.arguments import trainer_args
    from rigup.train.runtime.bottleneck import Bottleneck
    from rigup.train.runtime.checkpoints import Checkpoints
    from rigup.train.runtime.huggingface import huggingface_callback
    from rigup.train.runtime.lightning import recorder, requeue
    from rigup.train.runtime.loading import ResumableLoader
    from rigup.train.runtime.recording import Recording

_WHERE = {
    "Allocation": "allocation",
    "AllocationError": "allocation",
    "Bottleneck": "bottleneck",
    "Checkpoints": "checkpoints",
    "Recording": "recording",
    "ResumableLoader": "loading",
    "allocation": "allocation",
    "huggingface_callback": "huggingface",
    "recorder": "lightning",
    "requeue": "lightning",
    "trainer_args": "arguments",
}

__all__ = [
    "Allocation",
    "AllocationError",
    "Bottleneck",
    "Checkpoints",
    "Recording",
    "ResumableLoader",
    "allocation",
    "huggingface_callback",
    "recorder",
    "requeue",
    "trainer_args",
]


def __getattr__(name: str) -> Any:
    """A name of the runtime, whose module is imported now."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"rigup.train.runtime.{_WHERE[name]}"), name)
