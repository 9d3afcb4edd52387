"""Records how a training spends its time, into its history, and says what limits it."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import torch

from .allocation import Allocation, AllocationError, allocation
from .bottleneck import Bottleneck, Totals, bottleneck
from .device_clock import DeviceClock
from .history import FORM, History, run_folder
from .sharing import exposed_communication, prepared

T = TypeVar("T")
_clock = time.perf_counter


class Recording:
    """Times the steps of one rank. What it does for each step is read a clock, and note two events on a GPU.

        with Recording(model=model) as recording:
            for batch in recording.steps(loader):
                ...
        print(recording.bottleneck)

    Args:
        folder: of the run; by default what RIGUP_TRAIN_HISTORY names, or one below rigup's state folder.
        model: to tell the device, and under DistributedDataParallel the time of its communication.
        device: where there is no model.
        every: seconds after which a line is written.

    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        model: torch.nn.Module | None = None,
        device: torch.device | str | None = None,
        every: float = 10.0,
    ) -> None:
        self.job = _job()
        self.rank, self.world = _place(self.job)
        self.folder = Path(folder) if folder is not None else run_folder(self.job)
        self.device = torch.device(device) if device is not None else _device_of(model)
        self.totals = Totals(on_gpu=self.device.type != "cpu", cpus=_cpus())
        self._every, self._model = every, model
        self._history = History(self.folder, self.rank)
        self._gaps = DeviceClock(self.device)
        self._span = Totals()
        self._begun = self._left = None  # type: float | None
        self._written = _clock()
        self._busy: list[float] = []
        self._closed = False
        prepared(model)
        self._history.write(self._start())

    def _start(self) -> dict[str, Any]:
        from rigup.torch import devices

        chip = next((found for found in devices() if found.device == self.device), None)
        return {
            "kind": "start",
            "schema": FORM,
            "at": time.time(),
            "rank": self.rank,
            "world_size": self.world,
            "nodes": self.job.nodes,
            "launcher": self.job.launcher,
            "attempt": self.job.restarts,
            "job": self.job.job or None,
            "device": str(self.device),
            "chip": chip.name if chip else None,
            "isa": chip.isa if chip else None,
            "torch": torch.__version__,
            "cpus": self.totals.cpus,
        }

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self.close("ended" if kind is None else kind.__name__)

    def steps(self, loader: Iterable[T]) -> Iterator[T]:
        """The batches of a loader, each of which is one step until the next is asked for."""
        self.totals.workers = getattr(loader, "num_workers", self.totals.workers)
        self.resume()
        for batch in loader:
            self.begin()
            yield batch
            self.end(batch)
        self.pause()

    def resume(self) -> None:
        """From here on the program waits for data."""
        if self._left is None:
            self._left = _clock()

    def begin(self) -> None:
        """The data of a step has come. What passed since the last step's end was waiting for it."""
        now = _clock()
        if self._left is not None:
            self._span.wait += now - self._left
            self._span.seconds += now - self._left
            self._left = None
        self._gaps.began()
        self._begun = now

    def end(self, batch: Any = None, *, samples: int | None = None) -> None:
        """A step is done.

        Args:
            batch: whose first tensor's first dimension counts samples.
            samples: where that is known better.

        """
        now = _clock()
        if self._begun is None:
            return
        self._gaps.ended()
        span = self._span
        span.seconds += now - self._begun
        span.steps += 1
        span.samples += size_of(batch) if samples is None else samples
        self._begun, self._left = None, now
        if now - self._written >= self._every:
            self._write(now)

    def pause(self) -> None:
        """What comes now is no training: a validation, a checkpoint, the end of an epoch."""
        self._begun = self._left = None
        self._gaps.pause()

    def _write(self, now: float) -> None:
        """A line for the steps since the last, and their sums into the totals."""
        self._written = now
        span, totals = self._span, self.totals
        if not span.steps:
            return
        self._span = Totals()
        span.idle = self._gaps.taken()
        span.communication = exposed_communication(self._model, span.steps)
        self._looked(span)
        totals.steps += span.steps
        totals.samples += span.samples
        totals.seconds += span.seconds
        totals.wait += span.wait
        totals.idle = None if span.idle is None else (totals.idle or 0.0) + span.idle
        if span.communication is not None:
            totals.communication = (totals.communication or 0.0) + span.communication
        names = ("steps", "seconds", "wait", "idle", "communication", "samples", "busy", "memory_peak", "memory_total")
        row = {name: getattr(span, name) for name in (*names, "gpus_asked", "gpus_used")}
        self._history.write({"kind": "steps", "at": time.time(), **row})
        self._left = _clock() if self._left is not None else None  # writing is none of the training's waiting

    def _looked(self, span: Totals) -> None:
        """What is asked once a span: memory, the driver's own count of busy time, which GPUs are used."""
        from rigup.torch import DeviceError, memory

        try:
            usage = memory(self.device)
            span.memory_peak, span.memory_total = usage.peak, usage.total
        except DeviceError:
            pass
        span.busy = _busy(self.device)
        if span.busy is not None:
            self._busy.append(span.busy)
            self.totals.busy = sum(self._busy) / len(self._busy)
        span.gpus_asked, span.gpus_used = _gpus(self.job, self.device, self.world)
        self.totals.memory_peak, self.totals.memory_total = span.memory_peak, span.memory_total
        self.totals.gpus_asked, self.totals.gpus_used = span.gpus_asked, span.gpus_used

    @property
    def bottleneck(self) -> Bottleneck:
        """What limits the steps that were recorded so far."""
        self._write(_clock())
        return bottleneck(self.totals)

    def close(self, reason: str = "ended") -> None:
        """Write what is left, and what limited the training. Closing twice is nothing."""
        if self._closed:
            return
        self._closed = True
        found = self.bottleneck
        summary = {"bottleneck": found.kind, "share": round(found.share, 4), "sentence": found.sentence}
        self._history.write({"kind": "end", "at": time.time(), "reason": reason, **dataclasses.asdict(self.totals), **summary})
        self._history.close()


