"""The forms of Slurm's JSON, of 21.08 to the newest, as far as they are read.

Numbers are plain, or `{"set", "infinite", "number"}` from 23.02 on; lists of words were texts with commas before.
Fields are optional: each release leaves out some.
"""

from functools import lru_cache

import msgspec

from rigup.machine.slurm.words import text, whole


class Set(msgspec.Struct):
    """A number that may be unset or infinite."""

    set: bool = True
    infinite: bool = False
    number: int | float | None = None


Number = int | float | str | None | Set
Words = str | list[str] | None


_CERTAIN = 0xFFFFFF00
"""Below all of Slurm's numbers for "not set"."""


def number(value: Number) -> int | None:
    """The number; None where it is unset, infinite, or Slurm's number for either."""
    if value is None or (type(value) is int and 0 <= value < _CERTAIN):  # nearly all of them
        return value
    if isinstance(value, Set):
        if value.infinite or not value.set:
            return None
        value = value.number
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if 0 <= value < 2**62 else None
    return whole(str(value))


def stamp(value: Number) -> int | None:
    """A time; 0 is "not set"."""
    return number(value) or None


def listed(value: Words) -> tuple[str, ...]:
    """Words of a list, or of a text with commas."""
    parts = value.split(",") if isinstance(value, str) else value or ()
    return tuple(word for word in (text(part.strip()) for part in parts) if word and word != "ALL")


def upper(value: Words) -> tuple[str, ...]:
    """States: a word or a list of them."""
    if not value:
        return ()
    return _upper(value) if isinstance(value, str) else tuple(state for part in value for state in _upper(part))


@lru_cache(1024)
def _upper(word: str) -> tuple[str, ...]:
    return (word.upper(),) if word else ()


class RawNode(msgspec.Struct):
    """A row of `sinfo --json` (to 22.05) and `scontrol show nodes --json`."""

    name: str
    state: Words = None
    state_flags: Words = None
    reason: str | None = None
    reason_changed_at: Number = None
    reason_set_by_user: str | None = None
    partitions: Words = None
    cpus: Number = None
    alloc_cpus: Number = None
    real_memory: Number = None
    alloc_memory: Number = None
    free_memory: Number = None
    free_mem: Number = None
    gres: str | None = None
    gres_used: str | None = None
    tres: str | None = None
    tres_used: str | None = None
    features: Words = None
    active_features: Words = None
    reservation: str | None = None
    weight: Number = None
    version: str | None = None
    slurmd_version: str | None = None
    operating_system: str | None = None
    boot_time: Number = None


class Signalled(msgspec.Struct):
    """The signal by which a job ended; releases before 23.11 name it by the second key."""

    id: Number = None
    signal_id: Number = None


class ExitCode(msgspec.Struct):
    """How a job ended."""

    return_code: Number = None
    signal: Signalled | None = None


class RawJob(msgspec.Struct):
    """A row of `squeue --json` and `scontrol show jobs --json`."""

    job_id: Number
    array_job_id: Number = None
    array_task_id: Number = None
    array_task_string: str | None = None
    array_max_tasks: Number = None
    het_job_id: Number = None
    name: str | None = None
    user_name: str | None = None
    account: str | None = None
    qos: str | None = None
    partition: str | None = None
    job_state: Words = None
    state_reason: str | None = None
    priority: Number = None
    nodes: str | None = None
    node_count: Number = None
    tasks: Number = None
    cpus: Number = None
    minimum_cpus_per_node: Number = None
    memory_per_node: Number = None
    memory_per_cpu: Number = None
    gres_detail: list[str] | None = None
    tres_per_node: str | None = None
    tres_per_job: str | None = None
    tres_per_task: str | None = None
    tres_req_str: str | None = None
    tres_alloc_str: str | None = None
    submit_time: Number = None
    eligible_time: Number = None
    start_time: Number = None
    end_time: Number = None
    time_limit: Number = None
    dependency: str | None = None
    resv_name: str | None = None
    features: str | None = None
    required_nodes: Words = None
    excluded_nodes: Words = None
    requeue: bool | None = None
    restart_cnt: Number = None
    exit_code: msgspec.Raw = msgspec.Raw(b"null")
    shared: Words = None


class Maximums(msgspec.Struct):
    """Greatest values of a partition."""

    time: Number = None
    nodes: Number = None
    cpus_per_node: Number = None
    memory_per_cpu: Number = None
    partition_memory_per_node: Number = None
    shares: Number = None


class Minimums(msgspec.Struct):
    """Least values of a partition."""

    nodes: Number = None


class Defaults(msgspec.Struct):
    """Defaults of a partition."""

    time: Number = None


class Allowed(msgspec.Struct):
    """Who may use a partition."""

    allowed: Words = None
    deny: Words = None
    assigned: str | None = None


class PartitionNodes(msgspec.Struct):
    """Nodes of a partition."""

    configured: str | None = None
    total: Number = None


