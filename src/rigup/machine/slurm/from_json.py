"""JSON of Slurm's commands as typed values."""

import json
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from rigup.machine.slurm import forms
from rigup.machine.slurm.forms import Number, listed, number, stamp, upper
from rigup.machine.slurm.hostlist import expand
from rigup.machine.slurm.values import Dump, Job, Node, Partition, Record, Reservation
from rigup.machine.slurm.words import array_tasks, node_gpus, text, tres, tres_gpus, words
from rigup.machine.slurm.working_out import Asked, share, worked_out

MOST_ITEMS = 2_000_000
_MIB = 1 << 20
Raw = TypeVar("Raw")
Value = TypeVar("Value")


def read_json(body: str, dump: Dump) -> bool:
    """Reads an answer into the dump. False: it is no JSON object of Slurm."""
    if not (envelope := _envelope(body)):
        return False
    _about(envelope, dump)
    found = False
    for kind in ("nodes", "partitions", "reservations"):
        if (items := _items(getattr(envelope, kind))) is not None:
            setattr(dump, kind, _KINDS[kind](items, dump))
            found = True
    if (items := _items(envelope.jobs)) is not None:
        found = True
        if _accounting(items):
            dump.records = _convert(items, forms.RawRecord, _record, "records", dump)
        else:
            dump.jobs = _convert(items, forms.RawJob, _job, "jobs", dump)
    return found


def _envelope(body: str) -> forms.Envelope | None:
    """The object between the first and the last brace: warnings may stand before and behind it."""
    first, last = body.find("{"), body.rfind("}")
    if first < 0 or last < first:
        return None
    with suppress(msgspec.DecodeError, RecursionError, UnicodeError):
        return msgspec.json.decode(body[first : last + 1].encode(errors="replace"), type=forms.Envelope)
    with suppress(ValueError, RecursionError, TypeError):  # NaN, Infinity, and text behind it that has braces
        loose, _ = json.JSONDecoder().raw_decode(body, first)
        return msgspec.json.decode(msgspec.json.encode(loose), type=forms.Envelope)
    return None


def _items(raw: msgspec.Raw) -> list[msgspec.Raw] | None:
    with suppress(msgspec.DecodeError, RecursionError):
        return msgspec.json.decode(raw, type=list[msgspec.Raw])[:MOST_ITEMS]
    return None


def _convert(items: list[msgspec.Raw], form: type[Raw], convert: Callable[[Raw], Value], kind: str, dump: Dump) -> list[Value]:
    """Every item of the form; those of another shape are counted."""
    with suppress(msgspec.DecodeError, RecursionError, ValueError):
        return [convert(raw) for raw in msgspec.json.decode(msgspec.json.encode(items), type=list[form])]  # type: ignore[valid-type]
    decoder = msgspec.json.Decoder(form)
    values = []
    for item in items:
        try:
            values.append(convert(decoder.decode(item)))
        except (msgspec.DecodeError, RecursionError, ValueError):
            dump.unread[kind] = dump.unread.get(kind, 0) + 1
    return values


def _about(envelope: forms.Envelope, dump: Dump) -> None:
    with suppress(msgspec.DecodeError, RecursionError):
        meta = msgspec.json.decode(envelope.meta, type=forms.Meta | None)
        speaker = meta and (meta.slurm or meta.older)
        if speaker:
            dump.version = speaker.release or dump.version
            dump.cluster = speaker.cluster or dump.cluster
    with suppress(msgspec.DecodeError, RecursionError):
        dump.now = stamp(msgspec.json.decode(envelope.last_update, type=Number)) or dump.now


def _accounting(items: list[msgspec.Raw]) -> bool:
    """Whether the jobs are sacct's: there a job has its times in one object."""
    keys = _keys(items)
    return "time" in keys and "submit_time" not in keys


def _keys(items: list[msgspec.Raw]) -> Collection[str]:
    """The keys of the first item that is an object."""
    for item in items[:5]:
        with suppress(msgspec.DecodeError, RecursionError):
            return msgspec.json.decode(item, type=dict[str, msgspec.Raw])
    return ()