def size_of(batch: Any) -> int:
    """Samples of a batch: the first dimension of its first tensor; 0 where it has none."""
    for _depth in range(4):
        if isinstance(batch, torch.Tensor):
            return int(batch.shape[0]) if batch.dim() else 1
        if hasattr(batch, "values") and callable(batch.values):
            batch = next(iter(batch.values()), None)
        elif isinstance(batch, (list, tuple)) and batch:
            batch = batch[0]
        else:
            return 0
    return 0


def _job() -> Allocation:
    """A training that cannot be told of by its launcher is recorded all the same."""
    try:
        return allocation()
    except AllocationError:
        return Allocation()


def _place(job: Allocation) -> tuple[int, int]:
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return job.rank, job.world_size


def _device_of(model: torch.nn.Module | None) -> torch.device:
    first = next(model.parameters(), None) if model is not None else None
    return first.device if first is not None else torch.device("cpu")


def _cpus() -> int | None:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def _busy(device: torch.device) -> float | None:
    """The share of the last moments in which a kernel ran; None where the driver's library is not there."""
    if device.type != "cuda":
        return None
    try:
        return float(torch.cuda.utilization(device)) / 100
    except Exception:  # NVML's and AMD SMI's own kinds of errors, which are not imported
        return None


def _gpus(job: Allocation, device: torch.device, world: int) -> tuple[int | None, int | None]:
    """GPUs that a node of the job was given, and how many of them the job uses."""
    if job.gpus is None:
        return None, None
    if device.type == "cpu":
        return job.gpus, 0
    from rigup.torch import devices
    from rigup.torch.listing import backend_of

    seen = [chip for chip in devices() if chip.device.type == device.type]
    touched = len(backend_of(device).used(len(seen))) or 1
    return job.gpus, min(job.gpus, touched * max(1, world // job.nodes))
