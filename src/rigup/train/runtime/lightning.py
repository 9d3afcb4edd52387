"""Callbacks of Lightning: one that records, and one that saves before the time limit."""

from __future__ import annotations

import functools
import os
import signal
import sys
from importlib import import_module, util
from pathlib import Path
from typing import Any

from .checkpoints import _generators, _restore
from .recording import Recording
from .stopping import BEFORE_THE_LIMIT, Stop, exit_status


def recorder(folder: str | os.PathLike[str] | None = None, *, every: float = 10.0) -> Any:
    """A callback that records a training into its history, and says at its end what limited it.

    Args:
        folder: of the run; by default what RIGUP_TRAIN_HISTORY names, or one below rigup's state folder.
        every: seconds after which a line is written.

    Returns:
        A `lightning.pytorch.Callback`, or `pytorch_lightning`'s, whichever the program uses; its `recording` is the Recording.

    """
    return _classes()[0](folder, every)


def requeue(folder: str | os.PathLike[str], *, requeue: bool = True) -> Any:
    """A callback that saves when a signal tells of the end, and has Slurm start the job again.

    Resume by `trainer.fit(model, loader, ckpt_path=callback.ckpt_path)`, which is None where there is nothing yet.
    It is exact to the batch where `loader` is a ResumableLoader; with another, Lightning begins the epoch again.

    Args:
        folder: where `requeue.ckpt` lies; all ranks see it.
        requeue: whether Slurm is asked to start the job again.

    """
    return _classes()[1](folder, requeue)


def _callback() -> Any:
    """The class of callbacks of the package that the program has imported, else of the one that is installed."""
    names = ("lightning.pytorch", "pytorch_lightning")
    found = [name for name in names if name in sys.modules] or [name for name in names if util.find_spec(name.split(".")[0])]
    if not found:
        raise ImportError("Lightning is not installed here: pip install lightning")
    return import_module(found[0]).Callback


@functools.cache
def _classes() -> tuple[Any, Any]:
    base = _callback()
    return type("Recorder", (_Recorder, base), {}), type("Requeue", (_Requeue, base), {})


class _Recorder:
    """Hooks of the recording."""

    def __init__(self, folder: Any, every: float) -> None:
        self._folder, self._every = folder, every
        self.recording: Recording | None = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        model = trainer.strategy.model
        self.recording = Recording(self._folder, model=model, device=pl_module.device, every=self._every)
        loaders = trainer.fit_loop._combined_loader
        first = next(iter(getattr(loaders, "flattened", None) or ()), None)
        self.recording.totals.workers = getattr(first, "num_workers", None)

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
        self._call("resume")

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:  # noqa: ARG002
        self._call("begin")

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:  # noqa: ARG002
        self._call("end", batch)

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
        self._call("pause")

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
        self._call("resume")

    def on_save_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: Any) -> None:  # noqa: ARG002
        self._call("pause")

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
        self._call("pause")

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
        if self.recording is not None:
            self.recording.close()
            if trainer.is_global_zero:
                print(self.recording.bottleneck)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:  # noqa: ARG002
        if self.recording is not None:
            self.recording.close(type(exception).__name__)

    def _call(self, name: str, *given: Any) -> None:
        if self.recording is not None:
            getattr(self.recording, name)(*given)


class _Requeue:
    """Hooks of the checkpoint before the end."""

    def __init__(self, folder: Any, asks_slurm: bool) -> None:
        self.path = Path(folder) / "requeue.ckpt"
        self._asks_slurm = asks_slurm
        self._stop = Stop((*BEFORE_THE_LIMIT, signal.SIGTERM))
        self._saved: list[Any] | None = None

    @property
    def ckpt_path(self) -> str | None:
        """For `Trainer.fit`."""
        return str(self.path) if self.path.is_file() else None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
        self._stop.start()
        if self._saved is not None and len(self._saved) > trainer.global_rank:
            _restore(self._saved[trainer.global_rank])
        self._saved = None

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:  # noqa: ARG002
        number, _due = self._stop.agreed()
        if number:
            part = self.path.with_name(self.path.name + ".part")
            trainer.save_checkpoint(part)
            if trainer.is_global_zero:
                os.replace(part, self.path)
            trainer.strategy.barrier()
            status = exit_status(number, trainer.is_global_zero) if self._asks_slurm else 128 + number
            raise SystemExit(0 if _is_watched(trainer) else status)

    def state_dict(self) -> dict[str, Any]:
        """The random numbers of all ranks. Lightning asks every rank."""
        return {"generators": self._stop.gathered(_generators())}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._saved = state["generators"]

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
        self._stop.close()
        if trainer.is_global_zero:
            self.path.unlink(missing_ok=True)  # what is finished is not resumed

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:  # noqa: ARG002
        self._stop.close()


def _is_watched(trainer: Any) -> bool:
    """Whether Lightning itself started this process: it kills the first one where another ends with a status that is not 0."""
    environment = type(getattr(trainer.strategy, "cluster_environment", None)).__name__
    return environment == "LightningEnvironment" and trainer.local_rank != 0
