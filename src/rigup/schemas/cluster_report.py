"""`rigup cluster report --json`: what was asked for on a cluster and not used, and how long jobs waited."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from rigup.schemas.cluster import AskedCommand, SlurmRelease


class JobUse(Struct, frozen=True, kw_only=True):
    """A job, or one attempt of a requeued one.

    Attributes:
        job: its number; of an array's task with the task: "12_3".
        name: of the job, for its owner or where names are asked for.
        user: the same.
        partition: where it ran.
        state: in the word of Slurm.
        seconds: that it held its nodes.
        gpus: that it was given.
        gpus_used: of those, where a history of the training tells.
        busy: share of the time in which a kernel ran on them, from 0 to 1, where somebody measured it.
        measured_by: who: the accounting (gres/gpuutil), or the history of the training.
        gpu_seconds: GPUs times seconds.
        gpu_seconds_unused: of those, GPUs that it never used, else the time in which no kernel ran.
        memory: bytes that it asked for.
        memory_used: bytes that it used at most, an upper bound.

    """

    job: str
    name: str | UnsetType = UNSET
    user: str | UnsetType = UNSET
    partition: str
    state: str
    seconds: int
    gpus: int
    gpus_used: int | UnsetType = UNSET
    busy: float | UnsetType = UNSET
    measured_by: Literal["accounting", "history"] | UnsetType = UNSET
    gpu_seconds: int
    gpu_seconds_unused: int | UnsetType = UNSET
    memory: int | UnsetType = UNSET
    memory_used: int | UnsetType = UNSET


class UseSums(Struct, frozen=True, kw_only=True):
    """Sums over jobs.

    Attributes:
        jobs: how many.
        gpu_seconds: GPUs times seconds of all.
        gpu_seconds_known: of jobs whose use of GPUs somebody measured.
        gpu_seconds_unused: of those, what was not used: it could be gained.
        memory_seconds: bytes times seconds that were asked for, of jobs whose use of memory is known.
        memory_seconds_unused: of those, what was not used.

    """

    jobs: int
    gpu_seconds: int
    gpu_seconds_known: int
    gpu_seconds_unused: int
    memory_seconds: int
    memory_seconds_unused: int


class AccountUse(Struct, frozen=True, kw_only=True):
    """The sums of one account.

    Attributes:
        account: its name.
        sums: over its jobs.

    """

    account: str
    sums: UseSums


class Waits(Struct, frozen=True, kw_only=True):
    """How long jobs of a partition waited from when they could have started, in seconds.

    Attributes:
        partition: its name.
        jobs: that started.
        median: half of them waited less.
        ninth: nine of ten waited less.
        longest: of all.

    """

    partition: str
    jobs: int
    median: int
    ninth: int
    longest: int


class ClusterReport(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.cluster-report/1"):
    """What was asked for on a cluster and not used, and how long jobs waited.

    Attributes:
        since: unix seconds of the first start; None where no job started.
        until: unix seconds of the last end.
        slurm: which Slurm answered.
        sources: what was read, and whether it was whole.
        sums: over all jobs that started.
        jobs: that left most unused, the worst first: twenty by GPUs, then twenty by memory.
        accounts: the worst first; for administrators alone.
        waits: by partition, the longest median first.

    """

    since: int | None
    until: int | None
    slurm: SlurmRelease
    sources: list[AskedCommand]
    sums: UseSums
    jobs: list[JobUse]
    accounts: list[AccountUse] | UnsetType = UNSET
    waits: list[Waits]
