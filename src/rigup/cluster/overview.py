"""The state of a cluster, worked out of what Slurm told: pure, from values to values."""

import functools
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from rigup.cluster.access import barred
from rigup.cluster.reasons import because
from rigup.cluster.states import UP, reserved_nodes, state_of
from rigup.cluster.worth import worths
from rigup.language import _
from rigup.machine.outward import outward_text
from rigup.machine.slurm.hostlist import fold
from rigup.machine.slurm.values import Dump, Job, Limit, Node, Partition, Reservation
from rigup.schemas.cluster import (
    AskedCommand,
    Cluster,
    ClusterNode,
    ClusterPartition,
    ClusterReservation,
    GpuCount,
    Idle,
    NodeGpus,
    NodeState,
    Poison,
    Queue,
    Share,
    SlurmRelease,
    Worth,
    YourJob,
    YourLimit,
)
from rigup.schemas.shared import Evidence, Finding

NEVER = frozenset(
    ("PartitionTimeLimit", "PartitionNodeLimit", "BadConstraints", "DependencyNeverSatisfied", "InvalidAccount", "InvalidQOS")
)
_LEAST_MEMORY = 1 << 30  # bytes without which a job with a GPU does not start


class You(NamedTuple):
    """Who asks: the user, and the accounts and groups that are theirs."""

    user: str = ""
    groups: frozenset[str] = frozenset()
    names: bool = False  # whether other people's names are wanted


class _Seen(NamedTuple):
    node: Node
    state: NodeState
    idle: dict[str, int]  # by type, of a node that is up
    usable: bool


def overview(dump: Dump, sources: list[AskedCommand], now: int, you: You) -> Cluster:
    """The answer. `now` in unix seconds."""
    limits = dump.limits or []
    accounts = {limit.name for limit in limits if limit.kind == "association" and limit.user}
    closed = reserved_nodes(dump.reservations or [], now, you.user, accounts)
    seen = {node.name: _seen(node, closed) for node in dump.nodes or []}
    worth = worths(gpus.type for node in dump.nodes or [] for gpus in node.gpus)
    partitions = _known_partitions(dump)
    members = {partition.name: [seen[name] for name in partition.nodes if name in seen] for partition in partitions}
    jobs = dump.jobs
    return Cluster(
        now=now,
        slurm=SlurmRelease(version=dump.version, cluster=dump.cluster),
        sources=sources,
        partitions=[_partition(partition, members[partition.name], partitions, you, accounts) for partition in partitions],
        nodes=[_node(row, worth) for row in seen.values()],
        idle=[row for partition in partitions for row in _idle(partition.name, members[partition.name], worth)],
        queue=None if jobs is None else _queue(jobs),
        poison=[_poison(job, you) for job in jobs or [] if job.pending and job.reason in NEVER],
        yours=[_yours(job) for job in jobs or [] if you.user and job.user == you.user and (job.pending or job.running)],
        reservations=[_reservation(reservation, you) for reservation in dump.reservations or []],
        limits=[yours for limit in limits if (yours := _limit(limit, limits))],
        findings=_findings(seen.values()),
    )


def _known(value: Any) -> Any:
    """UNSET in place of None or nothing."""
    return UNSET if value is None or value == "" else value


def _seen(node: Node, closed: set[str]) -> _Seen:
    state = state_of(node)
    up = state in UP
    idle = {gpus.type: gpus.total - gpus.allocated for gpus in node.gpus if up and gpus.allocated is not None}
    cpus_left = node.cpus is None or node.cpus_allocated is None or node.cpus > node.cpus_allocated
    memory_left = node.memory is None or node.memory_allocated is None or node.memory - node.memory_allocated >= _LEAST_MEMORY
    open_to_all = node.name not in closed and state not in ("maintenance", "reserved")
    shown = msgspec.structs.replace(node, reason=_outward(node.reason)) if node.reason else node
    return _Seen(shown, state, idle, up and cpus_left and memory_left and open_to_all)


