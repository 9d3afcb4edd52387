"""What advice is made of, typed: the work, devices and their rates, and the state of a cluster at a moment.

Times are seconds, moments unix seconds; memory of devices is in bytes, memory of nodes in MiB, as Slurm counts it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from rigup.language import _

DAY = 86_400.0
UNLIMITED = 365 * DAY
"""What a time limit counts as where there is none."""

_ALLOCATION = re.compile(r"(?P<partition>[^/\s]{1,200})/(?P<device>[^:/\s]{1,200}):(?P<nodes>\d{1,6})x(?P<gpus>\d{1,4})")


class InputError(Exception):
    """Something that was given cannot be used; the text says what, where and what to do."""


class Allocation(NamedTuple):
    """Nodes of a partition with GPUs of one type; written `PARTITION/DEVICE:NODESxGPUS`, GPUs on each node."""

    partition: str
    device: str
    nodes: int
    gpus: int

    def __str__(self) -> str:
        """As the contract writes it."""
        return f"{self.partition}/{self.device}:{self.nodes}x{self.gpus}"

    @property
    def total(self) -> int:
        """GPUs on all nodes together."""
        return self.nodes * self.gpus


def allocation(text: str) -> Allocation:
    """Read an allocation. Raises InputError."""
    found = _ALLOCATION.fullmatch(text.strip())
    if not found or not int(found["nodes"]) or not int(found["gpus"]):
        raise InputError(
            _("{text} is no allocation: write PARTITION/DEVICE:NODESxGPUS, as in rocm/mi50:3x1.").format(text=repr(text)[:120])
        )
    return Allocation(found["partition"], found["device"], int(found["nodes"]), int(found["gpus"]))


class Work(msgspec.Struct, frozen=True):
    """What is to be done; in a scenario the table `[job]`.

    `startup`: seconds of every start. `checkpoint`: seconds to write one; `checkpoint_every`: work that a stop costs
    at worst, None where nothing is kept. `gpu_memory` and `gpu_memory_sharded` are bytes: a GPU needs the first and
    its share of the second. `time_limit`: seconds asked, None to have them worked out. `priority`: None is behind
    all who wait.
    """

    epochs: float
    startup: float = 0.0
    requeue: bool = False
    checkpoint: float = 0.0
    checkpoint_every: float | None = None
    gpu_memory: int | None = None
    gpu_memory_sharded: int | None = None
    host_memory_per_gpu: int | None = None
    cpus_per_gpu: int = 1
    accept_preemption: bool = False
    time_limit: float | None = None
    priority: float | None = None


class Device(msgspec.Struct, frozen=True):
    """A type of GPU: bytes of memory, cost of an hour of one, and whether a build for it runs."""

    name: str
    memory: int | None = None
    weight: float = 1.0
    works: bool = True
    because: str = ""


class Rate(msgspec.Struct, frozen=True):
    """Seconds of an epoch on some GPUs, one of each repeat."""

    device: str
    nodes: int
    gpus: int
    seconds: tuple[float, ...]
    source: str = "measured"


class Node(NamedTuple):
    """A node: GPUs by type, processors, memory in MiB. `up`: new jobs may start on it."""

    name: str
    partitions: frozenset[str]
    gpus: Mapping[str, int]
    cpus: int
    memory: int
    up: bool = True
    weight: int = 1
    gpus_used: int | None = None
    features: frozenset[str] = frozenset()
    reason: str = ""


class Partition(NamedTuple):
    """A partition. `max_time`, `max_nodes` and `max_gpus` (of a job) are None where there is no limit.

    `preempted`: REQUEUE, CANCEL or empty. `barred`: why you may not use it, or empty.
    """

    name: str
    up: bool = True
    max_time: float | None = None
    max_nodes: int | None = None
    tier: int = 1
    preempted: str = ""
    grace: float = 0.0
    state: str = "UP"
    max_gpus: int | None = None
    barred: str = ""


class Job(NamedTuple):
    """A job of the queue. `gpus`, `cpus` and `memory` (MiB) are those of each node; `gpu` is a type, or empty.

    `limit` is in seconds. A running job has `start` and `on`; one that waits has `begin`, before which it cannot start.
    `array` joins the tasks of an array, of which `throttle` run at a time (0: all).
    """

    id: int
    name: str
    partitions: tuple[str, ...]
    nodes: int
    limit: float
    gpu: str = ""
    gpus: int = 0
    cpus: int = 1
    memory: int = 0
    priority: float = 0.0
    start: float = 0.0
    begin: float = 0.0
    on: tuple[str, ...] = ()
    reason: str = ""
    array: int = 0
    throttle: int = 0
    reservation: str = ""
    only: frozenset[str] = frozenset()
    never_on: frozenset[str] = frozenset()
    features: frozenset[str] = frozenset()


class Reservation(NamedTuple):
    """Nodes that are kept from `start` to `end`."""

    name: str
    start: float
    end: float
    nodes: frozenset[str]


class Past(NamedTuple):
    """A completed job: the part of its time limit that it used."""

    partition: str
    used: float


class Second(NamedTuple):
    """What `sbatch --test-only` said of an allocation; `start` is None where it refused."""

    allocation: str
    start: float | None
    words: str


class Cluster(NamedTuple):
    """The state of a cluster at the moment `now`."""

    now: float
    nodes: Sequence[Node]
    partitions: Mapping[str, Partition]
    running: Sequence[Job]
    pending: Sequence[Job]
    reservations: Sequence[Reservation] = ()
    past: Sequence[Past] = ()
    slurm: str = ""


class Question(NamedTuple):
    """All that is asked: the work, the allocations to judge, and what is known of devices and cluster."""

    work: Work
    candidates: Sequence[Allocation]
    devices: Mapping[str, Device]
    rates: Sequence[Rate]
    cluster: Cluster
    second: Sequence[Second] = ()
    assumed: Sequence[str] = ()