class PartitionState(msgspec.Struct):
    """State of a partition."""

    state: Words = None


class Priority(msgspec.Struct):
    """Priority of a partition."""

    tier: Number = None
    job_factor: Number = None


class RawPartition(msgspec.Struct):
    """A row of `scontrol show partitions --json`."""

    name: str
    nodes: PartitionNodes | str | None = None
    partition: PartitionState | None = None
    maximums: Maximums | None = None
    minimums: Minimums | None = None
    defaults: Defaults | None = None
    priority: Priority | None = None
    grace_time: Number = None
    accounts: Allowed | None = None
    groups: Allowed | None = None
    qos: Allowed | None = None


class FlatPartition(msgspec.Struct, rename={"min_nodes": "min nodes per job"}):
    """A row of slurmrestd's partitions up to 22.05; -1 is no limit."""

    name: str
    max_time_limit: Number = None
    default_time_limit: Number = None
    maximum_nodes_per_job: Number = None
    maximum_cpus_per_node: Number = None
    min_nodes: Number = None
    nodes: str | None = None
    total_nodes: Number = None
    state: Words = None
    flags: Words = None
    priority_tier: Number = None
    priority_job_factor: Number = None
    preemption_mode: Words = None
    preemption_grace_time: Number = None
    allowed_accounts: Words = None
    denied_accounts: Words = None
    allowed_groups: Words = None
    allowed_qos: Words = None
    denied_qos: Words = None
    qos: str | None = None


class RawReservation(msgspec.Struct):
    """A row of `scontrol show reservations --json`."""

    name: str | None = None
    start_time: Number = None
    end_time: Number = None
    node_list: str | None = None
    node_count: Number = None
    partition: str | None = None
    users: Words = None
    accounts: Words = None
    groups: Words = None
    flags: Words = None
    tres: str | None = None


class Tres(msgspec.Struct):
    """A TRES count of the accounting."""

    type: str | None = None
    name: str | None = None
    count: Number = None


class TresOfJob(msgspec.Struct):
    """TRES of a job."""

    allocated: list[Tres] | None = None
    requested: list[Tres] | None = None


class StepRequested(msgspec.Struct):
    """What a step used (Slurm calls it "requested" there)."""

    max: list[Tres] | None = None
    average: list[Tres] | None = None
    total: list[Tres] | None = None


class StepTres(msgspec.Struct):
    """TRES of a step."""

    requested: StepRequested | None = None


class Seconds(msgspec.Struct):
    """A time that was computed."""

    seconds: Number = None
    microseconds: Number = None


class StepTime(msgspec.Struct):
    """Times of a step."""

    total: Seconds | None = None


class Tasks(msgspec.Struct):
    """Tasks of a step."""

    count: Number = None


class Step(msgspec.Struct):
    """A step of a job in the accounting."""

    tres: StepTres | None = None
    time: StepTime | None = None
    tasks: Tasks | None = None


class RecordState(msgspec.Struct):
    """State of a job in the accounting."""

    current: Words = None


class RecordTime(msgspec.Struct):
    """Times of a job in the accounting; `limit` in minutes."""

    elapsed: Number = None
    eligible: Number = None
    start: Number = None
    end: Number = None
    submission: Number = None
    limit: Number = None
    total: Seconds | None = None


class RecordArray(msgspec.Struct):
    """The array that a job is of."""

    job_id: Number = None
    task_id: Number = None


class RecordRequired(msgspec.Struct):
    """What was asked for."""

    CPUs: Number = None
    memory: Number = None
    memory_per_cpu: Number = None
    memory_per_node: Number = None


class RawRecord(msgspec.Struct):
    """A row of `sacct --json`."""

    job_id: Number
    time: RecordTime
    state: RecordState | None = None
    array: RecordArray | None = None
    name: str | None = None
    user: str | None = None
    account: str | None = None
    partition: str | None = None
    qos: str | None = None
    nodes: str | None = None
    allocation_nodes: Number = None
    required: RecordRequired | None = None
    tres: TresOfJob | None = None
    steps: list[Step] | None = None


class Speaker(msgspec.Struct):
    """Who answered."""

    release: str | None = None
    cluster: str | None = None


class Meta(msgspec.Struct, rename={"older": "Slurm"}):
    """About the answer; the key was `Slurm` up to 23.02."""

    slurm: Speaker | None = None
    older: Speaker | None = None


class Envelope(msgspec.Struct):
    """An answer: its items are read one by one, so that one of foreign shape costs itself only."""

    meta: msgspec.Raw = msgspec.Raw(b"null")
    nodes: msgspec.Raw = msgspec.Raw(b"null")
    jobs: msgspec.Raw = msgspec.Raw(b"null")
    partitions: msgspec.Raw = msgspec.Raw(b"null")
    reservations: msgspec.Raw = msgspec.Raw(b"null")
    last_update: msgspec.Raw = msgspec.Raw(b"null")
