"""What jobs asked for and did not use, worked out of the accounting and the histories of trainings: pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from msgspec import UNSET, UnsetType

from rigup.cluster.overview import You
from rigup.machine.slurm.values import Dump, Record
from rigup.machine.training import Line
from rigup.schemas.cluster import AskedCommand, SlurmRelease
from rigup.schemas.cluster_report import AccountUse, ClusterReport, JobUse, UseSums, Waits
from rigup.schemas.train_history import Started, Stepped

MOST_JOBS = 20


class Trained(NamedTuple):
    """What the histories of a job's ranks tell: GPUs used of those given, and the share of time in which they computed."""

    gpus_used: int | None
    busy: float | None


class _Use(NamedTuple):
    record: Record
    seconds: int
    gpus: int
    gpus_used: int | None
    busy: float | None
    measured_by: Literal["accounting", "history"] | UnsetType

    @property
    def gpu_seconds(self) -> int:
        return self.gpus * self.seconds

    @property
    def gpu_unused(self) -> int | None:
        """GPU-seconds: of GPUs that were never used, and of the others' time without a kernel. None: nobody measured."""
        if self.gpus_used is None and self.busy is None:
            return None
        used = self.gpus if self.gpus_used is None else min(self.gpus_used, self.gpus)
        return round(self.gpu_seconds - used * self.seconds * (1.0 if self.busy is None else self.busy))

    @property
    def memory_unused(self) -> int | None:
        """Byte-seconds; None where one of both is not known."""
        asked, used = self.record.memory, self.record.memory_used
        return None if asked is None or used is None else max(0, asked - used) * self.seconds


def trained(ranks: Iterable[list[Line]]) -> dict[str, Trained]:
    """By Slurm's id of the job. Ranks of one node share its GPUs; `busy` is weighed by the seconds of each line."""
    nodes: dict[str, dict[int, int]] = defaultdict(dict)
    busy: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for lines in ranks:
        start = next((line for line in lines if isinstance(line, Started)), None)
        if start is None or not start.job:
            continue
        node = start.rank // max(1, start.world_size // max(1, start.nodes))
        for line in lines:
            if isinstance(line, Stepped):
                _count(line, node, nodes[start.job], busy[start.job])
    return {
        job: Trained(sum(used.values()) if used else None, min(1.0, busy[job][0] / busy[job][1]) if busy[job][1] else None)
        for job, used in nodes.items()
    }


def _count(line: Stepped, node: int, used: dict[int, int], busy: list[float]) -> None:
    if line.gpus_used is not None:
        used[node] = max(used.get(node, 0), line.gpus_used)
    if line.busy is not None and line.seconds > 0:
        busy[0] += max(0.0, line.busy) * line.seconds
        busy[1] += line.seconds


def report(dump: Dump, sources: list[AskedCommand], histories: Mapping[str, Trained], you: You, accounts: bool) -> ClusterReport:
    """The answer. `accounts`: whether sums by account are wanted, which are for administrators."""
    records = dump.records or []
    uses = [use for record in records if (use := _use(record, histories))]
    starts = [use.record.start for use in uses if use.record.start]
    by_account: dict[str, list[_Use]] = defaultdict(list)
    for use in uses:
        by_account[use.record.account].append(use)
    rows = [AccountUse(account=name, sums=_sums(group)) for name, group in by_account.items()]
    return ClusterReport(
        since=min(starts, default=None),
        until=max((use.record.end or use.record.start or 0 for use in uses), default=None),
        slurm=SlurmRelease(version=dump.version, cluster=dump.cluster),
        sources=sources,
        sums=_sums(uses),
        jobs=[_job(use, you) for use in _worst(uses)],
        accounts=sorted(rows, key=lambda row: (-row.sums.gpu_seconds_unused, -row.sums.memory_seconds_unused)) if accounts else UNSET,
        waits=_waits(records),
    )


def _use(record: Record, histories: Mapping[str, Trained]) -> _Use | None:
    """What a job held; None for one that never started."""
    if not record.start or not record.elapsed:
        return None
    gpus = sum(request.count for request in record.gpus)
    history = histories.get(str(record.id))
    if gpus and history is not None:
        return _Use(record, record.elapsed, gpus, history.gpus_used, history.busy, "history")
    if gpus and record.gpu_utilisation is not None:
        busy = min(max(record.gpu_utilisation, 0.0), 100.0) / 100
        return _Use(record, record.elapsed, gpus, None, busy, "accounting")
    return _Use(record, record.elapsed, gpus, None, None, UNSET)


def _worst(uses: list[_Use]) -> list[_Use]:
    """Jobs that left most unused: by GPUs, then by memory, each once."""
    by_gpus = sorted((use for use in uses if use.gpu_unused), key=lambda use: -(use.gpu_unused or 0))[:MOST_JOBS]
    by_memory = sorted((use for use in uses if use.memory_unused), key=lambda use: -(use.memory_unused or 0))
    return [*by_gpus, *[use for use in by_memory[:MOST_JOBS] if use not in by_gpus]]


def _sums(uses: list[_Use]) -> UseSums:
    known = [use for use in uses if use.gpu_unused is not None]
    remembered = [use for use in uses if use.memory_unused is not None]
    return UseSums(
        jobs=len(uses),
        gpu_seconds=sum(use.gpu_seconds for use in uses),
        gpu_seconds_known=sum(use.gpu_seconds for use in known),
        gpu_seconds_unused=sum(use.gpu_unused or 0 for use in known),
        memory_seconds=sum((use.record.memory or 0) * use.seconds for use in remembered),
        memory_seconds_unused=sum(use.memory_unused or 0 for use in remembered),
    )


def _job(use: _Use, you: You) -> JobUse:
    record, unused = use.record, use.gpu_unused
    yours = you.names or (bool(you.user) and record.user == you.user)
    number = f"{record.array_job or record.id}_{record.array_task}" if record.array_task is not None else str(record.id)
    return JobUse(
        job=number,
        name=record.name if yours else UNSET,
        user=record.user if yours else UNSET,
        partition=record.partition,
        state=record.state,
        seconds=use.seconds,
        gpus=use.gpus,
        gpus_used=UNSET if use.gpus_used is None else use.gpus_used,
        busy=UNSET if use.busy is None else round(use.busy, 3),
        measured_by=use.measured_by,
        gpu_seconds=use.gpu_seconds,
        gpu_seconds_unused=UNSET if unused is None else unused,
        memory=UNSET if record.memory is None else record.memory,
        memory_used=UNSET if record.memory_used is None else record.memory_used,
    )


def _waits(records: Iterable[Record]) -> list[Waits]:
    """From when a job could have started (its dependencies and begin time are not the queue's) until it did."""
    waited: dict[str, list[int]] = defaultdict(list)
    for record in records:
        began = record.eligible or record.submit
        if record.start and began and record.start >= began:
            waited[record.partition].append(record.start - began)
    rows = [_of_partition(name, sorted(seconds)) for name, seconds in waited.items()]
    return sorted(rows, key=lambda row: (-row.median, row.partition))


def _of_partition(name: str, seconds: list[int]) -> Waits:
    count = len(seconds)
    return Waits(
        partition=name, jobs=count, median=seconds[(count - 1) // 2], ninth=seconds[min(count - 1, count * 9 // 10)], longest=seconds[-1]
    )
