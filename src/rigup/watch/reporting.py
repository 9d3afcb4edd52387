"""What a recording says of each GPU, process and job, and the series for its plots."""

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from msgspec import UNSET

from rigup.schemas.watch import Watch, WatchedProcess
from rigup.schemas.watch_gpu import WatchedGpu
from rigup.schemas.watch_report import FoundThen, GpuSummary, JobSummary, ProcessSummary, WatchReport
from rigup.watch.history import key_of, mark_of, memory_of, numbers
from rigup.watch.recording import NoRecording, Recording

_LONGEST = 60.0  # seconds that one sample stands for at most: a watch that slept saw nothing meanwhile
_POINTS = 600  # of a series in a plot
PLOTTED = ("gpu", "memory", "power", "temperature")


class Sums:
    """Sums over samples."""

    def __init__(self) -> None:
        self.seconds = self.busy_seconds = self.busy_known = self.energy = self.throttled = 0.0
        self.peak_memory = 0
        self.knows: set[str] = set()

    def add(self, seconds: float, busy: float | None, memory: int | None, power: float | None, throttled: bool | None) -> None:
        """A sample that stands for so many seconds; None where it does not tell."""
        self.seconds += seconds
        if busy is not None:
            self.busy_seconds, self.busy_known = self.busy_seconds + busy * seconds, self.busy_known + seconds
        if memory is not None:
            self.peak_memory = max(self.peak_memory, memory)
            self.knows.add("memory")
        if power is not None:
            self.energy += power * seconds
            self.knows.add("energy")
        if throttled is not None:
            self.throttled += seconds if throttled else 0.0
            self.knows.add("throttled")

    def values(self) -> dict[str, Any]:
        """The fields of a Summary that are known."""
        values: dict[str, Any] = {"seconds": round(self.seconds, 3)}
        if self.busy_known:
            values["utilisation"] = round(self.busy_seconds / self.busy_known, 4)
        for name, value in (("memory", self.peak_memory), ("energy", round(self.energy, 1)), ("throttled", round(self.throttled, 3))):
            if name in self.knows:
                values["peak_memory" if name == "memory" else name] = value
        return values


class Series(NamedTuple):
    """One GPU's series: seconds since the beginning, and by name the values, None where nothing was told."""

    gpu: int
    name: str
    times: list[float]
    values: dict[str, list[float | None]]


class Read(NamedTuple):
    """A recording as it was read."""

    report: WatchReport
    series: list[Series]


