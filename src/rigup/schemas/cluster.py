"""`rigup cluster --json`: what of a cluster stands idle, who may use it, and what waits."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from rigup.schemas.shared import Finding

NodeState = Literal["idle", "mixed", "allocated", "down", "drained", "reserved", "maintenance", "planned", "unknown"]


class SlurmRelease(Struct, frozen=True, kw_only=True):
    """Which Slurm answered.

    Attributes:
        version: as Slurm writes it, "" where no answer tells.
        cluster: its name, "" where no answer tells.

    """

    version: str
    cluster: str


class AskedCommand(Struct, frozen=True, kw_only=True):
    """A command or file that was read.

    Attributes:
        command: the command, or the name of a file.
        seconds: that it took.
        whole: whether it answered, with what is known to be of Slurm.
        said: its last words, where it did not.

    """

    command: str
    seconds: float
    whole: bool
    said: str | UnsetType = UNSET


class GpuCount(Struct, frozen=True, kw_only=True):
    """GPUs of one type in a partition.

    Attributes:
        total: configured.
        allocated: by gres_used; left out where the dump does not tell.
        idle: total less allocated, on nodes that are up; left out with allocated.
        usable: idle where also a processor and memory are left and no reservation stands in the way; left out with allocated.

    """

    total: int
    allocated: int | UnsetType = UNSET
    idle: int | UnsetType = UNSET
    usable: int | UnsetType = UNSET


class ClusterPartition(Struct, frozen=True, kw_only=True):
    """A partition.

    Attributes:
        name: of the partition.
        default: whether jobs go there that name none.
        state: UP, DOWN, DRAIN or INACTIVE.
        max_time: the longest limit of a job in seconds; None for no limit.
        max_nodes: of one job; None for no limit.
        tier: jobs of a higher one go first.
        preemptible: whether a higher tier on the same nodes may take them away.
        grace: seconds that a preempted job has left.
        nodes: how many it has.
        nodes_up: how many of them are up.
        accounts: that may use it; empty: all.
        gpus: by GRES type.
        barred: why you may not use it.

    """

    name: str
    default: bool
    state: str
    max_time: int | None
    max_nodes: int | None
    tier: int
    preemptible: bool | UnsetType
    grace: int
    nodes: int
    nodes_up: int
    accounts: list[str]
    gpus: dict[str, GpuCount]
    barred: str | UnsetType = UNSET


class Share(Struct, frozen=True, kw_only=True):
    """A whole and what of it is given to jobs.

    Attributes:
        total: the whole.
        allocated: what jobs hold.

    """

    total: int | UnsetType = UNSET
    allocated: int | UnsetType = UNSET


class NodeGpus(Struct, frozen=True, kw_only=True):
    """GPUs of one type on a node.

    Attributes:
        type: the GRES type, "" where the site gives none.
        total: configured.
        allocated: what jobs hold.

    """

    type: str
    total: int
    allocated: int | UnsetType = UNSET


class ClusterNode(Struct, frozen=True, kw_only=True):
    """A node.

    Attributes:
        name: of the node.
        state: in one word: what keeps jobs away comes before what runs there.
        reason: that somebody wrote.
        since: when, in unix seconds.
        partitions: that it is in.
        cpus: processors.
        memory: in bytes.
        gpus: by type.
        device: the name of its GPUs in the catalogue.

    """

    name: str
    state: NodeState
    reason: str | UnsetType = UNSET
    since: int | UnsetType = UNSET
    partitions: list[str]
    cpus: Share
    memory: Share
    gpus: list[NodeGpus]
    device: str | UnsetType = UNSET


class Worth(Struct, frozen=True, kw_only=True):
    """What one GPU of a type is, by the catalogue.

    Attributes:
        device: the catalogue's name.
        memory: bytes; of several sizes sold under the name the least.
        bandwidth: bytes a second of its memory.
        arithmetic: operations a second in the half type that is faster.
        stack: cuda, rocm or xpu.
        rate: against the best kind of the cluster: the square root of arithmetic times bandwidth, for training is bound by either.

    """

    device: str
    memory: int | UnsetType = UNSET
    bandwidth: float | UnsetType = UNSET
    arithmetic: float | UnsetType = UNSET
    stack: str | UnsetType = UNSET
    rate: float | UnsetType = UNSET


class Idle(Struct, frozen=True, kw_only=True):
    """Idle GPUs of a type that can be used.

    Attributes:
        partition: where they stand.
        type: the GRES type.
        nodes: how many nodes have so many idle: {"8": 5} is five nodes with eight.
        worth: the rate of one of them against the best known kind, where a rate is known.
        card: one of them, where the catalogue knows it.

    """

    partition: str
    type: str
    nodes: dict[str, int]
    worth: float | UnsetType = UNSET
    card: Worth | UnsetType = UNSET


class Queue(Struct, frozen=True, kw_only=True):
    """The queue; tasks of arrays are counted each.

    Attributes:
        running: jobs that hold nodes.
        pending: jobs that wait.
        by_reason: those that wait, by the reason that Slurm gives.

    """

    running: int
    pending: int
    by_reason: dict[str, int]


class Poison(Struct, frozen=True, kw_only=True):
    """A waiting job that can never run and spoils Slurm's own estimates.

    Attributes:
        job: its number.
        name: of the job, for its owner or where names are asked for.
        user: the same.
        reason: why it can never run, in the word of Slurm.

    """

    job: int
    name: str | UnsetType = UNSET
    user: str | UnsetType = UNSET
    reason: str


class YourJob(Struct, frozen=True, kw_only=True):
    """A job of who asks.

    Attributes:
        job: its number; of an array the array's.
        tasks: of an array that wait together; 1 for a job.
        name: of the job.
        partitions: where it runs, or may run.
        running: whether it runs; else it waits.
        gpus: of the whole job.
        since: unix seconds since which it runs, or waits.
        until: unix seconds at which its time limit ends, of one that runs; when Slurm expects it to start, of one that waits.
        reason: why it waits, in the word of Slurm.
        because: the same as a sentence.

    """

    job: int
    tasks: int
    name: str
    partitions: list[str]
    running: bool
    gpus: int
    since: int | UnsetType = UNSET
    until: int | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    because: str | UnsetType = UNSET


class ClusterReservation(Struct, frozen=True, kw_only=True):
    """A reservation.

    Attributes:
        name: of the reservation.
        start: unix seconds.
        end: unix seconds; None where nobody says.
        nodes: ranges of names.
        users: who may use it.
        flags: as Slurm writes them.

    """

    name: str
    start: int | None
    end: int | None
    nodes: list[str]
    users: list[str] | UnsetType
    flags: list[str]


class YourLimit(Struct, frozen=True, kw_only=True):
    """A limit that holds for you; what is not limited is left out.

    Attributes:
        kind: what limits.
        name: of the QOS or the account.
        partition: where it holds, if not everywhere.
        max_time: of a job, in seconds.
        max_jobs: that run at once.
        max_submit: that run and wait.
        per_job: TRES of one job.
        per_user: TRES of all jobs of a user.
        group: TRES of all jobs together.

    """

    kind: Literal["association", "qos"]
    name: str
    partition: str | UnsetType = UNSET
    max_time: int | UnsetType = UNSET
    max_jobs: int | UnsetType = UNSET
    max_submit: int | UnsetType = UNSET
    per_job: str | UnsetType = UNSET
    per_user: str | UnsetType = UNSET
    group: str | UnsetType = UNSET


class Cluster(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.cluster/1"):
    """What of a cluster stands idle, who may use it, and what waits.

    Attributes:
        now: unix seconds of the answers.
        slurm: which Slurm answered.
        sources: what was read, and whether it was whole.
        partitions: in the order of Slurm.
        nodes: in the order of Slurm.
        idle: GPUs that stand idle and can be used, by partition and type.
        queue: None where it was not read.
        poison: waiting jobs that can never run.
        yours: jobs of who asks, in the order of Slurm; of dumps none, for nobody knows whose they are.
        reservations: in force and to come.
        limits: that hold for you.
        findings: nodes that are away, one a node, in the form of `rigup.doctor/1`; `place` is the node.

    """

    now: int
    slurm: SlurmRelease
    sources: list[AskedCommand]
    partitions: list[ClusterPartition]
    nodes: list[ClusterNode]
    idle: list[Idle]
    queue: Queue | None
    poison: list[Poison]
    yours: list[YourJob]
    reservations: list[ClusterReservation]
    limits: list[YourLimit]
    findings: list[Finding]
