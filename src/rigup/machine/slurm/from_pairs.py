"""`scontrol show …` (with and without -o, -d) as typed values: records of KEY=VALUE."""

import re
from collections.abc import Iterator
from datetime import UTC, tzinfo

from rigup.machine.slurm.hostlist import expand
from rigup.machine.slurm.values import Dump, Job, Node, Partition, Reservation
from rigup.machine.slurm.words import array_tasks, duration, moment, node_gpus, node_states, shell_status, size, text, whole, words
from rigup.machine.slurm.working_out import Asked, share

_HEADS = {"NodeName": "nodes", "PartitionName": "partitions", "ReservationName": "reservations", "JobId": "jobs"}
_PAIR = re.compile(r"(?:^|\s)([A-Za-z][A-Za-z0-9_/:.&]*)=")
_START = re.compile(r"^(NodeName|PartitionName|ReservationName|JobId)=", re.MULTILINE)
_CONFIGURED = re.compile(r"^([A-Za-z][A-Za-z0-9_]*)\s*= ?(.*)$", re.MULTILINE)
_SAYS_NOTHING = re.compile(r"No (nodes|partitions|reservations|jobs) in the system", re.IGNORECASE)
_REASON = re.compile(r"(.*?)(?: \[([^\[\]@\s]*)@([^\[\]\s]+)\])?\s*\Z", re.DOTALL)
_DETAIL = re.compile(r"Nodes=(\S+) CPU_IDs=\S* Mem=\S* GRES=(\S*)")
MOST_RECORDS = 2_000_000
Fields = dict[str, str]


def read_pairs(body: str, dump: Dump, zone: tzinfo = UTC) -> bool:
    """Reads scontrol's text into the dump. False: it is none."""
    if body.lstrip().startswith("Configuration data as of"):
        _configuration(body, dump, zone)
        return True
    found = False
    for kind in _SAYS_NOTHING.findall(body):
        if getattr(dump, kind.lower()) is None:
            setattr(dump, kind.lower(), [])
        found = True
    for kind, record in _records(body):
        fields = _fields(record)
        rows = getattr(dump, kind)
        if rows is None:
            rows = []
            setattr(dump, kind, rows)
        rows.append(
            _node(fields, zone)
            if kind == "nodes"
            else _partition(fields)
            if kind == "partitions"
            else _reservation(fields, zone)
            if kind == "reservations"
            else _job(fields, record, zone)
        )
        found = True
    return found


def _records(body: str) -> Iterator[tuple[str, str]]:
    starts = list(_START.finditer(body))[:MOST_RECORDS]
    for start, following in zip(starts, [*starts[1:], None], strict=False):
        yield _HEADS[start[1]], body[start.start() : following.start() if following else len(body)]


def _fields(record: str) -> Fields:
    """Values by key. A value ends where the next ` Key=` begins; the first of equal keys stands, for a reason may hold such words."""
    keys = list(_PAIR.finditer(record))
    fields: Fields = {}
    for key, following in zip(keys, [*keys[1:], None], strict=False):
        fields.setdefault(key[1], record[key.end() : following.start() if following else len(record)].strip())
    return fields


def _configuration(body: str, dump: Dump, zone: tzinfo) -> None:
    dump.configuration = {name: value.strip() for name, value in _CONFIGURED.findall(body)[:5000]}
    dump.cluster = text(dump.configuration.get("ClusterName")) or dump.cluster
    dump.version = text(dump.configuration.get("SLURM_VERSION")) or dump.version
    dump.now = moment(body.lstrip().split("\n", 1)[0].removeprefix("Configuration data as of").strip(), zone) or dump.now


def _mebibytes(value: str | None) -> int | None:
    return size(value) if value else None


def _node(fields: Fields, zone: tzinfo) -> Node:
    reason, by, since = _REASON.match(fields.get("Reason", "")).groups()  # type: ignore[union-attr]
    configured = fields.get("Gres")
    return Node(
        name=fields["NodeName"],
        states=node_states(fields.get("State")),
        reason=text(reason),
        reason_since=moment(since, zone),
        reason_by=by or "",
        partitions=words(fields.get("Partitions")),
        cpus=whole(fields.get("CPUTot")),
        cpus_allocated=whole(fields.get("CPUAlloc")),
        memory=_mebibytes(fields.get("RealMemory")),
        memory_allocated=_mebibytes(fields.get("AllocMem")),
        memory_free=_mebibytes(fields.get("FreeMem")),
        gpus=node_gpus(configured, fields.get("GresUsed"), fields.get("AllocTRES"), "gres/gpu" in fields.get("CfgTRES", "")),
        features=words(fields.get("ActiveFeatures")) or words(fields.get("AvailableFeatures")),
        reservation=text(fields.get("ReservationName")),
        weight=whole(fields.get("Weight")),
        version=text(fields.get("Version")),
        system=text(fields.get("OS")),
        boot=moment(fields.get("BootTime"), zone),
    )