@functools.cache
def _outward(reason: str) -> str:
    """What an administrator wrote, without what would open a door; many nodes have the same."""
    return outward_text(reason)


def _known_partitions(dump: Dump) -> list[Partition]:
    """Partitions; where none were told, those that the nodes name. Hidden ones count where Slurm shows them."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for node in dump.nodes or []:
        for name in node.partitions:
            by_name[name].append(node.name)
    if dump.partitions:
        return [partition if partition.nodes else _with_nodes(partition, by_name[partition.name]) for partition in dump.partitions]
    return [Partition(name=name, nodes=tuple(nodes)) for name, nodes in sorted(by_name.items())]


def _with_nodes(partition: Partition, nodes: list[str]) -> Partition:
    from msgspec.structs import replace

    return replace(partition, nodes=tuple(nodes))


def _partition(partition: Partition, rows: list[_Seen], others: list[Partition], you: You, accounts: set[str]) -> ClusterPartition:
    return ClusterPartition(
        name=partition.name,
        default=partition.default,
        state=partition.state,
        max_time=partition.max_time,
        max_nodes=partition.max_nodes,
        tier=partition.tier,
        preemptible=_preemptible(partition, others),
        grace=partition.grace,
        nodes=len(rows) or partition.node_count or 0,
        nodes_up=sum(row.state in UP for row in rows),
        accounts=list(partition.allow_accounts),
        gpus=_counts(rows),
        barred=_known(barred(partition, you.groups, accounts)),
    )


def _preemptible(partition: Partition, others: list[Partition]) -> "bool | UnsetType":
    """Whether a higher tier on the same nodes takes them away."""
    if not partition.preempt_mode:
        return UNSET
    if partition.preempt_mode.split(",")[0] == "OFF":
        return False
    nodes = set(partition.nodes)
    return any(other.tier > partition.tier and not nodes.isdisjoint(other.nodes) for other in others)


def _counts(rows: list[_Seen]) -> dict[str, GpuCount]:
    total: Counter[str] = Counter()
    allocated: Counter[str] = Counter()
    idle: Counter[str] = Counter()
    usable: Counter[str] = Counter()
    dark: set[str] = set()
    for row in rows:
        for gpus in row.node.gpus:
            total[gpus.type] += gpus.total
            allocated[gpus.type] += gpus.allocated or 0
            dark |= {gpus.type} if gpus.allocated is None else set()
        idle.update(row.idle)
        usable.update(row.idle if row.usable else {})
    return {
        name: GpuCount(total=count, allocated=allocated[name], idle=idle[name], usable=usable[name])
        if name not in dark
        else GpuCount(total=count)
        for name, count in sorted(total.items())
    }


def _node(row: _Seen, worth: dict[str, Worth]) -> ClusterNode:
    node = row.node
    device = next((worth[gpus.type].device for gpus in node.gpus if gpus.type in worth), None)
    return ClusterNode(
        name=node.name,
        state=row.state,
        reason=_known(node.reason),
        since=_known(node.reason_since),
        partitions=list(node.partitions),
        cpus=Share(total=_known(node.cpus), allocated=_known(node.cpus_allocated)),
        memory=Share(total=_known(node.memory), allocated=_known(node.memory_allocated)),
        gpus=[NodeGpus(type=gpus.type, total=gpus.total, allocated=_known(gpus.allocated)) for gpus in node.gpus],
        device=_known(device),
    )


def _idle(partition: str, rows: list[_Seen], worth: dict[str, Worth]) -> list[Idle]:
    by_type: dict[str, Counter[int]] = defaultdict(Counter)
    for row in rows:
        for name, count in row.idle.items():
            if count > 0 and row.usable:
                by_type[name][count] += 1
    return [
        Idle(
            partition=partition,
            type=name,
            nodes={str(count): number for count, number in sorted(counts.items(), reverse=True)},
            worth=worth[name].rate if name in worth else UNSET,
            card=worth.get(name, UNSET),
        )
        for name, counts in sorted(by_type.items())
    ]


def _queue(jobs: list[Job]) -> Queue:
    reasons: Counter[str] = Counter()
    for job in jobs:
        if job.pending:
            reasons[job.reason or "None"] += job.array_count
    return Queue(running=sum(job.running for job in jobs), pending=reasons.total(), by_reason=dict(reasons.most_common()))


def _poison(job: Job, you: You) -> Poison:
    yours = you.names or (bool(you.user) and job.user == you.user)
    return Poison(job=job.id, name=_known(job.name) if yours else UNSET, user=_known(job.user) if yours else UNSET, reason=job.reason)


def _yours(job: Job) -> YourJob:
    ends = job.start + job.time_limit if job.running and job.start and job.time_limit else None
    return YourJob(
        job=job.array_job or job.id,
        tasks=job.array_count,
        name=job.name,
        partitions=list(job.partitions),
        running=job.running,
        gpus=sum(asked.count for asked in job.gpus),
        since=_known(job.start if job.running else job.submit),
        until=_known(ends if job.running else job.start),
        reason=UNSET if job.running else _known(job.reason),
        because=UNSET if job.running else _known(because(job.reason)),
    )


def _reservation(reservation: Reservation, you: You) -> ClusterReservation:
    users = [user for user in reservation.users if you.names or user == you.user]
    return ClusterReservation(
        name=reservation.name,
        start=reservation.start,
        end=reservation.end,
        nodes=fold(reservation.nodes),
        users=users if you.names or len(users) == len(reservation.users) else UNSET,
        flags=list(reservation.flags),
    )


def _limit(limit: Limit, limits: list[Limit]) -> YourLimit | None:
    """A limit that bounds something; of the QOS those that an association of yours names."""
    named = {name for row in limits if row.kind == "association" for name in row.qos}
    if limit.kind == "qos" and limit.name not in named:
        return None
    yours = YourLimit(
        kind="qos" if limit.kind == "qos" else "association",
        name=limit.name,
        partition=_known(limit.partition),
        max_time=_known(limit.max_wall),
        max_jobs=_known(limit.max_jobs),
        max_submit=_known(limit.max_submit),
        per_job=_known(limit.max_tres_per_job),
        per_user=_known(limit.max_tres_per_user),
        group=_known(limit.group_tres),
    )
    bounds = (yours.max_time, yours.max_jobs, yours.max_submit, yours.per_job, yours.per_user, yours.group)
    return yours if any(bound is not UNSET for bound in bounds) else None


def _findings(rows: Iterable[_Seen]) -> list[Finding]:
    """Nodes that are away, one finding each, the greatest group of one state and reason first."""
    by_reason: dict[tuple[NodeState, str], list[Node]] = defaultdict(list)
    for row in rows:
        if row.state in ("down", "drained"):
            by_reason[row.state, row.node.reason].append(row.node)
    groups = sorted(by_reason.items(), key=lambda item: -len(item[1]))
    return [_finding(node, state) for (state, _reason), nodes in groups for node in nodes]


def _finding(node: Node, state: NodeState) -> Finding:
    template = _("Down: {reason}.") if state == "down" else _("Drained: {reason}.")
    title = template.format(reason=(node.reason or _("nobody wrote a reason")).rstrip("."))
    evidence = Evidence(fact="SlurmNode.states", value=" ".join(node.states), source="slurm", line=None)
    return Finding(
        cause="slurm-node-" + state,
        severity="warning",
        title=title,
        subject=node.name,
        place=node.name,
        confidence="certain",
        guess=False,
        because=_("Slurm starts no job on it."),
        make_sure="",
        in_vain="",
        evidence=[evidence],
        explains=[],
        mends=_("Mend what the reason names; then `scontrol update NodeName={node} State=RESUME` gives it back.").format(node=node.name),
        fixes=[],
    )
