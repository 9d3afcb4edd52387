"""`rigup watch --json`: one sample of every GPU, of the processes on them and of the host."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from rigup.schemas.shared import Finding
from rigup.schemas.watch_gpu import WatchedGpu
from rigup.schemas.watch_host import WatchedHost

ProcessType = Literal["compute", "graphics", "both"]


class Took(Struct, frozen=True, kw_only=True):
    """What a sample cost.

    Attributes:
        wall: seconds.
        cpu: seconds of a processor.

    """

    wall: float
    cpu: float


class ProcessMemory(Struct, frozen=True, kw_only=True):
    """Memory of a GPU that a process holds, in bytes.

    Attributes:
        vram: of its own.
        gtt: main memory beside it.
        visible_vram: of vram, what the processor can address.

    """

    vram: int | UnsetType = UNSET
    gtt: int | UnsetType = UNSET
    visible_vram: int | UnsetType = UNSET


class ProcessUtilisation(Struct, frozen=True, kw_only=True):
    """Shares of a GPU's time that a process took, 0 to 1.

    Attributes:
        gpu: its compute and graphics engines.
        memory: the memory controller.
        encoder: the video encoder.
        decoder: the video decoder.
        copy: copy engines.

    """

    gpu: float | UnsetType = UNSET
    memory: float | UnsetType = UNSET
    encoder: float | UnsetType = UNSET
    decoder: float | UnsetType = UNSET
    copy: float | UnsetType = UNSET


class ProcessGpu(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a process has of one GPU.

    Attributes:
        index: of the GPU.
        partition: the name of its part, where it has some.
        type: what the process uses it for.
        memory: that it holds.
        utilisation: of its engines.

    """

    index: int
    partition: str | UnsetType = UNSET
    type: ProcessType | UnsetType = UNSET
    memory: ProcessMemory = ProcessMemory()
    utilisation: ProcessUtilisation = ProcessUtilisation()


class InContainer(Struct, frozen=True, kw_only=True):
    """The container of a process.

    Attributes:
        engine: what runs it ("docker", "podman", "containerd" …).
        id: the first twelve characters of its id.

    """

    engine: str
    id: str


class WatchedProcess(Struct, frozen=True, kw_only=True):
    """A process.

    Attributes:
        pid: its number, as the driver tells it.
        start: when it began, in seconds of Unix time.
        name: of its program.
        command: its words.
        user: who runs it.
        container: in which it runs.
        slurm_job: the number of its job.
        cpu: cores that it used since the sample before.
        rss: bytes of main memory.
        gpus: what it has of each GPU; empty for one that uses none.
        because: why nothing else is known of it.

    """

    pid: int
    start: float | UnsetType = UNSET
    name: str | UnsetType = UNSET
    command: str | UnsetType = UNSET
    user: str | UnsetType = UNSET
    container: InContainer | UnsetType = UNSET
    slurm_job: str | UnsetType = UNSET
    cpu: float | UnsetType = UNSET
    rss: int | UnsetType = UNSET
    gpus: list[ProcessGpu]
    because: str | UnsetType = UNSET


class ReadError(Struct, frozen=True, kw_only=True):
    """What could not be read in a sample.

    Attributes:
        gpu: its index; left out where it is of no GPU.
        what: a file, a call or a source.
        because: why.

    """

    gpu: int | UnsetType = UNSET
    what: str
    because: str


class Watch(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.watch/1"):
    """One sample. Every number is in its base unit: bytes, seconds, watts, joules, hertz, °C, volts, shares 0 to 1.

    Attributes:
        time: when it was taken, in seconds of Unix time.
        interval: seconds since the sample before; left out in the first.
        took: what it cost.
        host: the machine; left out where it is a captured one.
        gpus: in the order of their PCI addresses.
        processes: that use a GPU.
        host_processes: those that use most of the processors, whether they use a GPU or not; in a stream only where there is no GPU.
        findings: what is wrong right now.
        errors: what could not be read.

    """

    time: float
    interval: float | UnsetType = UNSET
    took: Took
    host: WatchedHost | UnsetType = UNSET
    gpus: list[WatchedGpu]
    processes: list[WatchedProcess]
    host_processes: list[WatchedProcess] | UnsetType = UNSET
    findings: list[Finding]
    errors: list[ReadError]
