"""What Slurm tells, as typed values: the same for every release and for text and JSON.

Units: bytes, seconds, UTC unix seconds. `None` is "no limit" for a limit, "not set" for a time, and "not told"
for a count; where a field knows two of these, its comment says so. Names of nodes are expanded from Slurm's ranges.
"""

import msgspec

ACTIVE = frozenset(("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "CONFIGURING", "RESIZING", "SIGNALING", "STAGE_OUT"))


class Gpus(msgspec.Struct, frozen=True, gc=False):
    """The GPUs of one GRES type on a node. `type` is "" where the site gives none."""

    type: str
    total: int
    allocated: int | None = None  # None: the dump does not tell (no gres_used, and GPUs are not counted as TRES)


class Request(msgspec.Struct, frozen=True, gc=False):
    """A count of GPUs of one GRES type ("" where any will do)."""

    type: str
    count: int


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A node as the controller sees it."""

    name: str
    states: tuple[str, ...] = ()  # upper case, base state first: ("IDLE", "DRAIN", "NOT_RESPONDING")
    reason: str = ""
    reason_since: int | None = None
    reason_by: str = ""
    partitions: tuple[str, ...] = ()
    cpus: int | None = None
    cpus_allocated: int | None = None
    memory: int | None = None  # bytes
    memory_allocated: int | None = None
    memory_free: int | None = None  # bytes that the operating system of the node calls free
    gpus: tuple[Gpus, ...] = ()
    features: tuple[str, ...] = ()
    reservation: str = ""
    weight: int | None = None
    version: str = ""  # of slurmd
    system: str = ""  # operating system and kernel, as slurmd tells them
    boot: int | None = None


class Partition(msgspec.Struct, frozen=True, kw_only=True):
    """A partition. Lists of who may use it are empty where everybody may."""

    name: str
    state: str = "UP"  # UP, DOWN, DRAIN, INACTIVE
    default: bool = False
    hidden: bool = False
    max_time: int | None = None  # seconds; None: no limit
    default_time: int | None = None
    max_nodes: int | None = None  # None: no limit
    min_nodes: int = 0
    max_cpus_per_node: int | None = None
    max_memory_per_node: int | None = None  # bytes
    tier: int = 1
    job_factor: int = 1
    preempt_mode: str = ""  # OFF, REQUEUE, CANCEL, SUSPEND; "": the dump does not tell (no JSON has it)
    grace: int = 0  # seconds
    nodes: tuple[str, ...] = ()
    node_count: int | None = None
    allow_accounts: tuple[str, ...] = ()
    deny_accounts: tuple[str, ...] = ()
    allow_groups: tuple[str, ...] = ()
    allow_qos: tuple[str, ...] = ()
    deny_qos: tuple[str, ...] = ()
    qos: str = ""
    exclusive: bool = False  # a job gets whole nodes
    root_only: bool = False
    requires_reservation: bool = False


class Reservation(msgspec.Struct, frozen=True, kw_only=True):
    """A reservation."""

    name: str
    start: int | None = None
    end: int | None = None
    nodes: tuple[str, ...] = ()
    node_count: int | None = None
    partition: str = ""
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()  # MAINT, IGNORE_JOBS, SPEC_NODES, ...
    tres: str = ""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job of the queue, or a job array's tasks that wait together.

    Counts per node come from the whole job's by division (rounded up) where the job gives none a node.
    """

    id: int
    array_job: int | None = None  # the array's own job id
    array_task: int | None = None  # of one task; None for the tasks that still wait together
    array_tasks: str = ""  # Slurm's text of those: "0-9%2"
    array_count: int = 1  # tasks behind this row (at least: Slurm cuts long texts)
    throttle: int | None = None  # tasks of the array that may run at once; None: all
    het_job: int | None = None
    name: str = ""
    user: str = ""
    account: str = ""
    qos: str = ""
    partitions: tuple[str, ...] = ()
    state: str = ""  # upper case base state: PENDING, RUNNING, ...
    flags: tuple[str, ...] = ()  # further states: COMPLETING, REQUEUED, ...
    reason: str = ""
    priority: int | None = None
    nodes: tuple[str, ...] = ()
    node_count: int = 1
    tasks: int | None = None
    cpus: int | None = None  # of the whole job
    cpus_per_node: int | None = None
    memory_per_node: int | None = None  # bytes
    gpus: tuple[Request, ...] = ()  # of the whole job
    gpus_per_node: tuple[Request, ...] = ()
    submit: int | None = None
    eligible: int | None = None  # also the BeginTime of a job that was told to wait
    start: int | None = None  # for a pending job Slurm's own estimate
    end: int | None = None
    time_limit: int | None = None  # seconds; None: no limit, or the partition's
    dependency: str = ""
    reservation: str = ""
    features: str = ""
    required_nodes: tuple[str, ...] = ()
    excluded_nodes: tuple[str, ...] = ()
    requeue: bool | None = None
    restarts: int = 0
    exit: int | None = None  # as a shell tells it; 0 also before the end
    exclusive: bool = False

    @property
    def pending(self) -> bool:
        """Whether it waits."""
        return self.state == "PENDING"

    @property
    def running(self) -> bool:
        """Whether it holds nodes."""
        return self.state in ACTIVE or "COMPLETING" in self.flags


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A job in the accounting. Of a requeued job each attempt is a record where the dump has them."""

    id: int
    array_job: int | None = None
    array_task: int | None = None
    name: str = ""
    user: str = ""
    account: str = ""
    partition: str = ""
    qos: str = ""
    state: str = ""  # COMPLETED, FAILED, TIMEOUT, CANCELLED, ...
    exit: int | None = None  # as a shell tells it, where it was asked for
    submit: int | None = None
    eligible: int | None = None
    start: int | None = None
    end: int | None = None
    elapsed: int | None = None
    time_limit: int | None = None  # seconds; None: no limit, or not told
    nodes: tuple[str, ...] = ()
    node_count: int | None = None
    cpus: int | None = None
    memory: int | None = None  # bytes asked for, of the whole job
    memory_used: int | None = None  # bytes: the greatest task's resident memory times the tasks of its step; an upper bound
    cpu_seconds: float | None = None  # that it computed
    gpus: tuple[Request, ...] = ()  # of the whole job
    gpu_utilisation: float | None = None  # 0 to 100, mean over its GPUs, where the site gathers it
    gpu_memory_used: int | None = None  # bytes


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """What an association or a QOS allows. `tres` texts are Slurm's ("cpu=64,gres/gpu=8"), empty where there is no limit."""

    kind: str  # association | qos
    name: str  # of the QOS, or of the account
    user: str = ""
    partition: str = ""
    qos: tuple[str, ...] = ()  # that an association may use
    default_qos: str = ""
    max_jobs: int | None = None
    max_submit: int | None = None
    max_wall: int | None = None  # seconds
    max_tres_per_job: str = ""
    max_tres_per_user: str = ""
    group_tres: str = ""
    priority: int | None = None
    preempt: tuple[str, ...] = ()


class Dump(msgspec.Struct, kw_only=True):
    """What was read from the answers of Slurm's commands. `unread` counts items of foreign shape that were left out, by kind."""

    nodes: list[Node] | None = None
    partitions: list[Partition] | None = None
    reservations: list[Reservation] | None = None
    jobs: list[Job] | None = None
    records: list[Record] | None = None
    limits: list[Limit] | None = None
    configuration: dict[str, str] = {}
    version: str = ""
    cluster: str = ""
    now: int | None = None  # where the answer tells its own time
    unread: dict[str, int] = {}