def _node(raw: forms.RawNode) -> Node:
    states = (*upper(raw.state), *upper(raw.state_flags))
    since = stamp(raw.reason_changed_at)
    return Node(
        name=raw.name,
        states=tuple(dict.fromkeys(states)),
        reason=text(raw.reason),
        reason_since=since,
        reason_by=text(raw.reason_set_by_user) if since else "",
        partitions=listed(raw.partitions),
        cpus=number(raw.cpus),
        cpus_allocated=number(raw.alloc_cpus),
        memory=_mebibytes(raw.real_memory),
        memory_allocated=_mebibytes(raw.alloc_memory),
        memory_free=_mebibytes(raw.free_mem if raw.free_mem is not None else raw.free_memory),
        gpus=node_gpus(raw.gres, raw.gres_used, raw.tres_used, "gres/gpu" in (raw.tres or "")),
        features=listed(raw.active_features) or listed(raw.features),
        reservation=text(raw.reservation),
        weight=number(raw.weight),
        version=text(raw.version) or text(raw.slurmd_version),
        system=text(raw.operating_system),
        boot=stamp(raw.boot_time),
    )


def _mebibytes(value: Number) -> int | None:
    count = number(value)
    return None if count is None else count * _MIB


def _minutes(value: Number) -> int | None:
    count = number(value)
    return None if count is None else count * 60


def _limit(value: Number) -> int | None:
    """A greatest value: none where it is 0."""
    return number(value) or None


def _asked(raw: forms.RawJob, nodes: tuple[str, ...]) -> Asked:
    return Asked(
        detail=tuple(raw.gres_detail or ()),
        per_node=raw.tres_per_node,
        per_job=raw.tres_per_job,
        per_task=raw.tres_per_task,
        required=raw.tres_req_str,
        allocated=raw.tres_alloc_str,
        node_count=number(raw.node_count) or len(nodes) or 1,
        tasks=number(raw.tasks),
        cpus=number(raw.cpus),
        memory_per_node=_mebibytes(raw.memory_per_node),
        memory_per_cpu=_mebibytes(raw.memory_per_cpu),
    )


def _job(raw: forms.RawJob) -> Job:
    states = upper(raw.job_state)
    count, bound = array_tasks(raw.array_task_string)
    task = number(raw.array_task_id)
    array = stamp(raw.array_job_id)
    pending = states[:1] == ("PENDING",)
    nodes = () if pending else expand(raw.nodes)
    asked = _asked(raw, nodes)
    gpus, gpus_each, memory = worked_out(asked)
    return Job(
        id=number(raw.job_id) or 0,
        array_job=array,
        array_task=task if array else None,
        array_tasks=raw.array_task_string or "",
        array_count=count if array and (task is None or count > 1) else 1,
        throttle=bound or _limit(raw.array_max_tasks),
        het_job=stamp(raw.het_job_id),
        name=raw.name or "",
        user=text(raw.user_name),
        account=text(raw.account),
        qos=text(raw.qos),
        partitions=words(raw.partition),
        state=states[0] if states else "",
        flags=states[1:],
        reason=text(raw.state_reason),
        priority=number(raw.priority),
        nodes=nodes,
        node_count=asked.node_count,
        tasks=asked.tasks,
        cpus=asked.cpus,
        cpus_per_node=max(share(asked.cpus, asked.node_count) or 0, number(raw.minimum_cpus_per_node) or 0) or None,
        memory_per_node=memory,
        gpus=gpus,
        gpus_per_node=gpus_each,
        submit=stamp(raw.submit_time),
        eligible=stamp(raw.eligible_time),
        start=stamp(raw.start_time),
        end=stamp(raw.end_time),
        time_limit=_minutes(raw.time_limit),
        dependency=text(raw.dependency),
        reservation=text(raw.resv_name),
        features=text(raw.features),
        required_nodes=_names(raw.required_nodes),
        excluded_nodes=_names(raw.excluded_nodes),
        requeue=raw.requeue,
        restarts=number(raw.restart_cnt) or 0,
        exit=_status(raw.exit_code),
        exclusive="NONE" in upper(raw.shared),
    )


