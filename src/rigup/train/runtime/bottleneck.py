"""What a training waits for, in a sentence with what to change."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

# Shares of a step above which it pays to do something about its cause.
_WAIT, _COMMUNICATION, _IDLE = 0.15, 0.25, 0.15
_BUSY, _ROOM = 0.5, 0.4  # utilisation, and memory's peak, below which a GPU is given too little at a time


@dataclasses.dataclass
class Totals:
    """Sums over steps of one rank. Times are in seconds, memory in bytes; what is not known is None.

    Attributes:
        steps: how many.
        seconds: from the first step's begin to the last one's end, without pauses such as a validation.
        wait: in which the program waited for the data loader.
        idle: in which the device had nothing to do between two steps.
        communication: in which gradients were exchanged and nothing else was done.
        samples: that were trained on.
        busy: the share of samples of time at which the device ran a kernel, as its driver says it.
        memory_peak: the most that torch had allocated on the device.
        memory_total: what the device has.
        workers: of the data loader.
        cpus: that this process may use.
        gpus_asked: that the node's part of the job was given.
        gpus_used: of those.
        on_gpu: whether it trains on one.

    """

    steps: int = 0
    seconds: float = 0.0
    wait: float = 0.0
    idle: float | None = None
    communication: float | None = None
    samples: int = 0
    busy: float | None = None
    memory_peak: int | None = None
    memory_total: int | None = None
    workers: int | None = None
    cpus: int | None = None
    gpus_asked: int | None = None
    gpus_used: int | None = None
    on_gpu: bool = False

    def share(self, seconds: float | None) -> float:
        """A part of all time; 0 for what is not known."""
        return (seconds or 0.0) / self.seconds if self.seconds > 0 else 0.0


class Bottleneck(NamedTuple):
    """What limits a training most.

    Attributes:
        kind: unused-gpus, data-loader, communication, device-idle, small-steps, compute, or unknown before any step.
        share: of the time of a step that goes into it; of unused-gpus, the share of the GPUs.
        sentence: what it is, and what to change.

    """

    kind: str
    share: float
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def bottleneck(totals: Totals) -> Bottleneck:
    """Name it. GPUs that do nothing go first, then what a step waits for most."""
    if not totals.steps or totals.seconds <= 0:
        return Bottleneck("unknown", 0.0, "No step was recorded, so nothing can be said of what limits it.")
    asked, used = totals.gpus_asked or 0, totals.gpus_used
    if used == 0 < asked:
        template = "The training runs on the CPU, and each node was asked for {0} GPUs. `rigup doctor` says why torch sees none; else move the model and the batches to rigup.torch.device()."
        return Bottleneck("unused-gpus", 1.0, template.format(asked))
    if used is not None and used < asked:
        template = "{0} of the {1} GPUs that each node was asked for are not used. Start a process for each, or ask for {2}."
        return Bottleneck("unused-gpus", (asked - used) / asked, template.format(asked - used, asked, max(1, used)))
    waits = [(totals.share(totals.wait), _WAIT, _data), (totals.share(totals.communication), _COMMUNICATION, _exchange)]
    waits.append((totals.share(totals.idle) if totals.on_gpu else 0.0, _IDLE, _idle))
    share, _least, tell = max(waits, key=lambda row: row[0] / row[1])
    if share >= _least:
        return tell(totals, share)
    return _computing(totals)


def _data(totals: Totals, share: float) -> Bottleneck:
    workers, cpus = totals.workers, totals.cpus
    change = "Read the data faster: num_workers, a faster disk, or less work for each sample."
    if workers is not None and cpus is not None:
        change = f"The data loader has {workers} workers and this process {cpus} CPUs: "
        if workers < cpus - 1:
            change += f"set num_workers={min(cpus - 1, max(2, 2 * workers))}, with persistent_workers=True."
        else:
            change += "ask for more CPUs (--cpus-per-task) with as many workers, or prepare the data beforehand."
    return Bottleneck("data-loader", share, f"A step waits {share:.0%} of its time for the data loader. {change}")


def _exchange(totals: Totals, share: float) -> Bottleneck:  # noqa: ARG001
    change = "Let each step do more: a larger batch, or gradients accumulated over several; on several nodes see that NCCL or RCCL uses the fast network."
    return Bottleneck("communication", share, f"A step spends {share:.0%} of its time on exchanging gradients alone. {change}")


def _idle(totals: Totals, share: float) -> Bottleneck:  # noqa: ARG001
    change = "Between two steps the program does something on the CPU: printing a loss, .item() and .cpu() wait for the device, and logging, each some steps apart, would not."
    return Bottleneck("device-idle", share, f"The device has nothing to do for {share:.0%} of the time. {change}")


def _computing(totals: Totals) -> Bottleneck:
    busy, peak, room = totals.busy, totals.memory_peak, totals.memory_total
    if totals.on_gpu and busy is not None and busy < _BUSY:
        change = "Its kernels are small: a larger batch, mixed precision off for tiny layers, or torch.compile."
        return Bottleneck("small-steps", 1 - busy, f"The GPU runs a kernel in only {busy:.0%} of the time. {change}")
    sentence = "Steps are limited by computing, as they should be."
    if totals.on_gpu and peak and room and peak / room < _ROOM:
        sentence += f" Only {peak / room:.0%} of the memory is used: a larger batch may go faster."
    return Bottleneck("compute", 1 - totals.share(totals.wait), sentence)