def read(path: str) -> Read:
    """Read a recording whole, in memory that does not grow with its length. Raises NoRecording."""
    recording = Recording(path)
    try:
        count, begin, end = recording.base.execute("SELECT count(*), min(time), max(time) FROM sample").fetchone()
        if not count:
            raise NoRecording(f"{path}: no sample is in it")
        work = _Work(max(count // _POINTS, 1))
        for number, sample in enumerate(recording.samples()):
            work.add(number, sample)
        found = [
            FoundThen(time=float(time), cause=str(cause), severity=str(severity), title=str(title), way=str(way) if way else UNSET)
            for time, cause, severity, title, way in recording.findings()
        ]
    except (sqlite3.Error, TypeError, ValueError, OverflowError) as error:
        raise NoRecording(f"{path}: {error}") from error
    finally:
        recording.close()
    report = WatchReport(
        file=path,
        begin=begin,
        end=end,
        samples=count,
        gpus=list(work.gpu_summaries()),
        findings=found,
        processes=sorted(work.process_summaries(), key=lambda summary: -(summary.energy if summary.energy is not UNSET else 0)),
        jobs=list(work.job_summaries()),
    )
    return Read(report, [work.series[key] for key in sorted(work.series)])


class _Work:
    """Sums while samples pass by; every `step`th is a point of a plot."""

    def __init__(self, step: int) -> None:
        self.step, self.at = step, 0.0
        self.gpus: dict[str, tuple[WatchedGpu, Sums]] = {}
        self.heat: dict[str, float] = {}
        self.series: dict[str, Series] = {}
        self.processes: dict[tuple[int, float], tuple[WatchedProcess, Sums, set[int]]] = {}
        self.jobs: dict[str, tuple[WatchedProcess, Sums, set[int]]] = {}

    def add(self, number: int, sample: Watch) -> None:
        seconds = min(sample.interval, _LONGEST) if sample.interval is not UNSET else 0.0
        self.at += seconds
        for gpu in sample.gpus:
            self._add_gpu(gpu, seconds, number % self.step == 0)
        self._add_processes(sample, seconds)

    def _add_gpu(self, gpu: WatchedGpu, seconds: float, plotted: bool) -> None:
        key = key_of(gpu)
        _first, sums = self.gpus.setdefault(key, (gpu, Sums()))
        busy, share, power, heat, _rx, _tx, throttled = numbers(gpu)
        used = gpu.memory.vram.used if gpu.memory.vram is not UNSET and gpu.memory.vram.used is not UNSET else None
        sums.add(seconds, busy, None if used is None else int(used), power, None if throttled is None else bool(throttled))
        if heat is not None:
            self.heat[key] = max(heat, self.heat.get(key, heat))
        if plotted:
            name = gpu.name if gpu.name is not UNSET else ""
            series = self.series.setdefault(key, Series(gpu.index, name, [], {name: [] for name in PLOTTED}))
            series.times.append(self.at)
            for word, value in zip(PLOTTED, (busy, share, power, heat), strict=True):
                series.values[word].append(value)

    def _add_processes(self, sample: Watch, seconds: float) -> None:
        gpus = {gpu.index: gpu for gpu in sample.gpus}
        weights = _weights(sample.processes)
        in_jobs: dict[str, list[tuple[WatchedProcess, tuple[float | None, int, float | None, bool | None]]]] = {}
        for process in sample.processes:
            shares = [part.utilisation.gpu for part in process.gpus if part.utilisation.gpu is not UNSET]
            powers = [
                gpu.power.draw * weights[process.pid, part.index]
                for part in process.gpus
                if (gpu := gpus.get(part.index)) is not None and gpu.power.draw is not UNSET
            ]
            slowed = [
                bool(gpus[part.index].throttle) for part in process.gpus if part.index in gpus and gpus[part.index].throttle is not UNSET
            ]
            figures = (
                sum(shares) / len(shares) if shares else None,
                memory_of(process),
                sum(powers) if powers else None,
                any(slowed) if slowed else None,
            )
            _first, sums, indices = self.processes.setdefault(mark_of(process), (process, Sums(), set()))
            sums.add(seconds, *figures)
            indices |= {part.index for part in process.gpus}
            if process.slurm_job is not UNSET:
                in_jobs.setdefault(process.slurm_job, []).append((process, figures))
        for job, rows in in_jobs.items():
            self._add_job(job, rows, seconds)

    def _add_job(
        self, job: str, rows: list[tuple[WatchedProcess, tuple[float | None, int, float | None, bool | None]]], seconds: float
    ) -> None:
        """A job's processes at one moment, together."""
        _first, sums, indices = self.jobs.setdefault(job, (rows[0][0], Sums(), set()))
        busy, memory, power, slowed = zip(*(row[1] for row in rows), strict=True)
        known_busy, known_power = ([share for share in busy if share is not None], [watts for watts in power if watts is not None])
        gpus = {part.index for process, _row in rows for part in process.gpus}
        sums.add(
            seconds,
            min(sum(known_busy) / max(len(gpus), 1), 1.0) if known_busy else None,
            sum(memory),
            sum(known_power) if known_power else None,
            any(slowed) if any(state is not None for state in slowed) else None,
        )
        indices |= gpus

    def gpu_summaries(self) -> Iterator[GpuSummary]:
        for key, (gpu, sums) in sorted(self.gpus.items()):
            yield GpuSummary(
                index=gpu.index, name=gpu.name, pci_address=gpu.pci_address, peak_temperature=self.heat.get(key, UNSET), **sums.values()
            )

    def process_summaries(self) -> Iterator[ProcessSummary]:
        for process, sums, gpus in self.processes.values():
            yield ProcessSummary(
                pid=process.pid,
                start=process.start,
                name=process.name,
                command=process.command,
                user=process.user,
                slurm_job=process.slurm_job,
                gpus=sorted(gpus),
                **sums.values(),
            )

    def job_summaries(self) -> Iterator[JobSummary]:
        for job, (process, sums, gpus) in sorted(self.jobs.items()):
            yield JobSummary(job=job, user=process.user, gpus=sorted(gpus), **sums.values())


def _weights(processes: Iterable[WatchedProcess]) -> dict[tuple[int, int], float]:
    """Each process's part of a GPU's power: by what it used of it; where nobody used anything, alike."""
    uses: dict[int, dict[int, float]] = {}
    for process in processes:
        for part in process.gpus:
            share = part.utilisation.gpu if part.utilisation.gpu is not UNSET else 0.0
            uses.setdefault(part.index, {})[process.pid] = share
    weights = {}
    for index, of_gpu in uses.items():
        whole = sum(of_gpu.values())
        for pid, share in of_gpu.items():
            weights[pid, index] = share / whole if whole else 1 / len(of_gpu)
    return weights
