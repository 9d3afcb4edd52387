"""The machine beside its GPUs, as `rigup watch --json` tells it."""

from msgspec import UNSET, Struct, UnsetType


class Cpu(Struct, frozen=True, kw_only=True):
    """The processors of the host.

    Attributes:
        utilisation: share of all cores that was busy since the sample before, 0 to 1.
        cores: logical ones.
        each: the same share of each of them, in their order.
        temperature: degrees Celsius of the hottest sensor of the processors.

    """

    utilisation: float | UnsetType = UNSET
    cores: int
    each: list[float] | UnsetType = UNSET
    temperature: float | UnsetType = UNSET


class HostMemory(Struct, frozen=True, kw_only=True):
    """Main memory, in bytes.

    Attributes:
        total: all of it.
        available: what a program can still have.
        used: total without available.

    """

    total: int
    available: int
    used: int


class Capacity(Struct, frozen=True, kw_only=True):
    """A store, in bytes.

    Attributes:
        total: all of it.
        used: of that.

    """

    total: int
    used: int


class Disk(Capacity, frozen=True, kw_only=True):
    """A mounted file system.

    Attributes:
        mount: where it is mounted.

    """

    mount: str


class DiskTraffic(Struct, frozen=True, kw_only=True):
    """Traffic of all disks, in bytes a second.

    Attributes:
        read: from them.
        written: to them.

    """

    read: float
    written: float


class Network(Struct, frozen=True, kw_only=True):
    """Traffic of all interfaces but the loopback, in bytes a second.

    Attributes:
        rx: received.
        tx: sent.

    """

    rx: float
    tx: float


class WatchedHost(Struct, frozen=True, kw_only=True):
    """The machine that holds the GPUs.

    Attributes:
        name: left out with --anonymous.
        load: runnable processes, averaged over 1, 5 and 15 minutes.
        cpu: its processors.
        memory: main memory.
        swap: swap space.
        disk: file systems on disks.
        disk_traffic: traffic since the sample before.
        network: traffic since the sample before.
        running: how many processes there are.

    """

    name: str | UnsetType = UNSET
    load: list[float] | UnsetType = UNSET
    cpu: Cpu | UnsetType = UNSET
    memory: HostMemory | UnsetType = UNSET
    swap: Capacity | UnsetType = UNSET
    disk: list[Disk] | UnsetType = UNSET
    disk_traffic: DiskTraffic | UnsetType = UNSET
    network: Network | UnsetType = UNSET
    running: int | UnsetType = UNSET
