"""Tables with a head line: `squeue`, `sinfo`, `sacct`, `sacctmgr`, with `|` between the columns (-P, -o) or in columns of blanks.

The columns are known by their heads, so any choice of them is read. `sacct` and `sacctmgr` have heads of their own.
"""

from collections.abc import Callable
from datetime import UTC, tzinfo

from rigup.machine.slurm.hostlist import expand
from rigup.machine.slurm.values import Dump, Job, Limit, Node, Partition, Record
from rigup.machine.slurm.words import (
    array_tasks,
    duration,
    moment,
    node_gpus,
    node_states,
    shell_status,
    size,
    text,
    tres,
    tres_gpus,
    whole,
    words,
)
from rigup.machine.slurm.working_out import Asked, share

MOST_ROWS = 2_000_000
_STATES = {
    "PD": "PENDING",
    "R": "RUNNING",
    "CG": "COMPLETING",
    "CF": "CONFIGURING",
    "S": "SUSPENDED",
    "CD": "COMPLETED",
    "CA": "CANCELLED",
    "F": "FAILED",
    "TO": "TIMEOUT",
    "NF": "NODE_FAIL",
    "PR": "PREEMPTED",
    "OOM": "OUT_OF_MEMORY",
    "BF": "BOOT_FAIL",
    "DL": "DEADLINE",
    "SI": "SIGNALING",
    "RQ": "REQUEUED",
    "RD": "RESV_DEL_HOLD",
    "RF": "REQUEUE_FED",
    "RH": "REQUEUE_HOLD",
    "RS": "RESIZING",
    "SE": "SPECIAL_EXIT",
    "SO": "STAGE_OUT",
    "ST": "STOPPED",
}
Row = dict[str, str]


def read_table(body: str, dump: Dump, zone: tzinfo = UTC) -> bool:
    """Reads a table into the dump. False: no head line of Slurm is in it."""
    lines = body.splitlines()[:MOST_ROWS]
    for place, line in enumerate(lines[:20]):  # a date, a warning or a prompt may stand before
        heads = [head.strip().upper() for head in (line.split("|") if "|" in line else line.split())]
        if reader := _reader(set(heads)):
            reader(_rows(line, lines[place + 1 :], heads), dump, zone)
            return True
    return False


def _reader(heads: set[str]) -> Callable[[list[Row], Dump, tzinfo], None] | None:
    if "JOBID" in heads and heads & {"ELAPSED", "SUBMIT", "ALLOCTRES", "EXITCODE", "TIMELIMIT"}:
        return _records
    if "JOBID" in heads and heads & {"ST", "STATE"}:
        return _jobs
    if "NODELIST" in heads and "STATE" in heads and heads & {"PARTITION", "GRES", "CPUS"}:
        return _nodes
    if "MAXWALL" in heads:
        return _limits
    return None


def _rows(head: str, lines: list[str], heads: list[str]) -> list[Row]:
    """Cells by head. With `|` the last column may hold more of them; in columns of blanks the head's words tell where each begins or ends."""
    if "|" in head:
        return [dict(zip(heads, line.split("|", len(heads) - 1), strict=False)) for line in lines if "|" in line]
    rows = []
    for line in lines:
        cells = line.split(None, len(heads) - 1)
        if len(cells) == len(heads) and not set(line) <= {"-", " "}:
            rows.append(dict(zip(heads, (cell.strip() for cell in cells), strict=True)))
    return rows


def _jobs(rows: list[Row], dump: Dump, zone: tzinfo) -> None:
    dump.jobs = [job for row in rows if (job := _job(row, zone))]


def _asked(row: Row, count_of_nodes: int) -> Asked:
    return Asked(
        detail=(),
        per_node=row.get("TRES_PER_NODE") or row.get("GRES"),
        per_job=row.get("TRES_PER_JOB"),
        per_task=row.get("TRES_PER_TASK"),
        required=None,
        allocated=row.get("TRES_ALLOC"),
        node_count=count_of_nodes,
        tasks=whole(row.get("TASKS")),
        cpus=whole(row.get("CPUS")),
        memory_per_node=size(row.get("MIN_MEMORY", "").rstrip("cn")) or None,
        memory_per_cpu=None,
    )