def _status(raw: msgspec.Raw) -> int | None:
    """An exit status as a shell tells it: of wait's number (before 23.11), or of a status and a signal, each by name."""
    with suppress(msgspec.MsgspecError, RecursionError):
        waited = msgspec.json.decode(raw, type=forms.ExitCode | int | None)
        if isinstance(waited, int):
            return 128 + (waited & 127) if waited & 127 else (waited >> 8) & 255
        if waited is not None:
            signal = (number(waited.signal.id) or number(waited.signal.signal_id)) if waited.signal is not None else None
            return 128 + signal if signal else number(waited.return_code)
    return None


def _names(value: forms.Words) -> tuple[str, ...]:
    return expand(value if isinstance(value, str) or value is None else ",".join(value))


def _partition(raw: forms.RawPartition) -> Partition:
    most, least = raw.maximums or forms.Maximums(), raw.minimums or forms.Minimums()
    accounts, qos = raw.accounts or forms.Allowed(), raw.qos or forms.Allowed()
    nodes = raw.nodes if isinstance(raw.nodes, forms.PartitionNodes) else forms.PartitionNodes(configured=raw.nodes)
    states = upper(raw.partition.state if raw.partition else None)
    priority = raw.priority or forms.Priority()
    tier, factor = number(priority.tier), number(priority.job_factor)
    return Partition(
        name=raw.name,
        state=next((state for state in states if state in _PARTITION_STATES), "UP"),
        default="DEFAULT" in states,
        hidden="HIDDEN" in states,
        max_time=_minutes(most.time),
        default_time=_minutes(raw.defaults.time) if raw.defaults else None,
        max_nodes=number(most.nodes),
        min_nodes=number(least.nodes) or 0,
        max_cpus_per_node=_limit(most.cpus_per_node),
        max_memory_per_node=_mebibytes(_limit(most.partition_memory_per_node)),
        tier=1 if tier is None else tier,
        job_factor=1 if factor is None else factor,
        grace=number(raw.grace_time) or 0,
        nodes=expand(nodes.configured),
        node_count=number(nodes.total),
        allow_accounts=listed(accounts.allowed),
        deny_accounts=listed(accounts.deny),
        allow_groups=listed(raw.groups.allowed) if raw.groups else (),
        allow_qos=listed(qos.allowed),
        deny_qos=listed(qos.deny),
        qos=text(qos.assigned),
        exclusive=number(most.shares) == 0,
    )


def _flat_partition(raw: forms.FlatPartition) -> Partition:
    states, flags = upper(raw.state), upper(raw.flags)
    tier, factor = number(raw.priority_tier), number(raw.priority_job_factor)
    mode = next((word for word in upper(raw.preemption_mode)), "")
    return Partition(
        name=raw.name,
        state=next((state for state in states if state in _PARTITION_STATES), "UP"),
        default="DEFAULT" in flags,
        hidden="HIDDEN" in flags,
        max_time=_minutes(raw.max_time_limit),
        default_time=_minutes(raw.default_time_limit),
        max_nodes=_limit(raw.maximum_nodes_per_job),
        min_nodes=number(raw.min_nodes) or 0,
        max_cpus_per_node=_limit(raw.maximum_cpus_per_node),
        tier=1 if tier is None else tier,
        job_factor=1 if factor is None else factor,
        preempt_mode="OFF" if mode == "DISABLED" else mode,
        grace=number(raw.preemption_grace_time) or 0,
        nodes=expand(raw.nodes),
        node_count=number(raw.total_nodes),
        allow_accounts=listed(raw.allowed_accounts),
        deny_accounts=listed(raw.denied_accounts),
        allow_groups=listed(raw.allowed_groups),
        allow_qos=listed(raw.allowed_qos),
        deny_qos=listed(raw.denied_qos),
        qos=text(raw.qos),
    )


_PARTITION_STATES = ("DOWN", "DRAIN", "INACTIVE", "UP")


