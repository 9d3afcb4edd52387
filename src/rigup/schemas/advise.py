"""`rigup advise --json`: which allocation ends a piece of work soonest."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

NeverReason = Literal[
    "no-such-partition",
    "no-such-nodes",
    "partition-down",
    "partition-limit",
    "no-build",
    "gpu-memory",
    "host-memory",
    "nodes-down",
    "reserved",
    "time-limit",
    "no-rate",
]
Risk = Literal["time-limit", "preemption", "extrapolated", "catalogue-rate", "maintenance"]


class AdvisedWork(Struct, frozen=True, kw_only=True):
    """The work as it was understood; seconds and bytes.

    Attributes:
        epochs: how many.
        startup: seconds of each start.
        requeue: whether the job may be requeued at its limit.
        checkpoint: seconds to write one.
        checkpoint_every: work that is lost at worst, in seconds.
        gpu_memory: bytes that every GPU needs.
        gpu_memory_sharded: bytes that all GPUs share.
        host_memory_per_gpu: bytes of a node's memory for each GPU.
        cpus_per_gpu: processors for each GPU.
        accept_preemption: whether partitions whose jobs are preempted may be first.
        time_limit: seconds that were asked for.

    """

    epochs: float
    startup: float
    requeue: bool
    checkpoint: float
    cpus_per_gpu: int
    accept_preemption: bool
    checkpoint_every: float | UnsetType = UNSET
    gpu_memory: int | UnsetType = UNSET
    gpu_memory_sharded: int | UnsetType = UNSET
    host_memory_per_gpu: int | UnsetType = UNSET
    time_limit: float | UnsetType = UNSET


class Span(Struct, frozen=True, kw_only=True):
    """Seconds.

    Attributes:
        low: less in one case of ten.
        likely: the most likely.
        high: more in one case of ten.

    """

    low: float
    likely: float
    high: float


class EpochSpan(Span, frozen=True, kw_only=True):
    """Seconds of an epoch.

    Attributes:
        source: measured there, fitted to what was measured elsewhere, or worked out from a data sheet.
        because: a sentence.

    """

    source: Literal["measured", "fitted", "catalogue"]
    because: str


class WaitSpan(Span, frozen=True, kw_only=True):
    """Seconds until a job starts.

    Attributes:
        bound: true where only the limits of the jobs before it are known, so that it is an upper bound.

    """

    bound: bool


class Advised(Struct, frozen=True, kw_only=True):
    """An allocation, and when the work would end on it.

    Attributes:
        allocation: PARTITION/DEVICE:NODESxGPUS.
        partition: its name.
        device: the type of GPU, as Slurm spells it.
        nodes: how many.
        gpus_per_node: GPUs on each.
        epoch: seconds of an epoch.
        wait: seconds until it starts.
        run: seconds that the nodes are held, all pieces together.
        finish: seconds from `now` to the end of the work.
        asked: seconds of the time limit to ask for.
        pieces: more than 1 where the job is requeued at its limit.
        gpu_hours: hours of GPUs.
        cost: those times what the site counts for one.
        preemptible: whether a higher tier may take the nodes away.
        risks: ids of what may go wrong.

    """

    allocation: str
    partition: str
    device: str
    nodes: int
    gpus_per_node: int
    epoch: EpochSpan
    wait: WaitSpan
    run: Span
    finish: Span
    asked: int
    pieces: int
    gpu_hours: float
    cost: float
    preemptible: bool
    risks: list[Risk]


class NeverRuns(Struct, frozen=True, kw_only=True):
    """An allocation that can never run.

    Attributes:
        allocation: PARTITION/DEVICE:NODESxGPUS.
        reason: an id.
        because: a sentence.

    """

    allocation: str
    reason: NeverReason
    because: str


class Flip(Struct, frozen=True, kw_only=True):
    """How long waits would have to be for another answer.

    Attributes:
        first: the first allocation.
        other: the best of another partition or device.
        first_until_wait: the first stays first while it waits no longer than so many seconds.
        other_if_wait_under: the other would be first if it waited less; None where it would not even without a wait.

    """

    first: str
    other: str
    first_until_wait: float
    other_if_wait_under: float | None


class SecondOpinion(Struct, frozen=True, kw_only=True):
    """What `sbatch --test-only` says, beside the replay.

    Attributes:
        allocation: PARTITION/DEVICE:NODESxGPUS.
        says: seconds until the start; None where it refused.
        replay: seconds until the start by the replay; None where it can never run.
        because: what to hold of it.

    """

    allocation: str
    says: float | None
    replay: float | None
    because: str


class PoisonJob(Struct, frozen=True, kw_only=True):
    """A waiting job that can never run and spoils Slurm's own estimates.

    Attributes:
        job: its id.
        name: its name.
        reason: why it waits, in Slurm's word.

    """

    job: int
    name: str
    reason: str


class NextMeasurement(Struct, frozen=True, kw_only=True):
    """The measurement that would tell most.

    Attributes:
        allocation: where.
        minutes: how long it takes.
        because: a sentence.

    """

    allocation: str
    minutes: int
    because: str


class Advise(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.advise/1"):
    """Which allocation ends a piece of work soonest.

    Attributes:
        now: the moment of the dumps, in unix seconds.
        slurm: the release that they came from.
        job: the work.
        allocations: the best first.
        best: those that may be called first.
        ties: groups that cannot be told apart.
        cheapest: the allocation of the lowest cost; None where none can run.
        never: allocations that can never run.
        flip: what another wait would change; None where there is no other partition or device.
        second_opinion: what Slurm estimates.
        poison: jobs that can never run.
        next_measurement: what to measure next.
        assumed: what was taken for granted.

    """

    now: float
    slurm: str
    job: AdvisedWork
    allocations: list[Advised]
    best: list[str]
    ties: list[list[str]]
    cheapest: str | None
    never: list[NeverRuns]
    flip: Flip | None
    second_opinion: list[SecondOpinion]
    poison: list[PoisonJob]
    next_measurement: NextMeasurement | None
    assumed: list[str]