def _job(row: Row, zone: tzinfo) -> Job | None:
    number, _, rest = row.get("JOBID", "").partition("_")
    head = whole(number.partition("+")[0])
    if head is None:
        return None
    task_text = rest or row.get("ARRAY_TASK_ID", "N/A")
    task = whole(task_text)
    waits_as_array = task is None and task_text != "N/A"
    count, bound = array_tasks(task_text) if waits_as_array else (1, None)
    state = row.get("STATE") or row.get("ST", "")
    state = _STATES.get(state.upper(), state.upper())
    where = row.get("NODELIST(REASON)", row.get("NODELIST", ""))
    waiting = state == "PENDING"
    nodes = () if waiting or where.startswith("(") else expand(where)
    count_of_nodes = whole(row.get("NODES")) or len(nodes) or 1
    asked = _asked(row, count_of_nodes)
    gpus, gpus_each = asked.gpus()
    reason = row.get("REASON") or (where[1:-1] if where.startswith("(") else "")
    array = whole(row.get("ARRAY_JOB_ID")) if task_text != "N/A" else None
    return Job(
        id=head,
        array_job=array or (head if rest else None),
        array_task=task,
        array_tasks=task_text.strip("[]") if waits_as_array else "",
        array_count=count,
        throttle=bound,
        name=row.get("NAME", ""),
        user=row.get("USER", ""),
        account=text(row.get("ACCOUNT")),
        qos=text(row.get("QOS")),
        partitions=words(row.get("PARTITION")),
        state=state,
        reason=text(reason),
        priority=whole(row.get("PRIORITY")),
        nodes=nodes,
        node_count=count_of_nodes,
        tasks=asked.tasks,
        cpus=asked.cpus,
        cpus_per_node=share(asked.cpus, count_of_nodes),
        memory_per_node=asked.memory(),
        gpus=gpus,
        gpus_per_node=gpus_each,
        submit=moment(row.get("SUBMIT_TIME"), zone),
        start=moment(row.get("START_TIME"), zone),
        end=moment(row.get("END_TIME"), zone),
        time_limit=duration(row.get("TIME_LIMIT")),
        dependency=text(row.get("DEPENDENCY")),
        reservation=text(row.get("RESERVATION")),
        features=text(row.get("FEATURES")),
        required_nodes=expand(row.get("REQ_NODES")),
        excluded_nodes=expand(row.get("EXC_NODES")),
    )


def _nodes(rows: list[Row], dump: Dump, _zone: tzinfo) -> None:
    """sinfo's rows, one a node and partition or one a group of alike nodes: both name every node."""
    nodes: dict[str, Node] = {}
    partitions: dict[str, Partition] = {}
    for row in rows:
        partition = row.get("PARTITION", "").rstrip("*")
        names = expand(row.get("NODELIST"))
        state = row["STATE"]
        for name in names:
            held = nodes.get(name)
            belongs = tuple(dict.fromkeys((*(held.partitions if held else ()), *([partition] if partition else []))))
            nodes[name] = _sinfo_node(name, state, belongs, row)
        if partition:
            before = partitions.get(partition)
            partitions[partition] = Partition(
                name=partition,
                state=row.get("AVAIL", "up").upper(),
                default=row["PARTITION"].endswith("*"),
                max_time=duration(row.get("TIMELIMIT")),
                nodes=tuple(dict.fromkeys((*(before.nodes if before else ()), *names))),
            )
    dump.nodes = list(nodes.values())
    if partitions and dump.partitions is None:
        dump.partitions = list(partitions.values())


def _sinfo_node(name: str, state: str, partitions: tuple[str, ...], row: Row) -> Node:
    parts = [whole(part) for part in row.get("CPUS(A/I/O/T)", "").split("/")]
    allocated, total = (parts[0], parts[3]) if len(parts) == 4 else (None, whole(row.get("CPUS")))
    return Node(
        name=name,
        states=node_states(state),
        reason="" if row.get("REASON") == "none" else text(row.get("REASON")),
        partitions=partitions,
        cpus=total,
        cpus_allocated=allocated,
        memory=size(row.get("MEMORY", "").rstrip("+")),
        memory_allocated=size(row.get("ALLOCMEM")),
        gpus=node_gpus(row.get("GRES"), row.get("GRES_USED")),
        features=words(row.get("AVAIL_FEATURES") or row.get("ACTIVE_FEATURES")),
    )