def _reservation(raw: forms.RawReservation) -> Reservation:
    return Reservation(
        name=raw.name or "",
        start=stamp(raw.start_time),
        end=stamp(raw.end_time),
        nodes=expand(raw.node_list),
        node_count=number(raw.node_count),
        partition=text(raw.partition),
        users=listed(raw.users),
        accounts=listed(raw.accounts),
        groups=listed(raw.groups),
        flags=upper(list(listed(raw.flags))),
        tres=text(raw.tres),
    )


def _tres_text(rows: list[forms.Tres] | None) -> str:
    """TRES rows of the accounting as the text that stands elsewhere: gres/gpu:mi50=4."""
    parts = ((f"{row.type}/{row.name}" if row.name else row.type, number(row.count)) for row in rows or ())
    return ",".join(f"{name}={count}" for name, count in parts if count)


def _counts(rows: list[forms.Tres] | None) -> dict[str, int]:
    return {
        (row.type or "") + ("/" + row.name if row.name else ""): count for row in rows or () if (count := number(row.count)) is not None
    }


def _record(raw: forms.RawRecord) -> Record:
    times, kinds = raw.time, raw.tres or forms.TresOfJob()
    wanted = tres(_tres_text(kinds.allocated) or _tres_text(kinds.requested))
    states = upper(raw.state.current if raw.state else None)
    nodes = expand(raw.nodes)
    memory = tres(_tres_text(kinds.requested)).get("mem")
    array = stamp(raw.array.job_id) if raw.array else None
    utilisation, gpu_memory = _gpu_use(raw.steps or [])
    return Record(
        id=number(raw.job_id) or 0,
        array_job=array,
        array_task=number(raw.array.task_id) if raw.array and array else None,
        name=raw.name or "",
        user=text(raw.user),
        account=text(raw.account),
        partition=text(raw.partition),
        qos=text(raw.qos),
        state=states[0] if states else "",
        submit=stamp(times.submission),
        eligible=stamp(times.eligible),
        start=stamp(times.start),
        end=stamp(times.end),
        elapsed=number(times.elapsed),
        time_limit=_minutes(times.limit),
        nodes=nodes,
        node_count=_limit(raw.allocation_nodes) or len(nodes) or None,
        cpus=number(wanted.get("cpu")),
        memory=int(memory) * _MIB if memory else None,
        memory_used=_memory_used(raw.steps or []),
        cpu_seconds=_computed(times.total),
        gpus=tres_gpus(",".join(f"{name}={count}" for name, count in wanted.items())),
        gpu_utilisation=utilisation,
        gpu_memory_used=gpu_memory,
    )


def _computed(total: forms.Seconds | None) -> float | None:
    if total is None or (seconds := number(total.seconds)) is None:
        return None
    return seconds + (number(total.microseconds) or 0) / 1e6


def _memory_used(steps: list[forms.Step]) -> int | None:
    """The greatest step's: its greatest task's resident memory times its tasks."""
    used = []
    for step in steps:
        requested = step.tres.requested if step.tres else None
        if requested and (most := _counts(requested.max).get("mem")):
            used.append(most * (number(step.tasks.count) or 1 if step.tasks else 1))
    return max(used, default=None)


def _gpu_use(steps: list[forms.Step]) -> tuple[float | None, int | None]:
    """GPU utilisation and memory of the step that used most, where the site gathers them (gres/gpuutil, gres/gpumem)."""
    shares, sizes = [], []
    for step in steps:
        requested = step.tres.requested if step.tres else None
        average = _counts(requested.average) if requested else {}
        shares += [average[name] for name in ("gres/gpuutil",) if name in average]
        sizes += [average[name] for name in ("gres/gpumem",) if name in average]
    return (float(max(shares)) if shares else None), max(sizes, default=None)


_KINDS: dict[str, Callable[[list[msgspec.Raw], Dump], Any]] = {
    "nodes": lambda items, dump: _convert(items, forms.RawNode, _node, "nodes", dump),
    "partitions": lambda items, dump: (
        _convert(items, forms.FlatPartition, _flat_partition, "partitions", dump)
        if "priority_tier" in _keys(items)
        else _convert(items, forms.RawPartition, _partition, "partitions", dump)
    ),
    "reservations": lambda items, dump: _convert(items, forms.RawReservation, _reservation, "reservations", dump),
}
