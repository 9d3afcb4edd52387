"""A callback of transformers' Trainer, which records, and saves before the time limit.

Programs of accelerate have a loop of their own: `Recording(model=…)` and `recording.steps(loader)` stand in it as in any.
"""

from __future__ import annotations

import functools
import os
from typing import Any

from .recording import Recording
from .stopping import Stop, exit_status


def huggingface_callback(folder: str | os.PathLike[str] | None = None, *, every: float = 10.0, requeue: bool = True) -> Any:
    """A callback for `transformers.Trainer(callbacks=[…])`.

    After a signal the Trainer saves a checkpoint and the program ends; `trainer.train(resume_from_checkpoint=True)` goes on
    there, by the Trainer's own skipping of batches, which reads them again.

    Args:
        folder: of the run's history; by default what RIGUP_TRAIN_HISTORY names, or one below rigup's state folder.
        every: seconds after which a line is written.
        requeue: whether Slurm is asked to start the job again.

    """
    return _class()(folder, every, requeue)


@functools.cache
def _class() -> Any:
    from transformers import TrainerCallback

    return type("RigupCallback", (_Hooks, TrainerCallback), {})


class _Hooks:
    def __init__(self, folder: Any, every: float, asks_slurm: bool) -> None:
        self._folder, self._every, self._asks_slurm = folder, every, asks_slurm
        self.recording: Recording | None = None
        self._stop = Stop()
        self._signal = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        self.recording = Recording(self._folder, model=given.get("model"), device=args.device, every=self._every)
        self.recording.totals.workers = args.dataloader_num_workers
        self._samples = args.train_batch_size * args.gradient_accumulation_steps
        self._stop.start()

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        if self.recording is not None:
            self.recording.resume()

    def on_step_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        if self.recording is not None:
            self.recording.begin()

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        if self.recording is not None:
            self.recording.end(samples=self._samples)
        number, _due = self._stop.agreed()
        if number:
            self._signal = number
            control.should_save = control.should_training_stop = True

    def on_evaluate(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        """What was waited for since the last step was no data."""
        if self.recording is not None:
            self.recording.pause()
            self.recording.resume()

    def on_save(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        if self.recording is not None:
            self.recording.pause()
            self.recording.resume()
        if self._signal:
            self._ended()
            raise SystemExit(exit_status(self._signal, state.is_world_process_zero) if self._asks_slurm else 128 + self._signal)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        if self.recording is not None:
            self.recording.pause()

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        self._ended()
        if self.recording is not None and state.is_world_process_zero:
            print(self.recording.bottleneck)

    def _ended(self) -> None:
        self._stop.close()
        if self.recording is not None:
            self.recording.close(f"signal {self._signal}" if self._signal else "ended")