def _records(rows: list[Row], dump: Dump, zone: tzinfo) -> None:
    """sacct's rows: a job's own, then those of its steps, which tell what was used."""
    records: list[Record] = []
    used: list[list[Row]] = []
    for row in rows:
        if "." in row.get("JOBID", "") and used:
            used[-1].append(row)
        elif record := _record(row, zone):
            records.append(record)
            used.append([])
    dump.records = [_with_steps(record, steps) for record, steps in zip(records, used, strict=True)]


def _record(row: Row, zone: tzinfo) -> Record | None:
    head, _, task = row.get("JOBID", "").partition("_")
    job = whole(head.partition("+")[0])
    if job is None:
        return None
    held = tres(row.get("ALLOCTRES")) or tres(row.get("REQTRES"))
    nodes = expand(row.get("NODELIST"))
    return Record(
        id=job,
        array_job=job if task else None,
        array_task=whole(task),
        name=row.get("JOBNAME", ""),
        user=text(row.get("USER")),
        account=text(row.get("ACCOUNT")),
        partition=text(row.get("PARTITION")),
        qos=text(row.get("QOS")),
        state=(row.get("STATE") or " ").split(" ")[0].upper(),
        exit=shell_status(row.get("EXITCODE")),
        submit=moment(row.get("SUBMIT"), zone),
        eligible=moment(row.get("ELIGIBLE"), zone),
        start=moment(row.get("START"), zone),
        end=moment(row.get("END"), zone),
        elapsed=duration(row.get("ELAPSED")),
        time_limit=duration(row.get("TIMELIMIT")),
        nodes=nodes,
        node_count=whole(held.get("node")) or len(nodes) or None,
        cpus=whole(held.get("cpu")) or whole(row.get("ALLOCCPUS")),
        memory=size(tres(row.get("REQTRES")).get("mem") or held.get("mem")),
        cpu_seconds=_seconds(row.get("TOTALCPU")),
        gpus=tres_gpus(row.get("ALLOCTRES")) or tres_gpus(row.get("REQTRES")),
    )


def _seconds(value: str | None) -> float | None:
    seconds = duration(value)
    return None if seconds is None else float(seconds)


def _with_steps(record: Record, steps: list[Row]) -> Record:
    """The record with what its steps used most."""
    memory = [most * (whole(row.get("NTASKS")) or 1) for row in steps if (most := size(row.get("MAXRSS"), "K"))]
    averages = [tres(row.get("TRESUSAGEINAVE")) for row in steps]
    shares = [float(count) for row in averages if (count := whole(row.get("gres/gpuutil"))) is not None]
    sizes = [count for row in averages if (count := size(row.get("gres/gpumem"))) is not None]
    if not (memory or shares or sizes):
        return record
    changed = {name: getattr(record, name) for name in record.__struct_fields__}
    used = {
        "memory_used": max(memory, default=None),
        "gpu_utilisation": max(shares, default=None),
        "gpu_memory_used": max(sizes, default=None),
    }
    return Record(**{**changed, **used})


def _limits(rows: list[Row], dump: Dump, _zone: tzinfo) -> None:
    dump.limits = [*(dump.limits or ()), *(limit for row in rows if (limit := _limit(row)))]


def _limit(row: Row) -> Limit | None:
    """sacctmgr's associations (they have a head Account) and QOS."""
    of_account = "ACCOUNT" in row
    name = row.get("ACCOUNT") if of_account else row.get("NAME")
    if not name:
        return None
    return Limit(
        kind="association" if of_account else "qos",
        name=name,
        user=row.get("USER", ""),
        partition=row.get("PARTITION", ""),
        qos=words(row.get("QOS")),
        default_qos=text(row.get("DEF QOS") or row.get("DEFQOS")),
        max_jobs=whole(row.get("MAXJOBS") or row.get("MAXJOBSPU") or row.get("MAXJOBSPERUSER")),
        max_submit=whole(row.get("MAXSUBMIT") or row.get("MAXSUBMITPU")),
        max_wall=duration(row.get("MAXWALL")),
        max_tres_per_job=row.get("MAXTRES", ""),
        max_tres_per_user=row.get("MAXTRESPU", ""),
        group_tres=row.get("GRPTRES", ""),
        priority=whole(row.get("PRIORITY")),
        preempt=words(row.get("PREEMPT")),
    )