def _partition(fields: Fields) -> Partition:
    tier, factor = whole(fields.get("PriorityTier")), whole(fields.get("PriorityJobFactor"))
    return Partition(
        name=fields["PartitionName"],
        state=fields.get("State", "UP").upper(),
        default=fields.get("Default") == "YES",
        hidden=fields.get("Hidden") == "YES",
        max_time=duration(fields.get("MaxTime")),
        default_time=duration(fields.get("DefaultTime")),
        max_nodes=whole(fields.get("MaxNodes")),
        min_nodes=whole(fields.get("MinNodes")) or 0,
        max_cpus_per_node=whole(fields.get("MaxCPUsPerNode")),
        max_memory_per_node=_mebibytes(fields.get("MaxMemPerNode")),
        tier=1 if tier is None else tier,
        job_factor=1 if factor is None else factor,
        preempt_mode=fields.get("PreemptMode", "").upper(),
        grace=whole(fields.get("GraceTime")) or 0,
        nodes=expand(fields.get("Nodes")),
        node_count=whole(fields.get("TotalNodes")),
        allow_accounts=words(fields.get("AllowAccounts")),
        deny_accounts=words(fields.get("DenyAccounts")),
        allow_groups=words(fields.get("AllowGroups")),
        allow_qos=words(fields.get("AllowQos")),
        deny_qos=words(fields.get("DenyQos")),
        qos=text(fields.get("QoS")),
        exclusive=fields.get("OverSubscribe") == "EXCLUSIVE",
        root_only=fields.get("RootOnly") == "YES",
        requires_reservation=fields.get("ReqResv") == "YES",
    )


def _reservation(fields: Fields, zone: tzinfo) -> Reservation:
    return Reservation(
        name=fields["ReservationName"],
        start=moment(fields.get("StartTime"), zone),
        end=moment(fields.get("EndTime"), zone),
        nodes=expand(fields.get("Nodes")),
        node_count=whole(fields.get("NodeCnt")),
        partition=text(fields.get("PartitionName")),
        users=words(fields.get("Users")),
        accounts=words(fields.get("Accounts")),
        groups=words(fields.get("Groups")),
        flags=words(fields.get("Flags")),
        tres=text(fields.get("TRES")),
    )


def _asked(fields: Fields, record: str) -> Asked:
    counts = [whole(part) for part in fields.get("NumNodes", "").split("-")]  # a range while it waits: its least counts
    detail = [gres for nodes, gres in _DETAIL.findall(record) if gres for _name in expand(nodes)]
    return Asked(
        detail=tuple(detail),
        per_node=fields.get("TresPerNode") or fields.get("Gres"),
        per_job=fields.get("TresPerJob"),
        per_task=fields.get("TresPerTask"),
        required=fields.get("ReqTRES") or fields.get("TRES"),
        allocated=fields.get("AllocTRES"),
        node_count=counts[0] or 1,
        tasks=whole(fields.get("NumTasks")),
        cpus=whole(fields.get("NumCPUs", "").split("-")[0]),
        memory_per_node=size(fields.get("MinMemoryNode")),
        memory_per_cpu=size(fields.get("MinMemoryCPU")),
    )


def _job(fields: Fields, record: str, zone: tzinfo) -> Job:
    waiting = fields.get("JobState") == "PENDING"
    tasks = fields.get("ArrayTaskId", "")
    task = whole(tasks)
    array = whole(fields.get("ArrayJobId"))
    count, bound = array_tasks(tasks)
    asked = _asked(fields, record)
    gpus, gpus_each = asked.gpus()
    states = node_states(fields.get("JobState"))
    return Job(
        id=whole(fields["JobId"]) or 0,
        array_job=array,
        array_task=task,
        array_tasks="" if task is not None else tasks,
        array_count=count if array and task is None else 1,
        throttle=whole(fields.get("ArrayTaskThrottle")) or bound,
        het_job=whole(fields.get("HetJobId")),
        name=fields.get("JobName", ""),
        user=fields.get("UserId", "").split("(")[0],
        account=text(fields.get("Account")),
        qos=text(fields.get("QOS")),
        partitions=words(fields.get("Partition")),
        state=states[0] if states else "",
        flags=states[1:],
        reason=text(fields.get("Reason")),
        priority=whole(fields.get("Priority")),
        nodes=() if waiting else expand(fields.get("NodeList")),
        node_count=asked.node_count,
        tasks=asked.tasks,
        cpus=asked.cpus,
        cpus_per_node=max(share(asked.cpus, asked.node_count) or 0, whole(fields.get("MinCPUsNode")) or 0) or None,
        memory_per_node=asked.memory(),
        gpus=gpus,
        gpus_per_node=gpus_each,
        submit=moment(fields.get("SubmitTime"), zone),
        eligible=moment(fields.get("EligibleTime"), zone),
        start=moment(fields.get("StartTime"), zone),
        end=moment(fields.get("EndTime"), zone),
        time_limit=duration(fields.get("TimeLimit")),
        dependency=text(fields.get("Dependency")),
        reservation=text(fields.get("Reservation")),
        features=text(fields.get("Features")),
        required_nodes=expand(fields.get("ReqNodeList")),
        excluded_nodes=expand(fields.get("ExcNodeList")),
        requeue=fields["Requeue"] == "1" if "Requeue" in fields else None,
        restarts=whole(fields.get("Restarts")) or 0,
        exit=shell_status(fields.get("ExitCode")),
        exclusive=fields.get("OverSubscribe") == "NO",
    )
