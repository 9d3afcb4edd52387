"""`rigup launch --json`: a job on one node or many, from its script to its end."""

from typing import Literal

from msgspec import Struct

from rigup.schemas.train_check import TrainFinding

State = Literal[
    "written",
    "submitted",
    "pending",
    "running",
    "requeued",
    "completed",
    "failed",
    "cancelled",
    "timeout",
    "out-of-memory",
    "node-fail",
    "preempted",
    "unknown",
]


class LaunchSignal(Struct, frozen=True, kw_only=True):
    """What reaches every rank before the time limit.

    Attributes:
        name: of the signal, without SIG.
        lead: seconds before the limit.

    """

    name: str
    lead: int


class Numbers(Struct, frozen=True, kw_only=True):
    """What the job asks for.

    Attributes:
        nodes: how many.
        ntasks_per_node: ranks on each.
        gpus_per_node: GPUs on each.
        cpus_per_task: processors of each rank; null for what the site gives.
        memory_per_node: bytes; null for what the site gives.
        time_limit: seconds; null for what the partition gives.
        signal: null where none is sent.
        world_size: ranks of the whole job.

    """

    nodes: int
    ntasks_per_node: int
    gpus_per_node: int
    cpus_per_task: int | None
    memory_per_node: int | None
    time_limit: int | None
    signal: LaunchSignal | None
    world_size: int


class Trainer(Struct, frozen=True, kw_only=True):
    """What Lightning's Trainer has to be told, so that it agrees with the job.

    Attributes:
        devices: on each node.
        num_nodes: nodes.
        strategy: how ranks work together.
        accelerator: "gpu" or "cpu".

    """

    devices: int
    num_nodes: int
    strategy: str
    accelerator: str


class Meet(Struct, frozen=True, kw_only=True):
    """Where ranks meet.

    Attributes:
        address: of rank 0's node; null where it follows from the allocation.
        port: null where it follows from the number of the job.
        interface: null where each node finds its own.
        backend: nccl (RCCL too) or gloo.

    """

    address: str | None
    port: int | None
    interface: str | None
    backend: str


class LaunchEnvironment(Struct, frozen=True, kw_only=True):
    """What the program runs in.

    Attributes:
        kind: venv, conda, container, or none for the interpreter that was named.
        path: of the environment or the interpreter.
        image: of a container.
        binds: folders that are bound into it, at the same path.

    """

    kind: str
    path: str
    image: str | None
    binds: list[str]


class Preflight(Struct, frozen=True, kw_only=True):
    """A check of a rank before the first step.

    Attributes:
        check: what was checked.
        passed: whether it is as it should be.
        measured: what was found.
        expected: what should be.
        seconds: that it took.
        because: why it failed; "" where it passed.
        rank: of the whole job.
        node: as Slurm calls it.

    """

    check: str
    passed: bool
    measured: str
    expected: str
    seconds: float
    because: str
    rank: int
    node: str


class Attempt(Struct, frozen=True, kw_only=True):
    """One start of the job.

    Attributes:
        number: from 1.
        start: UTC unix seconds.
        end: UTC unix seconds; null where it runs, or was ended from outside.
        exit: status of the step; null where there is none.
        nodes: as Slurm writes them.

    """

    number: int
    start: int
    end: int | None
    exit: int | None
    nodes: str


class Failing(Struct, frozen=True, kw_only=True):
    """The rank that failed of itself.

    Attributes:
        rank: of the whole job; null where it could not be told.
        node: null where it could not be told.
        exit: its exit status, or minus the signal that ended it; null where it could not be told.
        error: its own last lines.

    """

    rank: int | None
    node: str | None
    exit: int | None
    error: str


class Element(Struct, frozen=True, kw_only=True):
    """One run of an array.

    Attributes:
        number: of the row, from 0.
        words: that the row adds to the program.
        state: as that of a job.
        exit: null where it has none yet.
        log: the file with its output.

    """

    number: int
    words: list[str]
    state: State
    exit: int | None
    log: str


class Progress(Struct, frozen=True, kw_only=True):
    """What the ranks of one attempt recorded of their steps. What is not known is null.

    Attributes:
        job: Slurm's number; null without one.
        attempt: from 1.
        world_size: ranks of the whole job.
        ranks: of those that recorded something.
        nodes: how many.
        device: the chip, or as torch names it.
        steps: that were done.
        steps_per_second: of the slowest rank, for which the others wait.
        samples_per_second: of all ranks together.
        wait: the share of a step's time that waits for the data loader.
        idle: the share in which the device had nothing to do.
        communication: the share in which gradients were exchanged and nothing was computed.
        memory_peak: bytes that torch had allocated at most on a device.
        gpus_asked: GPUs of a node that the job was given.
        gpus_used: of those.
        bottleneck: what limited it, by kind; unknown before its end.
        sentence: it in words, with what to change; "" before its end.
        ended: "ended" or the name of an exception; null where it runs, or was killed.

    """

    job: str | None
    attempt: int
    world_size: int
    ranks: int
    nodes: int
    device: str
    steps: int
    steps_per_second: float
    samples_per_second: float | None
    wait: float
    idle: float | None
    communication: float | None
    memory_peak: int | None
    gpus_asked: int | None
    gpus_used: int | None
    bottleneck: str
    sentence: str
    ended: str | None


class Scaling(Struct, frozen=True, kw_only=True):
    """How much faster more ranks were.

    Attributes:
        device: on which.
        of: ranks beside which it is told: the fewest that were recorded.
        world_size: ranks.
        speedup: how many times as many samples in a second.
        efficiency: of what so many more ranks would do at best: 1 for all of it.

    """

    device: str
    of: int
    world_size: int
    speedup: float
    efficiency: float


class Launch(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.launch/1"):
    """A job: what it asks for, and what became of it.

    Attributes:
        id: the name of its run.
        job: Slurm's number; null without a scheduler, or before it is submitted.
        state: of the job; of an array, what is least far.
        reason: why it waits, or ended, as Slurm says it; "" where it says nothing.
        allocation: PARTITION/DEVICE:NODESxGPUS; null where no partition or GPU is named.
        script: the batch script, which is kept.
        log: the file with its output.
        numbers: what it asks for.
        trainer: what agrees with them.
        rendezvous: where ranks meet.
        environment: what the program runs in.
        variables: that are set for it.
        preflight: checks of the last attempt.
        attempts: its starts.
        exit: of the job; null where it has not ended.
        failing: null where none failed.
        array: runs of an array.
        checked: whether the script and its batch script were checked before.
        findings: what the check found.
        progress: what each attempt recorded of its steps, where the program records them by `rigup.train`.
        scaling: of this run and of others of the same program from the same folder, where they had different numbers of ranks.

    """

    id: str
    job: int | None
    state: State
    reason: str
    allocation: str | None
    script: str
    log: str
    numbers: Numbers
    trainer: Trainer
    rendezvous: Meet
    environment: LaunchEnvironment
    variables: dict[str, str]
    preflight: list[Preflight]
    attempts: list[Attempt]
    exit: int | None
    failing: Failing | None
    array: list[Element]
    checked: bool
    findings: list[TrainFinding]
    progress: list[Progress] = []
    scaling: list[Scaling] = []


class LaunchShort(Struct, frozen=True, kw_only=True):
    """A run in a list.

    Attributes:
        id: the name of its run.
        job: Slurm's number; null without one.
        state: of the job.
        folder: that holds all of it.

    """

    id: str
    job: int | None
    state: State
    folder: str


class LaunchList(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.launch-list/1"):
    """Runs that were launched from a folder.

    Attributes:
        runs: the newest first.

    """

    runs: list[LaunchShort]
