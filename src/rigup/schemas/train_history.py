"""The lines of a training's history, as `rigup.train` writes them in people's programs (rigup.train-history/1)."""

from msgspec import Struct


class Started(Struct, frozen=True, kw_only=True, tag="start", tag_field="kind"):
    """A rank begins, for the first time or after a requeue.

    Attributes:
        schema: rigup.train-history/1.
        at: seconds since 1970.
        rank: of this process among all.
        world_size: the number of ranks.
        nodes: of the job.
        launcher: torchrun, srun, batch, or "" for a program started by hand.
        attempt: how often Slurm had requeued the job.
        job: Slurm's id of it.
        device: as torch names it.
        chip: as its driver calls it.
        isa: sm_89, gfx906.
        torch: its version.
        cpus: that the process may use.

    """

    schema: str
    at: float
    rank: int
    world_size: int
    nodes: int = 1
    launcher: str = ""
    attempt: int = 0
    job: str | None = None
    device: str = ""
    chip: str | None = None
    isa: str | None = None
    torch: str = ""
    cpus: int | None = None


class Stepped(Struct, frozen=True, kw_only=True, tag="steps", tag_field="kind"):
    """Sums over the steps of some seconds. What is not known is None.

    Attributes:
        at: seconds since 1970, at the last step's end.
        steps: how many.
        seconds: that they took, with the waiting before them.
        wait: seconds of waiting for the data loader.
        idle: seconds in which the device had nothing to do between two steps.
        communication: seconds of exchanging gradients while nothing was computed.
        samples: that were trained on.
        busy: the share of time in which a kernel ran, as the driver says.
        memory_peak: bytes that torch had allocated at most.
        memory_total: bytes of the device.
        gpus_asked: GPUs of this node that the job was given.
        gpus_used: of those.

    """

    at: float
    steps: int
    seconds: float
    wait: float = 0.0
    idle: float | None = None
    communication: float | None = None
    samples: int = 0
    busy: float | None = None
    memory_peak: int | None = None
    memory_total: int | None = None
    gpus_asked: int | None = None
    gpus_used: int | None = None


class Ended(Struct, frozen=True, kw_only=True, tag="end", tag_field="kind"):
    """A rank ends; where this is missing, it was killed, or still runs.

    Attributes:
        at: seconds since 1970.
        reason: ended, or the name of the exception.
        bottleneck: what limited it, by kind.
        share: of a step's time that went into that.
        sentence: it in words, with what to change.

    """

    at: float
    reason: str
    bottleneck: str = "unknown"
    share: float = 0.0
    sentence: str = ""
