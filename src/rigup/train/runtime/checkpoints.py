"""Checkpoints of a plain torch program, and its resume at the very batch."""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from .loading import ResumableLoader
from .stopping import BEFORE_THE_LIMIT, Stop, exit_status

FORM = "rigup.checkpoint/1"


class CheckpointError(RuntimeError):
    """A checkpoint cannot be read, or does not fit; the text says what to do."""


class Checkpoints:
    """Saves a training from time to time, and before the job's end where a signal tells of it; resumes from the last.

        with Checkpoints("run", model=model, optimizer=optimizer, loader=loader) as checkpoints:
            while loader.epoch < 10:
                for batch in loader:
                    ...
                    checkpoints.step()

    Every rank calls it alike; rank 0 writes. After a signal the state is saved, and the program ends: with 0 where
    Slurm puts the job back into the queue, else as by the signal. The file is read without running code from it.

    Args:
        folder: where `checkpoint.pt` lies; all ranks see it.
        every: seconds between two saves.
        signals: that end the program; those of sbatch --signal also requeue the job.
        requeue: whether Slurm is asked to start the job again.
        parts: by name, what is saved: anything with `state_dict` and `load_state_dict`.

    Attributes:
        count: steps done, in all attempts.
        resumed: whether a checkpoint was found.
        exact: whether a resume goes on at the very batch: there is a ResumableLoader among the parts.

    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        every: float = 1800.0,
        signals: tuple[int, ...] = (*BEFORE_THE_LIMIT, signal.SIGTERM),
        requeue: bool = True,
        **parts: Any,
    ) -> None:
        self.path = Path(folder) / "checkpoint.pt"
        self.parts = {name: _inner(part) for name, part in parts.items() if part is not None}
        for name, part in self.parts.items():
            if not hasattr(part, "state_dict") or not hasattr(part, "load_state_dict"):
                raise TypeError(f"{name} has no state_dict and load_state_dict, so it cannot be saved. Leave it out, or give what has.")
        self.exact = any(isinstance(part, ResumableLoader) for part in self.parts.values())
        self.count, self.resumed = 0, False
        self._every, self._requeue = every, requeue
        self._stop = Stop(signals)
        self._saved = time.monotonic()

    def __enter__(self) -> Checkpoints:
        self._stop.start()
        try:
            self.resumed = self._load()
        except BaseException:
            self._stop.close()
            raise
        self._saved = time.monotonic()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.close()

    def step(self) -> None:
        """A step is done: save where that is due, and end the program where a signal says so."""
        self.count += 1
        number, due = self._stop.agreed(time.monotonic() - self._saved >= self._every)
        if not number and not due:
            return
        self.save()
        if number:
            raise SystemExit(exit_status(number, _rank() == 0) if self._requeue else 128 + number)

    def save(self) -> None:
        """Write the state, on every rank: the file of before stays whole until the new one is."""
        state = {name: part.state_dict() for name, part in self.parts.items()}
        for name, part_state in state.items():
            _whole(name, part_state)
        generators = self._stop.gathered(_generators())
        failed = ""
        if _rank() == 0:
            try:
                _written(self.path, {"form": FORM, "count": self.count, "parts": state, "generators": generators})
            except OSError as error:
                failed = str(error)
        if any(self._stop.gathered(failed)):
            raise CheckpointError(
                f"The checkpoint {self.path} could not be written: {failed or 'see rank 0'}. What was there before is whole."
            )
        self._saved = time.monotonic()

    def _load(self) -> bool:
        present = self._stop.gathered(self.path.is_file())
        if len(set(present)) > 1:
            template = "{0} is seen by {1} of {2} ranks. Give a folder that all nodes share."
            raise CheckpointError(template.format(self.path, sum(present), len(present)))
        if not present[0]:
            return False
        saved = _read(self.path)
        if set(saved["parts"]) != set(self.parts):
            template = "{0} holds {1}, and this program saves {2}. Give the same parts, or another folder."
            raise CheckpointError(template.format(self.path, ", ".join(sorted(saved["parts"])), ", ".join(sorted(self.parts))))
        for name, part in self.parts.items():
            part.load_state_dict(saved["parts"][name])
        self.count = int(saved["count"])
        if len(saved["generators"]) > _rank():
            _restore(saved["generators"][_rank()])
        return True


def _rank() -> int:
    started = torch.distributed.is_available() and torch.distributed.is_initialized()
    return torch.distributed.get_rank() if started else 0


def _inner(part: Any) -> Any:
    """A model itself, so that a checkpoint fits one process and many."""
    parallel = (torch.nn.parallel.DistributedDataParallel, torch.nn.DataParallel)
    return part.module if isinstance(part, parallel) else part


def _whole(name: str, state: Any) -> None:
    """Refuse what a rank has a part of only."""
    if isinstance(state, dict) and any(hasattr(value, "full_tensor") for value in state.values()):
        raise CheckpointError(f"{name} is sharded: each rank holds a part of it. Save it by torch.distributed.checkpoint, in a folder.")


def _written(path: Path, state: dict[str, Any]) -> None:
    """Write a file beside it, see it on the disk, and only then put it in the place of the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=path.name + ".", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _read(path: Path) -> dict[str, Any]:
    problem = f"{path} is no checkpoint that can be resumed from"
    try:
        saved = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch, zipfile and pickle each raise their own
        raise CheckpointError(f"{problem}: {str(error)[:200]} Move it away to start anew.") from error
    if not isinstance(saved, dict) or saved.get("form") != FORM:
        raise CheckpointError(f"{problem}: it was written by something else. Give another folder.")
    return saved


def _generators() -> dict[str, Any]:
    """The states of all random numbers of this process, as what can be read without running code."""
    state: dict[str, Any] = {"python": random.getstate(), "torch": torch.get_rng_state()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state()
    if "numpy" in sys.modules:
        name, keys, *rest = sys.modules["numpy"].random.get_state()
        state["numpy"] = [name, torch.tensor(keys.astype("int64")), *rest]
    return state


def _restore(state: dict[str, Any]) -> None:
    random.setstate(state["python"])
    torch.set_rng_state(state["torch"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])
    if "numpy" in state and "numpy" in sys.modules:
        name, keys, *rest = state["numpy"]
        sys.modules["numpy"].random.set_state((name, keys.numpy().astype("uint32"), *rest))
