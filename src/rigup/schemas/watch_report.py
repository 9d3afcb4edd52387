"""`rigup watch report --json`: what a recording says of each GPU, process and job."""

from msgspec import UNSET, Struct, UnsetType


class Summary(Struct, frozen=True, kw_only=True):
    """What was used over a time. What was never told is left out.

    Attributes:
        seconds: for which it was watched.
        utilisation: mean share of time that its GPUs were busy, or that it kept them busy, 0 to 1.
        peak_memory: the most GPU memory, in bytes.
        energy: joules; of a process its share of its GPUs' by what it used of them.
        throttled: seconds in which a GPU of it was slowed down.

    """

    seconds: float
    utilisation: float | UnsetType = UNSET
    peak_memory: int | UnsetType = UNSET
    energy: float | UnsetType = UNSET
    throttled: float | UnsetType = UNSET


class GpuSummary(Summary, frozen=True, kw_only=True):
    """One GPU.

    Attributes:
        index: its position.
        name: as its maker sells it.
        pci_address: on the bus.
        peak_temperature: °C.

    """

    index: int
    name: str | UnsetType = UNSET
    pci_address: str | UnsetType = UNSET
    peak_temperature: float | UnsetType = UNSET


class ProcessSummary(Summary, frozen=True, kw_only=True):
    """One process.

    Attributes:
        pid: its number.
        start: when it began, in seconds of Unix time.
        name: of its program.
        command: its words.
        user: who ran it.
        slurm_job: the number of its job.
        gpus: indices of its GPUs.

    """

    pid: int
    start: float | UnsetType = UNSET
    name: str | UnsetType = UNSET
    command: str | UnsetType = UNSET
    user: str | UnsetType = UNSET
    slurm_job: str | UnsetType = UNSET
    gpus: list[int]


class JobSummary(Summary, frozen=True, kw_only=True):
    """One Slurm job: all its processes.

    Attributes:
        job: its number.
        user: who runs it.
        gpus: indices of its GPUs.

    """

    job: str
    user: str | UnsetType = UNSET
    gpus: list[int]


class FoundThen(Struct, frozen=True, kw_only=True):
    """A finding of the time of the recording.

    Attributes:
        time: when it began, in seconds of Unix time.
        cause: its id.
        severity: how bad it is.
        title: one line.
        way: the way to mend it that needs least; left out by recordings that were made without it.

    """

    time: float
    cause: str
    severity: str
    title: str
    way: str | UnsetType = UNSET


class WatchReport(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.watch-report/1"):
    """What a recording says.

    Attributes:
        file: the recording.
        begin: when it begins, in seconds of Unix time.
        end: when it ends.
        samples: how many there are.
        gpus: each GPU.
        processes: each process, those that used most energy first.
        jobs: each Slurm job.
        findings: in the order of time.

    """

    file: str
    begin: float
    end: float
    samples: int
    gpus: list[GpuSummary]
    processes: list[ProcessSummary]
    jobs: list[JobSummary]
    findings: list[FoundThen]
