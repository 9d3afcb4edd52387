"""A signal before the end, on which all ranks agree at the same step."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import warnings
from datetime import timedelta
from types import FrameType
from typing import Any

import torch

from .allocation import Allocation, allocation

# Sent before the time limit (sbatch --signal); the job has to be put back into the queue. TERM says only: end.
BEFORE_THE_LIMIT = tuple(getattr(signal, name) for name in ("SIGUSR1", "SIGUSR2") if hasattr(signal, name))
_MEETING = timedelta(minutes=30)


class Stop:
    """Listens for signals from when it is started, and asks all ranks at each step whether one was sent to any of them.

    The question of a step is answered at the next one: nobody waits for the slowest rank, and all stop at the same step.
    """

    def __init__(self, signals: tuple[int, ...] = (*BEFORE_THE_LIMIT, signal.SIGTERM)) -> None:
        self.signals = signals
        self.received = 0
        self._before: dict[int, Any] = {}
        self._group: Any = None
        self._asked: tuple[Any, torch.Tensor] | None = None

    def start(self) -> None:
        """Take the signals, in the main thread, where alone Python can."""
        if threading.current_thread() is not threading.main_thread():
            warning = "Signals can be taken in the main thread alone: this training is not told of its time limit."
            warnings.warn(warning, RuntimeWarning, stacklevel=3)
        else:
            for number in self.signals:
                self._before[number] = signal.signal(number, self._noted)
        if torch.distributed.is_available() and torch.distributed.is_initialized() and torch.distributed.get_world_size() > 1:
            self._group = torch.distributed.new_group(backend="gloo", timeout=_MEETING)

    def _noted(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self.received = self.received or number

    def agreed(self, due: bool = False) -> tuple[int, bool]:
        """The signal that any rank got, or 0, and whether a save is due; the same answer on all ranks at the same step.

        Args:
            due: whether this rank thinks that it is time to save; rank 0's word counts for all.

        """
        if self._group is None:
            return self.received, due
        save_due = due and torch.distributed.get_rank() == 0
        answer = self._answer()
        flags = torch.tensor([self.received, int(save_due)])
        work = torch.distributed.all_reduce(flags, torch.distributed.ReduceOp.MAX, group=self._group, async_op=True)
        self._asked = (work, flags)
        return answer

    def _answer(self) -> tuple[int, bool]:
        if self._asked is None:
            return 0, False
        work, flags = self._asked
        self._asked = None
        work.wait()
        return int(flags[0]), bool(flags[1])

    def gathered(self, own: Any) -> list[Any]:
        """What each rank brings, in the order of ranks; every rank has to ask."""
        if self._group is None:
            return [own]
        brought: list[Any] = [None] * torch.distributed.get_world_size()
        torch.distributed.all_gather_object(brought, own, group=self._group)
        return brought

    def close(self) -> None:
        """Give the signals back."""
        if self._group is not None and torch.distributed.is_initialized():
            self._answer()
            torch.distributed.destroy_process_group(self._group)  # one that is left ends some programs by SIGABRT
        self._group = None
        for number, before in self._before.items():
            signal.signal(number, before if before is not None else signal.SIG_DFL)
        self._before = {}


def exit_status(number: int, first: bool) -> int:
    """Put the job back into the queue where that is meant; the status with which the program ends.

    A program that ends early must not count as completed, so that it ends as if by the signal; unless Slurm starts the
    job again, which sets its state.

    Args:
        number: the signal.
        first: whether this is rank 0, which asks Slurm.

    """
    job = _job()
    if number in BEFORE_THE_LIMIT and job.job and (not first or _asked_for_requeue() or _requeued(job.job)):
        return 0
    return 128 + number


def _asked_for_requeue() -> bool:
    """Leave word for the batch script of `rigup launch`, which puts the job back after all ranks have ended.

    Slurm kills what still runs when a job is requeued; who asked it from rank 0 would cut off what the other ranks do at
    their end. The script also counts the attempts.
    """
    path = os.environ.get("RIGUP_REQUEUE_FILE", "")
    try:
        if path:
            with open(path, "a", encoding="utf-8"):
                return True
    except OSError as error:
        warnings.warn(f"The file by which the job is requeued could not be made: {error}.", RuntimeWarning, stacklevel=3)
    return False


def _requeued(job: str) -> bool:
    try:
        done = subprocess.run(["scontrol", "requeue", job], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        why = str(error)
    else:
        if not done.returncode:
            return True
        why = done.stderr.strip()[-300:]
    warning = f"Job {job} was saved, and Slurm did not put it back into the queue: {why}. Submit it again by sbatch, with --requeue."
    warnings.warn(warning, RuntimeWarning, stacklevel=3)
    return False


def _job() -> Allocation:
    number = os.environ.get("SLURM_JOB_ID", "")
    try:
        return allocation()
    except RuntimeError:
        return Allocation(job=number if number.isdecimal() else "")
